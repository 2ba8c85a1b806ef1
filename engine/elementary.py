"""Functions of numbers and arrays that numpy lacks, each with the meaning that the language gives.

Arguments are floats or arrays of them, joined as numpy joins them; results are of the same shape.
What has no value is not-a-number, nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

NEARLY_WHOLE = 1e-13
"""So near to a whole number, as a part of it, floats do not tell on which side a value lies.

0.07 times 100 is 7.000000000000001 in floats: rounded up as it stands, it would be 8.
"""
_NEAR_BRANCH = -0.25


def rounded(function: Callable[[Any], Any], value: Any) -> Any:
    """Return values rounded up or down: what is nearly whole counts as whole."""
    whole = np.rint(value)
    with np.errstate(invalid="ignore"):
        is_whole = np.abs(value - whole) <= NEARLY_WHOLE * np.abs(whole)
    return np.where(is_whole, whole, function(value))[()]


def floor(value: Any) -> Any:
    """Return values rounded down."""
    return rounded(np.floor, value)


def ceiling(value: Any) -> Any:
    """Return values rounded up."""
    return rounded(np.ceil, value)


def whole_power(value: Any, exponent: int) -> Any:
    """Return an integer power; small ones by products, which are many times faster."""
    if exponent < 0:
        return 1.0 / whole_power(value, -exponent)
    if exponent == 0:
        return value * 0.0 + 1.0
    if exponent == 1:
        return value
    if exponent == 2:  # noqa: PLR2004
        return value * value
    if exponent == 3:  # noqa: PLR2004
        return value * value * value
    half = whole_power(value, exponent // 2)
    return half * half if exponent % 2 == 0 else half * half * value


def ratio(above: Any, below: Any) -> Any:
    """Return a quotient that is infinite where its divisor vanishes."""
    return np.where(below == 0, np.inf, above / np.where(below == 0, 1.0, below))


def mean(above: Any, below: Any) -> Any:
    """Return a quotient that is 0 where its divisor vanishes: a mean over what there is."""
    return np.where(below == 0, 0.0, above / np.where(below == 0, 1.0, below))


def waiting(work: Any, load: Any) -> Any:
    """Return work/(1 - load), infinite from load 1 on: a queue that grows without end."""
    spare = 1 - np.asarray(load, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spare > 0, work / spare, np.where(np.isnan(spare), np.nan, np.inf))


def effective(cores: Any, efficiency: Any) -> Any:
    """Return what cores do together, c e^(log2 c): each doubling keeps a part e."""
    return cores * np.power(efficiency, np.log2(cores))


def harmonic(count: Any) -> Any:
    """Return 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function."""
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, seldom needed

    return digamma(np.asarray(count, dtype=float) + 1) + np.euler_gamma


def lambert(value: Any, branch: int = 0) -> Any:
    """Return Lambert's W on the reals, the upper branch (0) or the lower one (-1).

    Not-a-number where it is not real.
    """
    from scipy.special import lambertw  # noqa: PLC0415 - slow to import, seldom needed

    found = lambertw(value, branch)
    return np.where(np.isreal(found), found.real, np.nan)[()]


def lower_lambert(value: Any) -> Any:
    """Return the lower branch of Lambert's W on the reals; not-a-number where it is not real.

    A series at the branch point and an asymptotic one elsewhere, each made exact to a few units
    in the last place by Fritsch's iteration (Fritsch, Shafer and Crowley 1973), which is of
    the fourth order: much faster than the complex function of scipy.
    """
    x = np.asarray(value, dtype=float)
    with np.errstate(all="ignore"):
        root = -np.sqrt(2 * (1 + np.e * x))
        series = -1 + root * (1 - root * (1 / 3 - root * (11 / 72 - root * (43 / 540))))
        log = np.log(-x)
        loglog = np.log(-log)
        w = np.where(x < _NEAR_BRANCH, series, log - loglog + loglog / log)
        for _ in range(2):
            z = np.log(x / w) - w
            next_to = 1 + w
            q = 2 * next_to * (next_to + 2 / 3 * z)
            step = z / next_to * (q - z) / (q - 2 * z)
            w = np.where(np.isfinite(step), w * (1 + step), w)
        w = np.where((x >= -1 / np.e) & (x < 0), np.minimum(w, -1.0), np.nan)
    return w[()]
