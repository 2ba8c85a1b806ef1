"""The mean of the largest of independent times on arrays, as `maximum_numbers` has it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions import maximum_numbers
from qps.engine.numerics.array_blocks import Array, in_blocks


def slowest(*operands: ArrayLike) -> Array:
    """Return the mean of the largest of independent times."""
    each = np.frompyfunc(maximum_numbers.slowest, len(operands), 1)
    return in_blocks(lambda *some: each(*some).astype(float), *operands)
