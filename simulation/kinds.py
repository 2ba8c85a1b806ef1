"""Formulas as plain numbers, for each kind of users and items by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product as combinations

from msgspec import Struct
from msgspec.structs import fields

from qps.compiler.lower import notes as noted
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.mixtures import Mixed
from qps.engine.formulas import Formula
from qps.engine.substitution import Substitution, substituted


class Numbers:
    """Formulas as plain numbers, for one kind of users and items."""

    def __init__(self, graph: LoadGraph, at: int, kind: Mapping[Formula, Formula]) -> None:
        self._point = graph.at(at)
        self._kind = dict(kind)
        self._put_in = Substitution({one.parameter.symbol: one.value for one in graph.elastic})

    def __call__(self, formula: Formula) -> float:
        """Return the value of a formula."""
        if self._kind:
            formula = substituted(formula, self._kind)
        return self._point.number(self._put_in(formula))


def mixtures_in(
    notes: Sequence[noted.Note], mixtures: Mapping[Formula, Mixed]
) -> list[list[Mixed]]:
    """Return the parameters that have values by kinds, those of the same kinds together."""
    if not mixtures:
        return []
    symbols = {symbol for note in notes for one in _formulas(note) for symbol in one.symbols}
    groups: dict[str, list[Mixed]] = {}
    for symbol in sorted(symbols & mixtures.keys(), key=lambda symbol: symbol.name):
        groups.setdefault(mixtures[symbol].of, []).append(mixtures[symbol])
    return list(groups.values())


def apart(mixed: Iterable[list[Mixed]]) -> tuple[list[list[Mixed]], list[list[Mixed]]]:
    """Return those by kinds of users, who send for themselves, and those by kinds of items."""
    of_users, of_items = list[list[Mixed]](), list[list[Mixed]]()
    for one in mixed:
        (of_users if one[0].of_users else of_items).append(one)
    return of_users, of_items


def _formulas(value: object) -> Iterator[Formula]:
    """Yield the formulas in something that was noted."""
    if isinstance(value, Formula):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _formulas(one)
    elif isinstance(value, Struct):
        for one in fields(value):
            yield from _formulas(getattr(value, one.name))


def kinds_of(mixed: Iterable[list[Mixed]]) -> Iterator[tuple[float, dict[Formula, Formula]]]:
    """Yield the share of each kind, or of each of several kinds together, and its values."""
    sides: list[list[tuple[float, dict[Formula, Formula]]]] = []
    for together in mixed:
        each = zip(*(one.each for one in together), strict=True)
        sides.append(
            [
                (
                    float(kind[0][0].exact or 0),
                    {one.symbol: value for one, (_, value) in zip(together, kind, strict=True)},
                )
                for kind in each
            ]
        )
    for chosen in combinations(*sides):
        share, values = 1.0, dict[Formula, Formula]()
        for part, own in chosen:
            share *= part
            values |= own
        if share > 0:
            yield share, values
