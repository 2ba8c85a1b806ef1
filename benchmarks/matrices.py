"""Measure how long matrices take: `python tests/benchmarks/matrix.py [LARGEST] [-o FILE.md]`.

Three tables: throughput by size and cores, what a row costs against one bare numpy evaluation of
the same loads and measures at one population, and the memory of whole processes that write Parquet.
Processor time stands beside time by the clock, which other work on the machine disturbs. Nothing is
asserted: machines differ, the ratios tell.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src")]

import numpy as np  # noqa: E402

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
_BARE_ROWS, _BARE_RUNS = 16_384, 40

AXES = """
matrix benchmark {{
  station  in [ws.ipx, ws.sparc5, ws.alpha]
  lan      in [net.ethernet, net.fibre_channel, net.hippi]
  deletion in [on, off]
  cast     in [unicast, multicast]
  size     in 600..1400 byte/packet, {count} values
  kept     in 50..100 %, {count} values
}}
"""


def main() -> None:
    """Print the tables, and write them to a file where one is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("largest", nargs="?", type=int, default=10**6)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    sizes = [size for size in SIZES if size <= arguments.largest]
    lines = [
        _machine(),
        "",
        *throughput(sizes),
        "",
        *against_bare(),
        "",
        *memory(sizes),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)


def _machine() -> str:
    python = platform.python_version()
    load = os.getloadavg()[0]
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {python}, numpy {np.__version__}; "
        f"other work on the machine: a load of {load:.1f}"
    )


def spec(folder: Path, size: int) -> Path:
    """Write the audioconference with a matrix of about so many rows; return its path."""
    count = max(2, round((size / 36) ** 0.5))
    path = folder / "audioconference.qps"
    if not path.exists():
        shutil.copytree(ROOT / "specs" / "audioconference", folder / "audioconference")
    text = (ROOT / "specs" / "audioconference.qps").read_text(encoding="utf-8")
    path.write_text(text + AXES.format(count=count), encoding="utf-8")
    return path


def throughput(sizes: list[int]) -> list[str]:
    """Return how long solving takes, without reading the spec and without writing a file."""
    from concurrent.futures import ThreadPoolExecutor

    from qps.compiler.pipeline import load
    from qps.solver.matrix.compiling import compile_matrix
    from qps.solver.matrix.rows import MatrixSolver

    lines = ["| rows | structures | compile, s | solve on 1 core, s | on all, s | cpu, us a row |"]
    lines.append("|---:|---:|---:|---:|---:|---:|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            model = load(spec(Path(name), size)).model
        start = perf_counter()
        compiled = compile_matrix(model, model.matrices[-1])
        compiling = perf_counter() - start
        stretches = [(a, min(compiled.size, a + 65_536)) for a in range(0, compiled.size, 65_536)]
        times = []
        for workers in (1, os.cpu_count() or 1):
            solver = MatrixSolver(compiled)
            start, busy = perf_counter(), process_time()
            with ThreadPoolExecutor(workers) as pool:
                for future in [pool.submit(solver.stretch, *one) for one in stretches]:
                    future.result()
            times.append((perf_counter() - start, process_time() - busy))
        lines.append(
            f"| {compiled.size:,} | {compiled.lowered} | {compiling:.2f} | {times[0][0]:.2f} | "
            f"{times[1][0]:.2f} | {times[0][1] / compiled.size * 1e6:.2f} |"
        )
    return lines


def against_bare() -> list[str]:
    """Return what a row costs in evaluations of its loads and measures by numpy alone."""
    from qps.compiler.lower import lower
    from qps.compiler.pipeline import load
    from qps.solver.compiled import array_function
    from qps.solver.matrix.compiling import compile_matrix
    from qps.solver.matrix.rows import MatrixSolver
    from qps.solver.matrix.structure import configured
    from qps.solver.solve import all_criteria

    with tempfile.TemporaryDirectory() as name:
        model = load(spec(Path(name), 10**6)).model
    matrix = model.matrices[-1]
    compiled, busy = compile_matrix(model, matrix), 0.0
    solver = MatrixSolver(compiled)
    rows = 0
    for start in range(0, compiled.size, 262_144):
        stop = min(compiled.size, start + 65_536)
        began = process_time()
        solver.stretch(start, stop)
        busy, rows = busy + process_time() - began, rows + stop - start
    bare = []
    for group in compiled.blocks[0].structure.groups:
        graph = lower(model, configured(model, matrix, matrix.axes, group.index))
        free = [graph.assumptions[n].symbol for n in ("size", "kept") if n in graph.assumptions]
        numbers = {a.symbol: a.value for a in graph.assumptions.values() if a.symbol not in free}
        asked = [r.load for r in graph.resources.values()]
        asked += [c.measure for c in all_criteria(graph) if c.span is not None]
        asked += [c.measure for c in all_criteria(graph) if c.name == "quality"]
        function = array_function(
            [graph.population, *free], [expr.xreplace(numbers) for expr in asked]
        )
        draw = np.random.default_rng(1)
        columns = [draw.integers(2, 60, _BARE_ROWS).astype(float)]
        columns += [draw.uniform(4800, 11200, _BARE_ROWS), draw.uniform(0.5, 1, _BARE_ROWS)]
        with np.errstate(all="ignore"):
            function(*columns[: len(free) + 1])
            began = process_time()
            for _ in range(_BARE_RUNS):
                function(*columns[: len(free) + 1])
        bare.append((process_time() - began) / _BARE_RUNS / _BARE_ROWS)
    row, one = busy / rows * 1e9, sum(bare) / len(bare) * 1e9
    return [
        "| a row solved, ns of cpu | loads and measures once by numpy, ns | ratio |",
        "|---:|---:|---:|",
        f"| {row:.0f} | {one:.0f} | {row / one:.1f} |",
    ]


# The most memory as the kernel has it for this program: what getrusage tells includes that of
# the process which started it.
_MEASURED = """
import re, sys, time
from qps.cli import main
status = main(["matrix", *sys.argv[1:]])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(time.process_time(), peak[1])
sys.exit(status)
"""


def memory(sizes: list[int]) -> list[str]:
    """Return the largest memory of processes that write Parquet."""
    lines = [
        "| rows to Parquet | s | cpu, s | MB of memory | MB of file |",
        "|---:|---:|---:|---:|---:|",
    ]
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            path = spec(Path(name), size)
            output = path.with_suffix(".parquet")
            start = perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", _MEASURED, str(path), "benchmark", "-q", "-o", str(output)],
                check=True,
                capture_output=True,
                text=True,
                env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            )
            took = perf_counter() - start
            busy, kilobytes = map(float, done.stdout.split())
            written = output.stat().st_size / 1e6
        lines.append(
            f"| {size:,} | {took:.1f} | {busy:.1f} | {kilobytes / 1024:.0f} | {written:.1f} |"
        )
    return lines


if __name__ == "__main__":
    main()
