"""Formulas: exact numbers, symbols, and operations on formulas.

Equal formulas are the same object, in this process: each is made once and found again, so that
whatever walks them does each part once, and `is` compares them. Python's operators and the
functions here bring them to one form: sums and products are flattened, equal terms and factors
collected with rational coefficients and exponents, and constants folded as far as they are exact.
A constant that is no fraction, such as the root of 2, stays as it is written.

What an operation does stands in the table (`qps.engine.operations`), by its word.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from fractions import Fraction
from math import inf, isfinite, isinf, isnan, nan
from typing import TypeAlias
from weakref import WeakValueDictionary

from qps.engine.exact_algebra.exact_powers import as_power, exact_power
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError, plus, times
from qps.engine.expressions.memo import remembered
from qps.engine.expressions.nodes import Node, Value, key_of
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


class Formula(Node):
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
        return _made, (self.word, self.operands, self.value)


_KNOWN: WeakValueDictionary[tuple[object, ...], Formula] = WeakValueDictionary()


def _made(word: str, operands: tuple[Formula, ...], value: Value = None) -> Formula:
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


def made_of(word: str, operands: tuple[Formula, ...], value: Value) -> Formula:
    """Return the formula that has these parts, in the form that it has already.

    ValueError where no formula has them.
    """
    row = OPERATIONS.get(word)
    if row is not None:
        takes = len(operands) == row.operands or (operands and (row.takes_more or row.repeats))
        is_of_formulas = type(operands) is tuple and {*map(type, operands)} == {Formula}
        if takes and is_of_formulas and value is None:
            return _made(word, operands)
    elif operands == ():
        if word == NUMBER and (
            type(value) is Fraction or (type(value) is float and not isfinite(value))
        ):
            return number(value)
        if word in (INPUT, POPULATION) and type(value) is str:
            return _made(word, (), value)
    raise ValueError(f"no formula is made of {word}")


# -- numbers and symbols -----------------------------------------------------------------


def number(value: Fraction | float) -> Formula:
    """Return a number; a float counts as what it is exactly."""
    if type(value) is Fraction:
        return _made(NUMBER, (), value)
    if isinstance(value, float):
        if isnan(value):
            return UNDEFINED
        if isinf(value):
            return INFINITY if value > 0 else MINUS_INFINITY
    return _made(NUMBER, (), Fraction(value))


def formula(value: Operand) -> Formula:
    """Return a formula as it is, a number as one."""
    return value if isinstance(value, Formula) else number(value)


def symbol(name: str) -> Formula:
    """Return the symbol of a name; it stands for a real number."""
    return _made(INPUT, (), name)


def population(name: str) -> Formula:
    """Return the symbol of the population; it stands for a whole number above zero."""
    return _made(POPULATION, (), name)


INFINITY, MINUS_INFINITY = _made(NUMBER, (), inf), _made(NUMBER, (), -inf)
UNDEFINED = _made(NUMBER, (), nan)
"""What has no value: 0/0, a pole, the root of what is negative."""

ZERO, ONE, MINUS_ONE = (_made(NUMBER, (), Fraction(value)) for value in (0, 1, -1))
HALF = _made(NUMBER, (), Fraction(1, 2))
NOT_FINITE = frozenset((INFINITY, MINUS_INFINITY, UNDEFINED))
"""Numbers that no finite value has."""


_NOTHING, _UNIT = Fraction(0), Fraction(1)


# -- sums and products -------------------------------------------------------------------


def total(terms: Iterable[Formula]) -> Formula:
    """Return a sum, equal terms collected."""
    return _total(*terms)


@remembered
def _total(*terms: Formula) -> Formula:
    constant: Fraction | float = _NOTHING
    collected: dict[tuple[Formula, ...], Fraction | float] = {}
    alone: dict[tuple[Formula, ...], Formula] = {}
    for term in terms:
        for part in term.operands if term.word == SUM else (term,):
            if part.word == NUMBER:
                constant = plus(constant, _value(part))
                continue
            coefficient, factors = _split(part)
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
        return _made(SUM, tuple(sorted(found, key=_key)))
    return found[0] if found else ZERO


def product(factors: Iterable[Formula]) -> Formula:
    """Return a product, equal factors collected; a number times a sum is a sum."""
    return _product(*factors)


@remembered
def _product(*factors: Formula) -> Formula:
    coefficient: Fraction | float = _UNIT
    by_base: dict[Formula, Formula] = {}
    exponents: dict[Formula, Fraction] = {}
    exponentials: list[Formula] = []
    for factor in factors:
        for part in factor.operands if factor.word == PRODUCT else (factor,):
            if part.word == NUMBER:
                coefficient = times(coefficient, _value(part))
                continue
            if part.word == EXPONENTIAL:
                exponentials.append(part.operands[0])
                continue
            base, exponent = _powered(part)
            known = by_base.get(base)
            if known is None:
                by_base[base] = part
            else:
                exponents[base] = exponents.get(base, _powered(known)[1]) + exponent
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
            return _made(SUM, tuple(sorted(scaled, key=_key)))
        return _scaled((only,), coefficient)
    found.sort(key=_key)
    return _scaled(tuple(found), coefficient)


def terms_of(whole: Formula) -> Iterator[tuple[Fraction | float, tuple[Formula, ...]]]:
    """Yield the terms of a formula as a sum: the coefficient of each, and its other factors."""
    for term in whole.operands if whole.word == SUM else (whole,):
        yield (_value(term), ()) if term.word == NUMBER else _split(term)


def _split(term: Formula) -> tuple[Fraction | float, tuple[Formula, ...]]:
    """Return the coefficient of a term, and its other factors."""
    if term.word != PRODUCT:
        return _UNIT, (term,)
    first = term.operands[0]
    if first.word == NUMBER:
        return _value(first), term.operands[1:]
    return _UNIT, term.operands


def _scaled(factors: tuple[Formula, ...], coefficient: Fraction | float) -> Formula:
    """Return factors, in their order, with a coefficient: it stands first."""
    if not factors:
        return number(coefficient)
    if _is_one(coefficient):
        return factors[0] if len(factors) == 1 else _made(PRODUCT, factors)
    return _made(PRODUCT, (number(coefficient), *factors))


def _is_one(value: Fraction | float) -> bool:
    # Fractions take long to compare.
    return type(value) is Fraction and value.numerator == 1 == value.denominator


def _powered(factor: Formula) -> tuple[Formula, Fraction]:
    """Return a factor as a base and a rational exponent."""
    if factor.word == POWER:
        exponent = factor.operands[1].exact
        if exponent is not None:
            return factor.operands[0], exponent
    return factor, _UNIT


def _key(part: Formula) -> int:
    return part.key


def _value(part: Formula) -> Fraction | float:
    value = part.value
    assert isinstance(value, Fraction | float)
    return value


# -- powers ------------------------------------------------------------------------------


def power(base: Formula, exponent: Operand) -> Formula:
    """Return a power; TooLongError where an exact one has too many digits."""
    return _power(base, formula(exponent))


@remembered
def _power(base: Formula, raised_to: Formula) -> Formula:
    if raised_to is ZERO:
        return ONE
    if raised_to is ONE:
        return base
    value = raised_to.exact
    if value is None:
        if raised_to is UNDEFINED or base is UNDEFINED:
            return UNDEFINED
        return ONE if base is ONE else _made(POWER, (base, raised_to))
    if base.word == NUMBER:
        return _number_raised(_value(base), value)
    if base.word == POWER:
        inner = base.operands[1].exact
        if inner is not None and (value.denominator == 1 or -1 <= inner < 1):
            return power(base.operands[0], number(inner * value))
    if base.word == EXPONENTIAL:
        return apply(EXPONENTIAL, base.operands[0] * raised_to)
    if base.word == PRODUCT and value.denominator == 1:
        return product(power(factor, raised_to) for factor in base.operands)
    return _made(POWER, (base, raised_to))


def _number_raised(base: Fraction | float, exponent: Fraction) -> Formula:
    if isinstance(base, float):
        if base == inf:
            return INFINITY if exponent > 0 else ZERO
        return UNDEFINED
    found = exact_power(base, exponent)
    if found is not None:
        return number(found)
    return _made(POWER, (number(base), number(exponent)))


# -- other operations --------------------------------------------------------------------


def apply(word: str, *operands: Operand) -> Formula:
    """Return an operation on formulas, by its word in the table; folded where it is exact."""
    return _applied(word, *map(formula, operands))


@remembered
def _applied(word: str, *given: Formula) -> Formula:
    if word == SUM:
        return total(given)
    if word == PRODUCT:
        return product(given)
    if word == POWER:
        return power(*given)
    if word in EXTREMES:
        given = tuple(dict.fromkeys(given))
        if len(given) == 1:
            return given[0]
    if UNDEFINED in given:
        return UNDEFINED
    if all(operand.word == NUMBER for operand in given):
        folded = _folded(word, [_value(operand) for operand in given])
        if folded is not None:
            return folded
    return _simplified(word, given) or _made(word, given)


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
    if (word, first.word) == (EXPONENTIAL, LOGARITHM) and _is_positive(first.operands[0]):
        return first.operands[0]  # else there may be no logarithm
    if word == LOGARITHM and first.exact is not None and first.exact > 0:
        base, exponent = as_power(first.exact)  # log10 of 1000, ln(1000)/ln(10), is 3
        return None if exponent == 1 else exponent * _made(word, (number(base),))
    row = OPERATIONS[word]
    if row.divisor is not None:
        below: Formula = row.divisor(operands[1])
        value = below.exact
        if value and (value > 0 or not row.is_of_queue):  # else it grows without end
            return first / below
        if below is first and _is_positive(below):
            return ONE
    return None


def _is_positive(formula: Formula) -> bool:
    """Return whether a formula is surely above zero, wherever it has a value."""
    found: dict[Formula, bool] = {}
    for part in parts_first(formula):
        own = [found[operand] for operand in part.operands]
        if part.word == NUMBER:
            found[part] = _value(part) > 0
        elif part.word == MAXIMUM:
            found[part] = any(own)
        elif part.word == POWER:
            found[part] = own[0]
        elif part.word in (SUM, PRODUCT, MINIMUM):
            found[part] = all(own)
        else:
            found[part] = part.is_population or part.word == EXPONENTIAL
    return found[formula]


def whole_exponent(part: Formula) -> int | None:
    """Return the exponent of a whole power, None for any other formula."""
    value = part.operands[1].exact if part.word == POWER else None
    return int(value) if value is not None and value.denominator == 1 else None


def above_and_below(part: Formula) -> tuple[list[Formula], list[Formula]]:
    """Return the factors of a formula that stand above the line of a fraction, and those below."""
    above: list[Formula] = []
    below: list[Formula] = []
    for factor in part.operands if part.word == PRODUCT else (part,):
        base, exponent = _powered(factor)
        if exponent < 0:
            below.append(power(base, number(-exponent)))
        else:
            above.append(factor)
    return above, below


def quotient_of(part: Formula) -> tuple[Formula, Formula] | None:
    """Return what is divided and by what, of what is no product, but a quotient all the same.

    It has a meaning of its own where its divisor vanishes.
    """
    row = OPERATIONS.get(part.word)
    if row is None or row.divisor is None:
        return None
    above, below = part.operands
    return above, row.divisor(below)


def maximum(*operands: Operand) -> Formula:
    """Return the largest of some formulas."""
    return apply(MAXIMUM, *operands)


def minimum(*operands: Operand) -> Formula:
    """Return the smallest of some formulas."""
    return apply(MINIMUM, *operands)


def square_root(operand: Operand) -> Formula:
    """Return a square root."""
    return power(formula(operand), HALF)


def remade(part: Formula, operands: tuple[Formula, ...]) -> Formula:
    """Return the operation of a formula on other operands."""
    return part if operands == part.operands else apply(part.word, *operands)


# -- walking -----------------------------------------------------------------------------


def parts_first(*whole: Formula, known: Container[Formula] = ()) -> list[Formula]:
    """Return each part of some formulas once, behind all of its own parts.

    Those that are `known` are left out, and what only they are made of.
    """
    found: dict[Formula, None] = {}
    waiting: list[tuple[Formula, bool]] = [(part, False) for part in reversed(whole)]
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
