"""Erlang's formulas and the mean wait of periodic flows on arrays, with their slopes.

As `queue_numbers` has them, in work that does not grow with the number of servers. All of them
are I(c, a) = 1/B(c, a), the integral of exp(-u) (1 + u/a)^c over u from 0 on: for few servers by
the recursion, near c = a by the incomplete gamma function, farther off by continued fractions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gamma, gammaincc

from qps.engine.arrays import Array, filled, in_blocks, pair_in_blocks

_FEW = 24
"""Up to so many servers the recursion is fastest."""
_NEAR = 4.5
"""So many deviations of a Poisson law around c = a the incomplete gamma function is exact.

Below that, scipy's ends its series too early from a = 10^5 on.
"""
_FRACTIONS = 26
_FAR = 40.0
_MUCH_TRAFFIC = 100.0
_PARTS_OF_A_SERVER = 14
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_NOTHING = 80.0


def inverse_erlang_b(servers: ArrayLike, traffic: ArrayLike) -> Array:
    """Return 1/B(c, a), with Jagerman's continuation between whole numbers of servers."""
    return in_blocks(_inverse, servers, traffic)


def erlang_b(servers: ArrayLike, traffic: ArrayLike) -> Array:
    """Return the share of calls that find all servers busy and are lost."""
    return in_blocks(lambda c, a: 1 / _inverse(c, a), servers, traffic)


def erlang_c(servers: ArrayLike, traffic: ArrayLike) -> Array:
    """Return the share of calls that wait; all of them from as much traffic as servers on."""
    return in_blocks(_waiting, servers, traffic)


def periodic_wait(flows: ArrayLike, load: ArrayLike) -> Array:
    """Return the mean wait of N D/D/1 in service times; infinite from load 1 on."""
    return in_blocks(_periodic_wait, flows, load)


def erlang_b_slopes(servers: ArrayLike, traffic: ArrayLike) -> tuple[Array, Array]:
    """Return the derivatives of `erlang_b` by the servers and by the traffic."""
    return pair_in_blocks(_loss_slopes, servers, traffic)


def erlang_c_slopes(servers: ArrayLike, traffic: ArrayLike) -> tuple[Array, Array]:
    """Return the derivatives of `erlang_c` by the servers and by the traffic.

    Both are 0 where all calls wait.
    """
    return pair_in_blocks(_waiting_slopes, servers, traffic)


def periodic_wait_slopes(flows: ArrayLike, load: ArrayLike) -> tuple[Array, Array]:
    """Return the derivatives of `periodic_wait` by the flows and by the load.

    Not-a-number where the wait is infinite.
    """
    return pair_in_blocks(_periodic_wait_slopes, flows, load)


# -- values ------------------------------------------------------------------------------


def _waiting(servers: Array, traffic: Array) -> Array:
    ratio = traffic / servers
    # C = B / (1 - (a/c)(1 - B)), multiplied by 1/B above and below.
    share = 1 / (_inverse(servers, traffic) * ((servers - traffic) / servers) + ratio)
    share = np.where(np.isinf(servers), 0.0, share)
    share = np.where(traffic >= servers, 1.0, share)
    return np.where((servers > 0) & (traffic >= 0), share, np.nan)


def _periodic_wait(flows: Array, load: Array) -> Array:
    wait = _above_one(flows - 1, flows / load) / 2
    wait = np.where((flows <= 1) | (load == 0), 0.0, wait)
    wait = np.where(load >= 1, np.inf, wait)
    return np.where((load >= 0) & ~np.isnan(flows), wait, np.nan)


def _above_one(servers: Array, traffic: Array) -> Array:
    """Return 1/B - 1, to all digits where it is small: (c/a)/B(c - 1, a)."""
    lower = servers / traffic * _inverse(np.maximum(servers - 1, 0.0), traffic)
    return np.where(servers >= 1, lower, _inverse(servers, traffic) - 1)


def _inverse(servers: Array, traffic: Array) -> Array:
    found = np.full(servers.shape, np.nan)
    is_plain = (servers >= 0) & (traffic > 0) & np.isfinite(servers) & np.isfinite(traffic)
    apart = (traffic - servers - 1) / np.sqrt(servers + 1)
    is_few = servers <= _FEW
    filled(is_plain & is_few, found, _of_few, servers, traffic)
    is_near = np.abs(apart) <= _NEAR
    filled(is_plain & ~is_few & is_near, found, _of_many_near, servers, traffic)
    filled(is_plain & ~is_few & (apart > _NEAR), found, _of_much_traffic, servers, traffic)
    filled(is_plain & ~is_few & (apart < -_NEAR), found, _of_little_traffic, servers, traffic)
    found[(servers > 0) & (traffic == 0)] = np.inf
    found[(servers == 0) & (traffic == 0)] = 1.0
    found[np.isposinf(servers) & (traffic >= 0) & np.isfinite(traffic)] = np.inf
    found[np.isposinf(traffic) & (servers >= 0) & np.isfinite(servers)] = 1.0
    return found


def _of_few(servers: Array, traffic: Array) -> Array:
    """Return the sum of c!/(c - k)! a^-k, and what is left of it for a part of a server."""
    whole = np.floor(servers)
    total, term = np.zeros(servers.shape), np.ones(servers.shape)
    for k in range(int(whole.max())):
        is_there = k < whole
        total += np.where(is_there, term, 0.0)
        term = np.where(is_there, term * ((servers - k) / traffic), term)
    part = servers - whole
    rest = np.ones(servers.shape)
    filled(part > 0, rest, _between_servers, part, traffic)
    return np.where(np.isinf(term), np.inf, total + term * rest)


def _between_servers(part: Array, traffic: Array) -> Array:
    """Return I(f, a) for a part of a server: Gamma(f + 1, a) exp(a) a^-f."""
    above = gammaincc(part + 1, traffic) * gamma(part + 1)
    found: Array = above * np.exp(traffic - part * np.log(traffic))
    is_much = traffic >= _MUCH_TRAFFIC
    filled(is_much, found, _asymptotic, part, traffic)
    return found


def _asymptotic(part: Array, traffic: Array) -> Array:
    """Return 1 + f/a + f(f - 1)/a^2 + …, which ends in the last digit for large a."""
    total = np.ones(part.shape)
    for k in range(_PARTS_OF_A_SERVER, -1, -1):
        total = 1 + total * ((part - k) / traffic)
    return total


def _inverse_poisson(servers: Array, traffic: Array) -> Array:
    """Return c!/a^c exp(a), by Stirling's series: no digits are lost for many servers."""
    inverse = 1 / servers
    square = inverse * inverse
    series = 1 / 1680 - square / 1188
    for coefficient in (1 / 1260, 1 / 360, 1 / 12):
        series = coefficient - square * series
    apart = (traffic - servers) * inverse
    # Far below, 1 + apart has lost digits that the ratio has.
    less = np.where(apart < -0.5, np.log(traffic / servers) - apart, log1p_less(apart))  # noqa: PLR2004
    exponent = series * inverse - servers * less
    return np.sqrt(2 * np.pi * servers) * np.exp(exponent)


def log1p_less(value: Array) -> Array:
    """Return log(1 + x) - x, to all digits for small x."""
    ratio = value / (2 + value)
    square = ratio * ratio
    series = np.full(value.shape, 2 / 19)
    for odd in range(17, 1, -2):
        series = series * square + 2 / odd
    near = ratio * (series * square - value)
    return np.where(np.abs(value) < 0.3, near, np.log1p(value) - value)  # noqa: PLR2004


def _of_many_near(servers: Array, traffic: Array) -> Array:
    found: Array = gammaincc(servers + 1, traffic) * _inverse_poisson(servers, traffic)
    return found


def _of_much_traffic(servers: Array, traffic: Array) -> Array:
    return traffic / (traffic - servers + _rest_of_fraction(servers, traffic))


def _rest_of_fraction(servers: Array, traffic: Array) -> Array:
    """Return R with I = a/(a - c + R): Legendre's continued fraction, all terms positive."""
    rest = np.zeros(servers.shape)
    apart = traffic - servers
    for k in range(_FRACTIONS, 0, -1):
        rest = k * (servers + 1 - k) / (apart + 2 * k + rest)
    return np.maximum(rest, 0.0)


def _of_little_traffic(servers: Array, traffic: Array) -> Array:
    """Return c!/a^c exp(a) less the sum of a^k/((c + 1) … (c + k)), which is small beside it."""
    apart = servers - traffic
    rest = np.zeros(servers.shape)
    for k in range(_FRACTIONS, 0, -1):
        rest = k * traffic / (apart + k + rest)
    whole = servers / (apart + rest)
    return _inverse_poisson(servers, traffic) - (whole - 1)


# -- slopes ------------------------------------------------------------------------------


def _inverse_slopes(servers: Array, traffic: Array) -> tuple[Array, Array, Array]:
    """Return I with its derivatives by c and a, all relative to I."""
    inverse = _inverse(servers, traffic)
    return inverse, _mean_logarithm(servers, traffic), _by_traffic(servers, traffic, inverse)


def _by_traffic(servers: Array, traffic: Array, inverse: Array) -> Array:
    """Return (dI/da)/I = 1 - c/a - 1/I: what is left of the fraction, or summed up if few."""
    found = (traffic - servers) / traffic - 1 / inverse
    is_few = servers <= _FEW
    far = np.where(is_few, _FAR, _NEAR * np.sqrt(servers + 1))
    is_much = (traffic - servers - 1 > far) & np.isfinite(traffic)
    is_exact = is_few & (servers == np.floor(servers)) & (servers >= 0) & (traffic > 0)
    filled(is_exact, found, _summed_by_traffic, servers, traffic, inverse)

    def left(c: Array, a: Array) -> Array:
        return -_rest_of_fraction(c, a) / a

    filled(is_much & ~is_exact, found, left, servers, traffic)
    return found


def _summed_by_traffic(servers: Array, traffic: Array, inverse: Array) -> Array:
    total, term = np.zeros(servers.shape), np.ones(servers.shape)
    for k in range(int(servers.max())):
        term = term * (np.maximum(servers - k, 0.0) / traffic)
        total += (k + 1) * term
    return -total / traffic / inverse


def _mean_logarithm(servers: Array, traffic: Array) -> Array:
    """Return (dI/dc)/I: the mean of v = log(1 + u/a) by the integrand of I.

    In v the integrand is exp((c + 1) v - a (e^v - 1)), with one peak: two pieces of it, before
    and after, by Gauss's rule.
    """
    shape = servers + 1
    peak = np.maximum(0.0, -np.log(traffic / shape))
    apart = np.maximum(0.0, traffic - shape)
    size = np.where(peak > 0, shape, traffic)
    wide = _NOTHING / size
    root = np.sqrt(wide)
    behind = np.minimum(root, np.log1p(wide / 2 + root))
    behind = np.minimum(behind, _NOTHING / 2 / apart)
    before = np.minimum(peak, root + wide / 6)
    mass, moment = np.zeros(servers.shape), np.zeros(servers.shape)
    for start, length in ((-before, before), (np.zeros(servers.shape), behind)):
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            w = start + length * ((1 + node) / 2)
            held = weight * length * np.exp(-apart * w - size * (np.expm1(w) - w))
            mass += held
            moment += held * (peak + w)
    return moment / mass


def _loss_slopes(servers: Array, traffic: Array) -> tuple[Array, Array]:
    inverse, by_servers, by_traffic = _inverse_slopes(servers, traffic)
    return _at_no_traffic(servers, traffic, -by_servers / inverse, -by_traffic / inverse)


def _at_no_traffic(
    servers: Array, traffic: Array, by_servers: Array, by_traffic: Array
) -> tuple[Array, Array]:
    """Mend slopes where no call comes, or hardly one is lost: B is a^c/c! there."""
    is_none = (traffic == 0) & (servers > 0)
    at_none = np.where(servers == 1, 1.0, np.where(servers > 1, 0.0, np.inf))
    is_rare = (_inverse(servers, traffic) == np.inf) & (traffic > 0)
    by_servers = np.where(is_none | is_rare, 0.0, by_servers)
    by_traffic = np.where(is_none, at_none, np.where(is_rare, 0.0, by_traffic))
    return by_servers, by_traffic


def _waiting_slopes(servers: Array, traffic: Array) -> tuple[Array, Array]:
    inverse, by_servers, by_traffic = _inverse_slopes(servers, traffic)
    spare, share = (servers - traffic) / servers, _waiting(servers, traffic)
    held = inverse * share
    over = held * (_above_one(servers, traffic) / inverse) / servers
    by_servers = -share * (held * by_servers * spare + over * (traffic / servers))
    by_traffic = -share * (held * by_traffic * spare - over)
    by_servers, by_traffic = _at_no_traffic(servers, traffic, by_servers, by_traffic)
    is_full = (traffic >= servers) & (servers > 0)
    is_there = (servers > 0) & (traffic >= 0)
    return (
        np.where(is_there, np.where(is_full, 0.0, by_servers), np.nan),
        np.where(is_there, np.where(is_full, 0.0, by_traffic), np.nan),
    )


def _periodic_wait_slopes(flows: Array, load: Array) -> tuple[Array, Array]:
    servers, traffic = flows - 1, flows / load
    inverse, by_servers, by_traffic = _inverse_slopes(servers, traffic)
    by_load = -inverse * by_traffic * traffic / load / 2
    by_flows = inverse * (by_servers + by_traffic / load) / 2
    # Few visits: each of the others is met by a share of load/N, half done.
    by_load = np.where(load == 0, (flows - 1) / flows / 2, by_load)
    by_flows = np.where(load == 0, 0.0, by_flows)
    is_alone, is_there = flows <= 1, (load >= 0) & (load < 1) & ~np.isnan(flows)
    return (
        np.where(is_there, np.where(is_alone, 0.0, by_flows), np.nan),
        np.where(is_there, np.where(is_alone, 0.0, by_load), np.nan),
    )
