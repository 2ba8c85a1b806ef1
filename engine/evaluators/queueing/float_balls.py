"""What is summed from inverted transforms, in balls: as floats have it, and as far as they do."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, isnan

from flint import arb

from qps.engine.evaluators.ball_arithmetic import INFINITE, UNKNOWN, is_unknown, refuse

_ERROR = 1e-7
"""By so much, as a part of them, means and quantiles in floats are off at most."""
_NOTHING = 1e-14


def in_floats(number: Callable[..., float], *operands: arb) -> arb:
    """Return what floats have, as wide as operands are and as floats are off.

    Shares and times that may be nothing are no less: a ball of one begins at zero.
    """
    if is_unknown(*operands) or not all(one.is_finite() for one in operands):
        return UNKNOWN
    near = [float(one.mid()) for one in operands]
    found = number(*near)
    refuse(isnan(found))
    if found == inf:
        return INFINITE
    off = found * _ERROR
    for place, one in enumerate(operands):
        if float(one.rad()) > _NOTHING * abs(near[place]):
            low, high = float(one.lower()), float(one.upper())
            for end in (max(0.0, low) if near[place] >= 0 else low, high):
                moved = number(*near[:place], end, *near[place + 1 :])
                if not isfinite(moved):
                    return UNKNOWN
                off += abs(moved - found)
    return arb(found, off)
