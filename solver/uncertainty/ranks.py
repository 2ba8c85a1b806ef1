"""Where values lie among others."""

from __future__ import annotations

import numpy as np

from qps.solver.matrix.limits.row_preparation import Floats


def ranks(values: Floats, among: Floats) -> Floats:
    """Return which share of some values is less than each, in [0, 1]; half of equal ones count.

    Not-a-number of what is none.
    """
    ordered = np.sort(among)
    both = [np.searchsorted(ordered, values, side=side) for side in ("left", "right")]
    return np.where(np.isnan(values), np.nan, sum(both) / (2 * among.size))
