"""Erlang's formulas as balls, and the mean wait of N D/D/1, which is one of them."""

from __future__ import annotations

from functools import lru_cache

from flint import arb, ctx, fmpz

from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    is_infinite,
    is_unknown,
    joined,
    refuse,
)
from qps.engine.queueing.erlang_numbers import inverse_erlang_ball


def erlang_b(servers: arb, traffic: arb) -> arb:
    """Return the share of calls that find all servers busy and are lost."""
    refuse(bool(servers < 0) or bool(traffic < 0))
    if traffic.is_zero() and (servers > 0 or servers.is_zero()):
        return arb(0) if servers > 0 else arb(1)
    if is_infinite(servers) or is_infinite(traffic):
        refuse(is_infinite(servers) and is_infinite(traffic))
        return UNKNOWN if is_unknown(servers, traffic) else arb(int(is_infinite(traffic)))
    return 1 / _inverse(servers, traffic)


def erlang_c(servers: arb, traffic: arb) -> arb:
    """Return the share of calls that wait; all of them from as much traffic as servers on."""
    refuse(bool(servers <= 0) or bool(traffic < 0))
    if is_unknown(servers, traffic) or not servers > 0:
        return UNKNOWN
    if is_infinite(traffic) or traffic >= servers:
        return arb(1)
    if traffic.is_zero() or is_infinite(servers):
        return arb(0)
    load = traffic / servers
    found = 1 / (_inverse(servers, traffic) * (1 - load) + load)
    return found if traffic < servers else joined(found, arb(1))


def periodic_wait(flows: arb, load: arb) -> arb:
    """Return the mean wait of N D/D/1 in service times: what an arrival finds of N - 1 flows."""
    refuse(bool(load < 0))
    if is_unknown(flows, load) or not (load >= 0 and (load < 1 or load >= 1)):
        return UNKNOWN
    if load >= 1:
        return INFINITE
    if flows <= 1 or load.is_zero():
        return arb(0)
    refuse(flows == INFINITE)
    wait = (_inverse(flows - 1, flows / load) - 1) / 2
    return wait if flows > 1 else joined(wait, arb(0))


def _inverse(servers: arb, traffic: arb) -> arb:
    """Return 1/B(c, a); unknown where there may be no traffic.

    Of servers that are not known to the last digit flint takes minutes: it grows with them, and
    falls with the traffic, so that it lies between the ends.
    """
    if not (traffic > 0 and servers >= 0):
        return UNKNOWN
    with ctx.extraprec(64):
        if servers.is_exact() and not traffic.is_exact():
            return inverse_erlang_ball(servers, traffic)
        ends = (servers.lower(), traffic.upper()), (servers.upper(), traffic.lower())
        return joined(*(_of_exact(*a.man_exp(), *b.man_exp(), ctx.prec) for a, b in ends))


@lru_cache(maxsize=1 << 8)
def _of_exact(servers: fmpz, by: fmpz, traffic: fmpz, more: fmpz, _bits: int) -> arb:
    """Return 1/B(c, a) of exact numbers, as m 2^e, in so many binary digits; remembered.

    Where no digits decide a sign, the same is computed again for each form of a formula.
    """
    return inverse_erlang_ball(arb((servers, by)), arb((traffic, more)))
