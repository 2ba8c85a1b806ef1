"""Closed networks with speeds and pools as balls: by sums where there are few of all.

Those of more are as floats have them, with what they can be off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb, ctx

from qps.engine.evaluators.ball_arithmetic import as_ball, exactly
from qps.engine.evaluators.queueing.load_dependent_fractions import refuse_unknown, size_of
from qps.engine.evaluators.queueing.load_dependent_values import rate_of, time_of, wait_of
from qps.engine.evaluators.queueing.multiclass_exact import by_floats
from qps.engine.queueing_networks import load_dependent_mva
from qps.engine.queueing_networks.load_dependent_operands import (
    GROUP,
    OWN,
    SPEED,
    STATION,
    LoadDependentPool,
    between,
    every,
    never_ends,
    places_of,
)

_MOST_IN_BALLS = 4000
_MORE_BITS = 64
_ROUNDED = 1e-15
"""What differences of floats leave where nobody waits, as a part of what all take alone."""


def nested_rate(customers: arb, think: arb, *operands: arb) -> arb:
    """Return how many cycles all customers together end in a time."""
    found = _summed(rate_of, None, customers, think, operands)
    if found is not None:
        return found
    return _by_floats(load_dependent_mva.nested_rate, (customers, think, *operands), operands)


def nested_time(which: arb, customers: arb, think: arb, *operands: arb) -> arb:
    """Return how long a cycle is at a station, or waits for a pool."""
    found = _summed(time_of, which, customers, think, operands)
    if found is not None:
        return found
    rounded = arb(0, float((customers * (think + sum(operands[1::GROUP]))).upper()) * _ROUNDED)
    return (
        _by_floats(load_dependent_mva.nested_time, (which, customers, think, *operands), operands)
        + rounded
    )


def nested_wait(which: arb, customers: arb, think: arb, *operands: arb) -> arb:
    """Return the mean wait of an open visit at a station, in mean service times."""
    found = _summed(wait_of, which, customers, think, operands)
    if found is not None:
        return found
    return _by_floats(
        load_dependent_mva.nested_wait, (which, customers, think, *operands), operands
    )


def _by_floats(
    number: Callable[..., float], operands: tuple[arb, ...], numbers: Sequence[arb]
) -> arb:
    before = len(operands) - len(numbers)
    stations = (at for at in range(0, len(numbers), GROUP) if numbers[at] in (STATION, OWN))
    return by_floats(number, operands, frozenset(before + at + 3 for at in stations))


def _summed(
    value: Callable[..., Any],
    which: arb | None,
    customers: arb,
    think: arb,
    operands: Sequence[arb],
) -> arb | None:
    """Return a value by sums; None where that is too much, or where it is not known what counts."""
    number, of = exactly(customers), Fraction(0) if which is None else exactly(which)
    counted = _counted(operands)
    if number is None or of is None or counted is None or number < 0 or not think >= 0:
        return None
    if not think.is_finite() or not all(one >= 0 for k, one in enumerate(counted) if k % GROUP):
        return None
    places = places_of(counted)
    if places is None or any(map(never_ends, places)):
        return None
    if any(p.copies > 1 for p in every(places) if isinstance(p, LoadDependentPool)):
        return None
    size = int(size_of(number, places)) + 1
    if (
        size * size * len(operands) > _MOST_IN_BALLS * GROUP
        or not think + sum(operands[1::GROUP]) > 0
    ):
        return None
    if which is not None:
        refuse_unknown(of, places, is_wait=value is wait_of)
        value = partial(value, int(of))
    with ctx.extraprec(_MORE_BITS):
        found: Any = between(value, number, think, places, _on_line)
    return as_ball(found)


def _counted(operands: Sequence[arb]) -> list[Any] | None:
    """Return operands, whole numbers where they count; None where they count what is not whole."""
    found: list[Any] = list(operands)
    kinds = [exactly(one) for one in operands[::GROUP]]
    for number, kind in enumerate(kinds):
        at = number * GROUP
        found[at] = kind
        is_speed = SPEED in (kind, *kinds[number + 1 : number + 2])
        servers = 1 if is_speed else exactly(operands[at + 2])
        if not is_speed:
            found[at + 2] = servers
        if is_speed or kind != STATION or servers != 1:
            found[at + 4] = exactly(operands[at + 4])
        counts = [one for one in found[at : at + GROUP] if not isinstance(one, arb)]
        if any(one is None or one.denominator != 1 for one in counts):
            return None
        found[at : at + 5] = [
            one if isinstance(one, arb) else int(one) for one in found[at : at + 5]
        ]
    return found


def _on_line(low: Any, high: Any, part: Any) -> Any:
    return low + as_ball(part) * (high - low)
