"""Formulas: exact numbers, symbols, and operations on formulas.

Equal formulas are the same object, in this process: each is made once and found again, so that
whatever walks them does each part once, and `is` compares them. Python's operators and the
functions here bring them to one form: sums and products are flattened, equal terms and factors
collected with rational coefficients and exponents, and constants folded as far as they are exact.
A constant that is no fraction, such as the root of 2, stays as it is written.

What an operation does stands in the table (`qps.engine.operations`), by its word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf, isinf, isnan, nan
from operator import attrgetter
from typing import TypeAlias
from weakref import WeakValueDictionary

from qps.engine.exact_algebra.exact_powers import as_power, exact_power
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError, plus, times
from qps.engine.expressions.formula_parts import (
    as_power_of,
    is_positive,
    number_in,
    parts_first,
    split_term,
    terms_of,
)
from qps.engine.expressions.memo import memoized
from qps.engine.expressions.nodes import ExpressionNode, Value, key_of
from qps.engine.leaves import INPUT, NUMBER, POPULATION
from qps.engine.operations import (
    EXPONENTIAL,
    EXTREMES,
    LOGARITHM,
    MAXIMUM,
    MINIMUM,
    OPERATIONS,
    POWER,
    PRODUCT,
    SUM,
)

Operand: TypeAlias = "Formula | Fraction | int"


class Formula(ExpressionNode):
    """A node, and Python's operators on it; made by the functions of this module alone."""

    __slots__ = ()

    def has(self, *words: str) -> bool:
        """Return whether an operation of one of some words is in it."""
        return any(part.word in words for part in parts_first(self))

    # -- arithmetic ----------------------------------------------------------------------

    def __add__(self, other: Operand) -> Formula:
        return _total(self, formula(other))

    __radd__ = __add__

    def __mul__(self, other: Operand) -> Formula:
        if other is ONE:
            return self
        return _product(self, formula(other))

    __rmul__ = __mul__

    def __neg__(self) -> Formula:
        return product((MINUS_ONE, self))

    def __sub__(self, other: Operand) -> Formula:
        return total((self, -formula(other)))

    def __rsub__(self, other: Operand) -> Formula:
        return total((formula(other), -self))

    def __truediv__(self, other: Operand) -> Formula:
        if other is ONE:
            return self
        return _product(self, _power(formula(other), MINUS_ONE))

    def __rtruediv__(self, other: Operand) -> Formula:
        return _product(formula(other), _power(self, MINUS_ONE))

    def __pow__(self, exponent: Operand) -> Formula:
        return power(self, formula(exponent))

    def __abs__(self) -> Formula:
        return apply("abs", self)

    def __floor__(self) -> Formula:
        return apply("floor", self)

    def __reduce__(self) -> tuple[Callable[..., Formula], tuple[object, ...]]:
        return interned, (self.word, self.operands, self.value)


_KNOWN: WeakValueDictionary[tuple[object, ...], Formula] = WeakValueDictionary()


def interned(word: str, operands: tuple[Formula, ...], value: Value = None) -> Formula:
    """Return the formula that there is, or a new one."""
    # Fractions take long to hash.
    identity = (
        (word, value.numerator, value.denominator)
        if type(value) is Fraction
        else (word, operands, value)
    )
    known = _KNOWN.get(identity)
    if known is not None:
        return known
    made = object.__new__(Formula)
    made.word, made.operands, made.value = word, operands, value
    made.key = key_of(word, operands, value)
    if operands:
        made.is_constant = all(operand.is_constant for operand in operands)
    else:
        made.is_constant = word == NUMBER
    if made.is_constant:
        made._symbols = frozenset()
    else:
        made._symbols = None if operands else frozenset((made,))
    _KNOWN[identity] = made
    return made


# -- numbers and symbols -----------------------------------------------------------------


def number(value: Fraction | float) -> Formula:
    """Return a number; a float counts as what it is exactly."""
    if type(value) is Fraction:
        return interned(NUMBER, (), value)
    if isinstance(value, float):
        if isnan(value):
            return UNDEFINED
        if isinf(value):
            return INFINITY if value > 0 else MINUS_INFINITY
    return interned(NUMBER, (), Fraction(value))


def formula(value: Operand) -> Formula:
    """Return a formula as it is, a number as one."""
    return value if isinstance(value, Formula) else number(value)


def symbol(name: str) -> Formula:
    """Return the symbol of a name; it stands for a real number."""
    return interned(INPUT, (), name)


def population(name: str) -> Formula:
    """Return the symbol of the population; it stands for a whole number above zero."""
    return interned(POPULATION, (), name)


INFINITY, MINUS_INFINITY = interned(NUMBER, (), inf), interned(NUMBER, (), -inf)
UNDEFINED = interned(NUMBER, (), nan)
"""What has no value: 0/0, a pole, the root of what is negative."""

ZERO, ONE, MINUS_ONE = (interned(NUMBER, (), Fraction(value)) for value in (0, 1, -1))
HALF = interned(NUMBER, (), Fraction(1, 2))
NOT_FINITE = frozenset((INFINITY, MINUS_INFINITY, UNDEFINED))
"""Numbers that no finite value has."""


_NOTHING, _UNIT = Fraction(0), Fraction(1)


# -- sums and products -------------------------------------------------------------------


def total(terms: Iterable[Formula]) -> Formula:
    """Return a sum, equal terms collected."""
    return _total(*terms)


@memoized
def _total(*terms: Formula) -> Formula:
    constant: Fraction | float = _NOTHING
    collected: dict[tuple[Formula, ...], Fraction | float] = {}
    alone: dict[tuple[Formula, ...], Formula] = {}
    for term in terms:
        for part in term.operands if term.word == SUM else (term,):
            if part.word == NUMBER:
                constant = plus(constant, number_in(part))
                continue
            coefficient, factors = split_term(part)
            known = collected.get(factors)
            if known is None:
                collected[factors], alone[factors] = coefficient, part
            else:
                collected[factors] = plus(known, coefficient)
                alone.pop(factors, None)
    if constant != constant:  # noqa: PLR0124 - not-a-number is the only one that is not itself
        return UNDEFINED
    found = [alone.get(factors) or _scaled(factors, c) for factors, c in collected.items() if c]
    if constant:
        found.append(number(constant))
    if len(found) > 1:
        return interned(SUM, tuple(sorted(found, key=_key)))
    return found[0] if found else ZERO


def product(factors: Iterable[Formula]) -> Formula:
    """Return a product, equal factors collected; a number times a sum is a sum."""
    return _product(*factors)


@memoized
def _product(*factors: Formula) -> Formula:
    coefficient: Fraction | float = _UNIT
    by_base: dict[Formula, Formula] = {}
    exponents: dict[Formula, Fraction] = {}
    exponentials: list[Formula] = []
    for factor in factors:
        for part in factor.operands if factor.word == PRODUCT else (factor,):
            if part.word == NUMBER:
                coefficient = times(coefficient, number_in(part))
                continue
            if part.word == EXPONENTIAL:
                exponentials.append(part.operands[0])
                continue
            base, exponent = as_power_of(part)
            known = by_base.get(base)
            if known is None:
                by_base[base] = part
            else:
                exponents[base] = exponents.get(base, as_power_of(known)[1]) + exponent
    for base, exponent in exponents.items():
        by_base[base] = power(base, number(exponent))
    found = list(by_base.values())
    if exponentials:
        found.append(apply(EXPONENTIAL, total(exponentials)))
    if (exponents or exponentials) and any(part.word in (NUMBER, PRODUCT) for part in found):
        # What was collected has become a number or a product: 2^(1/2) twice is 2.
        return product((number(coefficient), *found))
    if not coefficient or coefficient != coefficient:  # noqa: PLR0124 - not-a-number
        return number(coefficient)
    if len(found) == 1:
        (only,) = found
        if _is_one(coefficient):
            return only
        if only.word == SUM and type(coefficient) is Fraction:
            scaled = (_scaled(rest, times(c, coefficient)) for c, rest in terms_of(only))
            return interned(SUM, tuple(sorted(scaled, key=_key)))
        return _scaled((only,), coefficient)
    found.sort(key=_key)
    return _scaled(tuple(found), coefficient)


def _scaled(factors: tuple[Formula, ...], coefficient: Fraction | float) -> Formula:
    """Return factors, in their order, with a coefficient: it stands first."""
    if not factors:
        return number(coefficient)
    if _is_one(coefficient):
        return factors[0] if len(factors) == 1 else interned(PRODUCT, factors)
    return interned(PRODUCT, (number(coefficient), *factors))


def _is_one(value: Fraction | float) -> bool:
    # Fractions take long to compare.
    return type(value) is Fraction and value.numerator == 1 == value.denominator


_key = attrgetter("key")


# -- powers ------------------------------------------------------------------------------


def power(base: Formula, exponent: Operand) -> Formula:
    """Return a power; TooLongError where an exact one has too many digits."""
    return _power(base, formula(exponent))


@memoized
def _power(base: Formula, raised_to: Formula) -> Formula:
    if raised_to is ZERO:
        return ONE
    if raised_to is ONE:
        return base
    value = raised_to.exact
    if value is None:
        if raised_to is UNDEFINED or base is UNDEFINED:
            return UNDEFINED
        return ONE if base is ONE else interned(POWER, (base, raised_to))
    if base.word == NUMBER:
        return _number_raised(number_in(base), value)
    if base.word == POWER:
        inner = base.operands[1].exact
        if inner is not None and (value.denominator == 1 or -1 <= inner < 1):
            return power(base.operands[0], number(inner * value))
    if base.word == EXPONENTIAL:
        return apply(EXPONENTIAL, base.operands[0] * raised_to)
    if base.word == PRODUCT and value.denominator == 1:
        return product(power(factor, raised_to) for factor in base.operands)
    return interned(POWER, (base, raised_to))


def _number_raised(base: Fraction | float, exponent: Fraction) -> Formula:
    if isinstance(base, float):
        infinite = INFINITY if exponent > 0 else ZERO
        return infinite if base == inf else UNDEFINED
    found = exact_power(base, exponent)
    if found is not None:
        return number(found)
    return interned(POWER, (number(base), number(exponent)))


# -- other operations --------------------------------------------------------------------


def apply(word: str, *operands: Operand) -> Formula:
    """Return an operation on formulas, by its word in the table; folded where it is exact."""
    return _applied(word, *map(formula, operands))


@memoized
def _applied(word: str, *formula: Formula) -> Formula:
    if word == SUM:
        return total(formula)
    if word == PRODUCT:
        return product(formula)
    if word == POWER:
        return power(*formula)
    if word in EXTREMES:
        formula = tuple(dict.fromkeys(formula))
        if len(formula) == 1:
            return formula[0]
    if UNDEFINED in formula:
        return UNDEFINED
    if all(operand.word == NUMBER for operand in formula):
        folded = _folded(word, [number_in(operand) for operand in formula])
        if folded is not None:
            return folded
    return _simplified(word, formula) or interned(word, formula)


def _folded(word: str, values: list[Fraction | float]) -> Formula | None:
    """Return the exact value of an operation on numbers, None where it has none."""
    try:
        return number(OPERATIONS[word].exact(*values))
    except InexactError:
        return None
    except NoValueError:
        return UNDEFINED


def _simplified(word: str, operands: tuple[Formula, ...]) -> Formula | None:
    """Return an operation on what undoes it, or on what makes it plain."""
    first = operands[0]
    if (word, first.word) == (LOGARITHM, EXPONENTIAL):
        return first.operands[0]
    if (word, first.word) == (EXPONENTIAL, LOGARITHM) and is_positive(first.operands[0]):
        return first.operands[0]  # else there may be no logarithm
    if word == LOGARITHM and first.exact is not None and first.exact > 0:
        base, exponent = as_power(first.exact)  # log10 of 1000, ln(1000)/ln(10), is 3
        return None if exponent == 1 else exponent * interned(word, (number(base),))
    row = OPERATIONS[word]
    if row.divisor is not None:
        below: Formula = row.divisor(operands[1])
        value = below.exact
        if value and (value > 0 or not row.is_of_queue):  # else it grows without end
            return first / below
        if below is first and is_positive(below):
            return ONE
    return None


def maximum(*operands: Operand) -> Formula:
    """Return the largest of some formulas."""
    return apply(MAXIMUM, *operands)


def minimum(*operands: Operand) -> Formula:
    """Return the smallest of some formulas."""
    return apply(MINIMUM, *operands)


def square_root(operand: Operand) -> Formula:
    """Return a square root."""
    return power(formula(operand), HALF)
