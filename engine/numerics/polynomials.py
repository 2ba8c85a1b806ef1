"""Products of polynomials, as lists of coefficients, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY_PRODUCTS = 1 << 8
"""From so many on arrays are quicker, with the lists that go in and out."""
_MANY_COEFFICIENTS = 64
"""Of polynomials that are multiplied in arrays from here on: the numbers of a list cost more."""


class Polynomial(Protocol):
    """Copies of a station, their weights over those of single servers and of all others."""

    copies: int
    weights: list[float]
    others: list[float]


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


def weighed(stations: Sequence[Polynomial], shares: Sequence[float], most: int) -> list[float]:
    """Return the product of all polynomials, times the weights of populations.

    Each station is given that of all others, and of its other copies.
    """
    size = min(most + 1, len(shares))
    if min(size, sum(one.copies * (len(one.weights) - 1) for one in stations)) > _MANY_COEFFICIENTS:
        return _weighed_in_arrays(stations, shares, size)
    fewer = [power(one.weights, one.copies - 1, size) for one in stations]
    each = [convolved(less, one.weights, size) for less, one in zip(fewer, stations, strict=True)]
    ahead = list(accumulate(each, lambda one, other: convolved(one, other, size), initial=[1.0]))
    behind = [1.0]
    for k in range(len(stations) - 1, -1, -1):
        stations[k].others = convolved(convolved(ahead[k], behind, size), fewer[k], size)
        behind = convolved(behind, each[k], size)
    return [one * share for one, share in zip(behind, shares, strict=False)]


def _weighed_in_arrays(
    stations: Sequence[Polynomial], shares: Sequence[float], size: int
) -> list[float]:
    """Return the same as `weighed`, of many coefficients."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    def times(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        return np.convolve(one, other)[:size]

    fewer, each = [], []
    for one in stations:
        own = np.array(one.weights)
        less = np.array(power(one.weights, one.copies - 1, size))
        fewer.append(less)
        each.append(times(less, own))
    ahead = list(accumulate(each, times, initial=np.ones(1)))
    behind = np.ones(1)
    for k in range(len(stations) - 1, -1, -1):
        stations[k].others = times(times(ahead[k], behind), fewer[k]).tolist()
        behind = times(behind, each[k])
    return [one * share for one, share in zip(behind.tolist(), shares, strict=False)]
