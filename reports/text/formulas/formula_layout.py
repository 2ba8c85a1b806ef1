"""Formulas laid out to be read: in the order and with the signs that people write.

What stands where is worked out here, once; a `Style` says what it looks like. Text and typeset
formulas are two styles of one layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Protocol

from msgspec import Struct

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula, power
from qps.engine.expressions.quotients import above_and_below, quotient_of
from qps.engine.operations import EXTREMES, OPERATIONS, POWER, PRODUCT, SUM
from qps.reports.text.words.phrases import phrase

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
"""How tightly a text holds together: what holds less than its place requires is grouped."""


class Style(Protocol):
    """What the parts of a layout look like; each takes and gives texts."""

    def named(self, name: str) -> str:
        """Return a symbol."""

    def number(self, value: Fraction) -> str:
        """Return a number that is not negative."""

    def plain(self, text: str) -> str:
        """Return a number that is no fraction, such as an infinity."""

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        """Return a sum of terms, of which some are taken off (True)."""

    def product(self, factors: Sequence[str]) -> str:
        """Return a product."""

    def quotient(self, above: str, below: str) -> str:
        """Return a quotient."""

    def power(self, base: str, exponent: str) -> str:
        """Return a power."""

    def root(self, of: str) -> str:
        """Return a square root."""

    def function(self, name: str, operands: Sequence[str]) -> str:
        """Return a function of operands."""

    def group(self, text: str) -> str:
        """Return a text that holds together: in brackets."""

    @property
    def keeps_fractions(self) -> bool:
        """Whether a fraction stands as one number, not above and below a line."""

    @property
    def groups_quotients(self) -> bool:
        """Whether the two sides of a quotient need brackets to hold together."""


class _Laid(Struct, frozen=True):
    """A text, how tightly it holds, whether it is to be taken off, and how it sorts."""

    text: str
    holds: int
    is_negative: bool = False
    order: tuple[object, ...] = ()


MOST = 200_000
"""Operations beyond which nobody reads a formula: what it has shared is written out each time."""
UNREADABLE = phrase("explain.long_formula", count=0).partition("0")[0]
"""How the text that stands for such a formula begins."""


def operations(formula: Formula) -> int:
    """Return how many operations and leaves a formula has when it is written out."""
    counted: dict[Formula, int] = {}
    for part in parts_first(formula):
        counted[part] = 1 + sum(counted[operand] for operand in part.operands)
    return counted[formula]


def laid_out(formula: Formula, style: Style) -> str:
    """Return a formula in a style; of one that nobody would read, how long it is."""
    count = operations(formula)
    if count > MOST:
        return style.plain(phrase("explain.long_formula", count=count))
    layout = _Layout(style)
    found = layout.of(formula)
    return style.sum([(True, found.text)]) if found.is_negative else found.text


class _Layout:
    """Lays out parts, each once."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._known: dict[Formula, _Laid] = {}

    def of(self, formula: Formula) -> _Laid:
        for part in parts_first(formula, known=self._known):
            self._known[part] = self._laid(part)
        return self._known[formula]

    def _laid(self, part: Formula) -> _Laid:
        style = self._style
        if part.is_symbol:
            rank = (0, -1) if part.is_population else (0, 0)
            return _Laid(style.named(part.name), _ATOM, order=(*rank, part.name))
        if not part.operands:
            return self._number(part.value)
        if part.word == SUM:
            return self._sum(part.operands)
        if part.word == PRODUCT:
            return self._product(part)
        if part.word == POWER:
            return self._power(*part.operands)
        written = OPERATIONS[part.word].as_read
        if written is not None:
            found: _Laid = written(self, *(self.of(operand) for operand in part.operands))
            return found
        quotient = quotient_of(part)
        return self._quotient(quotient[:1], quotient[1:]) if quotient else self._function(part)

    def product(self, *factors: _Laid) -> _Laid:
        """Return a product, its factors in their order."""
        return _Laid(
            self._style.product([self._bracketed(one, _PRODUCT) for one in factors]), _PRODUCT
        )

    def power(self, base: _Laid, exponent: _Laid) -> _Laid:
        """Return a power."""
        return _Laid(
            self._style.power(self._bracketed(base, _ATOM), self._signed(exponent)), _POWER
        )

    def function(self, name: str, *operands: _Laid) -> _Laid:
        """Return a function by its name."""
        return _Laid(self._style.function(name, [self._signed(one) for one in operands]), _ATOM)

    def _number(self, value: object) -> _Laid:
        if isinstance(value, Fraction):
            is_one = value.denominator == 1 or self._style.keeps_fractions
            holds = _ATOM if is_one else _PRODUCT
            return _Laid(self._style.number(abs(value)), holds, value < 0, (-1,))
        text = {inf: "infinity", -inf: "infinity"}.get(value, "undefined")  # type: ignore[call-overload]
        return _Laid(self._style.plain(text), _ATOM, value == -inf, (-1,))

    def _sum(self, terms: Sequence[Formula]) -> _Laid:
        laid = [(term, self.of(term)) for term in terms]
        laid.sort(key=lambda each: (each[1].is_negative, _sorted(*each)))
        operands_laid = [(one.is_negative, self._bracketed(one, _PRODUCT)) for _, one in laid]
        return _Laid(self._style.sum(operands_laid), _SUM, order=(2, operands_laid[0][1]))

    def _product(self, part: Formula) -> _Laid:
        above, below = above_and_below(part)
        coefficient = part.operands[0].exact
        if coefficient is not None:
            above = above[1:]
        value = Fraction(1) if coefficient is None else abs(coefficient)
        laid = self._quotient(above, below, value)
        is_negative = coefficient is not None and coefficient < 0
        return _Laid(laid.text, laid.holds, is_negative, laid.order)

    def _quotient(
        self, above: Sequence[Formula], below: Sequence[Formula], value: Fraction = Fraction(1)
    ) -> _Laid:
        """Return a coefficient times a product over another one."""
        style = self._style
        tops = self._factors(above)
        top_value, bottom_value = Fraction(value.numerator), Fraction(value.denominator)
        if style.keeps_fractions:
            top_value, bottom_value = value, Fraction(1)
        if top_value != 1 or not tops:
            tops.insert(0, style.number(top_value))
        bottoms = self._factors(below)
        if bottom_value != 1:
            bottoms.insert(0, style.number(bottom_value))
        top = style.product(tops)
        order = (1, *sorted(each for factor in above for each in (self._name_of(factor),)))
        if not bottoms:
            return _Laid(top, _PRODUCT, order=order)
        bottom = style.product(bottoms)
        if len(bottoms) > 1 and style.groups_quotients:
            bottom = style.group(bottom)
        return _Laid(style.quotient(top, bottom), _PRODUCT, order=order)

    def _factors(self, factors: Sequence[Formula]) -> list[str]:
        laid = sorted(((f, self.of(f)) for f in factors), key=lambda each: _sorted(*each))
        is_alone = len(laid) == 1 and not self._style.groups_quotients
        return [self._bracketed(one, _SUM if is_alone else _POWER) for _, one in laid]

    def _name_of(self, factor: Formula) -> str:
        return self.of(factor).text

    def _power(self, base: Formula, exponent: Formula) -> _Laid:
        style, value = self._style, exponent.exact
        if value is not None and value < 0:
            return self._quotient((), (power(base, -value),))
        if value == Fraction(1, 2):
            return _Laid(style.root(self._signed(self.of(base))), _ATOM, order=(1,))
        raised = self._bracketed(self.of(base), _ATOM)
        text = self.of(exponent)
        shown = self._signed(text)
        if style.groups_quotients and (text.holds != _ATOM or text.is_negative):
            shown = style.group(shown)
        return _Laid(style.power(raised, shown), _POWER, order=self.of(base).order)

    def _function(self, part: Formula) -> _Laid:
        name = OPERATIONS[part.word].called
        operands = part.operands
        if part.word in EXTREMES:
            operands = tuple(_flat(part))
        operands_laid = [self._signed(self.of(operand)) for operand in operands]
        return _Laid(self._style.function(name, operands_laid), _ATOM, order=(1, name))

    def _signed(self, laid: _Laid) -> str:
        return (
            self._style.sum([(True, self._bracketed(laid, _PRODUCT))])
            if laid.is_negative
            else laid.text
        )

    def _bracketed(self, laid: _Laid, precedence: int) -> str:
        """Return a text, without its sign, in brackets where it does not hold tightly enough."""
        is_signed_inside = laid.is_negative and precedence > _PRODUCT
        if is_signed_inside:
            return self._style.group(self._signed(laid))
        return laid.text if laid.holds >= precedence else self._style.group(laid.text)


def _sorted(part: Formula, laid: _Laid) -> tuple[object, ...]:
    """Return how a term or factor sorts: high powers of the population first, numbers last."""
    kind = {SUM: 3, POWER: 1, PRODUCT: 0}.get(part.word, 0 if part.is_symbol else 2)
    return (not part.operands and not part.is_symbol, -_degree(part), kind, laid.text)


def _degree(part: Formula) -> Fraction:
    if part.is_population:
        return Fraction(1)
    if part.word == POWER and part.operands[0].is_population:
        return part.operands[1].exact or Fraction(0)
    if part.word == PRODUCT:
        return sum((_degree(factor) for factor in part.operands), Fraction(0))
    return Fraction(0)


def _flat(part: Formula) -> list[Formula]:
    """Return the operands of a maximum, those of a maximum among them in its place."""
    return [
        inner
        for operand in part.operands
        for inner in (_flat(operand) if operand.word == part.word else [operand])
    ]
