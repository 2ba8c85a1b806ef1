"""Formulas as polynomials in some symbols: what stands before each product of them.

A load with elastic parameters is one of degree 1 in each. Sums and products are taken apart, and
quotients whose divisor is without the symbols; what is made otherwise of a symbol stays as it is,
in what stands before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    product,
    total,
)
from qps.engine.expressions.memo import memoized
from qps.engine.expressions.quotients import quotient_of
from qps.engine.operations import POWER, PRODUCT, SUM

Monomials = dict[tuple[Formula, ...], Formula]
"""For each product of symbols, in the order of their keys, what stands before it."""

_MOST = 10_000
"""Products that are taken apart have no more terms than this."""
_HIGHEST = 8


def monomials(whole: Formula, symbols: Collection[Formula]) -> Monomials:
    """Return a formula as a polynomial in some symbols."""
    return _monomials(whole, frozenset(symbols))


@memoized
def _monomials(whole: Formula, symbols: frozenset[Formula]) -> Monomials:
    # Of the parts in which there are symbols; what these are made of themselves is not looked at.
    here = (symbols & whole.symbols) | {each for each in symbols if each.operands}
    known: dict[Formula, Monomials] = {each: {(each,): ONE} for each in here}
    for part in parts_first(whole, known=known):
        if any(operand in known for operand in part.operands):
            known[part] = _decomposed(part, known)
    return known.get(whole, {(): whole})


def expanded(whole: Formula, symbols: Collection[Formula]) -> Formula:
    """Return a formula written out as a sum over the products of some symbols in it."""
    return total(product((by, *of)) for of, by in monomials(whole, symbols).items())


def _decomposed(part: Formula, known: dict[Formula, Monomials]) -> Monomials:
    operands = [known.get(operand, {(): operand}) for operand in part.operands]
    found: Monomials | None = None
    if part.word == SUM:
        found = _sum(operands)
    elif part.word == PRODUCT:
        found = _product(operands)
    elif part.word == POWER:
        exponent = whole_exponent(part)
        if exponent is not None and 1 < exponent <= _HIGHEST:
            found = _product([operands[0]] * exponent)
    elif quotient_of(part) and part.operands[1] not in known:
        found = {of: apply(part.word, by, part.operands[1]) for of, by in operands[0].items()}
    return {(): part} if found is None else found


def _sum(terms: Iterable[Monomials]) -> Monomials:
    gathered: dict[tuple[Formula, ...], list[Formula]] = {}
    for term in terms:
        for of, by in term.items():
            gathered.setdefault(of, []).append(by)
    summed = {of: total(parts) for of, parts in gathered.items()}
    return {of: by for of, by in summed.items() if by is not ZERO}


def _product(factors: Iterable[Monomials]) -> Monomials | None:
    """Return a product, None where it has too many terms."""
    found: Monomials = {(): ONE}
    for factor in factors:
        if len(found) * len(factor) > _MOST:
            return None
        found = _sum(
            {tuple(sorted(one + other, key=_key)): product((by, more))}
            for one, by in found.items()
            for other, more in factor.items()
        )
    return found


def _key(part: Formula) -> int:
    return part.key
