"""The quantile of a sum of independent stages on arrays: `stage_numbers` tells what it is.

Terms of the series stand in rows, elements in columns. Where a fixed time is taken by
chance, elements differ in their ways: each is a number by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from qps.engine.arrays import Array, falling_root, filled, in_blocks
from qps.engine.queues import stage_numbers
from qps.engine.queues.stage_numbers import (
    DISCOUNT,
    KINKED,
    LONG,
    NARROW,
    NEAR,
    NEARLY_WHOLE,
    NEXT_TO,
    OPERANDS,
    SMALL,
    SMALL_TERMS,
    SMOOTH,
    TINY,
    TOWARDS,
    in_terms,
    read_line,
)

Complex = NDArray[np.complex128]
Truth = NDArray[np.bool_]

_BLOCK = 256
_MOST_KEPT = 1 << 14

_kept: dict[bytes, float] = {}


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

    @property
    def is_late(self) -> Truth:
        """Where some of it waits."""
        return (self.waits > 0) & (self.work > 0)

    @property
    def is_passed(self) -> Truth:
        """Where it is passed at all."""
        return (self.whole > 0) | (self.share > 0)


def stages_quantile(level: ArrayLike, *stages: ArrayLike) -> Array:
    """Return the time that a share `level` does not exceed to pass stages, one after the other."""
    if not stages or len(stages) % OPERANDS:
        return in_blocks(lambda p: np.full(p.shape, np.nan), level)
    return in_blocks(_remembered, level, *stages, size=_BLOCK)


def _remembered(*operands: Array) -> Array:
    """Return the quantiles of a block; a search asks again and again for those of the ends."""
    rows = np.ascontiguousarray(np.stack(operands, axis=1))
    names = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
    found = [_kept.get(name) for name in names]
    missing = [place for place, value in enumerate(found) if value is None]
    if missing:
        if len(_kept) > _MOST_KEPT:
            _kept.clear()
        for place, value in zip(missing, _quantile(*rows[missing].T), strict=True):
            found[place] = _kept[names[place]] = float(value)
    return np.array(found)


def _quantile(level: Array, *stages: Array) -> Array:
    found = np.full(level.shape, np.nan)
    is_plain = (level >= 0) & (level < 1) & reduce(np.logical_and, map(_is_stage, _groups(stages)))
    filled(is_plain, found, _plain, level, *stages)
    return found


def _groups(stages: Sequence[Array]) -> list[Sequence[Array]]:
    return [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]


def _is_stage(group: Sequence[Array]) -> Truth:
    waits, load, work, spread, servers, service, variation, times, inside = group
    found: Truth = (
        (waits >= 0)
        & (load >= 0)
        & (work >= 0)
        & (work < np.inf)
        & (spread >= 0)
        & (spread < np.inf)
        & (servers > 0)
        & (service >= 0)
        & (variation >= 0)
        & (variation < np.inf)
        & (times >= 0)
        & (times < np.inf)
        & (inside >= 0)
    )
    return found


def _read(groups: Sequence[Sequence[Array]]) -> tuple[Stage, ...]:
    """Return stages one after the other; how many stand inside one is the same for all elements."""
    return read_line(groups, _staged, lambda inside: float(inside[0]))


def _staged(group: Sequence[Array], inside: tuple[Stage, ...]) -> Stage:
    waits, load, work, spread, servers, service, variation, times, _ = group
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
    )


def _every(line: Sequence[Stage], is_within: Truth) -> Iterator[tuple[Stage, Truth]]:
    """Yield all stages, each with where it is passed and takes a time."""
    for stage in line:
        is_passed = is_within & stage.is_passed
        yield stage, is_passed & ((stage.service > 0) | stage.is_late)
        yield from _every(stage.inside, is_passed)


def _plain(level: Array, *stages: Array) -> Array:
    groups = _groups(stages)
    depths = np.array([group[-1] for group in groups])
    if (depths != depths[:, :1]).any():
        return np.concatenate(
            [_plain(*(one[k : k + 1] for one in (level, *stages))) for k in range(level.size)]
        )
    line = _read(groups)
    is_mixed = reduce(np.logical_or, map(_has_fixed_chance, line))
    if is_mixed.any():
        found = np.empty(level.shape)
        rows = np.stack((level, *stages), axis=1)
        found[is_mixed] = [stage_numbers.stages_quantile(*row) for row in rows[is_mixed].tolist()]
        filled(~is_mixed, found, _plain, level, *stages)
        return found
    every = list(_every(line, np.ones(level.shape, dtype=bool)))
    is_endless = np.zeros(level.shape, dtype=bool)
    for stage, counts in every:
        is_endless |= counts & ((stage.service == np.inf) | (stage.is_late & (stage.load >= 1)))
    fixed = np.zeros(level.shape) + sum(map(_fixed, line))
    at_once = level <= _at_once(line)
    found = np.where(is_endless, np.inf, fixed)
    is_narrow = reduce(
        np.logical_or,
        (
            counts
            & (
                (stage.is_late & (stage.spread < NARROW))
                | ((stage.variation > 0) & (stage.variation < NARROW))
            )
            for stage, counts in every
        ),
    )
    is_left = ~(at_once | is_endless)
    for is_among, terms in ((is_left & ~is_narrow, SMOOTH), (is_left & is_narrow, KINKED)):
        if is_among.any():
            some = (one[is_among] for one in (level, *stages))
            found[is_among] += _beyond(np.array(terms)[:, None], *some)
    return found


def _fixed(stage: Stage) -> Array:
    return stage.whole * _fixed_once(stage)


def _fixed_once(stage: Stage) -> Array:
    own = np.where(stage.variation == 0, stage.service, 0.0)
    return np.where(stage.is_passed, own + sum(map(_fixed, stage.inside)), 0.0)


def _has_fixed_chance(stage: Stage) -> Truth:
    """Return where a time that is always the same is taken by chance."""
    within = reduce(
        np.logical_or,
        map(_has_fixed_chance, stage.inside),
        (stage.share > 0) & (_fixed_once(stage) > 0),
    )
    return np.asarray(within & stage.is_passed)


def _at_once(line: Sequence[Stage]) -> Array | float:
    found: Array | float = 1.0
    for stage in line:
        own = np.where(stage.is_late, 1 - stage.waits, 1.0)
        own = np.where((stage.service > 0) & (stage.variation > 0), 0.0, own)
        once = _at_once(stage.inside) * own
        found = found * once**stage.whole * (1 - stage.share + stage.share * once)
    return found


def _beyond(terms: Array, level: Array, *stages: Array) -> Array:
    """Return the quantile of what is not always the same, by a series of so many terms."""
    goal = -np.log1p(-level)
    line = _read(_groups(stages))
    every = list(_every(line, np.ones(level.shape, dtype=bool)))
    decays = (np.where(counts, _decay(stage), np.inf) for stage, counts in every)
    nearest = reduce(np.minimum, decays)
    total = sum(np.where(counts, stage.service + stage.work, 0.0) for stage, counts in every)
    nearest = np.where(nearest == np.inf, 1 / total, nearest)
    left = np.minimum(nearest / 2, LONG / np.maximum(_served(line), TINY))
    there = _transform(line, (-left).astype(np.complex128)[None, :])[0].real
    high = (np.log(there) + goal) / left  # by Chernoff's bound
    steps = np.arange(len(terms))[:, None] * np.pi

    def excess(time: Array, goal: Array, nearest: Array, *stages: Array) -> tuple[Array, Array]:
        """Return log(P(T > t)/(1 - level)), and its slope."""
        gap = DISCOUNT / 2 - np.minimum(TOWARDS * nearest * time, goal)
        gap = np.where(np.abs(gap) >= 1, gap, 1.0)
        at = np.empty((len(terms), time.size), dtype=complex)
        at.real, at.imag = gap / time, steps / time
        found = _transform(_read(_groups(stages)), at)
        longer = (terms * ((1 - found) / at).real).sum(axis=0)
        density = (terms * found.real).sum(axis=0)
        is_there = longer > 0
        value = np.where(is_there, np.log(longer / time) + gap + goal, -1.0)
        return value, np.where(is_there, -density / longer, 0.0)

    near = NEAR if len(terms) == len(SMOOTH) else NEXT_TO
    start = np.zeros(level.shape)
    return falling_root(excess, start, high, high, goal, nearest, *stages, near=near)


def _served(line: Sequence[Stage]) -> Array | float:
    each = ((stage.whole + stage.share) * (stage.service + _served(stage.inside)) for stage in line)
    return sum(each, 0.0)


def _decay(stage: Stage) -> Array:
    own, spread = stage.variation * stage.service, stage.spread
    slower = np.where(spread <= 1, 2 / (1 + spread), 1 / spread)
    waiting = (1 - stage.load) * slower * stage.servers / stage.work
    return np.minimum(np.where(own > 0, 1 / own, np.inf), np.where(stage.is_late, waiting, np.inf))


def _transform(line: Sequence[Stage], at: Complex) -> Complex:
    """Return E exp(-s T), where T is the time that stages take beyond what is always the same."""
    found = np.ones(at.shape, dtype=complex)
    for stage in line:
        once = _own(stage, at)
        if stage.inside:
            once = once * _transform(stage.inside, at)
        found = found * _powered(once, stage.whole)
        if stage.share.any():
            found = found * (1 - stage.share + stage.share * once)
    return found


def _powered(once: Complex, times: Array) -> Complex:
    first = times[0]
    if (times == first).all() and first <= 3:  # noqa: PLR2004 - products are quicker
        return once if first == 1 else reduce(np.multiply, [once] * int(first), np.ones_like(once))
    return np.asarray(once**times)


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
