"""The transform of the time that stages take beyond what is always the same, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, exp, expm1, inf, log1p, sin
from typing import Any

from qps.engine.distributions.stages import Stage, passed

SMALL, SMALL_TERMS = 0.01, 6
"""Below that size what is left of a time is a series of so many terms, which lose no digits."""


def served(line: Sequence[Stage]) -> float:
    """Return how long stages serve at most, without waits."""
    return sum((stage.chance * _service_time(stage) for stage in line), 0.0)


def _service_time(stage: Stage) -> float:
    if stage.is_choice:
        each = (_service_time(one) for one in stage.inside if one.chance)
        return stage.service + max(each, default=0.0)
    return stage.service + served(stage.inside)


def nearest_singularity(line: Sequence[Stage]) -> float:
    """Return how far left of zero there is no singularity."""
    every = passed(line)
    found = min(map(_decay, every))
    if found < inf:
        return found
    return 1 / sum(each.service + sum(one.work for one in each.parts) for each in every)


def _decay(stage: Stage) -> float:
    """Return what the rate at which the tail of a stage falls is at least.

    What is left of each part of the work has a transform of at most 1/(1 - s/d) at -s, where d is
    its own rate. So the geometric sum has no singularity as long as s times the sum of load/d over
    1 - s/d, with the least d, does not reach what is left of the load.
    """
    own = stage.variation * stage.service
    found = 1 / own if own else inf
    parts = [(one, _residual_scale(one) / stage.servers) for one in stage.parts if one.work]
    longest = max((scale for one, scale in parts if one.waits or one.load), default=0.0)
    if stage.is_late and longest:
        spare = 1 - stage.full_load
        carried = sum(one.load * scale for one, scale in parts)
        found = min(found, spare / (carried + spare * longest))
    return found


def _residual_scale(part: Stage) -> float:
    """Return one over the rate at which the tail of what is left of a work falls at least."""
    return part.work * ((1 + part.spread) / 2 if part.spread <= 1 else part.spread)


def transform(line: Sequence[Stage], at: complex) -> complex:
    """Return E exp(-s T) of the time that stages take beyond what is always the same."""
    found = complex(1.0)
    for stage in line:
        if not (stage.whole or stage.share):
            continue
        once = _transform_of_one(stage, at)
        if stage.whole:
            found *= once if stage.whole == 1 else once**stage.whole
        if stage.share:
            found *= 1 - stage.share + stage.share * once
    return found


def _transform_of_one(stage: Stage, at: complex) -> complex:
    """Return the transform of one passage."""
    found = _inside(stage, at) if stage.inside else complex(1.0)
    if stage.service and stage.variation:
        found *= 1 + _less(at * stage.service, stage.variation)
    if stage.is_late:
        found *= _wait(stage, at)
    return found


def _inside(stage: Stage, at: complex) -> complex:
    if not stage.is_choice:
        return transform(stage.inside, at)
    each = (one.chance * _transform_of_one(one, at) for one in stage.inside if one.chance)
    return sum(each, complex(stage.left))


def _wait(stage: Stage, at: complex) -> complex:
    """Return E exp(-s W) for the wait W of all, also of those who do not wait.

    Of parts of the work i, of which a share w finds the rest R first, and with loads of l,
    E exp(-s W) is 1 - sum w + (1 - sum l) sum w E exp(-s R)/(1 - sum l E exp(-s R)).
    """
    at = at / stage.servers
    spare = 1 - stage.full_load
    first, more = complex(0.0), complex(spare)
    for one in stage.parts:
        rest = _rest(at * one.work, one.spread)
        first += one.waits * (1 - rest)
        more += one.load * rest
    return 1 - stage.waiting_share + spare * first / more


def _rest(size: complex, v: float) -> complex:
    """Return 1 - E exp(-z R) for what is left of a time of mean 1, to all digits."""
    if v == 1:
        return size / (1 + size)
    if abs(size) * (1 + SMALL_TERMS * v) < SMALL:
        found: complex = in_terms(size, v)
        return found
    return 1 + _less(size, v) / size


def in_terms(size: Any, v: Any) -> Any:
    """Return 1 - E exp(-z R) by its series, of numbers or arrays."""
    found = 1 - size * ((1 + SMALL_TERMS * v) / (SMALL_TERMS + 1))
    for k in range(SMALL_TERMS - 1, 1, -1):
        found = 1 - size * ((1 + k * v) / (k + 1)) * found
    return size * ((1 + v) / 2) * found


def _less(size: complex, v: float) -> complex:
    """Return E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small."""
    if v == 1:
        return -size / (1 + size)
    if v:
        x, y = v * size.real, v * size.imag
        a, b = -log1p(x * (2 + x) + y * y) / (2 * v), -atan2(y, 1 + x) / v
    else:
        a, b = -size.real, -size.imag
    half = sin(b / 2)
    return complex(expm1(a) * cos(b) - 2 * half * half, exp(a) * sin(b))
