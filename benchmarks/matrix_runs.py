"""How long matrices take, by size and by cores, and how much memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from math import log10
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import sympy

from qps.compiler import ir
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import load
from qps.engine.expressions.substitution import substituted
from qps.engine.expressions.sympy_algebra import to_sympy
from qps.engine.operations import OPERATIONS
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.compilation.structures import configured
from qps.solver.matrix.execution.local_processes import on_this_machine
from qps.solver.matrix.execution.matrix_run import Parts, as_done
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver
from qps.worker_processes import cores
from timings import ROOT, TimingTable, busy, bytecode_folder, ran

_SMALLEST = 10**3
_ONCE = 10**6
_RUNS = 3
_BARE_ROWS, _BARE_RUNS = 16_384, 40
_STRETCH = 65_536

_AXES = """
matrix benchmark {{
  station  in [ws.ipx, ws.sparc5, ws.alpha]
  lan      in [net.ethernet, net.fibre_channel, net.hippi]
  deletion in [on, off]
  cast     in [unicast, multicast]
  size     in 600..1400 byte/packet, {count} values
  kept     in 50..100 %, {count} values
}}
"""


@dataclass
class Drawn:
    """What goes into the picture: rows a second by size for each number of cores, and memory."""

    rates: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    memory: list[tuple[int, float]] = field(default_factory=list)
    bare: float = 0.0

    def draw(self, path: Path, about: str) -> None:
        """Draw the picture."""
        import matplotlib as mpl  # noqa: PLC0415 - nothing else needs it

        mpl.use("svg")
        mpl.rcParams |= {"svg.hashsalt": "qps", "font.family": "sans-serif", "font.size": 9}
        from matplotlib import pyplot as plt  # noqa: PLC0415

        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for workers, points in self.rates.items():
            label = f"{workers} core{'s' * (workers > 1)}"
            left.loglog(*zip(*points, strict=True), marker="o", label=label)
        left.axhline(self.bare, color="grey", linestyle=":", label="bare numpy, once, 1 core")
        left.set(xlabel="rows of the matrix", ylabel="rows a second", title="solved")
        left.legend()
        right.semilogx(*zip(*self.memory, strict=True), marker="o", color="C2")
        right.set(xlabel="rows of the matrix", ylabel="MB of memory", title="to Parquet")
        right.set_ylim(bottom=0)
        figure.supxlabel(about.partition(";")[0], fontsize=7)
        figure.savefig(path, metadata={"Date": None})


def _sizes(largest: int) -> list[int]:
    return [10**power for power in range(round(log10(_SMALLEST)), round(log10(largest)) + 1)]


def spec(folder: Path, size: int) -> Path:
    """Write the audioconference with a matrix of about so many rows; return its path."""
    count = max(2, round((size / 36) ** 0.5))
    path = folder / "audioconference.qps"
    shutil.copytree(ROOT / "specs" / "audioconference", folder / "audioconference")
    text = (ROOT / "specs" / "audioconference.qps").read_text(encoding="utf-8")
    path.write_text(text + _AXES.format(count=count), encoding="utf-8")
    return path


def _model(size: int) -> ir.Model:
    with tempfile.TemporaryDirectory() as name:
        return load(spec(Path(name), size)).model


# -- by size and by cores ----------------------------------------------------------------


def throughput(largest: int, drawn: Drawn) -> TimingTable:
    """Return how long all parts take that a file is made of, without reading and writing."""
    numbers = sorted({2**k for k in range(10) if 2**k < cores()} | {cores()})
    rows = []
    for size in _sizes(largest):
        model = _model(size)
        start = perf_counter()
        compiled = compile_matrix(model, model.matrices[-1])
        compiling = perf_counter() - start
        runs = 1 if compiled.size > 2 * _ONCE else _RUNS
        took = {n: min(_solved(compiled, n) for _ in range(runs)) for n in numbers}
        for n, (seconds, _) in took.items():
            drawn.rates.setdefault(n, []).append((compiled.size, compiled.size / seconds))
        clock = [f"{took[n][0]:.2f}" for n in numbers]
        cpu = [f"{took[n][1] / compiled.size * 1e6:.2f}" for n in (numbers[0], numbers[-1])]
        rows.append((f"{compiled.size:,}", str(compiled.lowered), f"{compiling:.2f}", *clock, *cpu))
    return TimingTable(
        "Matrices by size and by cores",
        "The audioconference with axes of machines, networks, options and two numbers: compiled "
        "once, then solved to Parquet in memory, the best of three runs up to a million rows. "
        "A part has 65,536 rows; smaller matrices are solved on one core. us: of processors, for "
        "a row, on one core and on all.",
        (
            "rows",
            "structures",
            "compile, s",
            *(f"solve on {n}, s" for n in numbers),
            "us on 1",
            "us on all",
        ),
        tuple(rows),
    )


def _solved(compiled: CompiledMatrix, workers: int) -> tuple[float, float]:
    """Return how long a matrix takes, by the clock and of processors, in s."""
    parts = Parts(compiled, "benchmark", Path())
    start, before = perf_counter(), busy()
    with on_this_machine(compiled, "benchmark", workers) as work:
        for _ in as_done(work, parts.places()):
            pass
    return perf_counter() - start, busy() - before


# -- against numpy -----------------------------------------------------------------------


def against_bare(drawn: Drawn) -> TimingTable:
    """Return what a row costs in evaluations of its loads and measures by numpy alone."""
    model = _model(_ONCE)
    compiled = compile_matrix(model, model.matrices[-1])
    solver, rows = MatrixSolver(compiled), 0
    began = process_time()
    for start in range(0, compiled.size, 4 * _STRETCH):
        stop = min(compiled.size, start + _STRETCH)
        solver.row_blocks(start, stop)
        rows += stop - start
    row = (process_time() - began) / rows * 1e9
    groups = compiled.blocks[0].structure.groups
    one = sum(_bare(model, group.index) for group in groups) / len(groups) * 1e9
    drawn.bare = 1e9 / one
    return TimingTable(
        "A row against numpy",
        "One evaluation of all loads and measures of the row, at one population, by functions of "
        "numpy made of the same formulas, on the same machine. All in ns of a processor.",
        ("", "a row solved", "numpy once", "ratio"),
        (("audioconference", f"{row:.0f}", f"{one:.0f}", f"{row / one:.1f}"),),
    )


def _bare(model: ir.Model, index: tuple[int, ...]) -> float:
    """Return how long numpy alone takes for a row of one structure, in s."""
    matrix = model.matrices[-1]
    graph = lower(model, configured(model, matrix, matrix.axes, index))
    free = [graph.assumptions[n].symbol for n in ("size", "kept") if n in graph.assumptions]
    numbers = {a.symbol: a.value for a in graph.assumptions.values() if a.symbol not in free}
    asked = [resource.load for resource in graph.resources.values()]
    asked += [c.measure for c in all_criteria(graph) if c.span is not None]
    asked += [c.measure for c in all_criteria(graph) if c.name == "quality"]
    arguments = [to_sympy(each) for each in (graph.population, *free)]
    # What numpy lacks in specs without queues.
    words = {
        "max": _reduced(np.maximum),
        "min": _reduced(np.minimum),
        "LambertW": lambda at, branch=0: OPERATIONS["lower_w" if branch else "w"].array(at),
    }
    formulas = [to_sympy(substituted(each, numbers)) for each in asked]
    function = sympy.lambdify(arguments, formulas, [words, "numpy"], cse=True)
    draw = np.random.default_rng(1)
    columns = [draw.integers(2, 60, _BARE_ROWS).astype(float)]
    columns += [draw.uniform(4800, 11200, _BARE_ROWS), draw.uniform(0.5, 1, _BARE_ROWS)]
    columns = columns[: len(free) + 1]
    with np.errstate(all="ignore"):
        function(*columns)
        began = process_time()
        for _ in range(_BARE_RUNS):
            function(*columns)
    return (process_time() - began) / _BARE_RUNS / _BARE_ROWS


def _reduced(of_two: np.ufunc) -> Callable[..., Any]:
    return lambda *operands: reduce(of_two, operands)


# -- whole processes ---------------------------------------------------------------------


def files(largest: int, drawn: Drawn) -> TimingTable:
    """Return what `qps matrix` takes as a whole, and its memory."""
    rows = []
    with bytecode_folder() as bytecode:
        for size in (_SMALLEST, *_sizes(largest)):  # the first one warms up
            with tempfile.TemporaryDirectory() as name:
                path = spec(Path(name), size)
                output = path.with_suffix(".parquet")
                arguments = ["matrix", str(path), "benchmark", "-q", "-o", str(output)]
                found = ran(["-m", "qps", *arguments], Path(bytecode))
                written = output.stat().st_size / 1e6
            drawn.memory.append((size, found.megabytes))
            rows.append(
                (
                    f"{size:,}",
                    f"{found.seconds:.1f}",
                    f"{found.busy:.1f}",
                    f"{found.megabytes:.0f}",
                    f"{written:.1f}",
                )
            )
    del drawn.memory[0]
    return TimingTable(
        "Whole processes that write Parquet",
        "`qps matrix FILE -o results.parquet` on all cores, from its start to its end; memory of "
        "all its processes together, what they share counted once.",
        ("rows", "s", "s of processors", "MB of memory", "MB of file"),
        tuple(rows[1:]),
    )
