"""The transform of the time that stages take, on arrays: `sum_numbers` tells what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.engine.numerics.array_blocks import Array
from qps.engine.queueing.stage_paths import SAME
from qps.engine.queueing.sum_numbers import (
    NEARLY_WHOLE,
    OPERANDS,
    SMALL,
    SMALL_TERMS,
    in_terms,
    read_line,
)

Complex = NDArray[np.complex128]
Bools = NDArray[np.bool_]


class Stage(Struct, frozen=True, kw_only=True):
    """A stage with those that are passed as often as it is: `whole` times, a `share` once more."""

    waits: Array
    load: Array
    work: Array
    spread: Array
    servers: Array
    service: Array
    variation: Array
    whole: Array
    share: Array
    inside: tuple[Stage, ...]
    is_choice: bool = False

    @property
    def chance(self) -> Array:
        """The chance that it is passed, of one of alternatives."""
        return self.whole + self.share

    @property
    def left(self) -> Array:
        """The chance that none of the alternatives inside is passed."""
        left = 1 - sum(each.chance for each in self.inside)
        return np.where(left > NEARLY_WHOLE, left, 0.0)

    @property
    def is_late(self) -> Bools:
        """Where some of it waits."""
        return (self.waits > 0) & (self.work > 0)

    @property
    def is_passed(self) -> Bools:
        """Where it is passed at all."""
        return (self.whole > 0) | (self.share > 0)


def groups_of(stages: Sequence[Array]) -> list[Sequence[Array]]:
    """Return the operands of each stage."""
    return [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]


def read(groups: Sequence[Sequence[Array]]) -> tuple[Stage, ...]:
    """Return stages one after the other; how many stand inside one is the same for all elements."""
    return read_line(groups, _staged, lambda inside: float(inside[0]))


def _staged(group: Sequence[Array], inside: tuple[Stage, ...]) -> Stage:
    waits, load, work, spread, servers, service, variation, times, within = group
    near = np.rint(times)
    whole = np.where(np.abs(times - near) <= NEARLY_WHOLE * near, near, np.floor(times))
    return Stage(
        waits=np.minimum(waits, 1.0),
        load=load,
        work=work,
        spread=spread,
        servers=servers,
        service=service,
        variation=variation,
        whole=whole,
        share=np.maximum(0.0, times - whole),
        inside=inside,
        is_choice=bool(within[0] < 0),
    )


def every(line: Sequence[Stage], is_within: Bools) -> Iterator[tuple[Stage, Bools]]:
    """Yield all stages, each with where it is passed and takes a time."""
    for stage in line:
        is_passed = is_within & stage.is_passed
        yield stage, is_passed & ((stage.service > 0) | stage.is_late)
        yield from every(stage.inside, is_passed)


def exceeds_one(stage: Stage) -> Bools:
    """Return where the chances of alternatives within a stage exceed 1."""
    chances = sum(each.chance for each in stage.inside) if stage.is_choice else 0.0
    found = np.asarray(chances + np.zeros(stage.share.shape) > 1 + SAME)
    return reduce(np.logical_or, map(exceeds_one, stage.inside), found)


def share_at_fixed(line: Sequence[Stage]) -> Array | float:
    """Return which share takes no longer than what is always the same."""
    found: Array | float = 1.0
    for stage in line:
        once = _stage_share_at_fixed(stage)
        found = found * once**stage.whole * (1 - stage.share + stage.share * once)
    return found


def _stage_share_at_fixed(stage: Stage) -> Array:
    own = np.where(stage.is_late, 1 - stage.waits, 1.0)
    own = np.where((stage.service > 0) & (stage.variation > 0), 0.0, own)
    if not stage.is_choice:
        return np.asarray(share_at_fixed(stage.inside) * own)
    each = (one.chance * _stage_share_at_fixed(one) for one in stage.inside)
    return np.asarray(sum(each, stage.left) * own)


def served(line: Sequence[Stage]) -> Array | float:
    """Return how long stages serve at most, without waits."""
    return sum((stage.chance * _service_time(stage) for stage in line), 0.0)


def _service_time(stage: Stage) -> Array:
    if not stage.is_choice:
        return np.asarray(stage.service + served(stage.inside))
    each = (np.where(one.is_passed, _service_time(one), 0.0) for one in stage.inside)
    return np.asarray(stage.service + reduce(np.maximum, each, np.zeros(stage.service.shape)))


def decay(stage: Stage) -> Array:
    """Return what the rate at which the tail of a stage falls is at least."""
    own, spread = stage.variation * stage.service, stage.spread
    slower = np.where(spread <= 1, 2 / (1 + spread), 1 / spread)
    waiting = (1 - stage.load) * slower * stage.servers / stage.work
    return np.minimum(np.where(own > 0, 1 / own, np.inf), np.where(stage.is_late, waiting, np.inf))


def transform(line: Sequence[Stage], at: Complex) -> Complex:
    """Return E exp(-s T), where T is the time that stages take beyond what is always the same."""
    found = np.ones(at.shape, dtype=complex)
    for stage in line:
        once = _transform_of_one(stage, at)
        found = found * _powered(once, stage.whole)
        if stage.share.any():
            found = found * (1 - stage.share + stage.share * once)
    return found


def _transform_of_one(stage: Stage, at: Complex) -> Complex:
    """Return the transform of one passage."""
    own = _own(stage, at)
    if not stage.inside:
        return own
    if not stage.is_choice:
        return own * transform(stage.inside, at)
    each = (
        np.where(one.is_passed, one.chance * _transform_of_one(one, at), 0.0)
        for one in stage.inside
    )
    return own * sum(each, stage.left + np.zeros(at.shape, dtype=complex))


def _powered(transform: Complex, times: Array) -> Complex:
    first = times[0]
    if (times == first).all() and first <= 3:  # noqa: PLR2004 - products are quicker
        return (
            transform
            if first == 1
            else reduce(np.multiply, [transform] * int(first), np.ones_like(transform))
        )
    return np.asarray(transform**times)


def _own(stage: Stage, at: Complex) -> Complex:
    """Return that of a wait and a service that varies.

    What is made on the way is changed in place: new arrays take longer than what is done with them.
    """
    late, is_varied = stage.is_late, stage.variation > 0
    size = at * stage.service
    less = _less(size, stage.variation)
    if not late.any():
        less += 1
        return less if is_varied.all() else np.where(is_varied, less, 1.0)
    before = stage.work / stage.servers
    is_same = (stage.spread == stage.variation).all() and (before == stage.service).all()
    each = size if is_same else at * before
    wait = _rest(each, less if is_same else _less(each, stage.spread), stage.spread)
    below = wait * stage.load
    below += 1 - stage.load
    np.subtract(1, wait, out=wait)
    wait *= stage.waits * (1 - stage.load)
    wait /= below
    wait += 1 - stage.waits
    if not late.all():
        wait = np.where(late, wait, 1.0)
    if is_varied.any():
        less += 1
        wait *= less if is_varied.all() else np.where(is_varied, less, 1.0)
    return wait


def _rest(size: Complex, less: Complex, v: Array) -> Complex:
    """Return 1 - E exp(-z R) for what is left of a time of mean 1, to all digits."""
    if (v == 1).all():
        return -less
    found = less / size
    found += 1
    is_small = np.abs(size) * (1 + SMALL_TERMS * v) < SMALL
    if is_small.any():
        found[is_small] = in_terms(size[is_small], np.broadcast_to(v, size.shape)[is_small])
    return found


def _less(size: Complex, v: Array) -> Complex:
    """Return E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small."""
    found = np.empty(size.shape, dtype=complex)
    if (v == 1).all():
        np.add(size, 1, out=found)
        np.divide(size, found, out=found)
        return np.negative(found, out=found)
    is_varied = v > 0
    part = np.where(is_varied, v, 1.0)
    x, y = size.real * part, size.imag * part
    grown = x + 2
    grown *= x
    grown += y * y
    np.log1p(grown, out=grown)
    grown /= -2 * part
    x += 1
    turned = np.arctan2(y, x)
    turned /= -part
    if not is_varied.all():
        grown, turned = (
            np.where(is_varied, grown, -size.real),
            np.where(is_varied, turned, -size.imag),
        )
    np.expm1(grown, out=grown)
    # A tangent is quicker than sines: 1 - cos b is 2 t^2/(1 + t^2), and sin b is 2 t/(1 + t^2).
    turned /= 2
    half = np.tan(turned, out=turned)
    np.multiply(half, half, out=x)
    np.add(x, 1, out=y)
    x *= 2
    x /= y
    half *= 2
    half /= y
    grown += 1
    half *= grown
    x *= grown
    grown -= 1
    grown -= x
    found.real, found.imag = grown, half
    return found
