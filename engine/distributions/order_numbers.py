"""The mean and quantiles of the k-th shortest of n independent times to pass the same stages.

A time is as `sum_numbers` has it, nine numbers for each stage. Where q is the share of times that
are longer than t, answers are missing then with the probability I(q; n - k + 1, k): of all answers,
k = n, that is 1 - (1 - q)^n. The mean is the integral of it. What comes before or behind takes an
independent time A besides: its tail is summed over the law of the k-th shortest,

    P(A + M > t) = P(M > t - a) + the integral of P(A > t - m) dP(M <= m) up to t - a,

with a the least that A may be. Integrals are sums of Gauss and Legendre's over panels that grow by
powers from each time at which a law begins, so that no scale is missed.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isnan, log, nan
from typing import TYPE_CHECKING

from qps.engine.distributions.order_levels import order_level
from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_numbers import stages_quantile, without_law

if TYPE_CHECKING:
    from qps.engine.distributions.order_laws import OrderLaw, OtherTime

_MEDIAN = 0.5
_MOST_STEPS = 80
_NEXT_TO = 1e-11


@lru_cache(maxsize=1 << 14)
def order_mean(answers: float, spare: float, *stages: float) -> float:
    """Return the mean time until the first `answers` are there of calls; `spare` are the others."""
    refused = nan if isnan(order_level(_MEDIAN, answers, spare)) else without_law(*stages)
    if refused is not None:
        return refused
    from qps.engine.distributions.order_laws import OrderLaw  # noqa: PLC0415 - needs numpy

    law = OrderLaw.of(stages, answers, spare)
    return nan if law is None else law.mean()


@lru_cache(maxsize=1 << 14)
def order_quantile(
    level: float, answers: float, spare: float, inside: float, *stages: float
) -> float:
    """Return the quantile of the time until the first `answers` are there, with other stages.

    The other calls are `spare`. The stages of a call are the first ones, as many as stand `inside`;
    the others are passed once.
    """
    if not 1 <= inside <= len(stages):
        return nan
    branch, others = stages[: OPERANDS * round(inside)], stages[OPERANDS * round(inside) :]
    at = order_level(level, answers, spare)
    alone = stages_quantile(at, *branch)
    if not others or isnan(alone) or alone == inf:
        return alone
    refused = without_law(*others)
    if refused is not None:
        return refused
    from qps.engine.distributions.order_laws import OrderLaw, OtherTime  # noqa: PLC0415 - needs numpy

    law, other = OrderLaw.of(branch, answers, spare), OtherTime.of(others, 1 - level)
    if law is None or other is None:
        return nan
    half = (1 + level) / 2
    most = stages_quantile(order_level(half, answers, spare), *branch)
    low = max(stages_quantile(level, *others) + law.fixed[0], alone + other.least)
    high = stages_quantile(half, *others) + most
    return _root(law, other, 1 - level, low, high)


def _root(law: OrderLaw, other: OtherTime, late: float, low: float, high: float) -> float:
    """Return where a share `late` is longer, by false position in logarithms, or by halves.

    Where the law jumps there, that is where it does.
    """
    ends = [(at, _excess(law, other, at, late)) for at in (low, high)]
    (low, above), (high, below) = ends
    if above <= 0:
        return low
    stayed = 0
    for step in range(_MOST_STEPS):
        if high - low <= _NEXT_TO * high or below > 0:
            break
        point = high - below * (high - low) / (below - above)
        if step % 3 == 2 or not low < point < high:  # noqa: PLR2004 - where it jumps
            point = (low + high) / 2
        value = _excess(law, other, point, late)
        if value == 0:
            return point
        if value > 0:
            low, above, below, stayed = point, value, below / 2 if stayed > 0 else below, 1
        else:
            high, below, above, stayed = point, value, above / 2 if stayed < 0 else above, -1
        if abs(value) <= _NEXT_TO:
            return point
    return high


def _excess(law: OrderLaw, other: OtherTime, time: float, late: float) -> float:
    share = law.longer_with(other, time)
    return log(max(share, 1e-300) / late)
