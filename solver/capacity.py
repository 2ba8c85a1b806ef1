"""The largest acceptable population: the largest n such that every m <= n is acceptable.

A criterion may fail, hold again and fail again as the population grows; what counts is the
first population at which one fails. It is found exactly, from the critical points of the
criterion; functions that have none (exponentials, roundings) are evaluated at every
population of the range, or the question is refused where the range is too wide for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

import sympy

from qps.compiler import codes
from qps.compiler.diagnostics import QpsError, Sink
from qps.compiler.load_graph import Criterion
from qps.solver.compiled import array_function
from qps.solver.critical import sign_at
from qps.solver.piecewise import Piecewise, piecewise, roots_on
from qps.solver.rational import value_at

WIDEST_RANGE = 1_000_000
"""Populations that are tried one by one where a criterion has no exact treatment."""

_CHUNK = 65_536

_FEW = 16
"""Populations that are tried exactly sooner than a function of arrays is compiled."""

_HAIR = Fraction(1, 10**30)
"""Wider than the error of a root that is isolated, far less than between two that differ."""


def excess(criterion: Criterion) -> sympy.Expr:
    """Return what is above zero where a criterion fails, zero on its limit."""
    gap = criterion.measure - criterion.limit
    return gap if criterion.at_most else -gap


def first_failure(
    over: sympy.Expr,
    population: sympy.Symbol,
    low: int,
    high: int,
    *,
    strict: bool = False,
    name: str = "this requirement",
    until: int | None = None,
) -> int | None:
    """Return the least population in the range where `over` is above zero, None for nowhere.

    `over` has numbers for all assumptions. With `strict`, zero fails too. A population at
    which it has no finite value fails. Populations above `until` do not matter.
    """
    whole = piecewise(over, population, Fraction(low), Fraction(high))
    if whole is None:
        return _first_of_all(over, population, low, high, strict=strict, name=name, until=until)
    # At a seam, perhaps a pole, the expression itself must tell.
    seams = {round(s.near) for s in whole.seams if abs(s.near - round(s.near)) < _HAIR}
    for candidate in _candidates(whole, low, high):
        if until is not None and candidate > until:
            return None
        if candidate in seams:
            failing = fails(over, population, candidate, strict=strict)
        else:
            function = whole.at(Fraction(candidate))
            value = None if function is None else value_at(function, Fraction(candidate))
            failing = value is None or value > 0 or (strict and value == 0)
        if failing:
            return candidate
    return None


def _candidates(whole: Piecewise, low: int, high: int) -> Iterator[int]:
    """Yield the populations at which a function may be the first to be above zero, ascending.

    Between two critical points all populations are alike: the first one tells for all.
    """
    told = low - 1
    for piece in whole.pieces:
        assert piece.end is not None
        inside = [s.near for s in whole.seams if piece.start <= s.near <= piece.end]
        points = [piece.start, *inside, *(root.near for root in roots_on(piece))]
        for candidate in sorted({floor(point) + more for point in points for more in (0, 1)}):
            if told < candidate <= high:
                yield candidate
                told = candidate


def fails(over: sympy.Expr, population: sympy.Symbol, at: int, *, strict: bool) -> bool:
    """Return whether a criterion fails at one population."""
    sign = sign_at(over, population, Fraction(at))
    return sign is None or sign > 0 or (strict and sign == 0)


def _first_of_all(
    over: sympy.Expr,
    population: sympy.Symbol,
    low: int,
    high: int,
    *,
    strict: bool,
    name: str,
    until: int | None,
) -> int | None:
    """Try every population of the range, in chunks of arrays; near the limit, exactly."""
    end = high if until is None else min(high, until)
    if end - low < _FEW:
        every = range(low, end + 1)
        return next((n for n in every if fails(over, population, n, strict=strict)), None)
    if high - low >= WIDEST_RANGE:
        sink = Sink()
        sink.report(
            codes.NO_ANSWER,
            None,
            f"`{name}` is not made of sums, products, quotients, maxima and minima, so that it "
            f"must be tried at every population, and the range has {high - low + 1:,}",
            hint=f"narrow the range of {population} to {WIDEST_RANGE:,} populations",
        )
        raise QpsError(sink.found)
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    compiled = array_function([population], over)
    for start, last in _chunks(low, end):
        at = np.arange(start, last + 1, dtype=float)
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(compiled(at), dtype=float), at.shape)
        doubtful = ~(values < -1e-9 * (1 + np.abs(values)))
        for index in np.flatnonzero(doubtful):
            if fails(over, population, int(at[index]), strict=strict):
                return int(at[index])
    return None


def _chunks(low: int, high: int) -> Iterator[tuple[int, int]]:
    for start in range(low, high + 1, _CHUNK):
        yield start, min(high, start + _CHUNK - 1)
