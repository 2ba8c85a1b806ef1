"""How long the stages take by the size of a spec, what advice costs, and a million packets."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from generated import spec_of
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source, load
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.worst_mode import solve_model
from qps.solver.traces.recorded_jitter import load_trace, measures
from qps.solver.traces.replay import Thresholds, expanding_time, ignoring_late, monitoring_queue
from qps.solver.what_if.advice import advise
from timings import ROOT, RUNS, TimingTable, in_turns, timed

_SIZES = (10, 100, 1000)
_PACKETS = 1_000_000
_ADVICE_RUNS = 3


def growth() -> TimingTable:
    """Return the time of each stage by the number of components."""
    rows = []
    for size in (_SIZES[0], *_SIZES):  # the first one warms up
        source = Source("generated.qps", spec_of(size))
        check, outcome = timed(partial(check_source, source))
        spec = outcome.value
        assert spec is not None, outcome.diagnostics
        configuration = spec.configuration()
        lowering, graph = timed(partial(lower, spec.model, configuration))
        solving, _ = timed(partial(solve, graph))
        total = check + lowering + solving
        groups = max(1, size // 10)
        rows.append(
            (
                f"{size:,}",
                f"{groups:,}",
                *(f"{took:.1f}" for took in (check, lowering, solving, total)),
                f"{total / size:.2f}",
            )
        )
    return TimingTable(
        "Compiling and solving by the size of the spec",
        f"In ms, the median of {RUNS}. A tenth as many nodes, links and streams as components.",
        ("components", "streams", "check", "lower", "solve", "total", "for each component"),
        tuple(rows[1:]),
    )


def advising() -> TimingTable:
    """Return the time of advice on the worked specs, and how many times that of an answer it is."""
    rows = []
    for path in sorted((ROOT / "specs").glob("*.qps")):
        spec = load(path)
        configuration = spec.configuration()
        solving, solution = timed(partial(solve_model, spec.model, configuration), _ADVICE_RUNS)
        advice, _ = timed(partial(advise, spec.model, configuration, solution), _ADVICE_RUNS)
        rows.append((path.stem, f"{solving:.0f}", f"{advice:.0f}", f"{advice / solving:.1f}"))
    return TimingTable(
        "Answers and advice for the worked specs",
        f"In ms, the median of {_ADVICE_RUNS}: advice tries every single change.",
        ("spec", "solve", "advice", "advice / solve"),
        tuple(rows),
    )


def replays() -> TimingTable:
    """Return how long a million packets take, beside sorting as many numbers."""
    random = np.random.default_rng(1)
    mean_late = {"calm": 5, "wild": 200}
    quarter = Fraction(1, 4)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, mean in mean_late.items():
            late = random.exponential(mean, _PACKETS)
            arrivals = np.round(np.arange(_PACKETS) * 20 + late, 3).tolist()
            path = Path(folder) / f"{name}.csv"
            path.write_text(
                "seq,arrival_ms\n" + "".join(f"{i},{a}\n" for i, a in enumerate(arrivals))
            )
            reading, trace = timed(partial(load_trace, path, Fraction(1, 50), None), 1)
            took = in_turns(
                {
                    "measures": partial(measures, trace, quarter),
                    "I": partial(ignoring_late, trace, quarter),
                    "E": partial(expanding_time, trace, quarter),
                    "monitored": partial(monitoring_queue, trace, quarter, Thresholds()),
                    "sort": partial(np.sort, late),
                }
            )
            columns = (reading, took["measures"], took["I"] + took["E"], took["monitored"])
            ratio = took["monitored"] / took["sort"]
            rows.append((name, *(f"{c:.0f}" for c in (*columns, took["sort"])), f"{ratio:.1f}"))
    return TimingTable(
        "A million recorded packets",
        f"In ms, the median of {RUNS}, run in turns, against a sort of as many numbers.",
        ("trace", "read", "measures", "I and E", "monitored", "sort", "monitored / sort"),
        tuple(rows),
    )
