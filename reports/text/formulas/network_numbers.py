"""Formulas of a network as a reader sees them: as numbers, or in the population and what is open.

Of kinds the mean over all of them is shown, as in all answers; elastic parameters are open until a
population is given.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from qps.compiler.lower.expressions.item_kinds import averaged, mixtures_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.dimension import DATA_RATE, INFORMATION, TIME, Dimension
from qps.compiler.quantities.scales import number, percent, plural, quantity, with_unit
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import Substitution
from qps.reports.text.formulas.formula_text import in_population

_LONGEST = 24
"""Characters of a formula that is shown as one."""


class NetworkNumbers:
    """Evaluates the formulas of the network of a load graph, at a population if one is given."""

    def __init__(self, graph: LoadGraph, users: int | None = None) -> None:
        self._graph = graph
        self._users = users
        self.is_shortened = False
        """Whether a formula was too long to be shown."""
        self._mixtures = mixtures_of(graph.network.kinds)
        self._elastic = Substitution({one.parameter.symbol: one.value for one in graph.elastic})

    def value(self, formula: Formula) -> float | None:
        """Return the value of a formula in base units; None where it is open, or has none."""
        formula = self._plain(formula)
        if not self._is_known(formula):
            return None
        users = self._graph.low if self._users is None else self._users
        found = self._graph.at(users).number(formula)
        return found if isfinite(found) else None

    def count(self, formula: Formula) -> str:
        """Return a count: `4`, `N`."""
        return self._text(formula, number, "")

    def factor(self, formula: Formula) -> str:
        """Return the same as a factor: `(N - 1)`."""
        text = self.count(formula)
        return f"({text})" if " " in text and not text.endswith(")") else text

    def time(self, formula: Formula) -> str:
        """Return a time: `10 ms`."""
        return self._text(formula, _written(TIME), " s")

    def size(self, formula: Formula) -> str:
        """Return a size: `1.2 kB`."""
        return self._text(formula, _written(INFORMATION), " bit")

    def share(self, formula: Formula) -> str:
        """Return a share or chance: `20 %`."""
        return self._text(100 * formula, lambda value: percent(value / 100), " %")

    def rate(self, formula: Formula, item: str | None) -> str:
        """Return a rate of items: `50 packets/s`; of bits, where they are no items: `10 Mbit/s`."""
        if item is None:
            return self._text(formula, _written(DATA_RATE), " bit/s")
        unit = f"{item}/s"
        return self._text(formula, lambda value: with_unit(number(value), unit), f" {plural(unit)}")

    def speed(self, formula: Formula) -> str:
        """Return how much a device does in a second: `10 MB/s`, `200 queries/s`."""
        dimension = self._dimension(formula)
        is_of_bits = dimension in (None, DATA_RATE)
        return self.rate(formula, None if is_of_bits else str(dimension).removesuffix("/s"))

    def amount(self, formula: Formula, of: Formula | None) -> str:
        """Return an amount `of` the capacity of a store or pool: `1 MB`, or `2` of threads."""
        is_size = of is not None and self._dimension(of) == INFORMATION
        return self.size(formula) if is_size else self.count(formula)

    def is_one(self, formula: Formula) -> bool:
        """Return whether a formula is 1 whatever the population."""
        return self.value(formula) == 1

    def _dimension(self, formula: Formula) -> Dimension | None:
        """Return the dimension of a number of the spec; None of other formulas."""
        known = self._graph.assumptions.get(formula.name) if formula.is_symbol else None
        return None if known is None else known.dimension

    def _text(self, formula: Formula, write: Callable[[float], str], unit: str) -> str:
        value = self.value(formula)
        if value is not None:
            return write(value)
        formula = self._plain(formula)
        text = in_population(formula, self._graph.values, self._graph.population)
        if len(text) <= _LONGEST:
            return f"{text.replace('*', ' × ')}{unit}"
        rest = sorted(one.name for one in self._graph.valued(formula).symbols)
        self.is_shortened = True
        return f"f({', '.join(rest)})"

    def _plain(self, formula: Formula) -> Formula:
        """Return a formula with the mean over all kinds, and elastic parameters at a population."""
        formula = averaged(formula, self._mixtures)
        return formula if self._users is None else self._elastic(formula)

    def _is_known(self, formula: Formula) -> bool:
        left = self._graph.valued(formula).symbols
        return left <= {self._graph.population} if self._users is not None else not left


def _written(dimension: Dimension) -> Callable[[float], str]:
    return lambda value: quantity(value, dimension)
