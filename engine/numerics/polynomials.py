"""Products of polynomials, as lists of coefficients, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

_MANY_PRODUCTS = 1 << 8
"""From so many on arrays are quicker, with the lists that go in and out."""


def power(values: list[float], exponent: int, size: int) -> list[float]:
    """Return the first coefficients of a power of a polynomial."""
    found = [1.0]
    while exponent:
        if exponent % 2:
            found = convolved(found, values, size)
        exponent //= 2
        if exponent:
            values = convolved(values, values, size)
    return found


def convolved(one: Sequence[float], other: Sequence[float], size: int) -> list[float]:
    """Return the first coefficients of a product of polynomials."""
    if len(one) > len(other):
        one, other = other, one
    if len(one) == 1:
        return [one[0] * value for value in other[:size]]
    if len(one) * len(other) > _MANY_PRODUCTS:
        import numpy as np  # noqa: PLC0415 - seldom needed

        found: list[float] = np.convolve(one, other)[:size].tolist()
        return found
    found = [0.0] * min(len(one) + len(other) - 1, size)
    for k, factor in enumerate(one[:size]):
        for at, value in enumerate(other[: size - k], k):
            found[at] += factor * value
    return found


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the sum of products, as far as both go."""
    return sum(map(mul, one, other), 0.0)
