"""Formulas as plain numbers, for each kind of users and items by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product as combinations

from qps.compiler.network.classes import ItemKinds
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import substituted
from qps.simulation.operating_point import OperatingPoint


class ClassValues:
    """Formulas as plain numbers, for one kind of users and items."""

    def __init__(self, point: OperatingPoint, kind: Mapping[Formula, Formula]) -> None:
        self._values = point.values
        self._kind = dict(kind)
        self._put_in = point.elastic

    def __call__(self, formula: Formula) -> float:
        """Return the value of a formula."""
        if self._kind:
            formula = substituted(formula, self._kind)
        return self._values.number(self._put_in(formula))


def each_of(kinds: Iterable[ItemKinds]) -> Iterator[tuple[float, dict[Formula, Formula]]]:
    """Yield the share of each kind, or of each of several kinds together, and its values."""
    sides = [
        [
            (float(share.exact or 0), {one: values[index] for one, values in all_of.values.items()})
            for index, share in enumerate(all_of.shares)
        ]
        for all_of in kinds
    ]
    for chosen in combinations(*sides):
        share, values = 1.0, dict[Formula, Formula]()
        for part, own in chosen:
            share *= part
            values |= own
        if share > 0:
            yield share, values
