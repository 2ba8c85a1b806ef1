"""Simulated means with their confidence intervals, and limits, as tables print them."""

from __future__ import annotations

from math import isfinite

from qps.compiler.quantities.dimension import Dimension
from qps.reports.text.words.quantities import Limited, quantity, with_interval

_POWER = "10"
"""How the last word of a number without a unit begins: `4.8 × 10⁻⁸`."""


def estimate(mean: float, half: float, dimension: Dimension, *, share: bool = False) -> str:
    """Return a mean and half the width of its interval, the unit once.

    >>> from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
    >>> estimate(0.01338, 0.00013, TIME), estimate(0.4, 0.0036, DIMENSIONLESS, share=True)
    ('13.38 ± 0.13 ms', '40 ± 0.36 %')
    >>> from qps.compiler.quantities.dimension import Dimension
    >>> estimate(1.12e-5, 4.8e-8, Dimension.of("repair") / TIME)
    '0.0000112 ± 4.8 × 10⁻⁸ repairs/s'
    """
    shown, around = with_interval(mean, half, dimension, share=share)
    if not isfinite(half):
        return shown
    unit = around.rpartition(" ")[2]
    if unit.startswith(_POWER):
        return f"{shown} ± {around}"
    return f"{shown.removesuffix(unit).rstrip()} ± {around}"


def limit_of(criterion: Limited, limit: float, *, share: bool = False, digits: int = 4) -> str:
    """Return what a requirement allows, such as `≤ 100 ms`."""
    if criterion.strict:
        relation = "<" if criterion.at_most else ">"
    else:
        relation = "≤" if criterion.at_most else "≥"
    return f"{relation} {quantity(limit, criterion.dimension, digits, share=share)}"
