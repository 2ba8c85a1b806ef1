"""Whether the reliable capacity is supported: `python laboratory/reliable_capacity_trials.py`.

For each of five small specs, inputs are drawn from their stated distributions, other ones than the
solver draws, and the spec is simulated with them at its reliable capacity. A draw supports it if
every requirement is met in the simulation. At 95 % confidence, 95 of 100 draws should; the capacity
of most samples without model errors is simulated beside it. `--draws` and `--time-limit` bound how
long it takes, and `--only SPEC` has one; `--keep FILE` appends a line of JSON for each draw, and
goes on where it ended.

Measured on 30 November 2026 with `--time-limit 3 s`: the reliable capacity was met in 100 of 100
draws by the pool (130 users), the pool without uncertain inputs (896), the closed population (101)
and two servers in series (177), and in 99 of 100 by priorities (82): the table in
`docs/language/uncertainty.md`.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src")]

from qps.cli import main as qps_main  # noqa: E402 - found by the line above
from qps.compiler.pipeline import load  # noqa: E402
from qps.solver.solved_spec import solved_spec  # noqa: E402
from qps.solver.uncertainty.interval_result import Sampling  # noqa: E402
from qps.solver.uncertainty.sample_draws import (  # noqa: E402
    dimensions_of,
    uncertain_numbers,
    values_at,
)

SPECS = {
    "pool": """
        users N in 1..400
        unit thread
        param held = 10 ms/request +- 10 % in 1 ms/request..1 s/request
        machine service { threads 8 thread; cpu 4 core, queueing mmc }
        component handle { cpu held }
        topology { node api = service }
        stream request for each user {
          traffic 2 request/s; at api { take threads; handle; give threads }
        }
        require { request.p99 <= 80 ms }
    """,
    "pool without uncertain inputs": """
        users N in 1..2000
        unit thread
        machine service { threads 12 thread }
        component handle { delay 10 ms }
        topology { node api = service }
        stream request for each user {
          traffic 1 request/s; at api { take threads; handle; give threads }
        }
        require { request.p99 <= 20 ms }
    """,
    "closed population": """
        users N in 1..400
        param work = 20 ms/request +- 15 % in 1 ms/request..1 s/request
        machine box { cpu 1 core, queueing mg1 cv 2; disk 1 MB/s, queueing ps }
        machine desk { cpu 1 core }
        component serve { cpu work; disk 8 kB/request }
        topology { node web = box; node user = desk * N }
        stream job for each user { traffic 1 request, think 4 s; at web { serve } }
        require { job.latency <= 150 ms }
    """,
    "priority": """
        users N in 1..400
        param share = 1 request/s +- 20 % in 0.1 request/s..10 request/s
        machine box { cpu 2 core, queueing priority }
        component order { cpu 5 ms/request }
        component table { cpu 40 ms/request }
        topology { node web = box }
        stream orders for each user { traffic share; at web { order }; priority 1 }
        stream reports for each user { traffic 0.3 * share; at web { table }; priority 2 }
        require { reports.latency <= 150 ms; orders.latency <= 50 ms }
    """,
    "two servers in series": """
        users N in 1..2000
        param page = 8 ms/request +- 10 % in 1 ms/request..1 s/request
        param query = 6 ms/request +- 20 % in 1 ms/request..1 s/request
        machine web_ { cpu 2 core, queueing mmc }
        machine db_ { cpu 1 core, queueing mg1 cv 1.5 }
        component render { cpu page }
        component look { cpu query }
        network wire { switched; rate 1 Gbit/s; queueing none }
        topology { node web = web_; node db = db_; link lan = wire between web, db }
        stream pages for each user {
          traffic 0.5 request/s, 2 kB/request
          at web { render }
          over lan
          at db { look }
        }
        require { pages.p99 <= 250 ms }
    """,
}
"""With and without uncertain inputs, a pool, a closed population, priorities, percentiles."""
_SEED = 20_000
"""Not one that the solver draws with."""
_UNITS = {"held": "s", "work": "s", "page": "s", "query": "s", "share": "request/s"}
"""In which base unit each parameter is drawn."""


def drawn(path: Path, draws: int) -> list[dict[str, str]]:
    """Return settings of all uncertain inputs, one for each draw; none differ without any."""
    spec = load(path)
    numbers = uncertain_numbers(spec.model, spec.configuration((), ()))
    if not numbers:
        return [{} for _ in range(draws)]
    points = np.random.default_rng(_SEED).random((draws, dimensions_of(numbers)))
    values = values_at(numbers, points)
    return [
        {
            name: f"{own[draw]!r}".removeprefix("np.float64(").rstrip(")")
            for name, own in values.items()
        }
        for draw in range(draws)
    ]


def is_supported(path: Path, users: int, values: dict[str, str], seed: int, limit: str) -> bool:
    """Return whether every requirement is met in a simulation with some inputs.

    A simulation that does not reach a steady state supports nobody.
    """
    settings = []
    for name, value in values.items():
        unit = _UNITS[name]
        settings += ["--set", f"{name} = {value} {unit}{'/request' if unit == 's' else ''}"]
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        qps_main(
            [
                *("simulate", str(path), "--at", str(users), *settings, "--seed", str(seed)),
                *("--precision", "3 %", "--time-limit", limit, "--workers", "1"),
                *("--format", "json", "-q"),
            ]
        )
    results = json.loads(output.getvalue())["results"]
    judged = [one for one in results if one["limit"] is not None]
    return bool(judged) and all(one["met_as_simulated"] for one in judged)


def simulated(path: Path, users: int, name: str, arguments: argparse.Namespace) -> int:
    """Return how many draws support a number of users; those in the file are not repeated."""
    keep: Path | None = arguments.keep
    known: dict[str, bool] = {}
    if keep is not None and keep.exists():
        rows = map(json.loads, keep.read_text(encoding="utf-8").splitlines())
        known = {row["key"]: row["is_supported"] for row in rows}
    supported = 0
    for draw, values in enumerate(drawn(path, arguments.draws)):
        key = f"{name}, {users} users, draw {draw}"
        if key not in known:
            known[key] = is_supported(path, users, values, draw + 1, arguments.time_limit)
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "is_supported": known[key]}) + "\n")
        supported += known[key]
    return supported


def main() -> None:
    """Simulate the reliable capacity of each spec, and print how often it is supported."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--time-limit", default="10 s")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", choices=SPECS, help="simulate the reliable capacity of one spec")
    arguments = parser.parse_args()
    capacities: list[tuple[str, Path, int, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        chosen = SPECS if arguments.only is None else {arguments.only: SPECS[arguments.only]}
        for name, text in chosen.items():
            path = Path(folder) / f"{name.replace(' ', '_')}.qps"
            path.write_text(text, encoding="utf-8")
            answer = solved_spec(load(path), (), (), advice=False, sampling=Sampling()).answer
            plain = (
                answer.capacity
                if answer.uncertainty is None
                else answer.uncertainty.at_confidence.capacity
            )
            assert answer.reliable is not None
            capacities.append((name, path, answer.reliable.capacity or 0, plain or 0))
        for is_reliable in (True, False) if arguments.only is None else (True,):
            what = "reliable capacity" if is_reliable else "capacity without model error"
            for name, path, reliable, plain in capacities:
                users = reliable if is_reliable else plain
                met = simulated(path, users, name, arguments)
                print(f"{name}: {what} {users} is met in {met} of {arguments.draws}", flush=True)


if __name__ == "__main__":
    main()
