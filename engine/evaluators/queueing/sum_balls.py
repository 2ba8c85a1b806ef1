"""Quantile and tail of a sum of stages in balls, by the finite series of `sum_numbers`.

The series are those of floats, summed up to any number of digits; what is nothing, what counts
whole, and on which ways the quantile lies, is as floats have it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from math import inf, isinf, isnan
from typing import TypeAlias

from flint import acb, arb
from msgspec import Struct

from qps.engine.distributions import sum_numbers, sum_tails
from qps.engine.distributions.stage_paths import PathMixture, mixtures, pieces_of
from qps.engine.distributions.stages import OPERANDS, Stage, read, read_line
from qps.engine.distributions.sum_numbers import QuantilePosition
from qps.engine.distributions.sum_tails import MixtureTail
from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    Falling,
    is_unknown,
    refuse,
    root,
)
from qps.engine.evaluators.multiclass_bounds import MOST_SENSITIVE

_Transforms: TypeAlias = dict[tuple[Hashable, ...], acb]
"""Transforms at one place, by the keys of stages."""
_Known: TypeAlias = dict[tuple[Hashable, ...], _Transforms]
"""The same by the place on a line of integration, and what that is."""


class _Ball(Struct, dict=True):
    """A stage as floats have it, with its numbers."""

    stage: Stage
    numbers: Sequence[arb]
    inside: Sequence[_Ball]
    work_parts: Sequence[_Ball] = ()

    @cached_property
    def key(self) -> tuple[Hashable, ...]:
        """What its transform is by: that of two stages of one key is the same."""
        own = (man_exp for one in self.numbers for man_exp in _digits(one))
        within = (one.key for one in self.inside)
        return (*own, *within, None, *(one.key for one in self.work_parts))

    @property
    def whole(self) -> int:
        return self.stage.whole

    @property
    def share(self) -> arb:
        return self.numbers[7] - self.stage.whole if self.stage.share else arb(0)

    @property
    def has_share(self) -> bool:
        return self.stage.has_share

    @property
    def own_fixed(self) -> arb:
        return self.numbers[5] if self.stage.is_fixed else arb(0)

    @property
    def is_fixed(self) -> bool:
        return self.stage.is_fixed

    @property
    def is_random(self) -> bool:
        return self.stage.is_random

    @property
    def per_visit(self) -> _Ball:
        alone = [*self.numbers[:7], arb(1), arb(0)]
        return _Ball(self.stage.per_visit, alone, (), self.work_parts)

    @property
    def is_choice(self) -> bool:
        return self.stage.is_choice

    @property
    def chance(self) -> arb:
        return self.share + self.stage.whole

    @property
    def left(self) -> arb:
        return 1 - sum((one.chance for one in self.inside), arb(0))

    @property
    def has_left(self) -> bool:
        return self.stage.has_left


class _Numbers(Struct):
    """The numbers of a stage, with those of what stands inside."""

    numbers: Sequence[arb]
    inside: tuple[_Numbers, ...]

    @property
    def is_part(self) -> bool:
        """True for a part of the work that is waited for."""
        return float(self.numbers[4].mid()) == 0


def stages_quantile(level: arb, *stages: arb) -> arb:
    """Return the quantile of the time that independent stages take, as floats have it."""
    refuse(bool(level < 0) or bool(level >= 1))
    if is_unknown(level, *stages):
        return UNKNOWN
    numbers = [float(one.mid()) for one in (level, *stages)]
    near = sum_numbers.stages_quantile(*numbers)
    if near == inf:
        return INFINITE
    if not all(one.is_finite() for one in (level, *stages)):
        return UNKNOWN
    refuse(isnan(near))
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    floats = read([tuple(float(one.mid()) for one in group) for group in groups])
    pieced = pieces_of(_joined(floats, groups))
    in_floats = sum_numbers.mixed(floats)
    if pieced is None or in_floats is None:
        return UNKNOWN
    ways = mixtures(pieced, _as_float)
    place = sum_numbers.placed(in_floats, numbers[0])
    fixed = arb(ways[place.at].fixed)
    if not place.beyond:
        return fixed
    found = fixed + root(_excess(ways, in_floats, level, place), place.beyond)
    return found if found.is_finite() else arb(near, _moved(near, float((1 - level).mid()), groups))


def _moved(quantile: float, late: float, groups: Sequence[Sequence[arb]]) -> float:
    """Return how far a quantile of stages is off, of which too little is known for a ball.

    It is no further off than the times together, and as chances move what takes longer; these times
    so much as anything moves (`MOST_SENSITIVE`).
    """
    off = 0.0
    for waits, load, work, spread, _, service, variation, times, _ in groups:
        of_work = float(work.rad()) + float(abs(work).mid()) * float(spread.rad())
        of_service = float(service.rad()) + float(abs(service).mid()) * float(variation.rad())
        of_chances = float(waits.rad()) + float(load.rad()) + float(times.rad())
        off += of_work + of_service + quantile * of_chances / late
    return MOST_SENSITIVE * off


def stages_tail(time: arb, *stages: arb) -> arb:
    """Return the share that takes longer than a time to pass independent stages."""
    if is_unknown(time, *stages):
        return UNKNOWN
    return tail_along(*(float(one.mid()) for one in (time, *stages)))(time, *stages)


def tail_along(*numbers: float) -> Callable[..., arb]:
    """Return the tail of stages in balls, inverted on the line of integration of some floats.

    Tails of operands that hardly differ are inverted on one line, where stages that are the same
    have the same transform: it is computed once.
    """
    near = sum_tails.stages_tail(*numbers)
    known: _Known = {}
    line = None if isnan(near) else sum_numbers.line_of(numbers[1:])
    is_late = numbers[0] < 0 or (line is not None and sum_numbers.is_endless(line))
    tails = () if line is None or is_late or isinf(numbers[0]) else _tails_of(line, numbers[0])

    def tail(time: arb, *stages: arb) -> arb:
        refuse(isnan(near))
        groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
        floats = read([tuple(float(one.mid()) for one in group) for group in groups])
        if numbers[0] < 0 or sum_numbers.is_endless(floats):
            return arb(1)
        if not all(one.is_finite() for one in (time, *stages)):
            return UNKNOWN
        pieced = pieces_of(_joined(floats, groups))
        if pieced is None or not tails:
            return UNKNOWN
        found, each = arb(0), mixtures(pieced, _as_float)
        lines = tails if len(each) == len(tails) else _tails_of(floats, float(time.mid()))
        for mixture, one in zip(each, lines, strict=True):
            found += _tail_of(mixture, one, time, known)
        return found.max(arb(0)).min(arb(1))

    return tail


def _tails_of(line: Sequence[Stage], time: float) -> Sequence[MixtureTail]:
    """Return what takes longer than a time on each way through stages; nothing of too many."""
    return sum_tails.tails_of(sum_numbers.mixed(line) or (), time)


def _tail_of(mixture: PathMixture, found: MixtureTail, time: arb, known: _Known) -> arb:
    """Return what of a mixture takes longer than a time, on the line of integration of floats."""
    chance = arb(mixture.chance)
    if found.tail is None:
        at_once = chance if found.after > 0 else arb(0) if found.after < 0 else _at_fixed(mixture)
        return chance - at_once
    tail, after = found.tail, time - arb(mixture.fixed)
    gap = sum_numbers.gap_of(tail.nearest, tail.goal, found.after)
    summed, there = arb(0), (gap, *_digits(after))
    for k, weight in enumerate(tail.terms):
        at = acb(gap / after, arb.pi() * k / after)
        transform = _mixed(mixture, at, known.setdefault((k, *there), {}))
        summed += weight * ((chance - transform) / at).real
    return (summed * arb(gap).exp() / after).max(arb(0)).min(chance)


def _digits(one: arb) -> tuple[Hashable, ...]:
    """Return what tells a finite ball from all others."""
    return (*map(int, one.mid().man_exp()), *map(int, one.rad().man_exp()))


def _at_fixed(mixture: PathMixture) -> arb:
    """Return which share of all takes the fixed time of a mixture, and no longer."""
    found = arb(0)
    for chance, stages in mixture.paths:
        way = arb(chance)
        for stage, often in stages:
            way *= _share_at_fixed((stage,)) ** often
        found += way
    return found


def _share_at_fixed(line: Sequence[_Ball]) -> arb:
    found = arb(1)
    for stage in line:
        once = _stage_share_at_fixed(stage)
        found *= once**stage.whole * (1 - stage.share + stage.share * once)
    return found


def _stage_share_at_fixed(stage: _Ball) -> arb:
    balls = stage.stage
    if balls.service and balls.variation:
        return arb(0)
    waiting = sum((one.numbers[0] for one in (stage, *stage.work_parts)), arb(0))
    own = 1 - waiting if balls.is_late and balls.waiting_share < 1 else arb(not balls.is_late)
    if not stage.is_choice:
        return own * _share_at_fixed(stage.inside)
    each = (one.chance * _stage_share_at_fixed(one) for one in stage.inside)
    return own * sum(each, arb(stage.left) if stage.has_left else arb(0))


def _as_float(number: arb | float) -> float:
    return float(arb(number).mid())


def _excess(
    paths: Sequence[PathMixture],
    in_floats: Sequence[PathMixture],
    level: arb,
    place: QuantilePosition,
) -> Falling:
    """Return log(P(T > t)/(1 - level)) of the time beyond that of a mixture, and its slope."""
    goal = -(-level).log1p()
    beyond = sum((arb(mixture.chance) for mixture in paths[place.at + 1 :]), arb(0))
    fixed = arb(paths[place.at].fixed)
    tails = []
    for mixture, floats in zip(paths[: place.at + 1], in_floats, strict=False):
        if floats.line:
            tail = sum_numbers.Tail.of(floats, float(goal.mid()))
            since = fixed - mixture.fixed
            gap = sum_numbers.gap_of(tail.nearest, tail.goal, place.beyond + _as_float(since))
            tails.append((mixture, since, gap, tail.terms))

    def excess(more: arb) -> tuple[arb, arb]:
        longer, density = beyond, arb(0)
        for mixture, since, gap, terms in tails:
            time = since + more
            scale, chance = arb(gap).exp() / time, arb(mixture.chance)
            for k, weight in enumerate(terms):
                at = acb(gap / time, arb.pi() * k / time)
                found = _mixed(mixture, at)
                longer += weight * scale * ((chance - found) / at).real
                density += weight * scale * found.real
        return longer.log() + goal, -density / longer

    return excess


def _mixed(mixture: PathMixture, at: acb, known: _Transforms | None = None) -> acb:
    found = acb(0)
    for chance, stages in mixture.paths:
        way = acb(chance)
        for stage, often in stages:
            way *= _transform((stage,), at, known) ** often
        found += way
    return found


def _joined(stages: Sequence[Stage], groups: Sequence[Sequence[arb]]) -> Sequence[_Ball]:
    """Return stages with their numbers."""

    def joined(parents: Sequence[Stage], lines: Sequence[_Numbers]) -> list[_Ball]:
        found = []
        for stage, line in zip(parents, lines, strict=True):
            own = [one for one in line.inside if not one.is_part]
            work_parts = [one for one in line.inside if one.is_part]
            parts = joined(stage.work_parts, work_parts)
            found.append(_Ball(stage, line.numbers, joined(stage.inside, own), parts))
        return found

    return joined(stages, read_line(groups, _Numbers, lambda inside: float(inside.mid())))


def _transform(line: Sequence[_Ball], at: acb, known: _Transforms | None) -> acb:
    found = acb(1)
    for stage in line:
        balls = stage.stage
        if not (balls.whole or balls.share):
            continue
        once = _transform_of_one(stage, at, known)
        found *= once**balls.whole
        if balls.share:
            found *= 1 - stage.share + stage.share * once
    return found


def _transform_of_one(stage: _Ball, at: acb, known: _Transforms | None) -> acb:
    """Return the transform of one passage, also of those that are `known` there."""
    if known is None:
        return _computed(stage, at, None)
    if stage.key not in known:
        known[stage.key] = _computed(stage, at, known)
    return known[stage.key]


def _computed(stage: _Ball, at: acb, known: _Transforms | None) -> acb:
    balls = stage.stage
    service, variation = stage.numbers[5:7]
    found = _inside(stage, at, known)
    if balls.service and balls.variation:
        found *= 1 + _less(at * service, variation)
    return found * _wait(stage, at / stage.numbers[4]) if balls.is_late else found


def _wait(stage: _Ball, at: acb) -> acb:
    """Return E exp(-s W) for the wait W of all, of work that is done at once by one server."""
    waiting, spare, first, more = arb(0), arb(1), acb(0), acb(1)
    for one in (stage, *stage.work_parts):
        waits, load, work, spread = one.numbers[:4]
        waits = waits if one.stage.waits < 1 else arb(1)
        left = acb(1)
        if one.stage.work:
            each = at * work
            is_any = each.contains(acb(0))  # how long it takes is hardly known
            left = _ANY if is_any else -_less(each, spread if one.stage.spread else None) / each
        waiting, spare = waiting + waits, spare - load
        first, more = first + waits * left, more - load * left
    if stage.stage.waiting_share == 1:
        waiting = arb(1)
    return 1 - waiting + spare * first / more


def _inside(stage: _Ball, at: acb, known: _Transforms | None) -> acb:
    if not stage.is_choice:
        return _transform(stage.inside, at, known)
    found = acb(stage.left) if stage.has_left else acb(0)
    for one in stage.inside:
        if one.whole or one.has_share:
            found += one.chance * _transform_of_one(one, at, known)
    return found


_ANY = acb(arb(0, 1), arb(0, 1))
"""Where any transform of a time lies, right of the imaginary axis."""


def _less(size: acb, v: arb | None) -> acb:
    """Return E exp(-z S) - 1 for a time S of mean 1; without variation where there is none."""
    if v == 1:
        return -size / (size + 1)
    power = -size if v is None else -_scaled_logarithm(size, v)
    return power.exp() - 1


def _scaled_logarithm(size: acb, v: arb) -> acb:
    """Return log(1 + v z)/v, of a variation that is known to a few digits to as many.

    It is that at the middle of the variation, and a slope between its ends by what these differ
    (the mean value theorem): in the quotient itself, both would count twice.
    """
    middle = v.mid()
    if not middle > 0 or v.is_exact():
        return (v * size + 1).log() / v
    slope = (v * size / (v * size + 1) - (v * size + 1).log()) / v**2
    return (middle * size + 1).log() / middle + slope * (v - middle)
