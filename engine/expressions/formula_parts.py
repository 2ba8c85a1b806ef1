"""The structure of formulas: their parts, terms, factors, exponents and quotients, and their sign.

It makes no formulas; those that do are in `formulas`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from fractions import Fraction
from typing import TypeVar

from qps.engine.expressions.nodes import ExpressionNode
from qps.engine.leaves import NUMBER
from qps.engine.operations import (
    EXPONENTIAL,
    MAXIMUM,
    MINIMUM,
    POWER,
    PRODUCT,
    SUM,
)

F = TypeVar("F", bound=ExpressionNode)

_UNIT = Fraction(1)


def parts_first(*whole: F, known: Container[F] = ()) -> list[F]:
    """Return each part of some formulas once, behind all of its own parts.

    Those that are `known` are left out, and what only they are made of.
    """
    found: dict[F, None] = {}
    waiting: list[tuple[F, bool]] = [(part, False) for part in reversed(whole)]
    while waiting:
        part, is_ready = waiting.pop()
        if part in found or part in known:
            continue
        if is_ready or not part.operands:
            found[part] = None
            continue
        waiting.append((part, True))
        waiting += [(operand, False) for operand in reversed(part.operands)]
    return list(found)


def terms_of(whole: F) -> Iterator[tuple[Fraction | float, tuple[F, ...]]]:
    """Yield the terms of a formula as a sum: the coefficient of each, and its other factors."""
    for term in whole.operands if whole.word == SUM else (whole,):
        yield (number_in(term), ()) if term.word == NUMBER else split_term(term)


def split_term(term: F) -> tuple[Fraction | float, tuple[F, ...]]:
    """Return the coefficient of a term, and its other factors."""
    if term.word != PRODUCT:
        return _UNIT, (term,)
    first = term.operands[0]
    if first.word == NUMBER:
        return number_in(first), term.operands[1:]
    return _UNIT, term.operands


def as_power_of(factor: F) -> tuple[F, Fraction]:
    """Return a factor as a base and a rational exponent."""
    if factor.word == POWER:
        exponent = factor.operands[1].exact
        if exponent is not None:
            return factor.operands[0], exponent
    return factor, _UNIT


def whole_exponent(part: ExpressionNode) -> int | None:
    """Return the exponent of a whole power, None for any other formula."""
    value = part.operands[1].exact if part.word == POWER else None
    return int(value) if value is not None and value.denominator == 1 else None


def number_in(part: ExpressionNode) -> Fraction | float:
    """Return the value of a number."""
    value = part.value
    assert isinstance(value, Fraction | float)
    return value


def is_positive(formula: ExpressionNode) -> bool:
    """Return whether a formula is surely above zero, wherever it has a value."""
    found: dict[ExpressionNode, bool] = {}
    for part in parts_first(formula):
        own = [found[operand] for operand in part.operands]
        if part.word == NUMBER:
            found[part] = number_in(part) > 0
        elif part.word == MAXIMUM:
            found[part] = any(own)
        elif part.word == POWER:
            found[part] = own[0]
        elif part.word in (SUM, PRODUCT, MINIMUM):
            found[part] = all(own)
        else:
            found[part] = part.is_population or part.word == EXPONENTIAL
    return found[formula]
