"""Operations on functions of one symbol that are rational, or piecewise so: exact algebra.

An `Algebra` says what these functions are, and joins them; so each operation stands here once.
What is not here is no such function of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from qps.engine.exact_algebra.real_roots import IntractableError

_MOST_SERVERS = 16

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Algebra(Generic[T]):
    """What functions of some kind are, and how they are joined; IntractableError where not.

    `value` is the number that a function is everywhere. `known` has those of the parts of formulas
    that were requested: None for what has none.
    """

    variable: T
    constant: Callable[[Fraction | int], T]
    value: Callable[[T], Fraction | None]
    total: Callable[[Sequence[T]], T]
    product: Callable[[Sequence[T]], T]
    raised: Callable[[T, int], T]
    largest: Callable[[Sequence[T]], T]
    smallest: Callable[[Sequence[T]], T]
    waiting: Callable[[T, T], T]
    known: WeakKeyDictionary[Any, T | None] = field(default_factory=WeakKeyDictionary)


def total(algebra: Algebra[T], *parts: T) -> T:
    """Return a sum."""
    return algebra.total(parts)


def product(algebra: Algebra[T], *parts: T) -> T:
    """Return a product."""
    return algebra.product(parts)


def raised(algebra: Algebra[T], base: T, exponent: T) -> T:
    """Return a whole power; IntractableError for any other."""
    value = algebra.value(exponent)
    if value is None or value.denominator != 1:
        raise IntractableError
    return algebra.raised(base, int(value))


def ratio(algebra: Algebra[T], above: T, below: T) -> T:
    """Return a quotient; what it is where its divisor vanishes is not known."""
    return algebra.product([above, algebra.raised(below, -1)])


mean = ratio


def waiting(algebra: Algebra[T], work: T, load: T) -> T:
    """Return a wait."""
    return algebra.waiting(work, load)


def maximum(algebra: Algebra[T], *parts: T) -> T:
    """Return the largest."""
    return algebra.largest(parts)


def minimum(algebra: Algebra[T], *parts: T) -> T:
    """Return the smallest."""
    return algebra.smallest(parts)


def absolute(algebra: Algebra[T], of: T) -> T:
    """Return a size."""
    return algebra.largest([of, algebra.product([algebra.constant(-1), of])])


def erlang_c(algebra: Algebra[T], servers: T, traffic: T) -> T:
    """Return the share of calls that wait, below saturation; of a few servers alone."""
    count = algebra.value(servers)
    if count is None or count.denominator != 1 or not 1 <= count <= _MOST_SERVERS:
        raise IntractableError
    one = algebra.constant(1)
    inverse, each = one, algebra.raised(traffic, -1)
    for k in range(1, int(count) + 1):
        inverse = algebra.total([one, algebra.product([inverse, algebra.constant(k), each])])
    share = algebra.product([algebra.constant(1 / count), traffic])
    idle = algebra.total([algebra.constant(-1), inverse])
    busy = algebra.product([algebra.constant(-1), share, idle])
    return algebra.raised(algebra.total([inverse, busy]), -1)
