"""What people write for an operation: by a writer, which makes products, powers and functions.

What is not here is read by its name and its operands.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")


class Writer(Protocol[T]):
    """Writes formulas, from what is written of their parts."""

    def product(self, *factors: T) -> T:
        """Return a product."""

    def power(self, base: T, exponent: T) -> T:
        """Return a power."""

    def function(self, name: str, *operands: T) -> T:
        """Return a function by its name."""


def effective(write: Writer[T], cores: T, efficiency: T) -> T:
    """Return so many cores, less what each doubling costs."""
    doublings = write.function("log2", cores)
    return write.product(cores, write.power(efficiency, doublings))
