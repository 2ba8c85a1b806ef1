"""The ways through stages: which of those that are passed by chance an item does pass.

Where a stage that is passed by chance takes a time that is always the same, a sum of stages has
atoms there, which no series of its transform finds, and whose own transform is beyond all floats
left of zero. So that time is taken out: each way has its chance, what is always the same of it, and
what varies. A way that is passed again in another order is the same one. What varies and takes no
fixed time stays by chance within a way, where its law is smooth. Of alternatives exactly one is
passed: their ways are mixed, each by its chance, where those of stages in a row are put together.

All here reads floats, balls or arrays alike, as stages have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, Self

from msgspec import Struct

MOST_PATHS = 64
"""That are distinguished: each costs a series of its own."""
MOST_COMBINED = 16
"""Paths of the branches of a fork that are combined, each with each."""


class StageLike(Protocol):
    """A stage: passed `whole` times, once more by chance, each time with what is `inside`."""

    @property
    def whole(self) -> int:
        """How often it is passed for sure."""

    @property
    def share(self) -> Any:
        """The chance that it is passed once more."""

    @property
    def own_fixed(self) -> Any:
        """What is always the same of one passage, but for what is inside."""

    @property
    def has_share(self) -> bool:
        """True where it may be passed once more."""

    @property
    def is_fixed(self) -> bool:
        """True where a part of its own is always the same."""

    @property
    def is_random(self) -> bool:
        """True where a part of its own varies."""

    @property
    def inside(self) -> Sequence[Self]:
        """The stages that are passed each time."""

    @property
    def per_visit(self) -> Self:
        """Its own part alone, passed once."""

    @property
    def is_choice(self) -> bool:
        """True where just one of those inside is passed: they are alternatives."""

    @property
    def chance(self) -> Any:
        """The chance that it is passed, of one of alternatives."""

    @property
    def left(self) -> Any:
        """The chance that none of the alternatives inside is passed."""

    @property
    def has_left(self) -> bool:
        """True where it may be that none of the alternatives inside is passed."""


Pieces = tuple[tuple[int, int], ...]
"""Which pieces a way has, and how often."""


class Pieced(Struct, frozen=True, kw_only=True):
    """The ways through a line: the chance of each by the pieces that it has.

    A piece is a `fixed` time or a stage that varies.
    """

    fixed: dict[int, Any]
    varied: dict[int, Any]
    chances: dict[Pieces, Any]


class _TooManyError(Exception):
    pass


def pieces_of(line: Sequence[StageLike]) -> Pieced | None:
    """Return the ways through a line, None where there are more than are distinguished."""
    found = _Pieces()
    try:
        chances = found.of(line)
    except _TooManyError:
        return None
    return Pieced(fixed=found.fixed, varied=found.varied, chances=chances)


def has_fixed_chance(stage: StageLike) -> bool:
    """Return whether a time that is always the same is taken by chance."""
    if any(map(has_fixed_chance, stage.inside)):
        return bool(stage.whole) or stage.has_share
    return stage.has_share and _is_fixed_alone(stage)


def _is_fixed_alone(stage: StageLike) -> bool:
    return stage.is_fixed or any(each.whole and _is_fixed_alone(each) for each in stage.inside)


class _Pieces:
    def __init__(self) -> None:
        self.fixed: dict[int, Any] = {}
        self.varied: dict[int, Any] = {}

    def of(self, line: Iterable[StageLike]) -> dict[Pieces, Any]:
        found: dict[Pieces, Any] = {(): 1}
        for stage in line:
            if stage.whole or stage.has_share:
                found = _both(found, self._of_one(stage))
        return found

    def _of_one(self, stage: StageLike) -> dict[Pieces, Any]:
        if not has_fixed_chance(stage):
            is_fixed = stage.whole > 0 and _is_fixed_alone(stage)
            own = self._fixed(stage, _fixed, is_fixed)
            return {own + self._varied(stage, _ever_varies(stage)): 1}
        once = self._of_passage(stage)
        found = _power(once, stage.whole)
        if not stage.has_share:
            return found
        return _both(found, _mixed({(): 1 - stage.share}, _by(stage.share, once)))

    def _of_passage(self, stage: StageLike) -> dict[Pieces, Any]:
        own = self._fixed(stage, lambda one: one.own_fixed, stage.is_fixed)
        own += self._varied(stage.per_visit, stage.is_random)
        return _both({own: 1}, self._inside(stage))

    def _inside(self, stage: StageLike) -> dict[Pieces, Any]:
        if not stage.is_choice:
            return self.of(stage.inside)
        found: dict[Pieces, Any] = {(): stage.left} if stage.has_left else {}
        for one in stage.inside:
            if one.whole or one.has_share:
                found = _mixed(found, _by(one.chance, self._of_passage(one)))
        return found

    def _fixed(self, stage: StageLike, time: Callable[[StageLike], Any], is_fixed: bool) -> Pieces:  # noqa: FBT001
        return _noted(self.fixed, time(stage), self._next()) if is_fixed else ()

    def _varied(self, stage: StageLike, varies: bool) -> Pieces:  # noqa: FBT001
        return _noted(self.varied, stage, self._next()) if varies else ()

    def _next(self) -> int:
        return len(self.fixed) + len(self.varied)


def _noted(pieces: dict[int, Any], piece: Any, at: int) -> Pieces:
    pieces[at] = piece
    return ((at, 1),)


def _fixed(stage: StageLike) -> Any:
    inside = (_fixed(each) for each in stage.inside if each.whole and _is_fixed_alone(each))
    return stage.whole * sum(inside, stage.own_fixed)


def _ever_varies(stage: StageLike) -> bool:
    is_passed = bool(stage.whole) or stage.has_share
    return is_passed and (stage.is_random or any(map(_ever_varies, stage.inside)))


def _both(one: dict[Pieces, Any], other: dict[Pieces, Any]) -> dict[Pieces, Any]:
    found: dict[Pieces, Any] = {}
    for way, chance in one.items():
        for then, weight in other.items():
            counts = dict(way)
            for piece, times in then:
                counts[piece] = counts.get(piece, 0) + times
            together = tuple(sorted(counts.items()))
            found[together] = found.get(together, 0) + chance * weight
    if len(found) > MOST_PATHS:
        raise _TooManyError
    return found


def _by(chance: Any, paths: dict[Pieces, Any]) -> dict[Pieces, Any]:
    return {way: chance * weight for way, weight in paths.items()}


def _mixed(one: dict[Pieces, Any], other: dict[Pieces, Any]) -> dict[Pieces, Any]:
    return {way: one.get(way, 0) + other.get(way, 0) for way in (*one, *other)}


def _power(passage: dict[Pieces, Any], times: int) -> dict[Pieces, Any]:
    """Return the ways of so many passages: by squares, which are few."""
    if times < 0:  # a slope is of what is a little less than none: there are no such ways
        raise _TooManyError
    found: dict[Pieces, Any] = {(): 1}
    while times:
        found = _both(found, passage) if times % 2 else found
        times //= 2
        passage = _both(passage, passage) if times else passage
    return found


# -- ways that take the same fixed time --------------------------------------------------


class PathMixture(Struct, frozen=True, kw_only=True):
    """The ways that take the same `fixed` time, with a `chance` of all of them.

    `paths` are the chance of each and the stages that vary on it, each so often.
    """

    fixed: Any
    chance: Any
    paths: tuple[tuple[Any, tuple[tuple[Any, int], ...]], ...]

    @property
    def line(self) -> tuple[Any, ...]:
        """All stages that vary on any of them."""
        return tuple(stage for _, stages in self.paths for stage, _ in stages)


def mixtures(pieced: Pieced, number: Callable[[Any], float] = float) -> tuple[PathMixture, ...]:
    """Return ways by the time that is always the same of them, the shortest first.

    `number` makes a float of a time: those that are the same but for roundings are the same.
    """
    times = {way: fixed_of(pieced, way) for way in pieced.chances}
    found: list[list[Pieces]] = []
    last = -1.0
    for path in sorted(times, key=lambda path: number(times[path])):
        time = number(times[path])
        if found and time - last <= SAME * time:
            found[-1].append(path)
        else:
            found.append([path])
            last = time
    return tuple(
        PathMixture(
            fixed=times[ways[0]],
            chance=sum(pieced.chances[way] for way in ways),
            paths=tuple(
                (
                    pieced.chances[way],
                    varied_of(pieced, way),
                )
                for way in ways
            ),
        )
        for ways in found
    )


def fixed_of(pieced: Pieced, path: Pieces) -> Any:
    """Return what is always the same of a way."""
    return sum((pieced.fixed[at] * often for at, often in path if at in pieced.fixed), 0)


def varied_of(pieced: Pieced, path: Pieces) -> tuple[tuple[Any, int], ...]:
    """Return the stages that vary on a way, and how often each is passed."""
    return tuple((pieced.varied[at], often) for at, often in path if at in pieced.varied)


SAME = 1e-12
"""Times, or shares, that differ by no more of them are the same: they are rounded."""
