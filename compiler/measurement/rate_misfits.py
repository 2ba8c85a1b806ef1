"""Why a fit by rates misses rows that it has not seen: the smallest and largest items, steps.

The demand of an item and that of its bytes (or of a batch) are one line over the size of an item.
Where small items are handled together, or large ones in another way, the rows of these sizes lie
beside it, and each decides the numbers. A row between others that lies beside it differs from them
by something that no column says, or sizes do not count in proportion. Work that is done
in steps (batches, tiles, segments) takes a jump between neighbors of nearly the same rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from qps.compiler.measurement.regression import LARGE_RESIDUAL, Regression
from qps.compiler.quantities.dimension import INFORMATION_BASE

_TWO = 2
_SAME = 1.02
"""Rates that differ by less are nearly the same."""
_JUMP = 1.05
"""How many times as large the load is after a jump."""


class RateMisfit(Struct, frozen=True):
    """A cause by its name, the line that shows it, and by how much a fit without it is off."""

    cause: str
    line: int
    error: float
    other: int = 0


def misfit_causes(found: Regression) -> Iterator[RateMisfit]:
    """Yield why a fit to the other rows would miss some, one row of each cause."""
    yield from _steps(found)
    fit, runs = found.fit, found.fit.runs
    if len(fit.terms) != _TWO:
        return
    first, second, *_ = runs.rates  # then those of curves
    if fit.terms[1].item != INFORMATION_BASE:  # images and batches: the size of a batch
        first, second = second, first
    # Compared with each other alone, so the units of the columns do not matter.
    above, below = second.whole, first.whole
    sizes = {i: above[i] / below[i] for i in runs.used if above[i] and below[i]}
    if not sizes or min(sizes.values()) == max(sizes.values()):
        return
    least, most = min(sizes.values()), max(sizes.values())
    for name, rows in (
        ("smallest", [i for i, size in sizes.items() if size == least]),
        ("largest", [i for i, size in sizes.items() if size == most]),
        ("between", [i for i, size in sizes.items() if least < size < most]),
    ):
        errors = ((found.unseen_error(row), row) for row in rows)
        error, row = max(errors, key=lambda one: abs(one[0]), default=(0.0, 0))
        if abs(error) > LARGE_RESIDUAL:
            cause = f"{name}_{'cheaper' if error > 0 else 'dearer'}"
            yield RateMisfit(cause, runs.lines[row], error)


def _steps(found: Regression) -> Iterator[RateMisfit]:
    """Yield the largest jump between neighbors of nearly the same rates."""
    runs = found.fit.runs
    if len(runs.rates) != 1:
        return
    (rate,) = runs.rates
    rows = sorted((float(rate[i]), float(runs.load[i]), i) for i in runs.used)
    jumps = [
        (high / low - 1, runs.lines[j], runs.lines[i])
        for (at, low, i), (beyond, high, j) in pairwise(rows)
        if 0 < at < beyond < _SAME * at and low > 0 and high > _JUMP * low
    ]
    if jumps:
        jump, line, other = max(jumps)
        yield RateMisfit("step", line, jump, other)
