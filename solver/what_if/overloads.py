"""Where resources are overloaded, as one number moves, and how what is judged is known there.

A load counts what an overloaded resource has lost, so that what rests on it may be a bound;
elsewhere it is none. Loads cross 1 at points that are found as those are where requirements begin
to fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_where
from qps.compiler.quantities.certainty import Certainty
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.substitution import substituted
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.critical_points import critical_points


class Overloads:
    """The resources at which streams of a graph lose, by the one number that has no value."""

    def __init__(self, graph: LoadGraph, values: Mapping[Formula, Formula]) -> None:
        self._graph, self._values = graph, values

    @cached_property
    def _over(self) -> dict[str, Formula]:
        """By how much the load of each is above 1; for most graphs never requested."""
        names = {name for stream in self._graph.streams.values() for name in stream.saturating}
        return {
            name: substituted(self._graph.resources[name].load, self._values) - number(1)
            for name in sorted(names)
        }

    def points(self, symbol: Formula, low: Fraction, high: Fraction) -> tuple[Fraction, ...] | None:
        """Return the values at which a load may cross 1; None where they are not found."""
        found: set[Fraction] = set()
        for over in self._over.values():
            points = critical_points(over, symbol, low, high) if symbol in over.symbols else ()
            if points is None:
                return None
            found |= set(points)
        return tuple(sorted(found))

    def known(self, criterion: Criterion, symbol: Formula, value: Fraction) -> Certainty:
        """Return how a criterion is known at a value of the number."""
        overloaded = (
            name for name, over in self._over.items() if _is_above_zero(over, symbol, value)
        )
        return known_where(criterion, self._graph.streams, frozenset(overloaded))


def _is_above_zero(over: Formula, symbol: Formula, value: Fraction) -> bool:
    try:
        sign = sign_at(over, symbol, value)
    except UndecidedLimitError:
        return True
    return sign is None or sign > 0
