"""Where what is linear in one symbol is zero, in symbols: a quotient of factored polynomials."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import (
    NOT_FINITE,
    Formula,
    number,
    product,
    total,
)
from qps.engine.operations import PRODUCT, SUM

_MOST_TERMS = 10_000
_HIGHEST_POWER = 100
"""Of a polynomial: beyond them nobody reads a root."""


class _NoQuotientError(Exception):
    """A formula is no quotient of polynomials that anybody would read."""


class _Quotient(NamedTuple):
    above: fmpq_mpoly
    below: fmpq_mpoly


def root_of_linear(gap: Formula, unknown: Formula) -> Formula | None:
    """Return where a formula is zero, None where it is not linear in the unknown or too long.

    Whatever is no sum, product or whole power of what it rests on is taken for one symbol.
    """
    symbols = sorted(_symbols(gap), key=repr)
    if any(one in NOT_FINITE or unknown in one.symbols - {one} for one in symbols):
        return None
    context = fmpq_mpoly_ctx.get([("x", len(symbols))], "lex")
    try:
        above = _quotient(gap, dict(zip(symbols, context.gens(), strict=True)), context).above
    except _NoQuotientError:
        return None
    place = symbols.index(unknown) if unknown in symbols else -1
    if place < 0 or above.degrees()[place] != 1:
        return None
    offset = above.subs({f"x{place}": 0})
    slope = (above - offset) // context.gen(place)
    common = offset.gcd(slope)
    return _written(-offset // common, slope // common, symbols)


def _symbols(whole: Formula) -> Iterable[Formula]:
    """Return what a polynomial of a formula is made of."""
    found: dict[Formula, None] = {}
    waiting, seen = [whole], {whole}
    while waiting:
        part = waiting.pop()
        if part.word in (SUM, PRODUCT) or whole_exponent(part) is not None:
            operands = part.operands if whole_exponent(part) is None else part.operands[:1]
            waiting += [operand for operand in operands if operand not in seen]
            seen.update(operands)
        elif part.exact is None:
            found[part] = None
    return found


def _quotient(
    whole: Formula, symbols: dict[Formula, fmpq_mpoly], context: fmpq_mpoly_ctx
) -> _Quotient:
    """Return a formula as a quotient of polynomials in lowest terms."""
    one = context.constant(1)
    known = {symbol: _Quotient(variable, one) for symbol, variable in symbols.items()}
    for part in parts_first(whole, known=known):
        exponent = whole_exponent(part)
        if part.exact is not None:
            known[part] = _Quotient(context.constant(fmpq(*part.exact.as_integer_ratio())), one)
        elif exponent is not None:
            known[part] = _raised(known[part.operands[0]], exponent)
        else:
            join = _plus if part.word == SUM else _times
            known[part] = reduce(join, (known[operand] for operand in part.operands))
    return known[whole]


def _plus(one: _Quotient, other: _Quotient) -> _Quotient:
    common = one.below.gcd(other.below)
    rest, own = other.below // common, one.below // common
    above = _multiplied(one.above, rest) + _multiplied(other.above, own)
    below = _multiplied(one.below, rest)
    again = above.gcd(below)
    return _Quotient(above // again, below // again)


def _times(one: _Quotient, other: _Quotient) -> _Quotient:
    first, second = one.above.gcd(other.below), other.above.gcd(one.below)
    return _Quotient(
        _multiplied(one.above // first, other.above // second),
        _multiplied(one.below // second, other.below // first),
    )


def _raised(base: _Quotient, exponent: int) -> _Quotient:
    above, below = base if exponent > 0 else (base.below, base.above)
    if abs(exponent) > _HIGHEST_POWER or below.is_zero():
        raise _NoQuotientError
    return reduce(_times, [_Quotient(above, below)] * abs(exponent))


def _multiplied(one: fmpq_mpoly, other: fmpq_mpoly) -> fmpq_mpoly:
    if len(one) * len(other) > _MOST_TERMS:
        raise _NoQuotientError
    return one * other


def _written(above: fmpq_mpoly, below: fmpq_mpoly, symbols: list[Formula]) -> Formula:
    """Return a quotient of polynomials as a formula, in factors."""
    (over, factors), (under, divisors) = above.factor(), below.factor()
    coefficient = over / under
    found = []
    for factor, exponent in (*factors, *((own, -times) for own, times in divisors)):
        is_turned = coefficient < 0 and exponent % 2 and any(c < 0 for c in factor.coeffs())
        if is_turned:
            coefficient = -coefficient
        found.append(_sum(-factor if is_turned else factor, symbols) ** int(exponent))
    return product((number(_fraction(coefficient)), *found))


def _sum(polynomial: fmpq_mpoly, symbols: list[Formula]) -> Formula:
    return total(
        product(
            (
                number(_fraction(coefficient)),
                *(symbol ** int(power) for symbol, power in zip(symbols, powers, strict=True)),
            )
        )
        for powers, coefficient in polynomial.to_dict().items()
    )


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
