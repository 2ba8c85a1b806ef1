"""The model as `--set` makes it at single values of a number: what formulas of it are held against.

With another value a spec may have other formulas: what is done never is no part of it, and what is
equal by chance counts as equal. So its formulas in a number are evaluated again where they have no
value, at the ends of the range, and at a few values besides; where these differ, the answer is
found by values that are set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import count

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import number as number_of
from qps.engine.numerics.bisection import halfway
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.search.trials import Box, tried
from qps.solver.what_if.boundaries import Excess, Failure, excess_of
from qps.solver.what_if.inverse_unknown import Unknown, graphs_at
from qps.solver.what_if.overloads import Overloads

_CLOSE = 1e-10
"""A change between values is closed in on to so small a part of them."""

Sign = int | None
"""Of a criterion at a value; None where it has none."""
_Key = tuple[Failure, bool, bool, int]


class ModelAsSet:
    """A model in which a number is set to values, at a population; each is lowered once."""

    def __init__(
        self, model: ir.Model, configuration: Configuration, number: Unknown, population: int
    ) -> None:
        self._model, self._configuration = model, configuration
        self._number, self._population = number, population
        self._graphs: dict[Fraction, tuple[LoadGraph, ...]] = {}
        self._signs: dict[Fraction, dict[_Key, Sign]] = {}

    def graphs(self, at: Fraction) -> tuple[LoadGraph, ...]:
        """Return the model in each mode; none where it cannot be set so."""
        if at not in self._graphs:
            self._graphs[at] = graphs_at(self._model, self._configuration, self._number, at)
        return self._graphs[at]

    def known(self, at: Fraction) -> tuple[LoadGraph, ...]:
        """Return the same of a value that was evaluated before; none of others."""
        return self._graphs.get(at, ())

    def criteria_with_signs(
        self, excesses: Sequence[Excess], places: Iterable[Fraction]
    ) -> list[Excess]:
        """Return criteria with their signs in the model as it is set to some values."""
        there = {at: self._signs_at(at) for at in places if self.graphs(at)}

        def sign_of(over: Excess, key: _Key) -> Callable[[Fraction], Sign]:
            def sign(at: Fraction) -> Sign:
                known = there.get(at)
                return (
                    over.sign_at(self._number.symbol, at) if known is None else known.get(key, -1)
                )

            return sign

        return self._signed(excesses, sign_of)

    def alone(self, excesses: Sequence[Excess]) -> list[Excess]:
        """Return criteria with their signs in the model as it is set to any value."""

        def sign_of(_: Excess, key: _Key) -> Callable[[Fraction], Sign]:
            # Of what it requests nothing may be left: then nothing fails.
            return lambda at: self._signs_at(at).get(key, -1) if self.graphs(at) else None

        return [replace(one, undecided=()) for one in self._signed(excesses, sign_of)]

    def agrees(self, excesses: Sequence[Excess], places: Iterable[Fraction]) -> bool:
        """Return whether the same criteria fail by formulas and in the model as it is set."""
        symbol = self._number.symbol
        alone = self.alone(excesses)
        return all(
            one.fails(symbol, at) is other.fails(symbol, at)
            for at in places
            if self.graphs(at)
            for one, other in zip(excesses, alone, strict=True)
            if not one.is_undecided(at)
        )

    def changes(self, excesses: Sequence[Excess]) -> tuple[list[Fraction], Certainty] | None:
        """Return the values about which some criterion begins or ceases to fail, as they are tried.

        And how they are known; None where values that are tried do not decide.
        """
        number = self._number

        def fails(at: Fraction) -> bool:
            return any(over.fails(number.symbol, at) for over in excesses)

        box = float(number.low), float(number.high)
        values, changes = tried(fails, box, is_whole=number.is_count)
        if not values:
            return None
        points = [_closed_in(fails, each, is_whole=number.is_count) for each in changes]
        return points, known_by("values-set", number.name, values=values)

    def _signed(
        self,
        excesses: Sequence[Excess],
        sign_of: Callable[[Excess, _Key], Callable[[Fraction], Sign]],
    ) -> list[Excess]:
        return [
            over if over.failure.refused else replace(over, sign_as_set=sign_of(over, key))
            for key, over in _keyed(excesses).items()
        ]

    def _signs_at(self, at: Fraction) -> dict[_Key, Sign]:
        if at not in self._signs:
            own = [one for graph in self.graphs(at) for one in self.excesses_of(graph)]
            signs = (
                (key, one.sign_at(self._number.symbol, at)) for key, one in _keyed(own).items()
            )
            self._signs[at] = dict(signs)
        return self._signs[at]

    def excesses_of(self, graph: LoadGraph) -> list[Excess]:
        """Return the criteria of a graph at the population, as functions of the number."""
        values = {s: value for s, value in graph.values.items() if s != self._number.symbol}
        values[graph.population] = number_of(self._population)
        overloads = Overloads(graph, values)
        return [excess_of(one, graph, values, overloads) for one in all_criteria(graph)]


def _keyed(excesses: Iterable[Excess]) -> dict[_Key, Excess]:
    """Return criteria by what they are in every graph of a model, in their order."""
    found: dict[_Key, Excess] = {}
    for over in excesses:
        keys = ((over.failure, over.at_most, over.strict, n) for n in count())
        found[next(key for key in keys if key not in found)] = over
    return found


def _closed_in(fails: Callable[[Fraction], bool], change: Box, *, is_whole: bool) -> Fraction:
    """Return the value next to a change at which nothing fails."""
    low, high = change
    there = fails(Fraction(high))
    while not is_whole and high - low > _CLOSE * max(abs(low), abs(high)):
        middle = halfway(low, high)
        if not low < middle < high:
            break
        low, high = (low, middle) if fails(Fraction(middle)) is there else (middle, high)
    return Fraction(low if there else high)
