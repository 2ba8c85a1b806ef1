"""A surface through as many points as it takes: a few at first, then more where they decide.

What is to be known of it is mostly on which side of a limit it lies, and which value a share of the
samples is not below. Points are added there until few of the samples are likely to be estimated
wrongly, or there are as many as may be.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import cycle, islice
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.gamma_arrays import normal_tail
from qps.engine.execution.programs import StraightLineProgram
from qps.solver.matrix.limits.row_preparation import Floats, Ints
from qps.solver.uncertainty.response_surface import Surface, first_points, fitted, most_points

_WRONG = 0.003
"""Part of the samples that may lie on the wrong side of a limit."""
_WRONG_OF_TAIL = 0.01
"""Part of the samples below a quantile, and of those above, that may lie on its wrong side."""
_MOST_FOR_TAIL = 24
"""Points that are added where a tail is not known as well yet."""
_CAUTION = 2.0
"""How many times as far off a surface may be as it states."""
_OF_SPREAD = 0.1
"""How far off a surface may be in the mean, as a part of how far the samples are apart."""
_FAR = 3.0
"""How many deviations a surface is off at most."""
_POINTS_PER_STEP = 4
"""Points that are added at once: one of them where least is known, lest all lie at the limit."""

_NOTHING = 1e-5
"""How far off a surface may be in any case: points themselves are not known better."""
_FIRST_OFF = 0.1
"""How far off other samples are from the first, to begin with."""
_SAME = 1e-4
"""Of values: how far those of one thing may be apart that is looked for twice."""

_SIZE = 16
_DIGEST = 20


_surfaces: OrderedDict[Hashable, Surface] = OrderedDict()
"""Surfaces that were fitted before, of the same operations on the same samples."""


class Alike(Struct, frozen=True, kw_only=True):
    """What a surface is of: the same where the `operations` are, on the same samples.

    Those of one `kind` may have the same values in several models.
    """

    kind: tuple[Hashable, ...]
    operations: tuple[Hashable, ...]


class FittedSurface(Struct, frozen=True, kw_only=True, eq=False):
    """A surface of a kind, and what identifies its samples."""

    kind: tuple[Hashable, ...]
    samples: bytes
    surface: Surface


About: TypeAlias = tuple[Floats, Floats]
"""Where something lies, about, and how far off that is, as a part of it."""
Evaluation: TypeAlias = Callable[[Ints, About | None], Floats]
"""Tells values of some samples; it may be handed about where they lie."""


def surface_through(
    values: Mapping[str, Floats],
    evaluate: Evaluation,
    limit: float | None,
    others: Sequence[Surface],
    enough: float = np.inf,
    start: Ints | None = None,
    before: Sequence[Surface] = (),
    tail: float | None = None,
) -> Surface:
    """Return a surface of the values of some samples.

    Points are taken from the start of the samples first, or those that are to be its `start`.

    It is to say which of the samples lie below a limit, if there is one, which are the `tail` of
    them that lies lowest, as a part of all, and to be near to all; off by no more than is `enough`
    where points are estimated from all others.
    It is one of the `others` where all of its first points are: a requirement and the quality that
    rests on it fail together. Where it lies above one of them it need not be near. It goes on from
    one fitted `before`, in another model, that has the same first points.
    """
    drawn = dict(values)
    count = next(iter(drawn.values())).size
    most, first = (min(of(len(drawn)), count) for of in (most_points, first_points))
    chosen = np.arange(first) if start is None else start
    first = chosen.size
    if not first:
        return fitted(drawn, np.zeros(0))
    same = [one for one in before if np.array_equal(_first_of(one, first), chosen)]
    surface, chosen = _first_surface(drawn, chosen, evaluate, same, others)
    if any(surface is one for one in others):
        return surface
    found = surface.values
    least = np.min([one(drawn, count)[0] for one in others], axis=0, initial=np.inf)
    while surface.kriging is not None:
        at, off = surface(drawn, count)
        matters = at / np.exp(_FAR * off) <= least
        off_here = np.where(matters, off, 0.0)
        aims: list[float | None] = []
        edge = np.inf if tail is None else _end_of_tail(at, tail)
        if tail is not None and np.isfinite(edge) and not _is_decided(at, off_here, edge, tail):
            aims.append(edge)
        end = min(most + (_MOST_FOR_TAIL if aims else 0), count)
        if limit is not None and (chosen.size <= first or not _is_decided(at, off, limit)):
            aims.append(limit)
        is_near = surface.error <= enough and _is_close(at[matters], off[matters])
        if chosen.size >= end or (not aims and is_near):
            break
        taken = np.isin(np.arange(count), chosen)
        more: list[int] = []
        for aim in [*islice(cycle(aims or [None]), _POINTS_PER_STEP - 1), None]:
            left = end - chosen.size - len(more)
            more += surface.next_points(drawn, aim, taken, min(1, left))
            taken[more] = True
        if not more:
            break
        found = np.concatenate([found, evaluate(np.array(more), (at[more], off[more]))])
        chosen = np.concatenate([chosen, more])
        surface = _through(drawn, chosen, found)
    return surface


def _through(drawn: Mapping[str, Floats], chosen: Ints, found: Floats) -> Surface:
    surface = fitted({name: column[chosen] for name, column in drawn.items()}, found)
    return replace(surface, chosen=chosen)


def _first_surface(
    drawn: Mapping[str, Floats],
    chosen: Ints,
    evaluate: Evaluation,
    before: Sequence[Surface],
    others: Sequence[Surface],
) -> tuple[Surface, Ints]:
    """Return a surface through the first points, and its points: more where one before has them.

    Values are looked for where those of an equal surface lie; else as far from those of the last
    one before as the first value is from its own.
    """
    last = before[-1] if before else None
    found = evaluate(chosen[:1], None if last is None else (last.values[:1], np.zeros(1)))
    likely, off = _twin(found, [*before, *others]), 0.0
    about = np.repeat(found, chosen.size - 1)
    if likely is not None:
        about = likely.values[1 : chosen.size]
    elif last is None:
        off = _FIRST_OFF
    else:
        shifted = _shifted_values(last.values[: chosen.size], float(found[0]))
        about, off = (about, _FIRST_OFF) if shifted is None else shifted
    more = evaluate(chosen[1:], (about, np.full(chosen.size - 1, off)))
    found = np.concatenate([found, more])
    twin = _twin(found, before)
    if twin is not None and twin.chosen is not None:
        return twin, twin.chosen
    other = _twin(found, others)
    return (_through(drawn, chosen, found) if other is None else other), chosen


def _shifted_values(before: Floats, first: float) -> tuple[Floats, float] | None:
    """Return about where values lie of which one is known, beside those before, and how far off."""
    if not (np.isfinite(before).all() and before[0] > 0 and 0 < first < np.inf):
        return None
    part = first / float(before[0])
    return before[1:] * part, abs(float(np.log(part)))


def _twin(found: Floats, surfaces: Sequence[Surface]) -> Surface | None:
    """Return the surface whose first points are nearest to those, if they are the same."""
    same = [one for one in surfaces if _is_same(one.values[: found.size], found)]
    return min(same, key=lambda one: _apart(one.values[: found.size], found), default=None)


def _apart(ones: Floats, others: Floats) -> float:
    """Return how far values are apart at most; infinite ones that are the same are not."""
    apart = np.where(ones == others, 0.0, np.abs(ones - others))
    return float(apart.max(initial=0.0))


def _first_of(surface: Surface, count: int) -> Ints:
    return np.zeros(0, dtype=np.int64) if surface.chosen is None else surface.chosen[:count]


def _is_same(ones: Floats, others: Floats) -> bool:
    return ones.size == others.size and bool(np.allclose(ones, others, rtol=_SAME, atol=0))


def _end_of_tail(at: Floats, tail: float) -> float:
    """Return the value below which a part of some values lies."""
    return float(np.sort(at)[int(tail * at.size)])


def _is_decided(at: Floats, off: Floats, limit: float, tail: float | None = None) -> bool:
    """Return whether few samples may lie on the wrong side of a limit, or of the end of a tail."""
    wrong = _WRONG if tail is None else _WRONG_OF_TAIL * 2 * min(tail, 1 - tail)
    with np.errstate(all="ignore"):
        far = np.abs(np.log(at) - np.log(limit)) / (_CAUTION * off)
    return float(np.where(off > 0, normal_tail(far), 0.0).mean()) <= wrong


def _is_close(at: Floats, off: Floats) -> bool:
    """Return whether a surface is off by little beside its estimates of samples."""
    if not at.size:
        return True
    finite = np.isfinite(at)
    spread = float(np.log(at[finite]).std()) if finite.any() else 0.0
    return float(np.sqrt(np.mean(off**2))) <= max(_OF_SPREAD * spread, _NOTHING)


class Structures:
    """Identifies operations of a program by what they compute, whatever their numbers."""

    def __init__(self, program: StraightLineProgram) -> None:
        self._program = program
        self._known: dict[int, bytes] = {}

    def of(self, outputs: Iterable[int]) -> tuple[bytes, ...]:
        """Return what some operations compute."""
        wanted, steps, known = tuple(outputs), self._program.steps, self._known
        for number in self._program.needed(wanted, known):
            step = steps[number]
            digest = blake2b(repr((step.word, step.value)).encode(), digest_size=_DIGEST)
            for operand in step.operands:
                digest.update(known[operand])
            known[number] = digest.digest()
        return tuple(known[number] for number in wanted)


def memoized_surface(
    alike: Alike | None,
    drawn: Mapping[str, Floats],
    others: Sequence[Surface],
    known: list[FittedSurface],
    fit: Callable[..., Surface],
) -> Surface:
    """Return a surface of some samples beside others, fitted unless one alike was.

    A change of a spec often leaves alone what takes longest: the operations of its program are the
    same then, however they are numbered. Where they are not, some of those `known` may still have
    the same values.
    """
    if alike is None:
        return fit()
    digest = blake2b(digest_size=_DIGEST)
    for name, column in drawn.items():
        digest.update(name.encode())
        digest.update(column.tobytes())
    samples = digest.digest()
    key = alike, samples, tuple(one.values.tobytes() for one in others)
    if key not in _surfaces:
        same = (one for one in known if one.kind == alike.kind and one.samples == samples)
        _surfaces[key] = fit(before=[one.surface for one in same])
        if len(_surfaces) > _SIZE:
            _surfaces.popitem(last=False)
    _surfaces.move_to_end(key)
    surface = _surfaces[key]
    if all(one.surface is not surface or one.kind != alike.kind for one in known):
        known.append(FittedSurface(kind=alike.kind, samples=samples, surface=surface))
    return surface
