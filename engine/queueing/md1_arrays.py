"""M/D/1 on arrays: tails and quantiles of its wait, with their slopes.

As `queue_numbers` has them. P(W > t) is P(L + J >= k) with k = floor(t) + 1, where L waits for
service, and J come, by Poisson's law, in the k - t services before (after Franx, Oper. Res. Lett.
29, 2001). All terms are positive: no digits are lost, as they are in Erlang's alternating sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qps.engine.distributions.gamma_arrays import series
from qps.engine.numerics.array_blocks import Array, falling_root, filled, in_blocks, pair_in_blocks
from qps.engine.queueing.fluid_decay_arrays import log_growth, log_growth_by_load
from qps.engine.queueing.md1_numbers import SUM_ENDS

_ARRIVALS = 44
_FEW_VISITS = 1e-3


def md1_tail(load: ArrayLike, time: ArrayLike) -> Array:
    """Return P(W > t) of M/D/1, the time in service times; 1 from load 1 on."""
    return in_blocks(_tail, load, time)


def md1_tail_slopes(load: ArrayLike, time: ArrayLike) -> tuple[Array, Array]:
    """Return the derivatives of `md1_tail` by the load and by the time."""
    return pair_in_blocks(_tail_slopes, load, time)


def md1_quantile(load: ArrayLike, level: ArrayLike) -> Array:
    """Return the t with P(W <= t) = level for M/D/1; 0 where so many do not wait at all."""
    return in_blocks(_quantile, load, level)


def md1_quantile_slopes(load: ArrayLike, level: ArrayLike) -> tuple[Array, Array]:
    """Return the derivatives of `md1_quantile` by the load and by the level."""
    return pair_in_blocks(_quantile_slopes, load, level)


def batch_quantile(load: ArrayLike, level: ArrayLike) -> Array:
    """Return a bound of the wait, in batches, that a share in M[X]/D/1 does not exceed."""
    return in_blocks(_batch, load, level)


def batch_quantile_slopes(load: ArrayLike, level: ArrayLike) -> tuple[Array, Array]:
    """Return the derivatives of `batch_quantile` by the load and by the level."""
    return pair_in_blocks(_batch_slopes, load, level)


# -- tails -------------------------------------------------------------------------------


def _tail(load: Array, time: Array) -> Array:
    found = np.full(load.shape, np.nan)
    is_plain = (load > 0) & (load < 1) & (time >= 0)
    filled(is_plain & (time < SUM_ENDS), found, _series_share, load, time)
    filled(is_plain & (time >= SUM_ENDS), found, lambda *some: _far_parts(*some)[0], load, time)
    found[(load == 0) & (time >= 0)] = 0.0
    found[_is_full(load, time)] = 1.0
    return found


def _is_full(load: Array, time: Array) -> NDArray[np.bool_]:
    """Return where all visits wait longer."""
    is_early = (load >= 0) & (load < 1) & (time < 0)
    return is_early | ((load >= 1) & ~np.isnan(time))


def _tail_slopes(load: Array, time: Array) -> tuple[Array, Array]:
    by_load, by_time = np.full(load.shape, np.nan), np.full(load.shape, np.nan)
    is_plain = (load > 0) & (load < 1) & (time >= 0)
    if is_plain.any():
        _, density, by_load[is_plain] = _parts(load[is_plain], time[is_plain])
        by_time[is_plain] = -density
    is_idle, is_full = (load == 0) & (time >= 0), _is_full(load, time)
    # At no load a visit is met at most: it takes longer than t with share 1 - t of it.
    by_load[is_idle], by_time[is_idle] = np.maximum(0.0, 1 - time[is_idle]), 0.0
    by_load[is_full] = by_time[is_full] = 0.0
    return by_load, by_time


def _series_share(load: Array, time: Array) -> Array:
    tables = _tables(load, int(time.max()))
    return _summed(time, load, tables[:, 0], tables[:, 1])[0]


def _parts(load: Array, time: Array) -> tuple[Array, Array, Array]:
    """Return S = P(W > t), the density there, and dS/dload."""
    found = (np.empty(load.shape), np.empty(load.shape), np.empty(load.shape))
    is_near = time < SUM_ENDS
    for is_among, function in ((is_near, _series_parts), (~is_near, _far_parts)):
        if is_among.any():
            parts = function(load[is_among], time[is_among])
            for into, part in zip(found, parts, strict=True):
                into[is_among] = part
    return found


def _far_parts(load: Array, time: Array) -> tuple[Array, Array, Array]:
    """Return S = c exp(-x t) with c = (1 - load)/(load + x - 1), and its slopes."""
    nothing = np.zeros(load.shape)
    decay = log_growth(load, nothing)
    by_load = log_growth_by_load(load, nothing, decay)
    spare = 1 - load
    share = spare / (decay - spare) * np.exp(-decay * time)
    grown = -1 / spare - (1 + by_load) / (decay - spare) - by_load * time
    return share, decay * share, share * np.where(np.isinf(time), 0.0, grown)


def _series_parts(load: Array, time: Array) -> tuple[Array, Array, Array]:
    tables = _tables(load, int(time.max()), with_slopes=True)
    share, density = _summed(time, load, tables[:, 0], tables[:, 1])
    left = np.floor(time) + 1 - time
    by_load, _ = _summed(time, load, tables[:, 2], tables[:, 1], beyond=0.0)
    # More come before, and more wait then.
    return share, density, by_load + left * density / load


def _tables(load: Array, most: int = SUM_ENDS, *, with_slopes: bool = False) -> Array:
    """Return P(L > n), P(L = n) and, where requested, the slope of the first by the load.

    L, which waits, is what comes in W, a geometric sum: P(L > n) exp(-load) is E(a - n - 1)+ and
    the sum of P(a > j) P(L > n - j) over j = 1..n, where a come in a service. For each load in
    turn; n from 0 to `most`.
    """
    come = [np.exp(-load)]
    for j in range(1, _ARRIVALS):
        come.append(come[-1] * (load / j))
    more, beyond = [np.zeros(load.shape)], [np.zeros(load.shape)]
    for j in range(_ARRIVALS - 1, 0, -1):
        beyond.append(beyond[-1] + more[-1])
        more.append(more[-1] + come[j])
    # more[j] is P(a > j), beyond[n] is E(a - n - 1)+
    more.reverse()
    beyond.reverse()
    shares, held = np.array(come[: most + 1]), np.array(more[: most + 1])
    kinds = 3 if with_slopes else 2
    table = np.empty((most + 1, kinds, load.size))
    none = np.exp(load)
    for n in range(most + 1):
        sums = np.einsum("jn,jcn->cn", held[1 : n + 1], table[:n][::-1])
        table[n, 0] = (beyond[n] + sums[0]) * none
        table[n, 1] = sums[1] * none if n else (1 - load) * none
        if with_slopes:
            grown = np.einsum("jn,jn->n", shares[1 : n + 1], table[:n, 0][::-1])
            table[n, 2] = (held[n] + grown + sums[2]) * none + table[n, 0]
    return np.ascontiguousarray(np.moveaxis(table, 2, 0).swapaxes(1, 2))


def _summed(
    time: Array, load: Array, more: Array, equal: Array, beyond: float = 1.0
) -> tuple[Array, Array]:
    """Return P(L + J >= k), and load P(L + J = k - 1), from tables of L for each element."""
    whole = np.floor(time).astype(int)
    mean = load * (whole + 1 - time)
    rows, come = np.arange(time.size), np.exp(-mean)
    share, density = np.zeros(time.shape), np.zeros(time.shape)
    for j in range(int(whole.max(initial=-1)) + 1):
        at = np.maximum(whole - j, 0)
        weight = np.where(whole >= j, come, 0.0)
        share += weight * more[rows, at]
        density += weight * equal[rows, at]
        come = np.where(whole >= j, come * (mean / (j + 1)), come)
    # More than `whole` come: the first of these shares and, beside it, the others.
    return share + beyond * come * series(whole + 1.0, mean), load * density


# -- quantiles ---------------------------------------------------------------------------


def _quantile(load: Array, level: Array) -> Array:
    found = np.full(load.shape, np.nan)
    is_there = (level >= 0) & (level < 1) & (load >= 0)
    is_plain = is_there & (load < 1) & (level > 1 - load)
    filled(is_plain, found, _wait, load, 1 - level)
    found[is_there & (level <= 1 - load)] = 0.0
    found[is_there & (load >= 1)] = np.inf
    return found


def _wait(load: Array, late: Array) -> Array:
    """Return the t with P(W > t) = late, for 0 < late < load < 1."""
    found = np.log1p((load - late) / (1 - load)) / load  # P(W <= t) = (1 - load) e^(load t) to 1
    is_late = found > 1
    if not is_late.any():
        return found
    load, late = load[is_late], late[is_late]
    decay = log_growth(load, np.zeros(load.shape))
    spare = 1 - load
    far = np.log(spare / (decay - spare) / late) / decay
    is_near = far < SUM_ENDS
    filled(is_near, far, _series_wait, far, load, late)
    found[is_late] = far
    return found


def _series_wait(start: Array, load: Array, late: Array) -> Array:
    low, high = np.ones(load.shape), np.full(load.shape, float(SUM_ENDS))
    start = np.clip(start, low, high)
    return falling_root(_excess, low, high, start, load, np.log(late), _tables(load))


def _excess(time: Array, load: Array, goal: Array, tables: Array) -> tuple[Array, Array]:
    """Return by how much log P(W > t) exceeds its goal, and its slope."""
    share, density = _summed(time, load, tables[:, 0], tables[:, 1])
    return np.log(share) - goal, -density / share


def _quantile_slopes(load: Array, level: Array) -> tuple[Array, Array]:
    time = _quantile(load, level)
    by_load, by_level = np.full(load.shape, np.nan), np.full(load.shape, np.nan)
    is_wait = (time > 0) & np.isfinite(time)
    if is_wait.any():
        _, density, grown = _parts(load[is_wait], time[is_wait])
        by_load[is_wait], by_level[is_wait] = grown / density, 1 / density
    by_load[time == 0] = by_level[time == 0] = 0.0
    return by_load, by_level


# -- batches -----------------------------------------------------------------------------


def _batch(load: Array, level: Array) -> Array:
    found = np.full(load.shape, np.nan)
    is_there = (level >= 0) & (level < 1) & (load >= 0)
    is_plain = is_there & (load > 0) & (load < 1)
    filled(is_plain, found, _batch_wait, load, level)
    is_idle = is_there & (load == 0)
    found[is_idle] = level[is_idle]
    found[is_there & (load >= 1)] = np.inf
    return found


def _batch_wait(load: Array, level: Array) -> Array:
    near = np.log1p(load * level / (1 - load)) / load
    filled(near > 1, near, _wait, load, load * (1 - level))
    return near


def _batch_slopes(load: Array, level: Array) -> tuple[Array, Array]:
    time = _batch(load, level)
    late = 1 - level
    by_level = 1 / (1 - load * late)
    by_load = (level / (1 - load) * by_level - time) / load
    filled(load < _FEW_VISITS, by_load, _batch_by_few, load, level)
    is_long = (time > 1) & np.isfinite(time)
    if is_long.any():
        _, density, grown = _parts(load[is_long], time[is_long])
        by_load[is_long] = (grown - late[is_long]) / density
        by_level[is_long] = load[is_long] / density
    is_there = np.isfinite(time)
    return np.where(is_there, by_load, np.nan), np.where(is_there, by_level, np.nan)


def _batch_by_few(load: Array, level: Array) -> Array:
    """Return the slope of the sum of load^(n - 1) (1 - (1 - level)^n)/n, for small loads."""
    total, power = np.zeros(load.shape), np.ones(load.shape)
    for n in range(2, 9):
        total += (n - 1) / n * power * -np.expm1(n * np.log1p(-level))
        power = power * load
    return total
