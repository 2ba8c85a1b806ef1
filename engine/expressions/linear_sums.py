"""Sums as lines: of what varies with the population, each with a factor in which there is none.

Factors are sums of products of powers, exactly; so what cancels is seen, whatever inputs there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

Product: TypeAlias = tuple[tuple[int, int], ...]
"""Operations, each with its power, in their order."""
Factor: TypeAlias = dict[Product, Fraction]
"""A sum of products, each with a number."""
Line: TypeAlias = dict[int, Factor]
"""Operations that vary, each with its factor; what does not vary has the number `FREE`."""

FREE = -1
ONE: Factor = {(): Fraction(1)}
_MOST_PRODUCTS = 64


class TooManyProductsError(Exception):
    """Raised for a factor of so many products that it is not worth while."""


def number(value: Fraction) -> Factor:
    """Return a factor that is a number."""
    return {(): value} if value else {}


def power_of(operation: int, exponent: int) -> Factor:
    """Return a factor that is a power of an operation."""
    return {((operation, exponent),): Fraction(1)}


def times(one: Factor, other: Factor) -> Factor:
    """Return the product of two factors."""
    if len(one) * len(other) > _MOST_PRODUCTS:
        raise TooManyProductsError
    found: Factor = {}
    for first, a in one.items():
        for second, b in other.items():
            powers = dict(first)
            for operation, exponent in second:
                powers[operation] = powers.get(operation, 0) + exponent
            product = tuple(sorted((o, e) for o, e in powers.items() if e))
            found[product] = found.get(product, Fraction(0)) + a * b
    return {product: value for product, value in found.items() if value}


def inverse(factor: Factor) -> Factor | None:
    """Return one over a factor, None where it is no single product."""
    if len(factor) != 1:
        return None
    ((product, value),) = factor.items()
    return {tuple((o, -e) for o, e in product): 1 / value}


def plus(one: Factor, other: Factor) -> Factor:
    """Return the sum of two factors."""
    found = dict(one)
    for product, value in other.items():
        found[product] = found.get(product, Fraction(0)) + value
    if len(found) > _MOST_PRODUCTS:
        raise TooManyProductsError
    return {product: value for product, value in found.items() if value}


def scaled(line: Mapping[int, Factor], factor: Factor) -> Line:
    """Return a line, all of it multiplied."""
    return {operation: times(own, factor) for operation, own in line.items()}


def together(one: Mapping[int, Factor], other: Mapping[int, Factor]) -> Line:
    """Return the sum of two lines; what cancels is left out."""
    found = dict(one)
    for operation, factor in other.items():
        found[operation] = plus(found.get(operation, {}), factor)
    return {operation: factor for operation, factor in found.items() if factor}
