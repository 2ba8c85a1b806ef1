"""Erlang's C as a rational function of the traffic, for a few servers."""

from __future__ import annotations

from qps.engine.formulas import ONE, Formula

_MOST_SERVERS = 16


def erlang_c_expanded(servers: Formula, traffic: Formula) -> Formula | None:
    """Return the share of calls that wait, below saturation; None for many servers, or unknown."""
    count = servers.exact
    if count is None or count.denominator != 1 or not 1 <= count <= _MOST_SERVERS:
        return None
    inverse = ONE
    for k in range(1, int(count) + 1):
        inverse = 1 + inverse * k / traffic
    return 1 / (inverse - traffic / servers * (inverse - 1))
