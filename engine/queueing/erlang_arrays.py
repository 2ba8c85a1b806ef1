"""Erlang's formulas and the mean wait of periodic flows on arrays, with their slopes.

As `queue_numbers` has them, in work that does not grow with the number of servers. All of them
are I(c, a) = 1/B(c, a), the integral of exp(-u) (1 + u/a)^c over u from 0 on: for few servers by
the recursion, else by the gamma law.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.distributions.gamma_arrays import rest_of_fraction, upper_integral
from qps.engine.numerics.array_blocks import Array, filled, gauss_rule, in_blocks, pair_in_blocks

_FEW = 24
"""Up to so many servers the recursion is fastest."""
_SERIES_LIMIT = 4.5
"""So many deviations of a Poisson law around c = a no fraction ends."""
_FAR = 40.0
_POINTS = 40
"""Of Gauss's rule, so many."""
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
    is_few = servers <= _FEW
    filled(is_plain & is_few, found, _of_few, servers, traffic)
    filled(is_plain & ~is_few, found, _of_many, servers, traffic)
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
    filled(part > 0, rest, _of_many, part, traffic)
    return np.where(np.isinf(term), np.inf, total + term * rest)


def _of_many(servers: Array, traffic: Array) -> Array:
    return traffic * upper_integral(servers + 1, traffic)


# -- slopes ------------------------------------------------------------------------------


def _inverse_slopes(servers: Array, traffic: Array) -> tuple[Array, Array, Array]:
    """Return I with its derivatives by c and a, all relative to I."""
    inverse = _inverse(servers, traffic)
    return inverse, _mean_logarithm(servers, traffic), _by_traffic(servers, traffic, inverse)


def _by_traffic(servers: Array, traffic: Array, inverse: Array) -> Array:
    """Return (dI/da)/I = 1 - c/a - 1/I: what is left of the fraction, or summed up if few."""
    found = (traffic - servers) / traffic - 1 / inverse
    is_few = servers <= _FEW
    far = np.where(is_few, _FAR, _SERIES_LIMIT * np.sqrt(servers + 1))
    is_much = (traffic - servers - 1 > far) & np.isfinite(traffic)
    is_exact = is_few & (servers == np.floor(servers)) & (servers >= 0) & (traffic > 0)
    filled(is_exact, found, _summed_by_traffic, servers, traffic, inverse)

    def left(c: Array, a: Array) -> Array:
        return -np.maximum(rest_of_fraction(c, a), 0.0) / a

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
        for node, weight in zip(*gauss_rule(_POINTS), strict=True):
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
