"""Where requirements begin and cease to fail as one number moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation
from qps.engine.formulas import Formula
from qps.engine.substitution import substituted
from qps.solver.answers.answering import QUALITY
from qps.solver.answers.capacity import excess
from qps.solver.search.boxes import MOST_BOXES, Budget, UndecidedError, first_above
from qps.solver.search.certain_signs import sign_at
from qps.solver.search.critical import critical_points

_HARDLY_APART = Fraction(1, 10**12)
"""So near to a change, as a part of the range, no other is looked for."""


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
    untold: list[tuple[Excess, Fraction]] = []
    for over in excesses:
        if symbol not in over.value.symbols:
            continue
        points = critical_points(over.value, symbol, low, high)
        if points is None:
            points, near = _searched(over, symbol, low, high)
            if near is not None:
                untold += [] if over.is_implied else [(over, near)]
        found |= set(points)
    inside = sorted(point for point in found if low < point < high)
    return inside, _known(excesses, untold, symbol, [low, *inside, high])


def _searched(
    over: Excess, symbol: Formula, low: Fraction, high: Fraction
) -> tuple[tuple[Fraction, ...], Fraction | None]:
    """Return where a criterion without exact treatment begins or ceases to fail, box by box.

    And from where on boxes do not tell; None where they tell of all.
    """
    budget, found, here = Budget(), list[Fraction](), low
    while True:
        start = here + (high - here) * _HARDLY_APART
        fails = over.fails(symbol, start)
        value = -over.value if fails else over.value
        passes = fails is over.strict  # on the limit itself it holds, unless that is strict
        try:
            change = first_above(value, symbol, start, high, budget, passes=passes)
        except UndecidedError as undecided:
            return tuple(found), Fraction(undecided.near)
        if change is None or change.at >= high:
            return tuple(found), None
        if change.at <= start:
            return tuple(found), start
        here = change.at
        found.append(here)


def _known(
    excesses: Sequence[Excess],
    untold: Sequence[tuple[Excess, Fraction]],
    symbol: Formula,
    ends: Sequence[Fraction],
) -> Certainty:
    """Return how it is known that each stretch is acceptable, or not, throughout.

    Where another one fails throughout, nothing else matters.
    """
    known = [over for over in excesses if all(over is not one for one, _ in untold)]
    unseen = dict[str, None]()
    for low, high in pairwise(ends):
        late = [
            one.failure.requirement for one, near in untold if near < high and not one.is_implied
        ]
        if late and not any(over.fails(symbol, (low + high) / 2) for over in known):
            unseen |= dict.fromkeys(late)
    if not unseen:
        return EXACT
    return approximation(
        f"{MOST_BOXES:,} bounds do not tell everywhere whether {listed(unseen, 'and')} holds"
    )
