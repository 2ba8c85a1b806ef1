"""Tails and quantiles of the wait of N D/D/1 as balls, as `queue_numbers` has them."""

from __future__ import annotations

from flint import arb

from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    by_floats,
    floors,
    is_unknown,
    joined,
    of_quantile,
    refuse,
    root,
)
from qps.engine.queueing import queue_numbers

_MOST_FLOWS = 1000
"""Flows up to which the wait is summed up."""


def periodic_tail(flows: arb, load: arb, time: arb) -> arb:
    """Return P(W > t) of N D/D/1, flows counted whole as of the next number; 1 from load 1 on."""
    refuse(bool(load < 0) or bool(flows < 0) or flows == INFINITE)
    if is_unknown(flows, load, time) or not (load >= 0 and flows >= 0):
        return UNKNOWN
    if load >= 1 or time < 0:
        return arb(1)
    whole = flows.ceil().unique_fmpz()
    if whole is None or not (load < 1 and time >= 0):
        return UNKNOWN
    if whole <= 1 or load.is_zero() or time >= whole - 1:
        return arb(0)
    if whole > _MOST_FLOWS or not time < whole - 1:
        return by_floats(queue_numbers.periodic_tail, (1, 1, -1), flows, load, time)
    return _unfinished(int(whole) - 1, whole / load, time)[0]


def periodic_quantile(flows: arb, load: arb, level: arb) -> arb:
    """Return the wait of N D/D/1 that a share of the visits does not exceed."""
    refuse(bool(flows < 0) or flows == INFINITE)
    known = of_quantile(load, level)
    if known is not None or not flows >= 0:
        return UNKNOWN if known is None else known
    whole, late = flows.ceil().unique_fmpz(), 1 - level
    if whole is None:
        return UNKNOWN
    if whole <= 1 or load * (whole - 1) <= late * whole:
        return arb(0)
    if not load * (whole - 1) > late * whole:
        return UNKNOWN
    if whole > _MOST_FLOWS:
        return by_floats(queue_numbers.periodic_quantile, (1, 1, 1), flows, load, level)

    def excess(time: arb) -> tuple[arb, arb]:
        if not (time >= 0 and time < whole - 1):
            return UNKNOWN, UNKNOWN
        share, slope = _unfinished(int(whole) - 1, whole / load, time)
        return (share / late).log(), slope / share

    start = queue_numbers.periodic_quantile(int(whole), float(load.mid()), float(level.mid()))
    return root(excess, start)


def _unfinished(flows: int, period: arb, work: arb) -> tuple[arb, arb]:
    """Return P(V > x), and its slope, as `queue_numbers` has it; all terms are positive."""
    least, most = floors(work)
    head = period - flows + work
    total, slope = arb(0), arb(0)
    totals = []
    ways = arb(1)  # of choosing m flows, from all of them down
    for m in range(flows, least, -1):
        share, left = (m - work) / period, head + flows - m
        term = ways * share**m * (1 - share) ** (flows - m) * head / left
        total += term
        slope += term * (1 / head - (head + 1) / left - work / (m - work))
        ways = ways * m / (flows - m + 1)
        # At a whole time the term that leaves is nothing: either sum holds there.
        if m - 1 <= most:
            totals.append(total)
    return joined(*totals), slope
