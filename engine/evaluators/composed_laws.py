"""Laws that are written for numbers of any kind, of what is computed operation by operation.

What has bounds or slopes of each operation of a column has those of a law that is made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

Kind = Any
"""What a column computes with: bounds, or a value with its slopes."""


class Composer(Struct, frozen=True):
    """How operations are computed: by the `name` of one, of its operands; and what a number is."""

    compute: Callable[..., Kind]
    number: Callable[[float], Kind]

    def of(self, law: Callable[..., Composed], *operands: Kind) -> Kind:
        """Return a law of operands."""
        return law(self, *(Composed(self, one) for one in operands)).value

    def apply(self, name: str, *operands: Composed | float) -> Composed:
        """Return an operation of what is composed, and of numbers."""
        return Composed(
            self,
            self.compute(
                name,
                *(
                    one.value if isinstance(one, Composed) else self.number(float(one))
                    for one in operands
                ),
            ),
        )

    def maximum(self, *operands: Composed | float) -> Composed:
        """Return the largest."""
        return self.apply("maximum", *operands)

    def minimum(self, *operands: Composed | float) -> Composed:
        """Return the smallest."""
        return self.apply("minimum", *operands)

    def square(self, one: Composed) -> Composed:
        """Return x^2."""
        return self.apply("square", one)

    def root(self, one: Composed) -> Composed:
        """Return a square root."""
        return self.apply("root", one)

    def exponential(self, one: Composed) -> Composed:
        """Return e^x."""
        return self.apply("exponential", one)

    def logarithm(self, one: Composed) -> Composed:
        """Return ln x."""
        return self.apply("logarithm", one)

    def erlang_c(self, servers: Composed, traffic: Composed) -> Composed:
        """Return the share that waits."""
        return self.apply("erlang_c", servers, traffic)


class Composed(Struct, frozen=True, gc=False):
    """Something that is added and multiplied as a `composer` does it."""

    composer: Composer
    value: Kind

    def __add__(self, other: Composed | float) -> Composed:
        """Return a sum."""
        return self.composer.apply("total", self, other)

    __radd__ = __add__

    def __mul__(self, other: Composed | float) -> Composed:
        """Return a product."""
        return self.composer.apply("product", self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Composed:
        """Return it turned round."""
        return self * -1.0

    def __sub__(self, other: Composed | float) -> Composed:
        """Return a difference."""
        return self + -other

    def __rsub__(self, other: float) -> Composed:
        """Return a number less it."""
        return -self + other

    def __truediv__(self, other: Composed | float) -> Composed:
        """Return a quotient."""
        return self.composer.apply("ratio", self, other)

    def __rtruediv__(self, other: float) -> Composed:
        """Return a number over it."""
        return self.composer.apply("ratio", other, self)
