"""The mean of the largest of independent times on arrays, as `slowest_numbers` has it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.arrays import Array, in_blocks
from qps.engine.queues import slowest_numbers


def slowest(*operands: ArrayLike) -> Array:
    """Return the mean of the largest of independent times."""
    each = np.frompyfunc(slowest_numbers.slowest, len(operands), 1)
    return in_blocks(lambda *some: each(*some).astype(float), *operands)
