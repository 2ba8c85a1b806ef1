"""The mean of the largest of independent times on arrays, as `maximum_numbers` has it."""

from __future__ import annotations

from numpy.typing import ArrayLike

from qps.engine.distributions import maximum_numbers
from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row


def slowest(*operands: ArrayLike) -> Array:
    """Return the mean of the largest of independent times."""
    return in_blocks(row_by_row(maximum_numbers.slowest), *operands)
