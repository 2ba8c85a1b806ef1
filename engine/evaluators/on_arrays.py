"""Values of operations on arrays, with the meaning that the language gives.

Arguments are floats or arrays of them, joined as numpy joins them; results are of the same shape.
What has no value is not-a-number, nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from qps.engine.distributions.maximum_arrays import slowest
from qps.engine.distributions.order_arrays import order_level, order_mean
from qps.engine.evaluators.on_floats import (
    BRANCH,
    BRANCH_DISTANCE,
    DIGAMMA,
    DIGAMMA_FROM,
    EULER,
    NEARLY_WHOLE,
    ONE_OVER_E,
)
from qps.engine.forks.answer_arrays import order_quantile, order_tail
from qps.engine.forks.fork_arrays import fork_mean, fork_quantile, fork_tail
from qps.engine.queueing.finite_room_arrays import (
    room_loss,
    room_quantile,
    room_traffic,
    room_wait,
)
from qps.engine.queueing.queue_arrays import (
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
from qps.engine.queueing.unlike_arrays import (
    unlike_long,
    unlike_ratio,
    unlike_share,
    unlike_short,
)
from qps.engine.queueing_networks.load_dependent_arrays import (
    nested_rate,
    nested_time,
    nested_wait,
)
from qps.engine.queueing_networks.networks_row_by_row import (
    class_open_wait,
    class_quantile,
    class_rate,
    class_wait,
    forked_rate,
    forked_time,
    forked_wait,
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.queueing_networks.product_form_arrays import (
    closed_cycle,
    closed_quantile,
    closed_rate,
    closed_wait,
    mixed_room,
    mixed_wait,
)

absolute, root, exponential, cosine, arc_cosine = np.abs, np.sqrt, np.exp, np.cos, np.arccos


# -- arithmetic --------------------------------------------------------------------------


def total(*parts: Any) -> Any:
    """Return a sum."""
    return reduce(add, parts)


def product(*parts: Any) -> Any:
    """Return a product."""
    return reduce(mul, parts)


def maximum(*parts: Any) -> Any:
    """Return the largest; not-a-number where one has no value."""
    return reduce(np.maximum, parts)


def minimum(*parts: Any) -> Any:
    """Return the smallest; not-a-number where one has no value."""
    return reduce(np.minimum, parts)


def raised(base: Any, exponent: Any) -> Any:
    """Return a power; that of nothing below 0 has no value, that of a negative only if whole."""
    found = np.power(base, exponent)
    is_between = (np.floor(exponent) != exponent) | np.isinf(exponent)
    has_none = np.isnan(exponent) | np.where(base == 0, exponent < 0, (base < 0) & is_between)
    return np.where(has_none, np.nan, found)[()]


def whole_power(value: Any, exponent: int) -> Any:
    """Return an integer power; small ones by products, which are many times faster."""
    if exponent < 0:
        below = whole_power(value, -exponent)
        found = np.divide(1.0, below)
        return found if np.all(below) else np.where(below == 0, np.nan, found)[()]
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
    found = np.divide(above, below)
    if np.all(below):
        return found
    return np.where((below == 0) & ~np.isnan(above), np.inf, found)[()]


def mean(above: Any, below: Any) -> Any:
    """Return a quotient that is 0 where its divisor vanishes."""
    found = np.divide(above, below)
    if np.all(below):
        return found
    return np.where((below == 0) & ~np.isnan(above), 0.0, found)[()]


def waiting(work: Any, load: Any) -> Any:
    """Return work/(1 - load), infinite from load 1 on: a queue that grows without end."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((load >= 1) & ~np.isnan(work), np.inf, np.divide(work, 1 - load))[()]


# -- functions ---------------------------------------------------------------------------


_BRANCH_LIMIT = -1 / 4
"""Below that Lambert's W is near its branch point."""


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


def logarithm(value: Any) -> Any:
    """Return ln x."""
    return np.where(value == 0, np.nan, np.log(value))[()]


def effective(cores: Any, efficiency: Any) -> Any:
    """Return what cores do together, c e^(log2 c): each doubling keeps a part e."""
    is_there = (cores > 0) & (efficiency >= 0)
    return np.where(is_there, cores * raised(efficiency, np.log2(cores)), np.nan)[()]


def harmonic(count: Any) -> Any:
    """Return 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function."""
    x = np.where(np.asarray(count) > -1, count, np.nan) + 1.0
    steps = np.zeros_like(x)
    for _ in range(DIGAMMA_FROM):
        is_small = x < DIGAMMA_FROM
        steps += np.where(is_small, 1 / x, 0.0)
        x = np.where(is_small, x + 1, x)
    square = 1 / (x * x)
    series = np.zeros_like(x)
    for coefficient in reversed(DIGAMMA):
        series = (series + coefficient) * square
    return (np.log(x) - 1 / (2 * x) - series - steps + EULER)[()]


def lambert(value: Any) -> Any:
    """Return the upper branch of Lambert's W, not-a-number where it is not real."""
    x = np.asarray(value, dtype=float)
    apart = _from_branch(x)
    with np.errstate(all="ignore"):
        logarithm = np.log(x)
        start = np.where(x < np.e, np.log1p(x), logarithm - np.log(logarithm))
        start = np.where(x < 0, x * (1 - x), start)
        start = np.where(x < _BRANCH_LIMIT, _at_branch(apart), start)
        w = _by_fritsch(x, start, apart)
        w = np.where((x == 0) | np.isposinf(x), x, w)
    return np.where(x >= -ONE_OVER_E[0], w, np.nan)[()]


def lower_lambert(value: Any) -> Any:
    """Return the lower branch of Lambert's W, not-a-number where it is not real."""
    x = np.asarray(value, dtype=float)
    apart = -_from_branch(x)
    with np.errstate(all="ignore"):
        far = np.log(-x)
        again = np.log(-far)
        start = np.where(x < _BRANCH_LIMIT, _at_branch(apart), far - again + again / far)
        w = _by_fritsch(x, start, apart)
    return np.where((x >= -ONE_OVER_E[0]) & (x < 0), w, np.nan)[()]


def _from_branch(value: Any) -> Any:
    """Return sqrt(2 (1 + e x)), the first digits of 1/e taken off exactly."""
    return np.sqrt(np.maximum(2 * np.e * (value + ONE_OVER_E[0] + ONE_OVER_E[1]), 0.0))


def _at_branch(apart: Any) -> Any:
    found: Any = 0.0
    for coefficient in reversed(BRANCH):
        found = found * apart + coefficient
    return found


def _by_fritsch(value: Any, start: Any, apart: Any) -> Any:
    """Return Lambert's W near a start (Fritsch, Shafer and Crowley 1973: of the fourth order).

    Next to the branch point by the series.
    """
    w = start
    for _ in range(3):
        z, beside = np.log(value / w) - w, 1 + w
        q = 2 * beside * (beside + 2 / 3 * z)
        w = w * (1 + z / beside * (q - z) / (q - 2 * z))
    return np.where(np.abs(apart) < BRANCH_DISTANCE, _at_branch(apart), w)
