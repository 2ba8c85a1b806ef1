"""M/D/1, one number at a time: tails and quantiles of its wait; `md1_arrays` has them for many.

Times are counted in service times. P(W > t) is P(L + J >= k) with k = floor(t) + 1, where L waits
for service, and J come, by Poisson's law, in the k - t services before (after Franx, Oper. Res.
Lett. 29, 2001). All terms are positive: no digits are lost, as they are in Erlang's alternating
sum (1909; Crommelin 1932).
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, floor, inf, log, log1p, nan
from operator import mul

from qps.engine.numerics.falling_roots import falling_root
from qps.engine.queueing.fluid_decay_numbers import log_growth

SUM_ENDS = 20
"""From so many service times on the one term that is left of the sum is the wait."""
_ARRIVALS = 44


def md1_tail(load: float, time: float) -> float:
    """Return P(W > t) of M/D/1.

    Beyond 20 service times by the one term that is left of all, whose relative error is below 1e-7
    where the tail is 1e-30 and far smaller where the tail is larger.
    """
    if not load >= 0 or time != time:  # noqa: PLR0124 - not-a-number
        return nan
    if load >= 1:
        return 1.0
    if time < 0:
        return 1.0
    if load == 0:
        return 0.0
    if time >= SUM_ENDS:
        decay = log_growth(load)
        spare = 1 - load
        return spare / (decay - spare) * exp(-decay * time)
    return _summed(load, time)[0]


@lru_cache(maxsize=1 << 10)
def _waiting(load: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return P(L > n) and P(L = n) for n = 0..20.

    L is what comes in W, a geometric sum: P(L > n) exp(-load) is E(a - n - 1)+ and the sum of
    P(a > j) P(L > n - j) over j = 1..n, where a come in a service.
    """
    come = [exp(-load)]
    for j in range(1, _ARRIVALS):
        come.append(come[-1] * load / j)
    more, beyond = [0.0], [0.0]
    for count in reversed(come[1:]):
        beyond.append(beyond[-1] + more[-1])
        more.append(more[-1] + count)
    more.reverse()
    beyond.reverse()
    longer: list[float] = []
    equal: list[float] = []
    for n in range(SUM_ENDS + 1):
        held = more[n:0:-1]
        longer.append((beyond[n] + sum(map(mul, held, longer))) / come[0])
        equal.append((sum(map(mul, held, equal)) if n else 1 - load) / come[0])
    return tuple(longer), tuple(equal)


def _summed(load: float, time: float) -> tuple[float, float]:
    """Return P(W > t) and the density there, before the sum ends."""
    longer, equal = _waiting(load)
    whole = floor(time)
    mean = load * (whole + 1 - time)
    share, density, come = 0.0, 0.0, exp(-mean)
    for j in range(whole + 1):
        share += come * longer[whole - j]
        density += come * equal[whole - j]
        come *= mean / (j + 1)
    j = whole + 1
    while come > share * 1e-18:
        share += come
        j += 1
        come *= mean / j
    return share, load * density


@lru_cache(maxsize=1 << 14)
def md1_quantile(load: float, level: float) -> float:
    """Return the t with P(W <= t) = level for M/D/1; 0 where so many do not wait at all."""
    if not 0 <= level < 1 or not load >= 0:
        return nan
    if load >= 1:
        return inf
    return 0.0 if level <= 1 - load else _wait(load, 1 - level)


def batch_quantile(load: float, level: float) -> float:
    """Return a bound of the wait, in batches, that a share of visits of M[X]/D/1 does not exceed.

    A visit waits for the batches it finds, W of M/D/1, and for those of its own batch before it,
    which take up to U, uniform over a batch. W is a geometric sum of such times, so that W + U is
    W where it is not zero: P(W + U > t) = P(W > t)/load. Exact for many visits in a batch.
    """
    if not 0 <= level < 1 or not load >= 0:
        return nan
    if load >= 1:
        return inf
    if load == 0:
        return level
    near = log1p(load * level / (1 - load)) / load
    return near if near <= 1 else _wait(load, load * (1 - level))


def _wait(load: float, late: float) -> float:
    """Return the t with P(W > t) = late, for 0 < late < load < 1."""
    spare = 1 - load
    near = log1p((load - late) / spare) / load  # P(W <= t) = (1 - load) e^(load t) up to t = 1
    if near <= 1:
        return near
    decay = log_growth(load)
    far = log(spare / (decay - spare) / late) / decay
    if far >= SUM_ENDS:
        return far

    def excess(time: float) -> tuple[float, float]:
        share, density = _summed(load, time)
        return log(share / late), -density / share

    return falling_root(excess, 1.0, float(SUM_ENDS), min(max(far, 1.0), float(SUM_ENDS)))
