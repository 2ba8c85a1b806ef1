"""Waits of M/D/1 and of batches as balls, as `md1_numbers` has them.

What no sum of a few thousand terms gives is as floats have it, with the error that it can have.
"""

from __future__ import annotations

from flint import arb, ctx

from qps.engine.evaluators.ball_arithmetic import (
    UNKNOWN,
    Falling,
    by_floats,
    floors,
    is_infinite,
    is_unknown,
    joined,
    of_quantile,
    refuse,
    root,
)
from qps.engine.queueing import md1_numbers

_MOST_TIME = 400
"""Service times up to which the wait is summed up."""


def md1_tail(load: arb, time: arb) -> arb:
    """Return P(W > t) of M/D/1."""
    refuse(bool(load < 0))
    if is_unknown(load, time) or not load >= 0:
        return UNKNOWN
    if load >= 1 or time < 0:
        return arb(1)
    if not (load < 1 and time >= 0):
        return UNKNOWN
    if load.is_zero() or is_infinite(time):
        return arb(0)
    if not time < _MOST_TIME:
        return by_floats(md1_numbers.md1_tail, (1, -1), load, time, error=1e-30)
    return 1 - _waits_no_longer(load, time)


def md1_quantile(load: arb, level: arb) -> arb:
    """Return the t with P(W <= t) = level for M/D/1; 0 where so many do not wait at all."""
    known = of_quantile(load, level)
    if known is not None:
        return known
    if level <= 1 - load:
        return arb(0)
    if not level > 1 - load:
        return UNKNOWN
    start = md1_numbers.md1_quantile(float(load.mid()), float(level.mid()))
    if start >= _MOST_TIME:
        return by_floats(md1_numbers.md1_quantile, (1, 1), load, level)
    return root(_md1_excess(load, 1 - level), start)


def batch_quantile(load: arb, level: arb) -> arb:
    """Return a bound of the wait, in batches, that a share of M[X]/D/1 does not exceed."""
    known = of_quantile(load, level)
    if known is not None:
        return known
    if load.is_zero():
        return level
    if not load > 0:
        return UNKNOWN
    near = (load * level / (1 - load)).log1p() / load
    if near <= 1:
        return near
    if not near > 1:
        return UNKNOWN
    start = md1_numbers.batch_quantile(float(load.mid()), float(level.mid()))
    if start >= _MOST_TIME:
        return by_floats(md1_numbers.batch_quantile, (1, 1), load, level)
    return root(_md1_excess(load, load * (1 - level)), start)


def _md1_excess(load: arb, late: arb) -> Falling:
    def excess(time: arb) -> tuple[arb, arb]:
        within = _waits_no_longer(load, time)
        density = load * (within - _waits_no_longer(load, time - 1))
        share = 1 - within
        return (share / late).log(), -density / share

    return excess


def _waits_no_longer(load: arb, time: arb) -> arb:
    """Return P(W <= t) of M/D/1."""
    if not time >= 0:
        return arb(0) if time < 0 else UNKNOWN
    if load.is_exact() and time.is_exact():
        return _alternating(load, time)
    # It falls with the load and rises with the time. A sum of balls would be far wider.
    return joined(
        _alternating(load.upper(), time.lower()), _alternating(load.lower(), time.upper())
    )


def _alternating(load: arb, time: arb) -> arb:
    """Return P(W <= t) by Erlang's alternating sum (1909), with the digits that it loses."""
    most = floors(time)[1]
    with ctx.extraprec(64 + 6 * most):
        found = arb(0)
        for k in range(most + 1):
            ahead = load * (k - time)
            found += ahead**k / arb(k).fac() * (-ahead).exp()
        return found * (1 - load)
