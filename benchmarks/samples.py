"""What samples take beyond the solve: a spec as it is, or three of its numbers off by 5 %."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, load
from qps.compiler.pipeline import check_source as checked
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty.interval_result import Sampling, Uncertainty
from qps.solver.uncertainty.prediction_interval import capacity_uncertainty
from timings import ROOT, TimingTable

_NUMBERS = 3
_COST = re.compile(
    r"\b[a-z]\w* \d[\d_.]* (?:ms|s|us|minute|hour)/[a-z]\w*(?![^\n]*\+-)(?!\s*[\^*/])"
)


def beyond_the_solve() -> TimingTable:
    """Return for every spec of the repository what its samples take, the worst first."""
    rows = []
    for pattern in ("applications/*.qps", "*.qps", "textbook/*/*.qps"):
        for file in sorted((ROOT / "specs").glob(pattern)):
            rows += list(_of(file))
    rows.sort(key=lambda row: -float(row[3]))
    return TimingTable(
        "Samples of uncertain numbers",
        "In seconds of processor: 10,000 samples, and those that tell what to measure next. Specs "
        "that say how far off their numbers may be are taken as they are; of others the first "
        "three params that may be so are given `+- 5 %`, or the first three costs where there are "
        "none. Specs that have neither, or none that may be, are left out. By "
        "surfaces: requirements and loads that are told of as many samples and no more, and the "
        "largest error of where they fail.",
        ("spec", "numbers", "solve", "beyond", "by surfaces", "points", "error"),
        tuple(rows),
    )


def _of(file: Path) -> Iterator[tuple[str, ...]]:
    name = file.relative_to(ROOT / "specs").as_posix()
    spec = load(file)
    settings = () if uncertain_in(spec.configuration()) else _settings(spec)
    if not settings and not uncertain_in(spec.configuration()):
        text, count = _COST.subn(r"\g<0> +- 5 %", file.read_text(encoding="utf-8"), _NUMBERS)
        found = checked(Source(str(file), text)).value if count else None
        if found is None:
            return
        spec = found
    configuration = spec.configuration(settings=settings)
    numbers = len(uncertain_in(configuration))
    if not numbers:
        return
    start = process_time()
    try:
        solution = solve_model(spec.model, configuration)
        solved = process_time()
        told = capacity_uncertainty(spec.model, configuration, solution, Sampling())
    except QpsError:  # such as whole numbers, of which no sample can be
        return
    assert told is not None
    times = f"{solved - start:.2f}", f"{process_time() - solved:.2f}"
    yield (name, str(numbers), *times, *_surfaces(told))


def _settings(spec: Spec) -> tuple[str, ...]:
    """Return settings that make the first params of a spec uncertain that may be so."""
    found: tuple[str, ...] = ()
    for parameter in spec.model.parameters:
        if len(found) == _NUMBERS:
            break
        more = (*found, f"{parameter.name}={' '.join(parameter.value_span.text.split())} +- 5 %")
        try:
            if len(uncertain_in(spec.configuration(settings=more))) == len(more):
                found = more
        except QpsError:
            continue
    return found


def _surfaces(told: Uncertainty) -> tuple[str, str, str]:
    found = told.surrogate_models
    if not found:
        return "0", "", ""
    error = max(one.error for one in found)
    return str(len(found)), str(max(one.points for one in found)), f"{100 * error:.2g} %"
