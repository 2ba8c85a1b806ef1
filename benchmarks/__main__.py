"""Measure how long QPS takes: `python tests/benchmarks`.

Four tables. The first shows how compiling and solving grow with the spec, the second what advice
takes beside an answer, the third what a million recorded packets take beside a sort of as many
numbers; the fourth compares the cold start of `qps check` on a small spec with that of Python
itself and of `import sympy`, side by side in one run. Nothing is asserted: machines differ, the
ratios tell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

SIZES = (10, 100, 1000)
RUNS = 5
PACKETS = 1_000_000
STARTS = 15


def main() -> None:
    """Print all tables."""
    growth()
    print()
    replays()
    print()
    advising()
    print()
    cold_start()


def growth() -> None:
    """Print the time of each stage by the number of components."""
    from generated import spec_of

    from qps.compiler.lower import lower
    from qps.compiler.pipeline import check_source
    from qps.compiler.source import Source
    from qps.solver.solve import solve

    print(f"compile and solve, ms (median of {RUNS})")
    print("components  nodes  streams   check   lower   solve   total  per component")
    for size in (SIZES[0], *SIZES):  # the first one warms up
        source = Source("generated.qps", spec_of(size))
        check, outcome = timed(partial(check_source, source))
        spec = outcome.value
        assert spec is not None, outcome.diagnostics
        configuration = spec.configuration()
        lowering, graph = timed(partial(lower, spec.model, configuration))
        solving, _ = timed(partial(solve, graph))
        total = check + lowering + solving
        groups = max(1, size // 10)
        print(
            f"{size:10,} {groups:6,} {groups:8,} {check:7.1f} {lowering:7.1f} {solving:7.1f} "
            f"{total:7.1f} {total / size:14.2f}"
        )


def replays() -> None:
    """Print how long a million packets take, beside sorting as many numbers, in turns."""
    import numpy as np

    from qps.solver.replay import Thresholds, expanding_time, ignoring_late, monitoring_queue
    from qps.solver.traces import load_trace, measures

    random = np.random.default_rng(1)
    mean_late = {"calm": 5, "wild": 200}
    quarter = Fraction(1, 4)
    print(f"a million packets, ms (median of {RUNS}, run in turns), and against a sort")
    print("trace   read  measures  I and E  monitored   sort   monitored / sort")
    with tempfile.TemporaryDirectory() as folder:
        for name, mean in mean_late.items():
            late = random.exponential(mean, PACKETS)
            arrivals = np.round(np.arange(PACKETS) * 20 + late, 3).tolist()
            path = Path(folder) / f"{name}.csv"
            path.write_text(
                "seq,arrival_ms\n" + "".join(f"{i},{a}\n" for i, a in enumerate(arrivals))
            )
            reading, trace = timed(partial(load_trace, path, Fraction(1, 50), None))
            works = {
                "measures": partial(measures, trace, quarter),
                "I": partial(ignoring_late, trace, quarter),
                "E": partial(expanding_time, trace, quarter),
                "monitored": partial(monitoring_queue, trace, quarter, Thresholds()),
                "sort": partial(np.sort, late),
            }
            times: dict[str, list[float]] = {work: [] for work in works}
            for _ in range(RUNS):
                for work, run in works.items():
                    start = perf_counter()
                    run()
                    times[work].append((perf_counter() - start) * 1000)
            told = {work: median(values) for work, values in times.items()}
            print(
                f"{name:5} {reading:6.0f} {told['measures']:9.0f} {told['I'] + told['E']:8.0f} "
                f"{told['monitored']:10.0f} {told['sort']:6.0f} "
                f"{told['monitored'] / told['sort']:18.1f}"
            )


def advising() -> None:
    """Print the time of advice on the worked specs, and how many times that of an answer it is."""
    from qps.compiler.pipeline import load
    from qps.solver.advice import advise
    from qps.solver.modes import solve_model

    print(f"advice, ms (median of {RUNS})")
    print("spec              solve  advice  advice / solve")
    for path in sorted((ROOT / "specs").glob("*.qps")):
        spec = load(path)
        configuration = spec.configuration()
        solving, solution = timed(partial(solve_model, spec.model, configuration))
        advice, _ = timed(partial(advise, spec.model, configuration, solution))
        print(f"{path.stem:16} {solving:6.0f} {advice:7.0f} {advice / solving:15.1f}")


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Return the median time of some work in ms, and its result."""
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        result = work()
        times.append((perf_counter() - start) * 1000)
    return median(times), result


def cold_start() -> None:
    """Print how long whole processes take, run in turns."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.qps"
        small.write_text((ROOT / "stdlib" / "_start.qps.txt").read_text(encoding="utf-8"))
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "python -c 'import sympy'": [sys.executable, "-c", "import sympy"],
            "qps --help": [sys.executable, "-m", "qps", "--help"],
            "qps check small.qps": [sys.executable, "-m", "qps", "check", str(small)],
            "qps solve small.qps": [sys.executable, "-m", "qps", "solve", str(small)],
        }
        # Bytecode is kept for all of them, as an installed qps has it; the first turn warms up.
        environment = os.environ | {
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(STARTS + 1):
            for name, command in commands.items():
                start = perf_counter()
                subprocess.run(
                    command, check=True, capture_output=True, cwd=folder, env=environment
                )
                if turn:
                    times[name].append((perf_counter() - start) * 1000)
    bare = median(times["python -c pass"])
    print(f"cold start of whole processes, ms (median of {STARTS}, run in turns)")
    for name, values in times.items():
        print(f"{name:26} {median(values):7.1f}   {median(values) / bare:5.1f} x python")


if __name__ == "__main__":
    main()
