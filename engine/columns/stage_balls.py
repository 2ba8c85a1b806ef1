"""The quantile of a sum of stages in balls: the root of the finite series of `stage_numbers`.

The series is that of floats, summed up to any number of digits; what is nothing, and what counts
whole, is as floats have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isnan

from flint import acb, arb
from msgspec import Struct

from qps.engine.columns.balls import INFINITE, UNKNOWN, Falling, is_unknown, refuse, root
from qps.engine.queues import stage_numbers
from qps.engine.queues.stage_numbers import OPERANDS, Stage


class _Ball(Struct):
    """A stage as floats have it, with its numbers."""

    told: Stage
    numbers: Sequence[arb]
    inside: list[_Ball]

    @property
    def share(self) -> arb:
        return self.numbers[7] - self.told.whole if self.told.share else arb(0)

    @property
    def fixed_once(self) -> arb:
        told = self.told
        own = self.numbers[5] if told.service and not told.variation else arb(0)
        passed = [each for each in self.inside if each.told.whole]
        return sum((each.fixed_once * each.told.whole for each in passed), own)


def stages_quantile(level: arb, *stages: arb) -> arb:
    """Return the quantile of the time that independent stages take, as floats have it."""
    refuse(bool(level < 0) or bool(level >= 1))
    if is_unknown(level, *stages) or not all(one.is_finite() for one in (level, *stages)):
        return UNKNOWN
    fixed, excess, near = _root_of(level, stages)
    if near == inf:
        return INFINITE
    refuse(isnan(near))
    return fixed if excess is None else fixed + root(excess, near)


def _root_of(level: arb, stages: Sequence[arb]) -> tuple[arb, Falling | None, float]:
    """Return what is always the same, what vanishes at the rest, and near where that is.

    There is nothing that vanishes where there is no rest.
    """
    shares = [float(one.mid()) for one in (level, *stages)]
    near = stage_numbers.stages_quantile(*shares)
    if not isfinite(near):
        return arb(near), None, near
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    told = stage_numbers.read([tuple(float(one.mid()) for one in group) for group in groups])
    line = _joined(told, iter(groups))
    fixed = sum((each.fixed_once * each.told.whole for each in line), arb(0))
    rest = near - float(fixed.mid())
    if shares[0] <= stage_numbers.at_once(told):
        return fixed, None, near
    terms, nearest = stage_numbers.terms_of(told), stage_numbers.nearest_of(told)
    goal = -(-level).log1p()
    gap = stage_numbers.gap_of(nearest, float(goal.mid()), rest)

    def excess(time: arb) -> tuple[arb, arb]:
        begin = gap / time
        longer = density = arb(0)
        for k, weight in enumerate(terms):
            at = acb(begin, arb.pi() * k / time)
            found = _transform(line, at)
            longer += weight * ((1 - found) / at).real
            density += weight * found.real
        return (longer / time).log() + gap + goal, -density / longer

    return fixed, excess, rest


def _joined(told: Sequence[Stage], groups: object) -> list[_Ball]:
    """Return stages with their numbers, which come in the same order."""
    return [_Ball(each, next(groups), _joined(each.inside, groups)) for each in told]  # type: ignore[call-overload]


def _transform(line: Sequence[_Ball], at: acb) -> acb:
    found = acb(1)
    for stage in line:
        told = stage.told
        if not (told.whole or told.share):
            continue
        waits, load, work, spread, servers, service, variation = stage.numbers[:7]
        once = _transform(stage.inside, at)
        if told.service and told.variation:
            once *= 1 + _less(at * service, variation)
        if told.is_late:
            each = at * work / servers
            left = -_less(each, spread if told.spread else None) / each
            part = waits if told.waits < 1 else arb(1)
            once *= 1 - part + part * ((1 - load) * left / (1 - load * left))
        found *= once**told.whole
        if told.share:
            late = once * (-at * stage.fixed_once).exp()
            found *= 1 - stage.share + stage.share * late
    return found


def _less(size: acb, v: arb | None) -> acb:
    """Return E exp(-z S) - 1 for a time S of mean 1; without variation where there is none."""
    power = -size if v is None else -(v * size + 1).log() / v
    return power.exp() - 1
