"""The largest acceptable population: the largest n such that every m <= n is acceptable.

A criterion may fail, hold again and fail again as the population grows; what counts is the
first population at which one fails. It is found exactly, from the critical points of the
criterion. Of functions that have none (exponentials, roundings), bounds leave most of the range
behind (`boxes.py`); where they do not decide, every population of it is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NoReturn

from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.engine.expressions.algebraic_functions import piecewise
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.memo import memoized
from qps.engine.operations import ROUNDINGS
from qps.solver.search.boxes import MOST_BOXES, UndecidedBoxesError, first_failure_in_boxes
from qps.solver.search.certain_signs import UndecidedLimitError
from qps.solver.search.whole_populations import fails, first_failure_in_pieces

WIDEST_RANGE = 1_000_000
"""Populations that are tried one by one where bounds do not decide."""

_DOUBT = 1e-9

_CHUNK = 65_536

_FEW = 16
"""Populations that are tried exactly sooner than a function of arrays is compiled."""


def excess(criterion: Criterion) -> Formula:
    """Return what is above zero where a criterion fails, zero on its limit."""
    gap = criterion.measure - criterion.limit
    return gap if criterion.at_most else -gap


def excess_shown(criterion: Criterion) -> Formula:
    """Return the same of the value that is shown, which is infinite beyond saturation."""
    return excess(replace(criterion, measure=criterion.value))


def fails_at(graph: LoadGraph, criterion: Criterion, at: int) -> bool:
    """Return whether a criterion fails at a population; NoSignError with its place."""
    over = graph.valued(excess(criterion))
    try:
        return fails(over, graph.population, at, strict=criterion.strict)
    except UndecidedLimitError as no_sign:
        raise no_sign.of(criterion.name, criterion.span) from None


def first_failure(
    over: Formula,
    population: Formula,
    low: int,
    high: int,
    *,
    strict: bool = False,
    name: str = "this requirement",
    until: int | None = None,
    span: Span | None = None,
) -> int | None:
    """Return the least population in the range where `over` is above zero, None for nowhere.

    `over` has numbers for all assumptions. With `strict`, zero fails too. A population at
    which it has no finite value fails. Populations above `until` do not matter.
    """
    try:
        return _first_failure(over, population, low, high, strict, until)
    except UndecidedLimitError as no_sign:
        raise no_sign.of(name, span) from None
    except UndecidedBoxesError as undecided:
        end = high if until is None else min(high, until)
        _refuse(undecided, population, (low, end), name, span)


@memoized
def _first_failure(
    over: Formula,
    population: Formula,
    low: int,
    high: int,
    is_strict: bool,  # noqa: FBT001 - results are kept by position
    until: int | None,
) -> int | None:
    """Return the same: modes and changes have most of what may fail in common."""
    whole = piecewise(over, population, Fraction(low), Fraction(high))
    end = high if until is None else min(high, until)
    if whole is None:
        return _first_without_pieces(over, population, low, end, strict=is_strict)
    return first_failure_in_pieces(whole, over, population, low, end, strict=is_strict)


def _first_without_pieces(
    over: Formula, population: Formula, low: int, end: int, *, strict: bool
) -> int | None:
    """Return the first failure of what is not piecewise rational: by trying all, or by bounds."""
    if end - low < _FEW:
        every = range(low, end + 1)
        return next((n for n in every if fails(over, population, n, strict=strict)), None)
    try:
        return first_failure_in_boxes(over, population, low, end, strict=strict)
    except UndecidedBoxesError:
        if end - low < WIDEST_RANGE:
            return _first_of_all(over, population, low, end, strict=strict)
        raise


def _refuse(
    undecided: UndecidedBoxesError,
    population: Formula,
    ends: tuple[int, int],
    name: str,
    span: Span | None,
) -> NoReturn:
    sink = Sink()
    sink.report(
        codes.UNDECIDED,
        span,
        f"`{name}` is undecided from {population} = {undecided.point:,.6g}: after "
        f"{MOST_BOXES:,} bounds, it is still too close to its limit or jumps too often, and the "
        f"range of {ends[1] - ends[0] + 1:,} populations is too long to try each of them",
        hint=f"narrow the range of {population} to {WIDEST_RANGE:,}, so that each value is tried",
    )
    raise QpsError(sink.found)


def _first_of_all(
    over: Formula, population: Formula, low: int, end: int, *, strict: bool
) -> int | None:
    """Try every population of the range, in chunks of arrays; near the limit, exactly.

    Exactly too where something that is rounded is nearly whole: floats do not determine its side.
    """
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    from qps.engine.execution.array_functions import array_function  # noqa: PLC0415 - imports numpy

    parts = parts_first(over)
    rounded = [part.operands[0] for part in parts if part.word in ROUNDINGS]
    compiled = array_function(population, [over, *rounded])
    for start, last in _chunks(low, end):
        at = np.arange(start, last + 1, dtype=float)
        found = compiled(at)
        values = found[0]
        doubtful = ~(values < -_DOUBT * (1 + np.abs(values)))
        for argument in found[1:]:
            doubtful |= ~(np.abs(argument - np.rint(argument)) > _DOUBT * (1 + np.abs(argument)))
        for index in np.flatnonzero(doubtful):
            if fails(over, population, int(at[index]), strict=strict):
                return int(at[index])
    return None


def _chunks(low: int, high: int) -> Iterator[tuple[int, int]]:
    for start in range(low, high + 1, _CHUNK):
        yield start, min(high, start + _CHUNK - 1)
