"""One mode solved for samples: by floats, where what once fails is taken to stay failing.

No first failure is proved of a sample: that is done for the numbers as they are stated. What takes
long in each sample is told of a few of them, and of the others by a surface through these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.solver.answers.judgement import Judgement
from qps.solver.matrix.compilation.configuration_order import indices, joined
from qps.solver.matrix.compilation.row_guards import SOUND
from qps.solver.matrix.limits.first_failures import first_failures
from qps.solver.matrix.limits.row_preparation import (
    Bools,
    CompiledCriterion,
    Floats,
    Ints,
    Rows,
    margin_of,
    sides_of,
    worst,
)
from qps.solver.matrix.limits.saturations import (
    CompiledResource,
    crossing_excess,
    float_saturations,
)
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.mode_answers import ModeAnswers
from qps.solver.matrix.rows.mode_rows import ModeSolver
from qps.solver.matrix.rows.row_bottlenecks import resources_of
from qps.solver.matrix.rows.scalar_fallback import OneByOne, Refusal
from qps.solver.uncertainty.interval_result import BySurface
from qps.solver.uncertainty.response_surface import Surface
from qps.solver.uncertainty.sample_cost import StepTimes
from qps.solver.uncertainty.surface_refinement import About, surface_through
from qps.solver.uncertainty.threshold_search import crossings

_EVALUATIONS = 12
"""Until it is known where something fails."""
_LOOKED_AT = 8
"""Populations before a failure at which what is not proven is looked at, too."""
_POOL = 1024
"""Samples from which the points of a surface are chosen."""
_SURELY = 3.0
"""How far off a surface may be where it is to be sure, in its own deviations."""
_FAILURE, _FULL = "failure of", "part of the limit of"
_BEYOND = 1.25
"""How far behind the range something is looked for of which no more is asked than in it."""
_FARTHEST = 64.0
"""How far from where it fails as stated something is looked for that takes long."""


Told: TypeAlias = NDArray[np.uint8]
UNTOLD = np.uint8(2)
"""Of a sample: more than what is told of any, which is 0 or 1."""


class Near(Struct, frozen=True):
    """Where criteria first fail and resources saturate with the numbers as stated, by name.

    Without `failures` they are looked for from the start of the range on.
    """

    failures: Mapping[str, float] | None
    saturations: Mapping[str, float]


@dataclass(kw_only=True)
class CriterionSamples:
    """In which samples each criterion is met at one population: 1, 0, or `UNTOLD`.

    Three rows of each: in which it is, in which it surely is, and in which it may be.
    """

    population: int
    samples: int
    columns: dict[str, Told] = field(default_factory=dict)

    def note(self, name: str, samples: Ints, is_met: Bools) -> None:
        """Note in which samples a criterion is met in a mode: it must be in every one."""
        if name not in self.columns:
            self.columns[name] = np.full((3, self.samples), UNTOLD)
        column = self.columns[name]
        column[:, samples] = np.minimum(column[:, samples], is_met)


class _FirstBySurface(Struct, frozen=True, kw_only=True, eq=False):
    """First failures of some samples, and between which they surely lie."""

    at: Ints
    least: Ints
    most: Ints


@dataclass(kw_only=True)
class SampleModeSolver(ModeSolver):
    """Solves samples of one mode: the last axis; `drawn` tells what was drawn for each.

    `most` are to be solved for each value of the other axes. Without `met` the answers alone are
    told. `surfaces` are those of the configurations that were asked for last.
    """

    evaluations: ClassVar[int] = _EVALUATIONS
    """How often something is asked for, about."""
    enough: ClassVar[float] = np.inf
    """How far off a surface may be at points that are told by all others, if there may be more."""

    most: int
    drawn: Mapping[str, Floats]
    near: Near
    met: CriterionSamples | None = None
    surfaces: dict[tuple[str, str, int], Surface] = field(default_factory=dict)
    _pools: dict[int, tuple[Ints, Rows]] = field(default_factory=dict)
    _known: dict[tuple[int, int], tuple[Floats, Floats]] = field(default_factory=dict)
    """What surfaces tell of the rows that are being solved: some are asked for again."""

    def solve(self, index: Index, count: int) -> ModeAnswers:
        """Return the answers of some samples; what is of no interest in them is not told."""
        mode = self.mode
        verdict = self.verdicts(index, count)
        is_sound = verdict == SOUND
        rows = self.prepared(index, count)
        self._forget_all_but(index)
        one_by_one = OneByOne(mode=mode, decider=self.decider, index=index)
        with np.errstate(all="ignore"):
            firsts = {
                number: self._first(rows, index, criterion)
                for number, criterion in enumerate(mode.criteria)
                if self._is_long(sides_of([criterion]))
            }
            quick = [one for number, one in enumerate(mode.criteria) if number not in firsts]
            end = np.where(is_sound, mode.high + 1, mode.low).astype(np.int64)
            first = self._first_of_quick(rows, quick, end)
            for own in firsts.values():
                first = np.minimum(first, own.at)
            limit = np.maximum(first - 1, mode.low)
            self._refuse_impossible(rows, index, limit, is_sound, one_by_one)
            found = self._nothing_but(verdict, one_by_one, first, limit)
            if self.met is None:
                return found
            there = rows.at(sides_of(quick), np.minimum(first, mode.high).astype(float))
            failing = [
                firsts[number].at == first
                if number in firsts
                else ~(np.broadcast_to(margin_of(criterion, there), (count,)) <= 0)
                | (criterion.is_strict & (margin_of(criterion, there) == 0))
                for number, criterion in enumerate(mode.criteria)
            ]
            failing = [fails & (first <= mode.high) for fails in failing]
            self._note_met(self.met, rows, index, firsts, is_sound)
            found.saturates = [self._saturation(rows, index, one) for one in mode.resources]
            judgement = self._judgement(rows, index, found.saturates)
            found.limited = rows.of_each(judgement.limiting(failing, resources_of(mode)))
            found.bottleneck = rows.of_each(judgement.bottleneck())
            if mode.quality is not None and not self._is_long([mode.quality]):
                told = rows.at([mode.quality], limit.astype(float))
                found.quality = found.quality_at_limit = rows.column(told, mode.quality)
            return found

    def _nothing_but(
        self, verdict: Ints, one_by_one: OneByOne, first: Ints, limit: Ints
    ) -> ModeAnswers:
        """Return where samples begin to fail, and nothing of all else."""
        mode, count = self.mode, first.size
        untold, nothing = np.full(count, np.nan), np.full(count, -1, dtype=np.int64)
        return ModeAnswers(
            verdict=verdict,
            one_by_one=one_by_one,
            first=first,
            limited=nothing,
            at=limit,
            loads=[untold for _ in mode.resources],
            saturates=[untold for _ in mode.resources],
            not_below=[untold for _ in mode.resources],
            from_start=np.zeros((len(mode.resources), count), dtype=bool),
            stays_full=np.zeros(count, dtype=np.int64),
            bottleneck=nothing,
            quality=untold,
            quality_at_limit=untold,
            cost=untold,
            running_cost=untold,
            columns=[untold for _ in mode.columns],
            comparisons=[(untold, untold) for _ in mode.comparisons],
        )

    @property
    def assumed(self) -> Iterator[str]:
        """Yield the criteria of which it is not proved that they fail for good."""
        for criterion, is_proven in zip(self.mode.criteria, self.mode.proven, strict=True):
            if not is_proven:
                yield criterion.name

    def told_by_surfaces(self) -> Iterator[BySurface]:
        """Yield what is told by surfaces of where criteria fail, and how well."""
        for (kind, name, _), surface in self.surfaces.items():
            if kind in (_FAILURE, _FULL) and surface.kriging is not None:
                yield BySurface(requirement=name, points=surface.points, error=surface.error)

    # -- what is quick -------------------------------------------------------------------

    def _first_of_quick(self, rows: Rows, criteria: Sequence[CompiledCriterion], end: Ints) -> Ints:
        """Return the first failures of what is told of all rows at once.

        Before them it is looked at some populations whether any fails there that may not stay so.
        """
        low = self.mode.low
        first = first_failures(rows, criteria, [], low, end).first
        proven = {
            c.name for c, is_so in zip(self.mode.criteria, self.mode.proven, strict=True) if is_so
        }
        others = [criterion for criterion in criteria if criterion.name not in proven]
        for part in range(1, _LOOKED_AT + 1) if others else ():
            at = np.floor(low + (first - low) * (part / (_LOOKED_AT + 1)))
            before = np.flatnonzero((worst(rows, others, at) > 0) & (at < first) & (first > low))
            if before.size:
                ends = at[before].astype(np.int64) + 1
                again = first_failures(rows.take(before), others, [], low, ends).first
                first[before] = np.minimum(first[before], again)
        return first

    def _refuse_impossible(
        self, rows: Rows, index: Index, limit: Ints, is_sound: Any, one_by_one: OneByOne
    ) -> None:
        end = np.minimum(limit + 1, self.mode.high)
        for criterion in self.mode.impossible:
            if self._is_long(sides_of([criterion])):
                first = self._first(rows, index, criterion).at
            else:
                first = first_failures(rows, [criterion], [], self.mode.low, end + 1).first
            for row in np.flatnonzero(is_sound & (first <= end)):
                one_by_one.refused.setdefault(int(row), Refusal(criterion.name))

    def _note_met(
        self,
        met: CriterionSamples,
        rows: Rows,
        index: Index,
        firsts: Mapping[int, _FirstBySurface],
        is_sound: Bools,
    ) -> None:
        at = met.population
        quick = [one for number, one in enumerate(self.mode.criteria) if number not in firsts]
        values = rows.at(sides_of(quick), float(at))
        for number, criterion in enumerate(self.mode.criteria):
            if number in firsts:
                own = firsts[number]
                is_met = np.array([own.at > at, own.least > at, own.most > at])
            else:
                margin = np.broadcast_to(margin_of(criterion, values), (3, rows.count))
                is_met = (margin < 0) | ((margin == 0) & (not criterion.is_strict))
            met.note(criterion.name, index[-2][is_sound], is_met[:, is_sound])

    # -- resources -----------------------------------------------------------------------

    def _saturation(self, rows: Rows, index: Index, resource: CompiledResource) -> Floats:
        mode = self.mode
        if resource.is_never_full:
            return np.full(rows.count, np.inf)
        if not self._is_long(resource.steps):
            exactly = partial(self.decider.columns, index)
            return float_saturations(rows.only(resource.steps), resource, mode.low, exactly)
        near = self.near.saturations.get(resource.name)
        if near is None:
            return np.full(rows.count, np.inf)
        criterion = resource.criterion
        for own in mode.criteria:
            if (own.measure, own.limit) == (criterion.measure, criterion.limit):
                near = self._near(own, near)
                return self._failure(index, own, near, rows)[0]
        excess = partial(crossing_excess, resource)
        told = self._crossing(excess, near)
        return self._by_surface(index, ("saturation of", resource.name), told, rows, None)[0]

    def _judgement(self, rows: Rows, index: Index, saturates: Sequence[Floats]) -> Judgement:
        def fullness(population: float, _needed: Any) -> Sequence[Floats]:
            return [self._fullness(rows, index, one, population) for one in self.mode.resources]

        low, high = self.mode.low, self.mode.high
        return Judgement(low=low, high=high, saturates=saturates, fullness=fullness)

    def _fullness(
        self, rows: Rows, index: Index, resource: CompiledResource, population: float
    ) -> Floats:
        """Return how full a resource is at a population, as a part of its target."""
        sides = resource.load, resource.target

        def told(some: Rows, _about: About | None = None) -> Floats:
            values = some.at(sides, float(population))
            return some.column(values, sides[0]) / some.column(values, sides[1])

        if not self._is_long(sides):
            return told(rows)
        what = f"load at {population} of", resource.name
        return self._by_surface(index, what, told, rows, None)[0]

    # -- what takes long -----------------------------------------------------------------

    def _first(self, rows: Rows, index: Index, criterion: CompiledCriterion) -> _FirstBySurface:
        """Return the first failures of what takes long, by a surface."""
        low, high = self.mode.low, self.mode.high
        if not any(self.mode.program.varies[side] for side in sides_of([criterion])):
            return self._at_any(rows, index, criterion)
        at, off = self._failure(index, criterion, self._near(criterion, float(high)), rows)

        def first(real: Floats) -> Ints:
            whole = np.where(real <= low, low, np.floor(np.minimum(real, high)) + 1)
            return np.asarray(whole, dtype=np.int64)

        far = np.exp(_SURELY * off)
        return _FirstBySurface(at=first(at), least=first(at / far), most=first(at * far))

    def _at_any(self, rows: Rows, index: Index, criterion: CompiledCriterion) -> _FirstBySurface:
        """Return the start of the range where what is the same at any population fails."""
        low, high = self.mode.low, self.mode.high

        def told(some: Rows, _about: About | None = None) -> Floats:
            sides = (criterion.measure, criterion.limit)
            values = some.at(sides, float(low))
            of, to = (some.column(values, side) for side in sides)
            return of / to if criterion.at_most else to / of

        full, off = self._by_surface(index, (_FULL, criterion.name), told, rows, 1.0)

        def first(of: Floats) -> Ints:
            return np.where(of <= 1, high + 1, low).astype(np.int64)

        far = np.exp(_SURELY * off)
        return _FirstBySurface(at=first(full), least=first(full * far), most=first(full / far))

    def _near(self, criterion: CompiledCriterion, unless: float | None) -> float | None:
        """Return where a criterion fails as stated, `unless` it does not; None: nobody knows."""
        failures = self.near.failures
        return None if failures is None else failures.get(criterion.name, unless)

    def _failure(
        self, index: Index, criterion: CompiledCriterion, near: float | None, rows: Rows
    ) -> tuple[Floats, Floats]:
        """Return where a criterion fails, as real numbers, and how far off that is."""
        loads = {(one.criterion.measure, one.criterion.limit) for one in self.mode.resources}
        is_load = (criterion.measure, criterion.limit) in loads
        told = self._crossing(
            lambda some, at: _excess(some, criterion, at), near, is_sought_beyond=is_load
        )
        limit = None if self.met is None else float(self.met.population)
        return self._by_surface(index, (_FAILURE, criterion.name), told, rows, limit)

    def _crossing(
        self,
        excess: Callable[[Rows, Floats], Floats],
        near: float | None,
        *,
        is_sought_beyond: bool = True,
    ) -> Callable[[Rows, About | None], Floats]:
        """Return what tells where something fails, infinite where it does not.

        What is not sought beyond the range is told to fail a little behind it.
        """
        low, end = float(self.mode.low), _BEYOND * self.mode.high

        high = max(_FARTHEST * (near or 0.0), 2.0 * self.mode.high)

        def told(some: Rows, about: About | None = None) -> Floats:
            beside = about or (low if near is None else near,)
            if is_sought_beyond:
                return crossings(some, excess, low, high, *beside)
            return np.minimum(crossings(some, excess, low, end, *beside), end)

        return told

    def _by_surface(
        self,
        index: Index,
        what: tuple[str, str],
        told: Callable[[Rows, About | None], Floats],
        rows: Rows,
        limit: float | None,
    ) -> tuple[Floats, Floats]:
        """Return what takes long in some rows by a surface, and how far off that is, as a part.

        Of each row where there is but one.
        """
        if self.most == 1:
            return told(rows, None), np.zeros(rows.count)
        found, off = np.empty((2, rows.count))
        numbers = self._numbers(index)
        for number in np.unique(numbers).tolist():
            mine = np.flatnonzero(numbers == number)
            key = (*what, number)
            if key not in self.surfaces:
                pool, some = self._pool(number)
                others = [
                    one
                    for (kind, _, own), one in self.surfaces.items()
                    if kind == what[0] == _FAILURE and own == number
                ]
                self.surfaces[key] = surface_through(
                    self._drawn(pool),
                    lambda which, about, some=some: told(some.take(which), about),  # type: ignore[misc]
                    limit,
                    others,
                    self.enough,
                )
            surface = self.surfaces[key]
            if (id(surface), number) not in self._known:
                values = self._drawn(index[-2][mine])
                self._known[id(surface), number] = surface(values, mine.size)
            found[mine], off[mine] = self._known[id(surface), number]
        return found, off

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
        """Keep no surfaces of rows of which nobody asks: there may be any number of them.

        Nor what they tell of other samples of the same rows.
        """
        self._known.clear()
        members = self._along.counts[-1]
        asked = set(np.unique(self._numbers(index) // members).tolist())
        for key in [key for key in self.surfaces if key[-1] // members not in asked]:
            del self.surfaces[key]

    def _drawn(self, samples: Ints) -> dict[str, Floats]:
        return {name: column[samples] for name, column in self.drawn.items()}

    def _pool(self, number: int) -> tuple[Ints, Rows]:
        """Return samples from which points are chosen: the first that can be, whoever asks."""
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
        """Return whether all samples together would take long to tell of some operations."""
        key = frozenset(outputs)
        if key not in self._long:
            own = filter(self.is_told_again, self.mode.program.needed(key))
            self._long[key] = self._times.are_long(own, self.evaluations)
        return self._long[key]

    def is_told_again(self, number: int) -> bool:
        """Return whether an operation is told each time that something is asked for."""
        return self.mode.program.varies[number] or number in self._too_long

    @property
    def _too_long(self) -> frozenset[int]:
        """Operations without a population that take long, all samples together."""
        return self._times.long_without_population

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
