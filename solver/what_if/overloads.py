"""Where resources in a row are overloaded together, as one number moves.

There a load counts what another resource has lost, so that what rests on it is a bound; elsewhere
it is none. Loads cross 1 at points that are found as those are where requirements begin to fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.losses_in_series import in_series, in_series_anywhere
from qps.engine.formulas import Formula, number
from qps.engine.substitution import substituted
from qps.solver.search.certain_signs import NoSignError, sign_at
from qps.solver.search.critical import critical_points


class Overloads:
    """The resources of a graph that lose in series, by the one number that has no value."""

    def __init__(self, graph: LoadGraph, values: Mapping[Formula, Formula]) -> None:
        names = {name for each in in_series_anywhere(graph.streams).values() for name in each}
        self._streams = graph.streams
        self._over = {
            name: substituted(graph.resources[name].load, values) - number(1)
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

    def at(self, symbol: Formula, value: Fraction) -> bool:
        """Return whether any stream loses in series at a value of the number."""
        overloaded = (
            name for name, over in self._over.items() if _is_above_zero(over, symbol, value)
        )
        return bool(in_series(self._streams, frozenset(overloaded)))


def _is_above_zero(over: Formula, symbol: Formula, value: Fraction) -> bool:
    try:
        sign = sign_at(over, symbol, value)
    except NoSignError:
        return True
    return sign is None or sign > 0
