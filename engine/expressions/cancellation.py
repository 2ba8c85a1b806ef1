"""Quotients without what cancels in them where a symbol is above zero.

A rate for each user times their number, over another such rate, does not rest on how many they are:
its bounds need not be wide. As a formula it stays as it is written, for at zero it is something
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct, field

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    number,
    power,
    product,
    total,
)
from qps.engine.expressions.memo import memoized
from qps.engine.expressions.quotients import quotient_of
from qps.engine.expressions.substitution import remade
from qps.engine.operations import EXTREMES, POWER, PRODUCT, SUM

_ROOM = 100_000
"""Parts of formulas that are remembered."""


class _Factored(Struct, frozen=True):
    """Something as a power of the symbol times what is left; the power of zero is any."""

    exponent: Fraction
    rest: Formula


class _Parts(Struct, frozen=True, eq=False):
    """Parts of formulas without what cancels in them, and with a power of the symbol taken out."""

    plain: dict[Formula, Formula] = field(default_factory=dict)
    factored: dict[Formula, _Factored] = field(default_factory=dict)


@memoized
def _parts_without(_symbol: Formula) -> _Parts:
    """Return what parts have come to: modes and changes have most of them in common."""
    return _Parts()


def canceled(whole: Formula, symbol: Formula) -> Formula:
    """Return a formula of the same values wherever a symbol is positive and finite.

    Powers of the symbol by which both sides of a quotient are multiplied are taken out of them.
    """
    known = _parts_without(symbol)
    plain, factored = known.plain, known.factored
    if len(plain) > _ROOM:
        plain.clear()
        factored.clear()
    for part in parts_first(whole, known=plain):
        if not part.operands:
            plain[part] = part
            is_it = part is symbol
            factored[part] = _Factored(Fraction(is_it), ONE if is_it else part)
            continue
        sides = [factored[one] for one in part.operands]
        found = _factored_out(part, sides, symbol)
        is_shorter = _is_quotient(part) and all(side.exponent for side in sides)
        if found is not None and is_shorter:
            plain[part] = _multiplied(found, symbol)
        else:
            plain[part] = remade(part, tuple(plain[one] for one in part.operands))
        factored[part] = found or _Factored(Fraction(0), plain[part])
    return plain[whole]


def _is_quotient(part: Formula) -> bool:
    """Return whether something is its first operand over its second, but where that is zero."""
    known = quotient_of(part)
    return known is not None and known[1] is part.operands[1]


def _factored_out(part: Formula, sides: Sequence[_Factored], symbol: Formula) -> _Factored | None:
    """Return an operation with a power of the symbol before it; None where it has no such form."""
    rests = [side.rest for side in sides]
    exponents = [side.exponent for side in sides]
    if part.word == PRODUCT:
        return _Factored(sum(exponents, Fraction(0)), product(rests))
    if _is_quotient(part):
        return _Factored(exponents[0] - exponents[1], apply(part.word, *rests))
    if part.word == POWER:
        exponent = part.operands[1].exact
        if isinstance(exponent, Fraction):
            return _Factored(exponents[0] * exponent, power(rests[0], part.operands[1]))
    if part.word == SUM or part.word in EXTREMES:
        least = min((s.exponent for s in sides if s.rest is not ZERO), default=Fraction(0))
        behind = [
            side.rest if side.rest is ZERO else _multiplied(_less(side, least), symbol)
            for side in sides
        ]
        return _Factored(least, total(behind) if part.word == SUM else apply(part.word, *behind))
    return None


def _less(one: _Factored, exponent: Fraction) -> _Factored:
    return _Factored(one.exponent - exponent, one.rest)


def _multiplied(one: _Factored, symbol: Formula) -> Formula:
    return product((power(symbol, number(one.exponent)), one.rest)) if one.exponent else one.rest
