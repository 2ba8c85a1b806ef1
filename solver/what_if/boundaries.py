"""Where requirements begin and cease to fail as one number moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation
from qps.engine.bisection import bisected
from qps.engine.formulas import Formula
from qps.engine.substitution import substituted
from qps.solver.answers.answering import QUALITY
from qps.solver.answers.capacity import excess
from qps.solver.search.between import Budget, is_settled_between
from qps.solver.search.bounds import Curve
from qps.solver.search.certain_signs import sign_at
from qps.solver.search.critical import critical_points

_GRID = 2000


class Failure(Struct, frozen=True):
    """A requirement that fails, and the mode in which it does; None outside of any.

    Where it is `refused`, it is no requirement: the words tell which value the spec refuses.
    """

    requirement: str
    mode: str | None
    refused: bool = False


class Excess(Struct, frozen=True, kw_only=True):
    """A criterion of a mode as a function of one number: above zero where it fails.

    `known` is how its measure is known wherever it may fail, `at_most` on which side its limit is.
    The quality of one axis `is_implied`: it fails where that does.
    """

    failure: Failure
    value: Formula
    strict: bool
    is_axis: bool = False
    known: Certainty = EXACT
    at_most: bool = True
    is_implied: bool = False

    def fails(self, symbol: Formula, at: Fraction) -> bool:
        """Return whether it fails at a value of the number."""
        sign = sign_at(self.value, symbol, at)
        return sign is None or sign > 0 or (self.strict and sign == 0)


def over_of(criterion: Criterion, graph: LoadGraph, values: Mapping[Formula, Formula]) -> Excess:
    """Return a criterion of a graph as a function of the one number that has no value."""
    axes = sum(other.axis is not None for other in graph.criteria)
    return Excess(
        failure=Failure(criterion.name, graph.mode),
        value=substituted(excess(criterion), values),
        strict=criterion.strict,
        is_axis=criterion.axis is not None,
        known=criterion.known_in_series,
        at_most=criterion.at_most,
        is_implied=axes == 1
        and criterion.name == QUALITY
        and graph.metric is not ir.Metric.FORMULA,
    )


def boundaries_known(
    excesses: Sequence[Excess], symbol: Formula, low: Fraction, high: Fraction
) -> tuple[list[Fraction], Certainty]:
    """Return every value between two at which a criterion may begin or cease to fail.

    And how it is known that there are no others.
    """
    found: set[Fraction] = set()
    bracketed = []
    for over in excesses:
        if symbol not in over.value.symbols:
            continue
        points = critical_points(over.value, symbol, low, high)
        if points is None:
            bracketed.append(over)
            found |= set(_bracketed(over, symbol, low, high))
        else:
            found |= set(points)
    inside = sorted(point for point in found if low < point < high)
    return inside, _unseen(excesses, bracketed, symbol, [low, *inside, high])


def _unseen(
    excesses: Sequence[Excess],
    bracketed: Sequence[Excess],
    symbol: Formula,
    ends: Sequence[Fraction],
) -> Certainty:
    """Return how it is known that each stretch is acceptable, or not, throughout.

    Where one that is treated exactly fails throughout, nothing else matters.
    """
    budget, unseen = Budget(), dict[str, None]()
    for low, high in pairwise(ends):
        failing = [over for over in excesses if over.fails(symbol, (low + high) / 2)]
        if any(over not in bracketed for over in failing):
            continue
        settled = {
            over.failure.requirement: is_settled_between(
                Curve(over.value, symbol), low, high, partial(over.fails, symbol), budget
            )
            for over in failing or bracketed
            if not over.is_implied
        }
        if not (any if failing else all)(settled.values()):
            unseen |= {name: None for name, is_settled in settled.items() if not is_settled}
    if not unseen:
        return EXACT
    return approximation(
        f"{listed(unseen, 'and')} was tried at {_GRID:,} values, and not between them"
    )


def _bracketed(over: Excess, symbol: Formula, low: Fraction, high: Fraction) -> Iterable[Fraction]:
    """Yield where a criterion without exact treatment begins or ceases to fail, from a grid on."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    from qps.engine.functions import array_function  # noqa: PLC0415 - imports numpy

    space = np.geomspace if low > 0 else np.linspace
    grid = space(float(low), float(high), _GRID)
    with np.errstate(all="ignore"):
        (real,) = array_function(symbol, [over.value])(grid)
    holds = np.isfinite(real) & ((real < 0) | ((real == 0) & (not over.strict)))

    def fails(at: float) -> bool:
        return over.fails(symbol, Fraction(at))

    for i in np.flatnonzero(holds[1:] != holds[:-1]):
        start, end = float(grid[i]), float(grid[i + 1])
        begins = fails(end)
        if begins is not fails(start):
            yield Fraction(bisected(lambda at: fails(at) is begins, start, end))  # noqa: B023 - asked at once
