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

from qps.engine.distributions.order_levels import order_level, share_of_orders
from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_numbers import TOLERANCES, stages_quantile, without_law
from qps.engine.distributions.sum_tails import stages_tail
from qps.engine.numerics.falling_roots import falling_root

if TYPE_CHECKING:
    from qps.engine.distributions.order_laws import OrderLaw, OtherTime

_MEDIAN = 0.5
_LEAST = 1e-300
_FEWEST = 1e-13
"""Of rarer shares digits are not sought."""


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
def summed_quantile(
    level: float, answers: float, spare: float, inside: float, *stages: float
) -> float:
    """Return the quantile of the time until the first `answers` are there, with other stages.

    It is summed over the law of their order. The other calls are `spare`. The stages of a call are
    the first ones, as many as stand `inside`; the others are passed once.
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


@lru_cache(maxsize=1 << 14)
def summed_tail(time: float, answers: float, spare: float, inside: float, *stages: float) -> float:
    """Return the share that takes longer until the first `answers` are there, with other stages."""
    if isnan(time) or not 1 <= inside <= len(stages) or isnan(order_level(_MEDIAN, answers, spare)):
        return nan
    branch, others = stages[: OPERANDS * round(inside)], stages[OPERANDS * round(inside) :]
    share = stages_tail(time, *branch)
    alone = share if isnan(share) else share_of_orders(share, answers, spare)
    if not others or isnan(alone) or alone == 1 or time == inf:
        return alone
    besides = stages_tail(time, *others)
    if isnan(besides) or besides == 1:
        return besides
    from qps.engine.distributions.order_laws import OrderLaw, OtherTime  # noqa: PLC0415 - needs numpy

    law = OrderLaw.of(branch, answers, spare)
    other = OtherTime.of(others, max(alone, besides, _FEWEST))
    if law is None or other is None:
        return nan
    return law.longer_with(other, time)[0]


def _root(law: OrderLaw, other: OtherTime, late: float, low: float, high: float) -> float:
    """Return where a share `late` is longer. Where the law jumps there, that is where it does."""

    def excess(time: float) -> tuple[float, float]:
        """Return log(P(T > t)/late), and its slope."""
        share, density = law.longer_with(other, time)
        return log(max(share, _LEAST) / late), -density / max(share, _LEAST)

    return low if excess(low)[0] <= 0 else falling_root(excess, low, high, low, TOLERANCES)
