"""The k-th shortest of n times on arrays, as `order_numbers` has it.

Calls of many stages have more operands than the 63 that a ufunc of numpy takes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions import order_levels, order_numbers
from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row


def order_level(*operands: ArrayLike) -> Array:
    """Return the level of one call where so many answers are at a level."""
    level, answers, spare = (np.asarray(one, dtype=float) for one in operands)
    if not spare.any():  # all answers: a power, of which there are many at once
        with np.errstate(all="ignore"):
            found = np.exp(np.log(level) / answers)
            is_there = (level >= 0) & (level < 1) & (answers >= 1) & (answers < np.inf)
        return np.asarray(np.where(is_there, found, np.nan) + np.zeros(spare.shape))
    each = np.frompyfunc(order_levels.order_level, 3, 1)
    return in_blocks(lambda *some: each(*some).astype(float), *operands)


def order_mean(*operands: ArrayLike) -> Array:
    """Return the mean time until so many answers are there."""
    return in_blocks(row_by_row(order_numbers.order_mean), *operands)
