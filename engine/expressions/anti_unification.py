"""Formulas that are alike but for numbers, as one formula in which these are leaves.

That is their least general generalization (Plotkin 1970), with sums taken as they are: a term that
only some of them have gets a leaf as its coefficient, which is zero for the others. So it is with
what an option adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from qps.engine.expressions.formula_parts import terms_of, whole_exponent
from qps.engine.expressions.formulas import (
    ONE,
    Formula,
    apply,
    number,
    product,
    symbol,
    total,
)
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.leaves import NUMBER
from qps.engine.operations import EXTREMES, POWER, PRODUCT, ROUNDINGS, SUM

Column = tuple[Fraction, ...]
"""A number for each of the formulas."""
Several = tuple[Formula, ...]
"""Formulas that one is to stand for; or the factors of one product."""
_Term = tuple[Fraction, Several]
_Part = TypeVar("_Part")

_MOST_MORE = 2
"""Times as many terms that a sum may have as the longest of those that it stands for."""
_NOTHING = Fraction(0)


class NotAlikeError(Exception):
    """Raised for formulas that differ by more than numbers."""


class Generalization:
    """Formulas generalized together; `leaves` are the symbols that are new, by their numbers.

    `values` are the numbers of symbols, for each of the formulas. Symbols that have none vary.
    """

    def __init__(self, values: Sequence[Mapping[Formula, Formula]]) -> None:
        self.leaves: dict[Column, Formula] = {}
        self._values = values
        self._points = [EvaluationPoint(own) for own in values]
        self._known: dict[Several, Formula | None] = {}
        self._have_values = frozenset().union(*values)
        self._is_finite: dict[Formula, bool] = {}

    def of(self, several: Several) -> Formula:
        """Return the formula that stands for several; NotAlikeError where there is none."""
        first = several[0]
        if all(one is first for one in several):
            return first
        if several not in self._known:
            self._known[several] = None  # that of those that are not alike
            plain = self._plain(several)
            self._known[several] = self._whole(several) if plain is None else self.leaf(plain)
        known = self._known[several]
        if known is None:
            raise NotAlikeError
        return known

    def valued(self, one: Formula) -> Formula | None:
        """Return the number of a symbol, or a leaf where it has several; None where it varies.

        Those that have no such symbol take what it is in none times.
        """
        found = [values.get(one) for values in self._values]
        known = next((value for value in found if value is not None), None)
        if known is None or all(value is known or value is None for value in found):
            return known
        return self.leaf(known if value is None else value for value in found)

    def leaf(self, numbers: Iterable[Formula]) -> Formula:
        """Return what stands for numbers: the number itself where all are the same."""
        return self._leaf(tuple(_fraction(one.value) for one in numbers))

    def _leaf(self, column: Column) -> Formula:
        if len(set(column)) == 1:
            return number(column[0])
        known = self.leaves.get(column)
        if known is None:
            known = self.leaves[column] = symbol(f"leaf {len(self.leaves)}")
        return known

    def _plain(self, several: Several) -> list[Formula] | None:
        """Return the numbers that formulas are, if all of them are numbers or symbols of some."""
        found = []
        for one, values in zip(several, self._values, strict=True):
            value = one if one.word == NUMBER else values.get(one)
            if value is None:
                return None
            found.append(value)
        return found

    # -- sums ----------------------------------------------------------------------------

    def _whole(self, several: Several) -> Formula:
        try:
            return self._sum(several)
        except NotAlikeError:
            written_out = tuple(map(_written_out, several))
            if written_out == several:
                raise
        return self.of(written_out)

    def _sum(self, several: Several) -> Formula:
        lines = [{factors: _fraction(c) for c, factors in terms_of(one)} for one in several]
        everywhere = frozenset(lines[0]).intersection(*lines[1:])
        common = [
            product((self._leaf(tuple(line[factors] for line in lines)), *factors))
            for factors in lines[0]
            if factors in everywhere
        ]
        rest: dict[object, list[list[_Term]]] = {}
        for number_of_line, line in enumerate(lines):
            for factors, c in line.items():
                if factors not in everywhere:
                    own = rest.setdefault(self._kind(factors), [[] for _ in lines])
                    own[number_of_line].append((c, factors))
        return total((*common, *(term for own in rest.values() for term in self._rest(own))))

    def _kind(self, factors: Several) -> tuple[str, ...]:
        """Return what terms have in common that may be alike: their operations, but for numbers."""
        return tuple(sorted(one.word for one in factors if not one.symbols <= self._have_values))

    def _rest(self, rest: Sequence[list[_Term]]) -> list[Formula]:
        """Return what stands for terms of one kind that not all have: in pairs, else none times."""
        for own in rest:
            own.sort(key=lambda term: [_looks(one) for one in term[1]])
        try:
            return [self._term(column) for column in _columns(rest)]
        except NotAlikeError:
            return self._some(rest)

    def _some(self, rest: Sequence[Sequence[_Term]]) -> list[Formula]:
        """Return terms that some have and others have none times."""
        lines = [{factors: c for c, factors in own} for own in rest]
        every = dict.fromkeys(factors for line in lines for factors in line)
        if len(every) > _MOST_MORE * max(map(len, lines)):
            raise NotAlikeError
        if not all(self._is_always_finite(one) for factors in every for one in factors):
            raise NotAlikeError
        return [
            product((self._leaf(tuple(line.get(factors, _NOTHING) for line in lines)), *factors))
            for factors in every
        ]

    def _term(self, terms: Sequence[_Term]) -> Formula:
        """Return what stands for terms of the same form."""
        common, rest = _without_common([factors for _, factors in terms])
        coefficients, left = [], []
        each = zip(terms, rest, self._values, self._points, strict=True)
        for (c, _), factors, values, point in each:
            coefficient, others = c, []
            for factor in factors:
                value = point.exact(factor) if factor.symbols <= values.keys() else None
                if isinstance(value, Fraction):
                    coefficient *= value
                else:
                    others.append(factor)
            coefficients.append(coefficient)
            left.append(sorted(others, key=_looks))
        parts = [self._factor(column) for column in _columns(left)]
        return product((self._leaf(tuple(coefficients)), *common, *parts))

    # -- other operations ----------------------------------------------------------------

    def _factor(self, several: Several) -> Formula:
        """Return what stands for formulas that are no products."""
        words = {one.word for one in several}
        if words == {SUM}:
            return self.of(several)
        if len(words) > 1 or any(one.is_symbol for one in several):
            raise NotAlikeError
        (word,) = words
        operands: list[Several] = [one.operands for one in several]
        if word in EXTREMES:
            # What stands twice among operands changes nothing.
            longest = max(map(len, operands))
            operands = [own + own[-1:] * (longest - len(own)) for own in operands]
        columns = list(_columns(operands))
        if word == POWER and len(set(columns[1])) > 1:
            raise NotAlikeError
        return apply(word, *map(self.of, columns))

    def _is_always_finite(self, whole: Formula) -> bool:
        """Return whether a formula surely has a finite value, whatever its symbols come to."""
        known = self._is_finite.get(whole)
        if known is None:
            known = self._is_finite[whole] = self._has_value(whole)
        return known

    def _has_value(self, whole: Formula) -> bool:
        if whole.word == NUMBER:
            return whole.exact is not None
        if whole.is_symbol:
            return True
        if whole.word in (SUM, PRODUCT, *EXTREMES, *ROUNDINGS):
            return all(map(self._is_always_finite, whole.operands))
        exponent = whole_exponent(whole)
        if exponent is None:
            return False
        base = whole.operands[0]
        return self._is_always_finite(base) if exponent > 0 else self._is_never_zero(base)

    def _is_never_zero(self, base: Formula) -> bool:
        if base.is_population:
            return True
        known = [value for values in self._values if (value := values.get(base)) is not None]
        return bool(known) and all(value.exact for value in known)


def _fraction(value: object) -> Fraction:
    if not isinstance(value, Fraction):
        raise NotAlikeError
    return value


def _written_out(whole: Formula) -> Formula:
    """Return a sum with a sum in each of its terms multiplied out."""
    terms = []
    for c, factors in terms_of(whole):
        inner = next((one for one in factors if one.word == SUM), ONE)
        others = [one for one in factors if one is not inner]
        parts = inner.operands if inner.word == SUM else (inner,)
        terms += [product((number(c), *others, part)) for part in parts]
    return total(terms)


def _columns(rows: Sequence[Sequence[_Part]]) -> Iterable[tuple[_Part, ...]]:
    """Return the first of all rows, the second of all, and so on."""
    if len({len(row) for row in rows}) > 1:
        raise NotAlikeError
    return zip(*rows, strict=True)


def _without_common(products: Sequence[Several]) -> tuple[Several, list[Several]]:
    """Return the factors that all products have, and the others of each."""
    common = set(products[0]).intersection(*products[1:])
    remaining = tuple(factor for factor in products[0] if factor in common)
    return remaining, [tuple(f for f in factors if f not in common) for factors in products]


def _looks(one: Formula) -> tuple[object, ...]:
    """Return an order in which formulas that may be alike stand in the same place."""
    return one.word, len(one.operands), *sorted(each.name for each in one.symbols)
