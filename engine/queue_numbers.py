"""Numbers of queues: what has no closed formula, by stable sums and bracketed roots.

Times are counted in service times. Loads are below 1, shares and levels between 0 and 1; outside
of that a value is infinite or not-a-number, as each function says. The exact ones serve sympy,
the ones in floats are good to eleven digits or so.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, erfc, exp, expm1, floor, inf, isfinite, log, log1p, nan, sqrt

_DIGITS = 50
_MANY = 1000
_MANY_TERMS = 4000
_SERIES_ENDS = 20.0
_NOTHING = 1e-18
_LEAST_VARIATION = 1e-6
_MUCH_TRAFFIC = 100.0
_ALL_BUT = 1 - 2**-53


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
    if servers > _MANY:
        from qps.engine import erlang_arrays  # noqa: PLC0415 - needs numpy, seldom needed

        return float(erlang_arrays.inverse_erlang_b(servers, traffic))
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
    from scipy.special import gamma, gammaincc  # noqa: PLC0415 - slow, seldom needed

    above = float(gammaincc(part + 1, traffic)) * float(gamma(part + 1))
    return above * exp(traffic - part * log(traffic))


def exact_inverse_erlang_b(servers: int, traffic: Fraction) -> Fraction:
    """Return 1/B(c, a) as a fraction, for at most 64 servers."""
    total = Fraction(1)
    for k in range(1, servers + 1):
        total = 1 + total * k / traffic
    return total


def long_inverse_erlang_b(servers: int, traffic: Fraction) -> object:
    """Return 1/B(c, a) to forty digits or more, an mpmath number."""
    from mpmath import mpf, workdps  # noqa: PLC0415 - seldom needed

    if servers > _MANY and servers > traffic:
        is_short = traffic < _MANY_TERMS
        return _inverse_of_little(servers, traffic) if is_short else _integral(servers, traffic)
    if servers > _MANY_TERMS**2 / 200 and (traffic - servers) * _MANY_TERMS < 200 * traffic:
        return _integral(servers, traffic)
    with workdps(_DIGITS):
        a = mpf(traffic.numerator) / traffic.denominator
        total = term = mpf(1)
        for k in range(servers):
            term *= (servers - k) / a
            total += term
            if servers - k < a and term * 10**_DIGITS < total:
                break
        return total


def _inverse_of_little(servers: int, traffic: Fraction) -> object:
    """Return 1/B(c, a) for c > a as (c! / a^c) (1 + a + a^2/2! + …): as many terms as a needs."""
    from mpmath import exp, log, loggamma, mpf, workdps  # noqa: PLC0415 - seldom needed

    with workdps(2 * _DIGITS):
        a = mpf(traffic.numerator) / traffic.denominator
        total = term = mpf(1)
        for j in range(1, servers + 1):
            term *= a / j
            total += term
            if j > a and term * 10**_DIGITS < total:
                break
        return total * exp(loggamma(servers + 1) - servers * log(a))


def _integral(servers: int, traffic: Fraction) -> object:
    """Return 1/B(c, a) in work that does not grow with the servers, by the integral it is.

    With 1 + u/a = e^v, that of exp(-u) (1 + u/a)^c is a times that of exp((c + 1) v - a (e^v - 1)):
    one peak, whose height is taken out.
    """
    from mpmath import exp, expm1, log, mpf, quad, sqrt, workdps  # noqa: PLC0415 - seldom needed

    with workdps(_DIGITS + 10):
        a, shape = mpf(traffic.numerator) / traffic.denominator, mpf(servers + 1)
        peak, falling = max(mpf(0), log(shape / a)), max(mpf(0), a - shape)
        size = max(shape, a)
        wide = min(1 / sqrt(size), 9 / falling if falling else 1)
        # 16 deviations from the peak less than 50 digits are left.
        before = [-16 * wide - 43 * wide**2, -8 * wide, -3 * wide]
        ends = [max(before[0], -peak), *(w for w in before if w > max(before[0], -peak))]
        ends += [mpf(0)] if peak else []

        def held(w: object) -> object:
            return exp(-falling * w - size * (expm1(w) - w))

        area = quad(held, [*ends, 3 * wide, 8 * wide, 16 * wide])
        return a * area * exp(shape * peak - a * expm1(peak))


def vast_inverse_erlang_b(servers: Fraction, traffic: Fraction) -> object:
    """Return 1/B(c, a) where it is beyond all floats, to forty digits, an mpmath number.

    Of Gamma(c + 1, a) exp(a) a^-c the lower part of the gamma function is then no digit.
    """
    from mpmath import exp, log, loggamma, mpf, workdps  # noqa: PLC0415 - seldom needed

    with workdps(2 * _DIGITS):
        c, a = (mpf(n.numerator) / n.denominator for n in (servers, traffic))
        return exp(loggamma(c + 1) + a - c * log(a))


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


# -- M/D/1 -------------------------------------------------------------------------------


def md1_tail(load: float, time: float) -> float:
    """Return P(W > t) of M/D/1 (Erlang 1909; Crommelin 1932).

    Up to 20 service times by the alternating sum, with as many digits as it loses; beyond, by
    the one term that is left of it, whose relative error is below 1e-7 where the tail is 1e-30
    and far smaller where the tail is larger.
    """
    if load < 0 or not isfinite(load):
        return nan
    if load >= 1:
        return 1.0
    if time < 0:
        return 1.0
    if load == 0:
        return 0.0
    if time >= _SERIES_ENDS:
        decay = _md1_decay(load)
        return (1 - load) / (load + decay - 1) * exp(-decay * time)
    from mpmath import exp as e  # noqa: PLC0415 - seldom needed
    from mpmath import factorial, mpf, workdps  # noqa: PLC0415 - seldom needed

    with workdps(_DIGITS):
        rho, t = mpf(load), mpf(time)
        total = mpf(0)
        for k in range(floor(time) + 1):
            total += (rho * (k - t)) ** k / factorial(k) * e(-rho * (k - t))
        return max(0.0, float(1 - (1 - rho) * total))


def _md1_decay(load: float) -> float:
    """Return the root x > 0 of load (e^x - 1) = x: the tail falls like e^(-x t)."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, seldom needed

    low, high = 1 - load, max(4.0, 4 - 2 * log(load))
    return float(brentq(lambda x: load * expm1(x) - x, low, high, xtol=1e-300, rtol=1e-15))


@lru_cache(maxsize=1 << 14)
def md1_quantile(load: float, level: float) -> float:
    """Return the t with P(W <= t) = level for M/D/1; 0 where so many do not wait at all."""
    if not 0 <= level < 1 or load < 0:
        return nan
    if load >= 1:
        return inf
    if level <= 1 - load:
        return 0.0
    decay = _md1_decay(load)
    far = log((1 - load) / (load + decay - 1) / (1 - level)) / decay
    if far >= _SERIES_ENDS:
        return far
    return _root(lambda t: md1_tail(load, t) - (1 - level), 0.0, _SERIES_ENDS)


def batch_quantile(load: float, level: float) -> float:
    """Return a bound of the wait, in batches, that a share of visits of M[X]/D/1 does not exceed.

    A visit waits for the batches it finds, W of M/D/1, and for those of its own batch before it,
    which take up to U, uniform over a batch. W is a geometric sum of such times, so that W + U is
    W where it is not zero: P(W + U > t) = P(W > t)/load. Exact for many visits in a batch.
    """
    if not 0 <= level < 1 or load < 0:
        return nan
    if load >= 1:
        return inf
    if load == 0:
        return level
    late = load * (1 - level)
    near = (log1p(-late) - log1p(-load)) / load  # P(W <= t) = (1 - load) e^(load t) up to t = 1
    return near if near <= 1 else md1_quantile(load, min(1 - late, _ALL_BUT))


# -- N D/D/1 -----------------------------------------------------------------------------


def unfinished_tail(flows: int, period: float, work: float) -> float:
    """Return P(V > x): more than x service times of work are waiting, N equal periodic flows.

    V is the unfinished work of N flows, each with one visit in a period of D service times, at
    a random phase (Roberts and Virtamo, IEEE Trans. Commun. 39(2), 1991). All terms are
    positive. There are at most as many flows as service times in the period.
    """
    count = flows
    if work >= count:
        return 0.0
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import, seldom needed

    spare = period - count + work
    n = np.arange(floor(work) + 1, count + 1, dtype=float)
    share = np.minimum((n - work) / period, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(n == count, 0.0, (count - n) * np.log1p(-share))
        chosen = gammaln(count + 1.0) - gammaln(n + 1) - gammaln(count - n + 1)
        terms = np.exp(chosen + n * np.log(share) + rest) * spare / (period - n + work)
    return float(min(1.0, np.nansum(terms)))


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
    if load < 0 or flows < 0:
        return nan
    if load >= 1 or time < 0:
        return 1.0
    whole = ceil(flows - 1e-9)
    if whole <= 1 or load == 0:
        return 0.0
    return unfinished_tail(whole - 1, whole / load, time)


@lru_cache(maxsize=1 << 14)
def periodic_quantile(flows: float, load: float, level: float) -> float:
    """Return the wait of N D/D/1, in service times, that a share of the visits does not exceed.

    Flows that are no whole number count as for `periodic_tail`. Infinite from load 1 on.
    """
    if not 0 <= level < 1 or load < 0 or flows < 0:
        return nan
    if load >= 1:
        return inf

    def excess(time: float) -> float:
        return periodic_tail(flows, load, time) - (1 - level)

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return _root(excess, 0.0, high)


# -- exponential and gamma service -------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def sojourn_quantile(waiting: float, rate: float, level: float) -> float:
    """Return the quantile of wait plus service: service is exponential with mean 1.

    A share `waiting` waits, an exponential time of that rate. So it is for M/M/1, with rate
    1 - load, and for M/M/c, with rate c - a and Erlang's C: P(T > t) = exp(-t)
    (1 + C (1 - exp(-(r - 1) t))/(r - 1)). Infinite for a rate of 0 or less.
    """
    if not 0 <= level < 1:
        return nan
    if rate <= 0:
        return inf
    if not 0 <= waiting <= 1:
        return nan
    slower = min(1.0, rate)

    def excess(t: float) -> float:
        apart = abs(rate - 1) * t
        mixed = t if apart < 1e-12 else t * -expm1(-apart) / apart  # noqa: PLR2004 - its limit
        return exp(-t) + waiting * exp(-slower * t) * mixed - (1 - level)

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return _root(excess, 0.0, high)


@lru_cache(maxsize=1 << 14)
def gamma_quantile(load: float, variation: float, level: float) -> float:
    """Return an upper bound of the quantile of wait plus service in M/G/1, service times gamma.

    `variation` is the squared coefficient of variation of the service time. The wait is bounded
    by Kingman's inequality, P(W > t) <= exp(-z t) with z the root of load (M(z) - 1) = z, where M
    is the moment generating function of a service (Proc. Camb. Phil. Soc. 60, 1964); service
    is added exactly. Infinite from load 1 on.
    """
    if not 0 <= level < 1 or load < 0 or variation < 0:
        return nan
    if load >= 1:
        return inf
    from scipy.special import gammainc, gammaincc  # noqa: PLC0415 - slow, seldom needed

    if variation == 0 or load == 0:
        return 1 + md1_quantile(load, level) if variation == 0 else _gamma_inverse(variation, level)
    variation = max(variation, _LEAST_VARIATION)  # more of it waits longer
    decay, served = _gamma_decay(load, variation)
    shape, tilted = 1 / variation, served**-variation / variation

    def excess(t: float) -> float:
        waited = exp(min(600.0, log(served) - decay * t)) * float(gammainc(shape, tilted * t))
        return float(gammaincc(shape, t / variation)) + waited - (1 - level)

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return _root(excess, 0.0, high)


def _gamma_inverse(variation: float, level: float) -> float:
    from scipy.special import gammaincinv  # noqa: PLC0415 - slow to import, seldom needed

    return float(gammaincinv(1 / variation, level)) * variation


def _gamma_decay(load: float, variation: float) -> tuple[float, float]:
    """Return the root z of load (M(z) - 1) = z for gamma service of mean 1, and M(z)."""

    def drift(w: float) -> float:  # with 1 - v z = exp(-w)
        return load * expm1(min(600.0, w / variation)) + expm1(-w) / variation

    low = (1 - load) * variation / (load + variation)
    while drift(low) > 0:
        low /= 2
    high = 2 * low
    while drift(high) < 0:
        high *= 2
    root = _root(lambda w: -drift(w), low, high)
    decay = -expm1(-root) / variation
    return decay, 1 + decay / load


# -- the normal law ----------------------------------------------------------------------


def normal_tail(distance: float) -> float:
    """Return the share of a normal law that lies more than so many deviations above its mean."""
    return 0.5 * erfc(distance / sqrt(2))


def normal_quantile(level: float) -> float:
    """Return how many deviations above its mean a normal law has a share below it."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import, seldom needed

    return float(ndtri(level)) if 0 < level < 1 else nan


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, seldom needed

    if function(low) <= 0:
        return low
    return float(brentq(function, low, high, xtol=1e-12, rtol=1e-12))
