"""One mode solved for samples: by floats, where what once fails is taken to stay failing.

No first failure is proved of a sample: that is done for the numbers as they are stated. What takes
long in each sample is estimated by surfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from qps.solver.answers.limiting_factors import SaturationTable
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
from qps.solver.matrix.rows.row_bottlenecks import resources_of
from qps.solver.matrix.rows.scalar_fallback import Refusal, ScalarFallback
from qps.solver.uncertainty.criterion_samples import CriterionSamples
from qps.solver.uncertainty.limit_samples import LimitSamples
from qps.solver.uncertainty.response_surface import are_below_one, first_points
from qps.solver.uncertainty.surface_modes import FirstBySurface, SurfaceModeSolver
from qps.solver.uncertainty.surface_refinement import About

_SAMPLES_EXAMINED = 8
"""Populations before a failure at which what is not proven is looked at, too."""


@dataclass(kw_only=True)
class SampleModeSolver(SurfaceModeSolver):
    """Solves samples of one mode; without `outcomes` and `limits` only for the answers.

    Of each sample what fails later than `until` is not looked for: something else fails there.
    """

    limits: LimitSamples | None = None
    until: Ints | None = None
    _points_before: dict[tuple[int, str], tuple[dict[str, Floats], Floats]] = field(
        default_factory=dict
    )
    """What is drawn in some samples, and which parts of a limit are used in these."""

    def solve(self, index: Index, count: int) -> ModeAnswers:
        """Return the answers of some samples; what is of no interest in them is left out."""
        mode = self.mode
        verdict = self.verdicts(index, count)
        is_sound = verdict == SOUND
        rows = self.prepared(index, count)
        self._forget_all_but(index)
        one_by_one = ScalarFallback(mode=mode, decider=self.decider, index=index)
        with np.errstate(all="ignore"):
            long = [n for n, own in enumerate(mode.criteria) if self._is_long(sides_of([own]))]
            quick = [one for number, one in enumerate(mode.criteria) if number not in long]
            end = np.where(is_sound, self._end_of(index[-2]), mode.low).astype(np.int64)
            alone = self._firsts_alone(rows, index, long)
            if len(alone) == len(quick):
                end = np.min([end, *alone.values()], axis=0)
                first = self._before_unproven(rows, quick, end)
            else:
                first = self._first_of_quick(rows, quick, end)
            firsts: dict[int, FirstBySurface] = {}
            for number in long:
                criterion = mode.criteria[number]
                if not self._is_noted(criterion) and self._is_met_before(index, criterion, quick):
                    continue
                firsts[number] = self._first(rows, index, criterion)
                first = np.minimum(first, firsts[number].at)
            limit = np.maximum(first - 1, mode.low)
            self._refuse_impossible(rows, index, limit, is_sound, one_by_one)
            found = self._nothing_but(verdict, one_by_one, first, limit)
            if self.limits is not None:
                known = {number: own.at for number, own in firsts.items()} | alone
                self._note_limits(self.limits, rows, index, known)
            if self.outcomes is None:
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
            self._note_passes(self.outcomes, rows, index, firsts, is_sound)
            found.saturates = [self._saturation(rows, index, one) for one in mode.resources]
            saturation_table = self._saturation_table(rows, index, found.saturates)
            found.limited = rows.of_each(saturation_table.limiting(failing, resources_of(mode)))
            found.bottleneck = rows.of_each(saturation_table.bottleneck())
            if mode.quality is not None and not self._is_long([mode.quality]):
                quality = rows.at([mode.quality], limit.astype(float))
                found.quality = found.quality_at_limit = rows.column(quality, mode.quality)
            return found

    def _is_noted(self, criterion: CompiledCriterion) -> bool:
        """Return whether it is requested where a criterion fails by itself."""
        is_wanted = self.limits is not None and self.limits.is_wanted(criterion.name)
        return is_wanted or self.outcomes is not None

    def _is_met_before(
        self,
        index: Index,
        criterion: CompiledCriterion,
        quick: Sequence[CompiledCriterion],
    ) -> bool:
        """Return whether what takes long surely holds in all samples where others begin to fail.

        Where it fails by itself is then of no interest. A surface of the part of its
        limit that is used there, of as many samples as one has at first, decides that for all.
        """
        if self.most == 1 or not self._varies(criterion):
            return False
        numbers = self._numbers(index)
        return all(
            self._is_met_in(number, criterion, quick, index[-2][numbers == number])
            for number in np.unique(numbers).tolist()
        )

    def _is_met_in(
        self,
        number: int,
        criterion: CompiledCriterion,
        quick: Sequence[CompiledCriterion],
        samples: Ints,
    ) -> bool:
        """Return the same of the samples of one configuration.

        What was enough for the samples before is asked first.
        """
        key = number, criterion.name
        known = self._points_before.get(key)
        drawn_here = self._drawn(samples)
        if known is not None and are_below_one(*known, drawn_here, samples.size):
            return True
        pool, prepared = self._pool(number)
        few = pool[: first_points(len(self.drawn))]
        some = prepared.take(slice(few.size))
        at = self._first_of_quick(some, quick, self._end_of(few)).astype(float)
        drawn = self._drawn(few)
        for found in self._failures_in(number):
            at = np.minimum(at, np.floor(found(drawn, few.size)[0]) + 1)
        parts = self._part_of_limit(some, criterion, np.clip(at, self.mode.low, self.mode.high))
        is_met = are_below_one(drawn, parts, drawn_here, samples.size)
        if is_met:
            self._points_before[key] = drawn, parts
        return is_met

    def _end_of(self, samples: Ints) -> Ints:
        """Return before which population a failure of each sample is looked for."""
        end = np.full(samples.shape, self.mode.high + 1, dtype=np.int64)
        return end if self.until is None else np.minimum(end, self.until[samples])

    def _nothing_but(
        self, verdict: Ints, one_by_one: ScalarFallback, first: Ints, limit: Ints
    ) -> ModeAnswers:
        """Return where samples begin to fail, and nothing of all else."""
        mode, count = self.mode, first.size
        unknown, nothing = np.full(count, np.nan), np.full(count, -1, dtype=np.int64)
        return ModeAnswers(
            verdict=verdict,
            one_by_one=one_by_one,
            first=first,
            limited=nothing,
            at=limit,
            loads=[unknown for _ in mode.resources],
            saturates=[unknown for _ in mode.resources],
            not_below=[unknown for _ in mode.resources],
            from_start=np.zeros((len(mode.resources), count), dtype=bool),
            stays_full=np.zeros(count, dtype=np.int64),
            bottleneck=nothing,
            quality=unknown,
            quality_at_limit=unknown,
            cost=unknown,
            running_cost=unknown,
            columns=[unknown for _ in mode.columns],
            comparisons=[(unknown, unknown) for _ in mode.comparisons],
        )

    @property
    def assumed(self) -> Iterator[str]:
        """Yield the criteria of which it is not proved that they fail for good."""
        for criterion, is_proven in zip(self.mode.criteria, self.mode.proven, strict=True):
            if not is_proven:
                yield criterion.name

    # -- what is quick -------------------------------------------------------------------

    def _first_of_quick(self, rows: Rows, criteria: Sequence[CompiledCriterion], end: Ints) -> Ints:
        """Return the first failures of what is computed for all rows at once.

        Before them it is looked at some populations whether any fails there that may not stay so.
        """
        first = first_failures(rows, criteria, [], self.mode.low, end).first
        return self._before_unproven(rows, criteria, first)

    def _before_unproven(
        self, rows: Rows, criteria: Sequence[CompiledCriterion], first: Ints
    ) -> Ints:
        """Return first failures, earlier ones where what is not proven to stay so fails before."""
        low, first = self.mode.low, first.copy()
        both = zip(self.mode.criteria, self.mode.proven, strict=True)
        proven = {criterion.name for criterion, is_so in both if is_so}
        others = [criterion for criterion in criteria if criterion.name not in proven]
        for part in range(1, _SAMPLES_EXAMINED + 1) if others else ():
            at = np.floor(low + (first - low) * (part / (_SAMPLES_EXAMINED + 1)))
            before = np.flatnonzero((worst(rows, others, at) > 0) & (at < first) & (first > low))
            if before.size:
                ends = at[before].astype(np.int64) + 1
                again = first_failures(rows.take(before), others, [], low, ends).first
                first[before] = np.minimum(first[before], again)
        return first

    def _firsts_alone(self, rows: Rows, index: Index, long: Sequence[int]) -> dict[int, Ints]:
        """Return where criteria that are quick fail by themselves, if that is to be noted.

        What has the same sides as another one is looked for once. Nothing where it is to be noted
        of some of the rows only.
        """
        limits = self.limits
        if limits is None or bool((index[-2] >= limits.samples).any()):
            return {}
        end = np.full(rows.count, self.mode.high + 1, dtype=np.int64)
        found: dict[tuple[int, int, bool, bool], Ints] = {}
        alone: dict[int, Ints] = {}
        for number, one in enumerate(self.mode.criteria):
            if number not in long and limits.is_wanted(one.name):
                sides = one.measure, one.limit, one.is_strict, one.at_most
                if sides not in found:
                    found[sides] = self._first_of_quick(rows, [one], end)
                alone[number] = found[sides]
        return alone

    def _refuse_impossible(
        self, rows: Rows, index: Index, limit: Ints, is_sound: Any, one_by_one: ScalarFallback
    ) -> None:
        end = np.minimum(limit + 1, self.mode.high)
        for criterion in self.mode.impossible:
            if self._is_long(sides_of([criterion])):
                first = self._first(rows, index, criterion).at
            else:
                first = first_failures(rows, [criterion], [], self.mode.low, end + 1).first
            for row in np.flatnonzero(is_sound & (first <= end)):
                one_by_one.refused.setdefault(int(row), Refusal(criterion.name))

    def _note_passes(
        self,
        samples: CriterionSamples,
        rows: Rows,
        index: Index,
        firsts: Mapping[int, FirstBySurface],
        is_sound: Bools,
    ) -> None:
        at = samples.population
        quick = [one for number, one in enumerate(self.mode.criteria) if number not in firsts]
        values = rows.at(sides_of(quick), float(at))
        for number, criterion in enumerate(self.mode.criteria):
            if number in firsts:
                own = firsts[number]
                is_met = np.array([own.at > at, own.least > at, own.most > at])
            else:
                margin = np.broadcast_to(margin_of(criterion, values), (3, rows.count))
                is_met = (margin < 0) | ((margin == 0) & (not criterion.is_strict))
            samples.note(criterion.name, index[-2][is_sound], is_met[:, is_sound])

    def _note_limits(
        self,
        samples: LimitSamples,
        rows: Rows,
        index: Index,
        known: Mapping[int, Ints],
    ) -> None:
        """Note up to which population each criterion is met, in the first samples.

        First failures of some criteria are `known`, by their places.
        """
        which = np.flatnonzero(index[-2] < samples.samples)
        some = rows.take(which) if which.size < rows.count else rows
        end = np.full(which.size, self.mode.high + 1, dtype=np.int64)
        for number, criterion in enumerate(self.mode.criteria):
            if not samples.is_wanted(criterion.name):
                continue
            if number in known:
                first = known[number][which]
            else:
                first = self._first_of_quick(some, [criterion], end)
            samples.note((self.mode.mode, criterion.name), index[-2][which], first)

    # -- resources -----------------------------------------------------------------------

    def _saturation(self, rows: Rows, index: Index, resource: CompiledResource) -> Floats:
        mode = self.mode
        if resource.is_never_full:
            return np.full(rows.count, np.inf)
        if not self._is_long(resource.steps):
            exactly = partial(self.decider.columns, index)
            return float_saturations(rows.only(resource.steps), resource, mode.low, exactly)
        near = self.stated.saturations.get(resource.name)
        if near is None:
            return np.full(rows.count, np.inf)
        criterion = resource.criterion
        for own in mode.criteria:
            if (own.measure, own.limit) == (criterion.measure, criterion.limit):
                near = self._stated_failure(own, near)
                return self._failure(index, own, near, rows)[0]
        excess = partial(crossing_excess, resource)
        crossings = self._crossing(excess, near)
        return self._by_surface(index, ("saturation of", resource.name), crossings, rows, None)[0]

    def _saturation_table(
        self, rows: Rows, index: Index, saturates: Sequence[Floats]
    ) -> SaturationTable:
        def fullness(population: float, _needed: Any) -> Sequence[Floats]:
            return [self._fullness(rows, index, one, population) for one in self.mode.resources]

        low, high = self.mode.low, self.mode.high
        return SaturationTable(low=low, high=high, saturates=saturates, fullness=fullness)

    def _fullness(
        self, rows: Rows, index: Index, resource: CompiledResource, population: float
    ) -> Floats:
        """Return how full a resource is at a population, as a part of its target."""
        sides = resource.load, resource.target

        def evaluate(some: Rows, _about: About | None = None) -> Floats:
            values = some.at(sides, float(population))
            return some.column(values, sides[0]) / some.column(values, sides[1])

        if not self._is_long(sides):
            return evaluate(rows)
        what = f"load at {population} of", resource.name
        return self._by_surface(index, what, evaluate, rows, None)[0]
