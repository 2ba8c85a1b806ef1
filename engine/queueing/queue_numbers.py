"""Numbers of queues: what has no closed formula, by stable sums and bracketed roots.

Times are counted in service times. Loads are below 1, shares and levels between 0 and 1; outside
of that a value is infinite or not-a-number, as each function says. They are good to eleven digits
or so.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, exp, expm1, floor, gamma, inf, log, log1p, nan

from qps.engine.distributions.normal_numbers import normal_quantile, normal_tail
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.distributions.sum_tails import stages_tail
from qps.engine.numerics.falling_roots import falling_root
from qps.engine.queueing.fluid_decay_numbers import log_growth
from qps.engine.queueing.md1_numbers import batch_quantile, md1_quantile, md1_tail
from qps.engine.queueing.on_off_numbers import burst_quantile, burst_wait

__all__ = [
    "batch_quantile",
    "burst_quantile",
    "burst_wait",
    "erlang_b",
    "erlang_c",
    "exact_inverse_erlang_b",
    "gamma_quantile",
    "inverse_erlang_b",
    "md1_quantile",
    "md1_tail",
    "normal_quantile",
    "normal_tail",
    "periodic_quantile",
    "periodic_tail",
    "periodic_wait",
    "sojourn_quantile",
    "stages_quantile",
    "stages_tail",
    "uneven",
]

MANY_SERVERS = 1000
"""Servers from which on Erlang's formulas are not summed."""
_MANY_FLOWS = 60
_NOTHING = 1e-18
_LEAST_VARIATION = 1e-6
_MUCH_TRAFFIC = 100.0
_MOST_TERMS, _LAST_DIGIT = 1000, 1e-16
_LARGEST = 700.0
"""Of larger numbers exponentials are beyond all floats."""


# -- Erlang ------------------------------------------------------------------------------


def inverse_erlang_b(servers: float, traffic: float) -> float:
    """Return 1/B(c, a), the sum of c!/(c - k)! a^-k over k = 0..c; B is Erlang's loss formula.

    Between whole numbers of servers it is Jagerman's continuation by the incomplete gamma
    function, 1/B = Gamma(c + 1, a) exp(a) a^-c, which follows the same recursion (Bell System
    Technical Journal 53, 1974). Infinite for no traffic and some servers; not-a-number below 0.
    """
    if not (servers >= 0 and traffic >= 0):
        return nan
    if traffic == 0:
        return inf if servers > 0 else 1.0
    if servers > MANY_SERVERS or traffic == inf:
        if inf in (servers, traffic):
            return nan if servers == traffic else inf if servers == inf else 1.0
        from qps.engine.queueing.erlang_numbers import inverse_erlang  # noqa: PLC0415 - seldom needed

        return inverse_erlang(servers, traffic)
    whole = floor(servers)
    total, term = 0.0, 1.0
    for k in range(whole):
        total += term
        term *= (servers - k) / traffic
        if term < total * _NOTHING and servers - k < traffic:
            return total
        if term == inf:
            return inf  # of many servers next to none find all busy: the rest does not matter
    return total + term * _between_servers(servers - whole, traffic)


def _between_servers(part: float, traffic: float) -> float:
    """Return 1/B(f, a) for a part of a server, Gamma(f + 1, a) exp(a) a^-f."""
    if part == 0:
        return 1.0
    if traffic >= _MUCH_TRAFFIC:
        total = 1.0  # 1 + f/a + f(f - 1)/a^2 + …, to the last digit
        for k in range(14, -1, -1):
            total = 1 + total * (part - k) / traffic
        return total
    shape = part + 1
    if traffic >= shape + 1:
        return traffic * _upper_fraction(shape, traffic)
    # Gamma(f + 1, a) exp(a) a^-f is all of the integral less what lies below a, a series.
    term = below = traffic / shape
    k = 1
    while term > below * _NOTHING:
        term *= traffic / (shape + k)
        below += term
        k += 1
    return gamma(shape) * exp(traffic) / exp(part * log(traffic)) - below


def _upper_fraction(shape: float, value: float) -> float:
    """Return the upper incomplete gamma function times e^x x^-s, by Legendre's continued fraction.

    DLMF 8.9.2, in Lentz's way.
    """
    b = value + 1 - shape
    c, d = inf, 1 / b
    found = d
    for k in range(1, _MOST_TERMS):
        a = -k * (k - shape)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        found *= c * d
        if abs(c * d - 1) < _LAST_DIGIT:
            break
    return found


def exact_inverse_erlang_b(servers: int, traffic: Fraction) -> Fraction:
    """Return 1/B(c, a) as a fraction, for at most 64 servers."""
    total = Fraction(1)
    for k in range(1, servers + 1):
        total = 1 + total * k / traffic
    return total


def erlang_b(servers: float, traffic: float) -> float:
    """Return the share of calls that find all servers busy and are lost (Erlang 1917)."""
    return 1 / inverse_erlang_b(servers, traffic)


def erlang_c(servers: float, traffic: float) -> float:
    """Return the share of calls that wait; all of them from as much traffic as servers on."""
    if not (servers > 0 and traffic >= 0):
        return nan
    if traffic >= servers:
        return 1.0
    inverse = inverse_erlang_b(servers, traffic)
    if inverse == inf:
        return 0.0
    # C = B / (1 - (a/c)(1 - B)), multiplied by 1/B above and below.
    return 1 / (inverse * ((servers - traffic) / servers) + traffic / servers)


# -- uneven arrivals ---------------------------------------------------------------------


def uneven(arrivals: float, service: float, load: float) -> float:
    """Return how long what has to wait does so, where that is 1/(1 - load) of this.

    Both variations are squares of coefficients, 1 for random arrivals: then it is (1 + c^2)/2, by
    Pollaczek and Khinchine. Less even arrivals count in proportion; more even ones less than that
    (Kraemer and Langenbach-Belz 1976).
    """
    if not (arrivals >= 0 and service >= 0 and load >= 0):
        return nan
    half = (arrivals + service) / 2
    if arrivals >= 1 or load >= 1:
        return half
    if half == 0 or load == 0 or half == inf:
        return half if half == inf else 0.0
    return half * exp((load - 1) * (1 - arrivals) ** 2 / (3 * load * half))


# -- N D/D/1 -----------------------------------------------------------------------------


def _unfinished(flows: int, period: float, work: float) -> tuple[float, float]:
    """Return P(V > x), more than x service times of work are waiting, and its slope; few flows.

    V is the unfinished work of N flows, each with one visit in a period of D service times, at
    a random phase (Roberts and Virtamo, IEEE Trans. Commun. 39(2), 1991). All terms are
    positive. There are at most as many flows as service times in the period.
    """
    total, slope, head = 0.0, 0.0, period - flows + work
    for m in range(floor(work) + 1, flows + 1):
        share, left = min((m - work) / period, 1.0), head + flows - m
        rest = 0.0 if m == flows else (flows - m) * log1p(-share)
        term = comb(flows, m) * exp(m * log(share) + rest) * head / left
        total += term
        slope += term * (1 / head - (head + 1) / left - work / (m - work))
    return min(1.0, total), slope


def periodic_wait(flows: float, load: float) -> float:
    """Return the mean wait of N D/D/1 in service times: what an arrival finds of N - 1 flows.

    The mean unfinished work of n flows with a period of D service times is
    (1/2) sum n!/(n - k)! D^-k over k = 1..n, which is (1/B(n, D) - 1)/2.
    """
    if not load >= 0 or flows != flows:  # noqa: PLR0124 - only not-a-number is not itself
        return nan
    if load >= 1:
        return inf
    if flows <= 1 or load == 0:
        return 0.0
    traffic = flows / load
    if flows >= 2:  # noqa: PLR2004 - two flows or more: 1/B(c) - 1 = (c/a)/B(c - 1), no digit lost
        return (flows - 1) / traffic * inverse_erlang_b(flows - 2, traffic) / 2
    return (inverse_erlang_b(flows - 1, traffic) - 1) / 2


def periodic_tail(flows: float, load: float, time: float) -> float:
    """Return P(W > t) of N D/D/1: what an arrival finds of the other N - 1 flows.

    Where the flows are no whole number, as for the next whole one at the same load: more flows
    of the same load wait longer. 1 from load 1 on.
    """
    if not (load >= 0 and 0 <= flows < inf) or time != time:  # noqa: PLR0124 - not-a-number
        return nan
    if load >= 1 or time < 0:
        return 1.0
    whole = ceil(flows - 1e-9)
    if whole <= 1 or load == 0 or time >= whole - 1 or whole / load == inf:
        return 0.0
    if whole > _MANY_FLOWS:
        from qps.engine.queueing import periodic_arrays  # noqa: PLC0415 - needs numpy, seldom needed

        return float(periodic_arrays.periodic_tail(whole, load, time))
    return _unfinished(whole - 1, whole / load, time)[0]


@lru_cache(maxsize=1 << 14)
def periodic_quantile(flows: float, load: float, level: float) -> float:
    """Return the wait of N D/D/1, in service times, that a share of the visits does not exceed.

    Flows that are no whole number count as for `periodic_tail`. Infinite from load 1 on.
    """
    if not (0 <= level < 1 and load >= 0 and 0 <= flows < inf):
        return nan
    if load >= 1:
        return inf
    whole = ceil(flows - 1e-9)
    if whole > _MANY_FLOWS:
        from qps.engine.queueing import periodic_arrays  # noqa: PLC0415 - needs numpy, seldom needed

        return float(periodic_arrays.periodic_quantile(whole, load, level))
    late = 1 - level
    if whole <= 1 or load * (whole - 1) / whole <= late:
        return 0.0  # no more visits wait at all

    def excess(time: float) -> tuple[float, float]:
        share, slope = _unfinished(whole - 1, whole / load, time)
        return (log(share / late), slope / share) if share > 0 else (-inf, 0.0)

    return falling_root(excess, 0.0, whole - 1.0, min(1.0, whole / 4))


# -- exponential and gamma service -------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def sojourn_quantile(waiting: float, rate: float, level: float) -> float:
    """Return the quantile of wait plus service: service is exponential with mean 1.

    A share `waiting` waits, an exponential time of that rate. So it is for M/M/1, with rate
    1 - load, and for M/M/c, with rate c - a and Erlang's C: P(T > t) = exp(-t)
    (1 + C (1 - exp(-(r - 1) t))/(r - 1)). Infinite for a rate of 0 or less.
    """
    if not 0 <= level < 1 or waiting != waiting:  # noqa: PLR0124 - not-a-number
        return nan
    if rate <= 0:
        return inf
    if not (0 <= waiting <= 1 and rate > 0):
        return nan
    if level == 0:
        return 0.0
    goal, slower = -log1p(-level), min(1.0, rate)

    def probability(t: float) -> float:
        apart = abs(rate - 1) * t
        return exp(-slower * t) * (t * -expm1(-apart) / apart if apart > 0 else t)

    def excess(t: float) -> tuple[float, float]:
        served, late = exp(-t), waiting * probability(t)
        within = -expm1(-t) - late
        over = log1p(-within) if within < 0.5 else log(served + late)  # noqa: PLR2004 - a half
        density = (1 - waiting) * served + (rate * late if rate < inf else waiting * served)
        return over + goal, -density / (served + late)

    # S is at least exp(-t), and by Chernoff's bound at most 4 exp(-s t/2).
    high = 2 * (goal + log(4)) / slower
    late = waiting * min(goal / slower, 1 / abs(rate - 1) if rate != 1 else inf)
    start = goal + (log1p(late) if rate >= 1 else log(late) if late > 0 else -inf)
    return falling_root(excess, goal, high, min(max(start / slower, goal), high))


@lru_cache(maxsize=1 << 14)
def gamma_quantile(load: float, variation: float, level: float) -> float:
    """Return an upper bound of the quantile of wait plus service in M/G/1, service times gamma.

    `variation` is the squared coefficient of variation of the service time. The wait is bounded
    by Kingman's inequality, P(W > t) <= exp(-z t) with z the root of load (M(z) - 1) = z, where M
    is the moment generating function of a service (Proc. Camb. Phil. Soc. 60, 1964); service
    is added exactly. Infinite from load 1 on.
    """
    if not 0 <= level < 1 or not load >= 0 or not 0 <= variation < inf:
        return nan
    if load >= 1:
        return inf
    from qps.engine.distributions.gamma_numbers import (  # noqa: PLC0415 - seldom needed
        gamma_law_quantile,
        lower_share,
        upper_share,
    )

    if variation == 0 or load == 0:
        return (
            1 + md1_quantile(load, level)
            if variation == 0
            else gamma_law_quantile(variation, level)
        )
    variation = max(variation, _LEAST_VARIATION)  # more of it waits longer
    if level == 0:
        return 0.0
    growth, goal, shape = log_growth(load, variation), -log1p(-level), 1 / variation
    decay, tilt = -expm1(-variation * growth) / variation, exp(-variation * growth)

    def excess(t: float) -> tuple[float, float]:
        # The law of a service and an exponential time: its slope is one part of it.
        late = exp(min(growth - decay * t, _LARGEST)) * lower_share(shape, shape * t * tilt)
        total = upper_share(shape, shape * t) + late
        return (log(total) if total > 0 else -inf) + goal, -decay * late / total if total else 0.0

    high = (growth + goal) / decay  # by Chernoff's bound
    return falling_root(excess, 0.0, high, high)
