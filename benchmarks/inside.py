"""What single things take inside QPS: `inside.py closed N` or `inside.py simulated SPEC N`.

Run as a process of its own, beside what S is. Prints s of processor: of one rate of three stations
with so many users who wait for their answers, or of a million packets that are played on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

_PACKETS = 1_000_000
_NETWORKS = 200


def closed(users: int) -> float:
    """Return what the rate of a closed network of three stations takes, nothing of it known."""
    from qps.engine.operations import OPERATIONS  # noqa: PLC0415 - what is imported is not measured

    row = OPERATIONS["closed_rate"].number
    stations = (0.04, 1.0, 0.0, 1.0, 0.05, 1.0, 0.0, 1.0, 0.06, 1.0, 0.0, 1.0)
    row(10.0, 15.0, *stations)  # what is imported when it is first asked for
    begin = process_time()
    for more in range(_NETWORKS):  # none of them is known from another one
        rate = row(float(users + more), 0.06 * users + more, *stations)
        assert 0 < rate < 1 / 0.06
    return (process_time() - begin) / _NETWORKS


def simulated(path: str, users: int) -> float:
    """Return what a million packets of a spec take, from a tenth as many."""
    from qps.api import load  # noqa: PLC0415
    from qps.simulation.model_builder import simulated_model  # noqa: PLC0415
    from qps.simulation.single_run import LEVELS, SimulationRun  # noqa: PLC0415

    graph = load(path).graph()
    run = SimulationRun(network=simulated_model(graph, users), seed=1, number=1, levels=LEVELS)
    (rate,) = (graph.at(users).number(one.rate) for one in graph.streams.values())
    begin = process_time()
    run.advance(_PACKETS / 10 / rate, 50, lambda: False)
    return (process_time() - begin) * 10


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
    kind, *words = sys.argv[1:]
    print(closed(int(words[0])) if kind == "closed" else simulated(words[0], int(words[1])))
