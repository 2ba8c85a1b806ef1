"""The transform of the time that stages take beyond what is always the same, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, exp, expm1, inf, log1p, sin
from typing import Any, TypeAlias

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


Work: TypeAlias = tuple[float, float, float, float]
"""The share that waits for a part of the work, its load, its mean and its squared variation."""

Waiting: TypeAlias = tuple[float, float, float, Work, tuple[Work, ...]]
"""Servers, the share that does not wait, the share of idle time, and the parts of the work."""

Passage: TypeAlias = tuple[
    int,
    float,
    "tuple[Passage, ...]",
    "tuple[tuple[float, tuple[Passage, ...]], ...]",
    float,
    float,
    float,
    Waiting | None,
]
"""Of a stage, what a transform needs of it: `whole`, `share`, `inside`, alternatives by chance,
`left`, service, variation, wait. It is a plain tuple, as transforms read it very often.
"""


def passages_of(line: Sequence[Stage]) -> tuple[Passage, ...]:
    """Return what those stages contribute to a transform that may be passed."""
    return tuple(map(_passage, (stage for stage in line if stage.whole or stage.share)))


def _passage(stage: Stage) -> Passage:
    service = stage.service if stage.variation else 0.0
    inside = () if stage.is_choice else passages_of(stage.inside)
    alternatives = (
        tuple((one.chance, _passages(one)) for one in stage.inside if one.chance)
        if stage.is_choice
        else ()
    )
    waiting = _waiting(stage) if stage.is_late else None
    return (
        stage.whole,
        stage.share,
        inside,
        alternatives,
        stage.left,
        service,
        stage.variation,
        waiting,
    )


def _passages(stage: Stage) -> tuple[Passage, ...]:
    """Return a stage that is passed once: what stands inside, where it has nothing of its own."""
    _, _, inside, alternatives, left, service, variation, waiting = _passage(stage)
    if alternatives or service or waiting:
        return ((1, 0.0, inside, alternatives, left, service, variation, waiting),)
    return inside


def _waiting(stage: Stage) -> Waiting:
    works = [(one.waits, one.load, one.work, one.spread) for one in stage.parts]
    at_once, spare = 1 - stage.waiting_share, 1 - stage.full_load
    return stage.servers, at_once, spare, works[0], tuple(works[1:])


def transform(line: Sequence[Passage], at: complex) -> complex:
    """Return E exp(-s T) of the time that stages take beyond what is always the same.

    For the wait W of all, also of those who do not wait, of parts of the work i, of which a share w
    finds the rest R first, and with loads of l, E exp(-s W) is
    1 - sum w + (1 - sum l) sum w E exp(-s R)/(1 - sum l E exp(-s R)).
    """
    found = complex(1.0)
    alike, each = 1.0, at
    for whole, share, inside, alternatives, left, service, variation, waiting in line:
        once = transform(inside, at) if inside else complex(1.0)
        if alternatives:
            once = complex(left)
            for chance, one in alternatives:
                once += chance * transform(one, at)
        if service:
            size = at * service
            once *= 1 - size / (1 + size) if variation == 1 else 1 + _less(size, variation)
        if waiting:
            servers, at_once, spare, (waits, load, work, spread), others = waiting
            if servers != alike:
                alike, each = servers, at / servers
            size = each * work
            rest = size / (1 + size) if spread == 1 else _rest(size, spread)
            first, more = waits * (1 - rest), spare + load * rest
            for waits, load, work, spread in others:
                rest = _rest(each * work, spread)
                first += waits * (1 - rest)
                more += load * rest
            once *= at_once + spare * first / more
        if whole:
            found *= once if whole == 1 else once**whole
        if share:
            found *= 1 - share + share * once
    return found


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
