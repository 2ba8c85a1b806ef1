"""The transform of the time that stages take, on arrays: `stages` explains what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.stage_transforms import SMALL, SMALL_TERMS, in_terms
from qps.engine.distributions.stages import (
    NARROW,
    NEARLY_FIXED,
    NEARLY_WHOLE,
    OPERANDS,
    read_line,
)
from qps.engine.numerics.array_blocks import Array

Complex = NDArray[np.complex128]
Bools = NDArray[np.bool_]


class StageArrays(Struct, frozen=True, kw_only=True):
    """A stage with those that are passed as often as it is: `whole` times, a `share` once more.

    The work that is waited for has the parts `work_parts`, in front of the same servers.
    """

    waits: Array
    load: Array
    work: Array
    spread: Array
    servers: Array
    service: Array
    variation: Array
    whole: Array
    share: Array
    inside: tuple[StageArrays, ...]
    is_choice: bool = False
    work_parts: tuple[StageArrays, ...] = ()

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
    def parts(self) -> tuple[StageArrays, ...]:
        """The parts of the work that is waited for."""
        return (self, *self.work_parts)

    @property
    def is_late(self) -> Bools:
        """Where some of it waits."""
        each = ((one.waits > 0) & (one.work > 0) for one in self.parts)
        return reduce(np.logical_or, each)

    @property
    def is_endless(self) -> Bools:
        """Where it takes an infinite time: also where some waits for work without an end."""
        each = ((one.waits > 0) & (one.work == np.inf) for one in self.parts)
        is_full = (self.full_load >= 1) | reduce(np.logical_or, each)
        return np.asarray((self.service == np.inf) | (self.is_late & is_full))

    @property
    def waiting_share(self) -> Array:
        """Which share waits, for any part of the work."""
        return np.minimum(1.0, sum(one.waits for one in self.parts))

    @property
    def full_load(self) -> Array:
        """The load of all parts of the work."""
        return reduce(np.add, (one.load for one in self.parts))

    @property
    def is_narrow(self) -> Bools:
        """Where its law is hardly smooth."""
        each = ((one.work > 0) & (one.spread < NARROW) for one in self.parts)
        is_varied = (self.variation > 0) & (self.variation < NARROW)
        return np.asarray(is_varied | (self.is_late & reduce(np.logical_or, each)))

    @property
    def is_passed(self) -> Bools:
        """Where it is passed at all."""
        return (self.whole > 0) | (self.share > 0)


def groups_of(stages: Sequence[Array]) -> list[Sequence[Array]]:
    """Return the operands of each stage."""
    return [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]


def read(groups: Sequence[Sequence[Array]]) -> tuple[StageArrays, ...]:
    """Return stages one after the other; how many stand inside one is the same for all elements."""
    return read_line(groups, _staged, lambda inside: float(inside[0]))


def _staged(group: Sequence[Array], inside: tuple[StageArrays, ...]) -> StageArrays:
    waits, load, work, spread, servers, service, variation, times, within = group
    near = np.rint(times)
    whole = np.where(np.abs(times - near) <= NEARLY_WHOLE * near, near, np.floor(times))
    work_parts = tuple(one for one in inside if one.servers[0] == 0)
    return StageArrays(
        waits=np.minimum(waits, 1.0),
        load=load,
        work=work,
        spread=np.where(spread > NEARLY_FIXED, spread, 0.0),
        servers=servers,
        service=service,
        variation=np.where(variation > NEARLY_FIXED, variation, 0.0),
        whole=whole,
        share=np.maximum(0.0, times - whole),
        inside=tuple(one for one in inside if one.servers[0] > 0) if work_parts else inside,
        is_choice=bool(within[0] < 0),
        work_parts=work_parts,
    )


def every(line: Sequence[StageArrays], is_within: Bools) -> Iterator[tuple[StageArrays, Bools]]:
    """Yield all stages, each with where it is passed and takes a time."""
    for stage in line:
        is_passed = is_within & stage.is_passed
        yield stage, is_passed & ((stage.service > 0) | stage.is_late)
        yield from every(stage.inside, is_passed)


def is_sound(line: Sequence[StageArrays], among: Bools) -> Bools:
    """Return where all have servers, and chances of alternatives do not exceed 1."""
    for stage in line:
        among = among & (stage.servers > 0)
        if stage.is_choice:
            chances = sum((one.chance for one in stage.inside), np.zeros(among.shape))
            among = among & (chances <= 1 + SAME)
        among = is_sound(stage.inside, among)
    return among


def share_at_fixed(line: Sequence[StageArrays]) -> Array | float:
    """Return which share takes no longer than what is always the same."""
    found: Array | float = 1.0
    for stage in line:
        once = _stage_share_at_fixed(stage)
        found = found * once**stage.whole * (1 - stage.share + stage.share * once)
    return found


def _stage_share_at_fixed(stage: StageArrays) -> Array:
    own = np.where(stage.is_late, 1 - stage.waiting_share, 1.0)
    own = np.where((stage.service > 0) & (stage.variation > 0), 0.0, own)
    if not stage.is_choice:
        return np.asarray(share_at_fixed(stage.inside) * own)
    each = (one.chance * _stage_share_at_fixed(one) for one in stage.inside)
    return np.asarray(sum(each, stage.left) * own)


def served(line: Sequence[StageArrays]) -> Array | float:
    """Return how long stages serve at most, without waits."""
    return sum((stage.chance * _service_time(stage) for stage in line), 0.0)


def _service_time(stage: StageArrays) -> Array:
    if not stage.is_choice:
        return np.asarray(stage.service + served(stage.inside))
    each = (np.where(one.is_passed, _service_time(one), 0.0) for one in stage.inside)
    return np.asarray(stage.service + reduce(np.maximum, each, np.zeros(stage.service.shape)))


def nearest_singularity(line: Sequence[StageArrays], shape: tuple[int, ...]) -> Array:
    """Return how far left of zero there is no singularity."""
    nearest, total = np.full(shape, np.inf), np.zeros(shape)
    for stage, counts in every(line, np.ones(shape, dtype=bool)):
        nearest = np.minimum(nearest, np.where(counts, _decay(stage), np.inf))
        work = reduce(np.add, (one.work for one in stage.parts))
        total += np.where(counts, stage.service + work, 0.0)
    return np.asarray(np.where(nearest < np.inf, nearest, 1 / total))


def _decay(stage: StageArrays) -> Array:
    """Return what the rate at which the tail of a stage falls is at least."""
    own = stage.variation * stage.service
    own = np.where(own > 0, 1 / own, np.inf)
    spare = 1 - stage.full_load
    carried, longest = np.zeros(own.shape), np.zeros(own.shape)
    for one in stage.parts:
        slower = np.where(one.spread <= 1, (1 + one.spread) / 2, one.spread)
        scale = one.work * slower / stage.servers
        carried = carried + one.load * scale
        counts = (one.waits > 0) | (one.load > 0)
        longest = np.maximum(longest, np.where(counts, scale, 0.0))
    waiting = spare / (carried + spare * longest)
    is_there = stage.is_late & (longest > 0)
    return np.minimum(own, np.where(is_there, waiting, np.inf))


def transform(line: Sequence[StageArrays], at: Complex) -> Complex:
    """Return E exp(-s T), where T is the time that stages take beyond what is always the same.

    Rows of `at` are the terms of a series: the real part is that of all, and the imaginary part of
    row k is k times that of row 1.
    """
    found = np.ones(at.shape, dtype=complex)
    for stage in line:
        once = _transform_of_one(stage, at)
        found = found * _powered(once, stage.whole)
        if stage.share.any():
            found = found * (1 - stage.share + stage.share * once)
    return found


def _transform_of_one(stage: StageArrays, at: Complex) -> Complex:
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


def _own(stage: StageArrays, at: Complex) -> Complex:
    """Return that of a wait and a service that varies.

    What is made on the way is changed in place: new arrays take longer than what is done with them.
    """
    late, is_varied = stage.is_late, stage.variation > 0
    size = at * stage.service
    is_needed = is_varied.any() or not stage.work_parts
    less = _less(size, stage.variation) if is_needed else np.zeros(at.shape, dtype=complex)
    if not late.any():
        less += 1
        return less if is_varied.all() else np.where(is_varied, less, 1.0)
    wait = _mixed_wait(stage, at) if stage.work_parts else _wait(stage, at, size, less)
    if not late.all():
        wait = np.where(late, wait, 1.0)
    if is_varied.any():
        less += 1
        wait *= less if is_varied.all() else np.where(is_varied, less, 1.0)
    return wait


def _wait(stage: StageArrays, at: Complex, size: Complex, less: Complex) -> Complex:
    """Return that of a wait for work of one kind, which may be the service itself."""
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
    return wait


def _mixed_wait(stage: StageArrays, at: Complex) -> Complex:
    """Return that of a wait for work of several kinds."""
    spare = 1 - stage.full_load
    first, below = np.zeros(at.shape, dtype=complex), np.zeros(at.shape, dtype=complex)
    below += spare
    for one in stage.parts:
        each = at * (one.work / stage.servers)
        rest = _rest(each, _less(each, one.spread), one.spread)
        below += rest * one.load
        np.subtract(1, rest, out=rest)
        rest *= one.waits
        first += rest
    first *= spare
    first /= below
    first += 1 - stage.waiting_share
    return first


def _rest(size: Complex, less: Complex, v: Array) -> Complex:
    """Return 1 - E exp(-z R) for what is left of a time of mean 1, to all digits."""
    if (v == 1).all():
        return -less
    found = less / size
    found += 1
    farthest = 1 + SMALL_TERMS * v
    if not (np.abs(size[0]) * farthest < SMALL).any():  # the first term is the nearest to zero
        return found
    is_small = np.abs(size) * farthest < SMALL
    if is_small.any():
        found[is_small] = in_terms(size[is_small], np.broadcast_to(v, size.shape)[is_small])
    return found


def _less(size: Complex, v: Array) -> Complex:
    """Return E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small."""
    if (v == 1).all():
        found = size + 1
        np.divide(size, found, out=found)
        return np.negative(found, out=found)
    is_varied = v > 0
    if not is_varied.any():
        return less_of_fixed(size)
    grown, turned = _power(size, v, is_varied)
    np.expm1(grown, out=grown)
    # A tangent is quicker than sines: 1 - cos b is 2 t^2/(1 + t^2), and sin b is 2 t/(1 + t^2).
    turned /= 2
    half = np.tan(turned, out=turned)
    x = half * half
    y = x + 1
    x *= 2
    x /= y
    half *= 2
    half /= y
    grown += 1
    half *= grown
    x *= grown
    grown -= 1
    grown -= x
    found = np.empty(size.shape, dtype=complex)
    found.real, found.imag = grown, half
    return found


def less_of_fixed(size: Complex) -> Complex:
    """Return the same for times that are fixed, whose rows are powers of each other."""
    found = np.ones_like(size)
    turn = np.exp(-1j * size.imag[1]) if len(size) > 1 else found[0]
    filled = 1
    while filled < len(size):
        more = min(filled, len(size) - filled)
        np.multiply(found[:more], turn, out=found[filled : filled + more])
        turn = turn * turn
        filled += more
    found *= np.exp(-size.real[0])
    found -= 1
    return found


def _power(size: Complex, v: Array, is_varied: Bools) -> tuple[Array, Array]:
    """Return the logarithm of E exp(-z S), where some times vary."""
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
    return grown, turned
