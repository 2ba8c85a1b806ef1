"""Waits for several servers where services are short or long by chance: no fractions."""

from __future__ import annotations

from math import inf, isinf

from qps.engine.evaluators.arithmetic_fractions import refuse
from qps.engine.exact_algebra.exact_values import Exact, InexactError


def unlike_ratio(between: Exact, third: Exact, varied: Exact, servers: Exact, load: Exact) -> Exact:
    """Return nothing: it has roots and logarithms."""
    refuse(servers <= 0, "is a wait for no servers")
    return _inexact(between, third, varied, servers, load)


def unlike_share(between: Exact, third: Exact, ratio: Exact, load: Exact) -> Exact:
    """Return nothing: it has roots."""
    return _inexact(between, third, ratio, load)


def unlike_short(between: Exact, third: Exact, load: Exact) -> Exact:
    """Return nothing, likewise."""
    return _inexact(between, third, load)


def unlike_long(between: Exact, third: Exact, load: Exact) -> Exact:
    """Return nothing; from load 1 on it has no end."""
    _refuse(between, third, load)
    if load >= 1:
        return inf
    raise InexactError


def _inexact(*operands: Exact) -> Exact:
    _refuse(*operands)
    raise InexactError


def _refuse(between: Exact, third: Exact, *others: Exact) -> None:
    *finite, load = others
    refuse(min(between, *finite, load) < 0, "is a wait of services or loads below zero")
    refuse(any(map(isinf, (between, third, *finite))), "is a wait of services without an end")
