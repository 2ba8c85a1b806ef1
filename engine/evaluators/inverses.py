"""The first operand of an operation, by its value and the other operands, of arrays."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np


def total(value: Any, *others: Any) -> Any:
    """Return what is left of a sum."""
    return value - sum(others)


def product(value: Any, *others: Any) -> Any:
    """Return what is left of a product: not-a-number where the others are not above zero."""
    factor = np.asarray(prod(others))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(factor > 0, value / factor, np.nan)
