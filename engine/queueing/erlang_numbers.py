"""Erlang's blocking with any number of servers, one number at a time, by balls of flint."""

from __future__ import annotations

from flint import arb

from qps.engine.distributions.gamma_numbers import float_of_ball

_HUGE = 1e15


def inverse_erlang(servers: float, traffic: float) -> float:
    """Return 1/B(c, a) = Gamma(c + 1, a) exp(a) a^-c (Jagerman 1974)."""
    if servers > _HUGE or traffic > _HUGE:
        from qps.engine.queueing.erlang_arrays import inverse_erlang_b  # noqa: PLC0415 - needs numpy

        return float(inverse_erlang_b(servers, traffic))
    return float_of_ball(lambda: inverse_erlang_ball(arb(servers), arb(traffic)))


def inverse_erlang_ball(servers: arb, traffic: arb) -> arb:
    """Return the same as a ball."""
    gamma = traffic.gamma_upper(servers + 1)
    return gamma * (traffic - servers * traffic.log()).exp()
