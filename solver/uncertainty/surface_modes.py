"""What takes long in samples of one mode: computed for few, estimated for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np
from msgspec import Struct

from qps.solver.matrix.compilation.configuration_order import indices, joined
from qps.solver.matrix.compilation.row_guards import SOUND
from qps.solver.matrix.limits.row_preparation import (
    CompiledCriterion,
    Floats,
    Ints,
    Rows,
    margin_of,
    sides_of,
)
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.mode_rows import ModeSolver
from qps.solver.uncertainty.criterion_samples import CriterionSamples
from qps.solver.uncertainty.interval_result import SurrogateModel
from qps.solver.uncertainty.response_surface import Surface
from qps.solver.uncertainty.sample_cost import StepTimes
from qps.solver.uncertainty.surface_refinement import (
    About,
    Alike,
    FittedSurface,
    Structures,
    memoized_surface,
    surface_through,
)
from qps.solver.uncertainty.threshold_search import FIRST_OFF, ExcessShape, crossings

_POOL = 1024
"""Samples from which the points of a surface are chosen."""
_CERTAIN = 3.0
"""How far off a surface may be where it is to be sure, in its own deviations."""
_FAILURE = "failure of"
_FULL = "part of the limit of"
_BEYOND = 1.25
"""How far behind the range something is looked for that is used only in it."""
_FARTHEST = 64.0
"""How far from where it fails as stated something is looked for that takes long."""


Key: TypeAlias = tuple[str, str, int]
"""What a surface is of: its kind, its name, and of which configuration."""
Evaluation: TypeAlias = Callable[[Rows, About | None], Floats]
"""Returns what takes long in some rows; it may be given about what that is."""


class StatedPoints(Struct, frozen=True):
    """Where criteria first fail and resources saturate with the numbers as stated, by name.

    Without `failures` they are looked for from the start of the range on. Surfaces are to say on
    which side of the `population` criteria fail, if there is one, and which value a `tail` of the
    samples, as a part of all, lies below.
    """

    failures: Mapping[str, float] | None
    saturations: Mapping[str, float]
    population: int | None = None
    tail: float | None = None


class FirstBySurface(Struct, frozen=True, kw_only=True, eq=False):
    """First failures of some samples, and between which they surely lie."""

    at: Ints
    least: Ints
    most: Ints


@dataclass(kw_only=True)
class SurfaceModeSolver(ModeSolver):
    """Tells where criteria of one mode fail in samples by surfaces, where each would take long.

    Samples are the last axis; `drawn` explains what was drawn for each, and `most` are to be solved
    for each value of the other axes. `outcomes` gathers which criteria are met at a population, if
    requested. `surfaces` are those of the configurations that were requested last.
    """

    evaluations: ClassVar[int] = 12
    """How often something is requested, about, until it is known where it fails."""
    tailed: ClassVar[frozenset[str]] = frozenset({_FAILURE})
    """Kinds of surfaces of which the end of the tail is to be known well."""
    enough: ClassVar[float] = np.inf
    """How far off a surface may be at points estimated from all others, if there may be more."""

    most: int
    drawn: Mapping[str, Floats]
    stated: StatedPoints
    outcomes: CriterionSamples | None = None
    surfaces: dict[Key, Surface] = field(default_factory=dict)
    fitted: list[FittedSurface] = field(default_factory=list)
    """Surfaces of where criteria fail in these samples, also in other models."""
    _pools: dict[int, tuple[Ints, Rows]] = field(default_factory=dict)
    _known: dict[tuple[int, int], tuple[Floats, Floats]] = field(default_factory=dict)
    """Estimates of surfaces for the rows that are being solved: some are requested again."""

    def surfaces_used(self) -> Iterator[SurrogateModel]:
        """Yield what is estimated by surfaces of where criteria fail, and how well."""
        for (kind, name, _), surface in self.surfaces.items():
            if kind in (_FAILURE, _FULL) and surface.kriging is not None:
                yield SurrogateModel(requirement=name, points=surface.points, error=surface.error)

    def _first(self, rows: Rows, index: Index, criterion: CompiledCriterion) -> FirstBySurface:
        """Return the first failures of what takes long, by a surface."""
        low, high = self.mode.low, self.mode.high
        if not self._varies(criterion):
            return self._at_any(rows, index, criterion)
        at, off = self._failure(
            index, criterion, self._stated_failure(criterion, float(high)), rows
        )

        def first(real: Floats) -> Ints:
            whole = np.where(real <= low, low, np.floor(np.minimum(real, high)) + 1)
            return np.asarray(whole, dtype=np.int64)

        far = np.exp(_CERTAIN * off)
        return FirstBySurface(at=first(at), least=first(at / far), most=first(at * far))

    def _at_any(self, rows: Rows, index: Index, criterion: CompiledCriterion) -> FirstBySurface:
        """Return the start of the range where what is the same at any population fails."""
        low, high = self.mode.low, self.mode.high

        def evaluate(some: Rows, _about: About | None = None) -> Floats:
            return self._part_of_limit(some, criterion, float(low))

        full, off = self._by_surface(index, (_FULL, criterion.name), evaluate, rows, 1.0)

        def first(of: Floats) -> Ints:
            return np.where(of <= 1, high + 1, low).astype(np.int64)

        far = np.exp(_CERTAIN * off)
        return FirstBySurface(at=first(full), least=first(full * far), most=first(full / far))

    def _varies(self, criterion: CompiledCriterion) -> bool:
        """Return whether a criterion depends on the population."""
        return any(self.mode.program.varies[side] for side in sides_of([criterion]))

    @staticmethod
    def _part_of_limit(some: Rows, criterion: CompiledCriterion, at: float | Floats) -> Floats:
        """Return what is above 1 where a criterion fails at a population of each row."""
        sides = (criterion.measure, criterion.limit)
        values = some.at(sides, at)
        of, to = (some.column(values, side) for side in sides)
        return of / to if criterion.at_most else to / of

    def _stated_failure(self, criterion: CompiledCriterion, unless: float | None) -> float | None:
        """Return where a criterion fails as stated, `unless` it does not; None: nobody knows."""
        failures = self.stated.failures
        return None if failures is None else failures.get(criterion.name, unless)

    def _failure(
        self, index: Index, criterion: CompiledCriterion, start: float | None, rows: Rows
    ) -> tuple[Floats, Floats]:
        """Return where a criterion fails, as real numbers, and how far off that is."""
        loads = {(one.criterion.measure, one.criterion.limit) for one in self.mode.resources}
        is_load = (criterion.measure, criterion.limit) in loads
        crossing = self._crossing(
            lambda some, at: _excess(some, criterion, at), start, is_sought_beyond=is_load
        )
        at = self.stated.population
        limit = None if at is None else float(at)
        alike = self._alike(criterion, start, limit)
        return self._by_surface(index, (_FAILURE, criterion.name), crossing, rows, limit, alike)

    def _alike(
        self, criterion: CompiledCriterion, start: float | None, limit: float | None
    ) -> Alike | None:
        """Return what is the same where a criterion fails at the same numbers of users.

        None where samples are of several configurations: operations are the same for all values of
        an axis.
        """
        *axes, _, members = self._along.counts
        if prod(axes) * members > 1:
            return None
        kind = criterion.name, criterion.at_most, criterion.is_strict, self.mode.low, self.mode.high
        operations = self._structures.of((criterion.measure, criterion.limit))
        return Alike(kind=kind, operations=(start, limit, self.stated.tail, *operations))

    def _crossing(
        self,
        excess: Callable[[Rows, Floats], Floats],
        start: float | None,
        *,
        is_sought_beyond: bool = True,
    ) -> Evaluation:
        """Return what says where something fails, infinite where it does not.

        What is not sought beyond the range counts as failing a little behind it.
        """
        low, end = float(self.mode.low), _BEYOND * self.mode.high

        high = max(_FARTHEST * (start or 0.0), 2.0 * self.mode.high)
        shape = ExcessShape()

        def evaluate(some: Rows, about: About | None = None) -> Floats:
            at, off = about or (low if start is None else start, FIRST_OFF)
            if is_sought_beyond:
                return crossings(some, excess, low, high, at, off, shape)
            return np.minimum(crossings(some, excess, low, end, at, off, shape), end)

        return evaluate

    def _by_surface(
        self,
        index: Index,
        what: tuple[str, str],
        evaluate: Evaluation,
        rows: Rows,
        limit: float | None,
        alike: Alike | None = None,
    ) -> tuple[Floats, Floats]:
        """Return what takes long in some rows by a surface, and how far off that is, as a part.

        Of each row where there is but one. What is `alike`, of the same samples, has one surface.
        """
        if self.most == 1:
            return evaluate(rows, None), np.zeros(rows.count)
        found, off = np.empty((2, rows.count))
        numbers = self._numbers(index)
        for number in np.unique(numbers).tolist():
            mine = np.flatnonzero(numbers == number)
            key = (*what, number)
            if key not in self.surfaces:
                pool, some = self._pool(number)
                others = self._failures_in(number) if what[0] == _FAILURE else []
                drawn = self._drawn(pool)
                self.surfaces[key] = memoized_surface(
                    alike,
                    drawn,
                    others,
                    self.fitted,
                    partial(
                        surface_through,
                        drawn,
                        partial(self._computed, key, evaluate, some),
                        limit,
                        others,
                        self.enough,
                        self._first_points(key, pool),
                        tail=self.stated.tail if what[0] in self.tailed else None,
                    ),
                )
                self._note_points(key, pool)
            surface = self.surfaces[key]
            if (id(surface), number) not in self._known:
                values = self._drawn(index[-2][mine])
                self._known[id(surface), number] = surface(values, mine.size)
            found[mine], off[mine] = self._known[id(surface), number]
        return found, off

    def _computed(
        self, _key: Key, evaluate: Evaluation, some: Rows, which: Ints, about: About | None
    ) -> Floats:
        """Return what takes long in some samples among rows."""
        return evaluate(some.take(which), about)

    def _first_points(self, _key: Key, _pool: Ints) -> Ints | None:
        """Return the points that a surface begins with among samples; None for as many as usual."""
        return None

    def _note_points(self, key: Key, pool: Ints) -> None:
        """Take note of the points of a surface."""

    def _failures_in(self, number: int) -> list[Surface]:
        """Return the surfaces of where criteria fail in one configuration."""
        known = self.surfaces.items()
        return [one for (kind, _, own), one in known if kind == _FAILURE and own == number]

    def _numbers(self, index: Index) -> Ints:
        """Return the configuration that each sample is of: a number for all but what is drawn."""
        *axes, _, members = self._along.counts
        numbers = joined([*axes, members], [*index[:-2], index[-1]])
        return np.broadcast_to(numbers, index[-1].shape)

    def _samples_of(self, number: int, samples: Ints) -> Index:
        """Return some samples of a configuration as rows."""
        *axes, _, members = self._along.counts
        *of_axes, member = indices([*axes, members], np.full(samples.size, number, dtype=np.int64))
        return *of_axes, samples, member

    def _forget_all_but(self, index: Index) -> None:
        """Keep no surfaces of rows that nothing requests: there may be any number of them.

        Nor their estimates for other samples of the same rows.
        """
        self._known.clear()
        members = self._along.counts[-1]
        numbers = set(np.unique(self._numbers(index) // members).tolist())
        for key in [key for key in self.surfaces if key[-1] // members not in numbers]:
            del self.surfaces[key]

    def _drawn(self, samples: Ints) -> dict[str, Floats]:
        return {name: column[samples] for name, column in self.drawn.items()}

    def _pool(self, number: int) -> tuple[Ints, Rows]:
        """Return samples from which points are chosen: the first that can be, for any caller."""
        if number not in self._pools:
            pool, start = np.zeros(0, dtype=np.int64), 0
            while pool.size < _POOL and start < self.most:
                next_ = np.arange(start, min(start + _POOL, self.most), dtype=np.int64)
                verdicts = self.verdicts(self._samples_of(number, next_), next_.size)
                pool = np.concatenate([pool, next_[verdicts == SOUND]])[:_POOL]
                start += _POOL
            rows = self.prepared(self._samples_of(number, pool), pool.size)
            self._pools = {number: (pool, rows)}
        return self._pools[number]

    def _is_long(self, outputs: Sequence[int] | set[int] | frozenset[int]) -> bool:
        """Return whether all samples together would take long for some operations."""
        key = frozenset(outputs)
        if key not in self._long:
            own = filter(self.is_recomputed, self.mode.program.needed(key))
            self._long[key] = self._times.are_long(own, self.evaluations)
        return self._long[key]

    def is_recomputed(self, number: int) -> bool:
        """Return whether an operation is computed for each request."""
        return self.mode.program.varies[number] or number in self._too_long

    @property
    def _too_long(self) -> frozenset[int]:
        """Operations without a population that take long, all samples together."""
        return self._times.long_without_population

    @cached_property
    def _structures(self) -> Structures:
        return Structures(self.mode.program)

    @cached_property
    def _long(self) -> dict[frozenset[int], bool]:
        return {}

    @cached_property
    def _times(self) -> StepTimes:
        return StepTimes(mode=self.mode, along=self._along, runner=self.runner, samples=self.most)


_FAR_BELOW = -0.9


def _excess(rows: Rows, criterion: CompiledCriterion, population: Floats) -> Floats:
    """Return what is above zero where a criterion fails, 1 where it has no value.

    Of its margin m it is m / (1 + m): what grows as a wait does, without end, is nearly straight.
    """
    margin = np.asarray(margin_of(criterion, rows.at(sides_of([criterion]), population)))
    if criterion.is_strict:
        margin = np.where(margin == 0, np.finfo(float).tiny, margin)
    margin = np.broadcast_to(np.where(np.isnan(margin), np.inf, margin), (rows.count,))
    part = np.divide(margin, 1 + np.maximum(margin, _FAR_BELOW))
    return np.asarray(np.where(np.isinf(margin), np.sign(margin), part), dtype=float)
