"""Values of operations on floats, one at a time: nothing is raised, and no numpy is imported.

What has no value is not-a-number. What is beyond all floats is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import acos, cos, e, exp, inf, isfinite, log, log1p, nan, sqrt

from qps.engine.distributions.maximum_numbers import slowest
from qps.engine.distributions.order_levels import order_level
from qps.engine.distributions.order_numbers import order_mean
from qps.engine.forks.fork_numbers import (
    fork_mean,
    fork_quantile,
    fork_tail,
    order_quantile,
    order_tail,
)
from qps.engine.queueing.finite_room_numbers import room_loss, room_traffic, room_wait
from qps.engine.queueing.finite_room_quantiles import room_quantile
from qps.engine.queueing.queue_numbers import (
    batch_quantile,
    burst_quantile,
    burst_wait,
    erlang_b,
    erlang_c,
    gamma_quantile,
    md1_quantile,
    md1_tail,
    normal_quantile,
    normal_tail,
    periodic_quantile,
    periodic_tail,
    periodic_wait,
    sojourn_quantile,
    stages_quantile,
    stages_tail,
    uneven,
)
from qps.engine.queueing.unlike_numbers import (
    unlike_long,
    unlike_ratio,
    unlike_share,
    unlike_short,
)
from qps.engine.queueing_networks.cycle_time_quantiles import closed_quantile
from qps.engine.queueing_networks.fork_join_mva import forked_rate, forked_time, forked_wait
from qps.engine.queueing_networks.load_dependent_mva import nested_rate, nested_time, nested_wait
from qps.engine.queueing_networks.multiclass_cycle_times import class_quantile
from qps.engine.queueing_networks.multiclass_load_dependent_numbers import (
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.queueing_networks.multiclass_mva import class_open_wait, class_rate, class_wait
from qps.engine.queueing_networks.product_form import (
    closed_cycle,
    closed_rate,
    closed_wait,
    mixed_room,
    mixed_wait,
)

NEARLY_WHOLE = 1e-13
"""So near to a whole number, as a part of it, floats do not determine on which side a value lies.

0.07 times 100 is 7.000000000000001 in floats: rounded up as it stands, it would be 8.
"""
ONE_OVER_E = (0.36787944117144233, -1.2428753672788363e-17)
"""1/e as a float, and what it lacks."""
BRANCH = (-1.0, 1.0, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505)
"""Lambert's W at its branch point, by powers of sqrt(2 (1 + e x))."""
BRANCH_DISTANCE = 1e-2
DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""Of log x - 1/(2 x) - digamma(x), by powers of 1/x^2."""
DIGAMMA_FROM = 10
_BRANCH_LIMIT = -1 / 4
"""Below that Lambert's W is near its branch point."""


def _is_none(value: float) -> bool:
    return value != value  # noqa: PLR0124 - not-a-number is the only one that is not itself


# -- arithmetic --------------------------------------------------------------------------


def total(*parts: float) -> float:
    """Return a sum."""
    return sum(parts)


def product(*parts: float) -> float:
    """Return a product; nothing times infinity has no value."""
    return math.prod(parts)


def raised(base: float, exponent: float) -> float:
    """Return a power; that of nothing below 0 has no value, that of a negative only if whole."""
    if _is_none(exponent) or (base == 0 and exponent < 0):
        return nan
    if base < 0 and not exponent.is_integer():
        return nan
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -inf if base < 0 and exponent % 2 else inf


def ratio(above: float, below: float) -> float:
    """Return a quotient that is infinite where its divisor vanishes."""
    if below == 0:
        return nan if _is_none(above) else inf
    return above / below


def mean(above: float, below: float) -> float:
    """Return a quotient that is 0 where its divisor vanishes."""
    if below == 0:
        return nan if _is_none(above) else 0.0
    return above / below


def waiting(work: float, load: float) -> float:
    """Return work/(1 - load), infinite from load 1 on."""
    if load >= 1:
        return nan if _is_none(work) else inf
    return work / (1 - load)


def maximum(*parts: float) -> float:
    """Return the largest; not-a-number where one has no value."""
    return nan if any(map(_is_none, parts)) else max(parts)


def minimum(*parts: float) -> float:
    """Return the smallest; not-a-number where one has no value."""
    return nan if any(map(_is_none, parts)) else min(parts)


def absolute(value: float) -> float:
    """Return a size without its sign."""
    return abs(value)


def floor(value: float) -> float:
    """Return a value rounded down; one that is nearly whole counts as whole."""
    return _rounded(math.floor, value)


def ceiling(value: float) -> float:
    """Return a value rounded up; one that is nearly whole counts as whole."""
    return _rounded(math.ceil, value)


def _rounded(function: Callable[[float], int], value: float) -> float:
    if not isfinite(value):
        return value
    whole = float(round(value))
    is_whole = abs(value - whole) <= NEARLY_WHOLE * abs(whole)
    return whole if is_whole else float(function(value))


# -- functions ---------------------------------------------------------------------------


def root(value: float) -> float:
    """Return a square root."""
    return sqrt(value) if value >= 0 else nan


def exponential(value: float) -> float:
    """Return e^x."""
    try:
        return exp(value)
    except OverflowError:
        return inf


def logarithm(value: float) -> float:
    """Return ln x."""
    return log(value) if value > 0 else nan


def cosine(value: float) -> float:
    """Return a cosine."""
    return cos(value) if isfinite(value) else nan


def arc_cosine(value: float) -> float:
    """Return an angle of which the cosine is known."""
    return acos(value) if -1 <= value <= 1 else nan


def lambert(value: float) -> float:
    """Return the upper branch of Lambert's W, not-a-number where it is not real."""
    if not -ONE_OVER_E[0] <= value < inf or value == 0:
        return value if value in (0.0, inf) else nan
    apart = _from_branch(value)
    if apart < BRANCH_DISTANCE:
        return _at_branch(apart)
    if value < 0:
        w = _at_branch(apart) if value < _BRANCH_LIMIT else value * (1 - value)
    else:
        w = log1p(value) if value < e else log(value) - log(log(value))
    return _by_fritsch(value, w)


def lower_lambert(value: float) -> float:
    """Return the lower branch of Lambert's W, not-a-number where it is not real."""
    if not -ONE_OVER_E[0] <= value < 0:
        return nan
    apart = _from_branch(value)
    if apart < BRANCH_DISTANCE:
        return _at_branch(-apart)
    if value < _BRANCH_LIMIT:
        return _by_fritsch(value, _at_branch(-apart))
    far = log(-value)
    return _by_fritsch(value, far - log(-far) + log(-far) / far)


def _from_branch(value: float) -> float:
    """Return sqrt(2 (1 + e x)), the first digits of 1/e taken off exactly."""
    return sqrt(max(2 * e * (value + ONE_OVER_E[0] + ONE_OVER_E[1]), 0.0))


def _at_branch(apart: float) -> float:
    found = 0.0
    for coefficient in reversed(BRANCH):
        found = found * apart + coefficient
    return found


def _by_fritsch(value: float, w: float) -> float:
    """Return Lambert's W near w (Fritsch, Shafer and Crowley 1973: of the fourth order)."""
    for _ in range(3):
        z, beside = log(value / w) - w, 1 + w
        q = 2 * beside * (beside + 2 / 3 * z)
        w *= 1 + z / beside * (q - z) / (q - 2 * z)
    return w


def effective(cores: float, efficiency: float) -> float:
    """Return what cores do together, c e^(log2 c): each doubling keeps a part e."""
    if not (cores > 0 and efficiency >= 0):
        return nan
    return cores * raised(efficiency, math.log2(cores))


def harmonic(count: float) -> float:
    """Return 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function."""
    if not -1 < count < inf:
        return inf if count == inf else nan
    return _digamma(count + 1) + EULER


def _digamma(x: float) -> float:
    steps = 0.0
    while x < DIGAMMA_FROM:
        steps += 1 / x
        x += 1
    square, series = 1 / (x * x), 0.0
    for coefficient in reversed(DIGAMMA):
        series = (series + coefficient) * square
    return log(x) - 1 / (2 * x) - series - steps


EULER = -_digamma(1.0)
"""Euler's constant as the same sum has it: the harmonic number of 0 is 0."""
