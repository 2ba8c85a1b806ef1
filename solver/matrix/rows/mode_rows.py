"""One mode of a group of configurations, solved for many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from qps.engine.execution.array_runs import Values
from qps.engine.expressions.formulas import symbol
from qps.solver.answers.limiting_factors import largest_of
from qps.solver.matrix.compilation.row_guards import SOUND
from qps.solver.matrix.compilation.row_questions import LARGEST, quantile_level, saturation_subject
from qps.solver.matrix.limits.first_failures import first_failures
from qps.solver.matrix.limits.late_shares import margins_beyond
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints, Rows, margin_of, sides_of
from qps.solver.matrix.limits.saturations import CompiledResource, saturations
from qps.solver.matrix.rows.axis_cache import AxisCache, axis_cache
from qps.solver.matrix.rows.exact_decisions import DOUBTFUL, Index
from qps.solver.matrix.rows.mode_answers import ModeAnswers
from qps.solver.matrix.rows.mode_tables import ModeTables
from qps.solver.matrix.rows.row_bottlenecks import from_start, resources_of, saturation_table_of
from qps.solver.matrix.rows.row_quantiles import QuantilesOf
from qps.solver.matrix.rows.scalar_fallback import ScalarFallback

_SHORTLY = 1e-9
_SEARCH_WIDTH = 16
"""Populations up to which a first failure is looked for beside the one that floats give."""


@dataclass(kw_only=True)
class ModeSolver(ModeTables):
    """Solves rows of one mode, at the answer of each or `at` one population.

    Where `only_first`, saturations behind the answer and behind the first of them count as never.
    """

    at: int | None
    quantiles: QuantilesOf | None = None
    only_first: bool = False

    def solve(self, index: Index, count: int) -> ModeAnswers:
        """Return the answers of some rows."""
        mode = self.mode
        verdict = self.verdicts(index, count)
        rows = self.prepared(index, count)
        with np.errstate(all="ignore"):
            always = self._always(rows, index, verdict == SOUND)
            end = np.where(verdict == SOUND, mode.high + 1, mode.low)
            for fails_always in always.values():
                end[fails_always] = mode.low
            moving = [n for n in range(len(mode.criteria)) if n not in always]
            proven = [mode.criteria[n] for n in moving if mode.proven[n]]
            others = [mode.criteria[n] for n in moving if not mode.proven[n]]
            failures = first_failures(rows, proven, others, mode.low, end)
            first, sound = failures.first, verdict == SOUND
            one_by_one = ScalarFallback(mode=mode, decider=self.decider, index=index)
            left = np.flatnonzero(failures.is_open & sound)
            for row in left:
                found = one_by_one.first_failure(int(row), others, int(first[row]) - 1)
                first[row] = mode.low if found is None else found
            limit = np.maximum(first - 1, mode.low)
            wanted = sides_of(mode.criteria) | (self._reported if self.at is None else frozenset())
            at_limit = rows.at(wanted, limit.astype(float))
            beyond = self._margins_beyond(rows, np.minimum(first, mode.high), always)
            exact_first, decided = first.copy(), sound.copy()
            decided[left] = [row not in one_by_one.refused for row in left.tolist()]
            failing = self._limiting_rows(
                exact_first, at_limit, beyond, decided, always, one_by_one
            )
            limit = np.maximum(exact_first - 1, mode.low)
            for row in np.flatnonzero(self._is_impossible(rows, limit) & sound):
                one_by_one.refuse_impossible(int(row), int(min(limit[row] + 1, mode.high)))
            if self.at is not None or (exact_first != first).any():
                at_limit = {}
            return self._answers(rows, exact_first, failing, limit, verdict, one_by_one, at_limit)

    @staticmethod
    def _solve_exactly(row: int, one_by_one: ScalarFallback, first: Ints, failing: Bools) -> None:
        """Put the first failure of a row, and what fails there, into those of all rows."""
        found = one_by_one.first_failures(row)
        if found is None:
            return
        own, end = np.array(found, dtype=np.int64), one_by_one.mode.high + 1
        first[row] = own.min(initial=end)
        failing[:, row] = (own == first[row]) & (own < end)

    def _always(self, rows: Rows, index: Index, sound: Bools) -> dict[int, Bools]:
        """Return where criteria fail that no population changes, by their numbers."""
        mode, found = self.mode, {}
        varies, low = mode.program.varies, np.int64(mode.low)
        for number, criterion in enumerate(mode.criteria):
            if varies[criterion.measure] or varies[criterion.limit]:
                continue
            margin = np.broadcast_to(margin_of(criterion, rows.known), (rows.count,))
            has_value = np.isfinite(margin)
            fails = (margin > 0) | ~has_value
            doubtful = np.flatnonzero(sound & (~has_value | (np.abs(margin) <= DOUBTFUL)))
            fails[doubtful] = self.decider.fails(
                criterion, index, doubtful, np.broadcast_to(low, doubtful.shape)
            )
            found[number] = fails
        return found

    def _margins_beyond(
        self, rows: Rows, first: Ints, always: Mapping[int, Bools]
    ) -> dict[int, Floats]:
        """Return how far criteria are passed where one first fails, but those that always fail."""
        criteria = {n: one for n, one in enumerate(self.mode.criteria) if n not in always}
        return margins_beyond(rows, criteria, first.astype(float))

    def _limiting_rows(
        self,
        first: Ints,
        below: Values,
        above: Mapping[int, Floats],
        sound: Bools,
        always: Mapping[int, Bools],
        one_by_one: ScalarFallback,
    ) -> Bools:
        """Return for each criterion which rows it limits, perhaps with others.

        Where floats cannot decide, this and the first failures are made exact.
        """
        mode, count = self.mode, first.size
        ends, fails, index = first > mode.high, self.decider.fails, one_by_one.index
        elsewhere = np.zeros(count, dtype=bool)
        failing = np.zeros((len(mode.criteria), count), dtype=bool)
        for number, criterion in enumerate(mode.criteria):
            if number in always:  # where it fails the first failure is the start
                failing[number] = always[number]
                continue
            margin = margin_of(criterion, below)
            doubtful = np.flatnonzero(sound & (first > mode.low) & ~(margin <= -DOUBTFUL))
            elsewhere[doubtful] |= fails(criterion, index, doubtful, first[doubtful] - 1)
            margin = above[number]
            has_value = np.isfinite(margin)
            failing[number] = ~ends & ((margin > 0) | ~has_value)
            doubtful = np.flatnonzero(sound & ~ends & (~has_value | (np.abs(margin) <= DOUBTFUL)))
            failing[number, doubtful] = fails(criterion, index, doubtful, first[doubtful])
        elsewhere |= ~ends & ~failing.any(axis=0)
        some = np.flatnonzero(elsewhere & sound)
        if some.size:
            own = tuple(axis[some] for axis in index)
            starts, there, is_found = self._first_failures_by_steps(own, first[some])
            first[some[is_found]] = starts[is_found]
            failing[:, some[is_found]] = there[:, is_found]
            for row in some[~is_found]:
                self._solve_exactly(int(row), one_by_one, first, failing)
        return failing

    def _first_failures_by_steps(self, index: Index, start: Ints) -> tuple[Ints, Bools, Bools]:
        """Return the first failure of each row, what fails there, and where both were found.

        They are looked for population by population, beside those that floats give.
        """
        mode, first = self.mode, start.copy()
        failing = np.zeros((len(mode.criteria), start.size), dtype=bool)

        def is_within() -> Bools:
            within: Bools = np.abs(first - start) < _SEARCH_WIDTH
            return within

        def fails(some: Ints, at: Ints) -> Bools:
            return np.array([self.decider.fails(c, index, some, at) for c in mode.criteria])

        earlier = np.flatnonzero(first > mode.low)
        while earlier.size:
            earlier = earlier[fails(earlier, first[earlier] - 1).any(axis=0)]
            first[earlier] -= 1
            earlier = earlier[(is_within() & (first > mode.low))[earlier]]
        later = np.flatnonzero(is_within() & (first <= mode.high))
        while later.size:
            failing[:, later] = fails(later, first[later])
            later = later[~failing[:, later].any(axis=0)]
            first[later] += 1
            later = later[(is_within() & (first <= mode.high))[later]]
        return first, failing, is_within()

    def _is_impossible(self, rows: Rows, limit: Ints) -> Bools:
        """Return which rows meet something that cannot be, up to the answer and one beyond."""
        mode = self.mode
        if not mode.impossible:
            return np.zeros(rows.count, dtype=bool)
        end = np.minimum(limit + 1, mode.high) + 1
        pairs = list(zip(mode.impossible, mode.impossible_proven, strict=True))
        proven = [criterion for criterion, is_simple in pairs if is_simple]
        others = [criterion for criterion, is_simple in pairs if not is_simple]
        found = first_failures(rows, proven, others, mode.low, end)
        # One that comes near is decided with the numbers put in.
        return (found.first < end) | found.is_open

    @cached_property
    def _axis_caches(self) -> dict[str, AxisCache | None]:
        """Where the saturations of resources are kept that are the same in many rows."""
        program = self.mode.program
        return {
            one.name: axis_cache(program, one.steps, self._along) for one in self.mode.resources
        }

    def _all_saturations(
        self, rows: Rows, first: Ints, sound: Bools, one_by_one: ScalarFallback
    ) -> list[tuple[Floats, Floats]]:
        """Return for each resource where it saturates, and up to where it does not if unknown."""
        resources, answers = self.mode.resources, map(symbol, self.mode.answers)
        is_by_name = any(saturation_subject(one) is not None for one in answers)
        if is_by_name or not self.only_first:
            return [self._saturations(rows, one, sound, one_by_one) for one in resources]
        found: dict[int, tuple[Floats, Floats]] = {}
        until = np.full(rows.count, np.inf)
        # What has a closed form costs nothing, and bounds how far all else is looked for.
        for number in sorted(range(len(resources)), key=lambda n: resources[n].quadratic is None):
            far = np.maximum(until, first)
            found[number] = self._saturations(rows, resources[number], sound, one_by_one, far)
            until = np.minimum(until, found[number][0])
        return [found[number] for number in range(len(resources))]

    def _saturations(
        self,
        rows: Rows,
        resource: CompiledResource,
        sound: Bools,
        one_by_one: ScalarFallback,
        until: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Return where a resource saturates, and up to where it does not if that is not known."""
        mode, columns = self.mode, self.decider.columns
        index, some, cache = (
            one_by_one.index,
            rows.only(resource.steps),
            self._axis_caches[resource.name],
        )

        def compute(where: Ints) -> tuple[Floats, Bools]:
            own = tuple(axis[where] for axis in index)
            taken = some.take(where) if where.size < rows.count else some
            exactly, is_shared = partial(columns, own), cache is not None
            far = None if until is None or is_shared else until[where]
            found = saturations(taken, resource, mode.low, exactly, is_shared=is_shared, until=far)
            return found.at, found.is_open

        where = np.flatnonzero(sound)
        at, is_open = np.full(rows.count, np.inf), np.zeros(rows.count, dtype=bool)
        if where.size:
            at[where], is_open[where] = (
                cache.points(index, where, compute) if cache else compute(where)
            )
        not_below = np.full(rows.count, np.nan)
        for row in np.flatnonzero(is_open):
            far = np.inf if until is None else float(until[row]) * (1 + _SHORTLY)
            exact = one_by_one.saturation(int(row), resource, far)
            if exact is not None:
                at[row] = np.inf if exact.at is None else exact.at
                not_below[row] = np.nan if exact.not_below is None else exact.not_below
        return at, not_below

    def _least_of(
        self,
        subject: str,
        saturates: list[Floats],
        not_below: list[Floats],
        one_by_one: ScalarFallback,
    ) -> Floats | float:
        """Return where the first resource of a node or link saturates; refuse what is undecided."""
        own = [
            number
            for number, resource in enumerate(self.mode.resources)
            if resource.name == subject or resource.name.startswith(subject + ".")
        ]
        if not own:
            return np.nan
        least: Floats = np.min([saturates[number] for number in own], axis=0)
        for number in own:
            for row in np.flatnonzero(not_below[number] < least):
                near, name = int(not_below[number][row]), self.mode.resources[number].name
                one_by_one.refuse_undecided(int(row), near, name)
        return least

    def _answer_inputs(
        self,
        first: Ints,
        saturates: list[Floats],
        not_below: list[Floats],
        one_by_one: ScalarFallback,
    ) -> dict[str, Floats]:
        """Return the answers that columns and comparisons rest on, by their names."""
        inputs: dict[str, Floats] = {}
        for name in self.mode.answers:
            level, subject = quantile_level(symbol(name)), saturation_subject(symbol(name))
            # Where all is known, each quantile is the answer.
            if name == LARGEST.name or (level is not None and self.quantiles is None):
                inputs[name] = largest_of(first, self.mode.low).astype(float)
            elif level is not None and self.quantiles is not None:
                inputs[name] = self.quantiles(one_by_one.index)[level]
            elif subject is not None:
                least = self._least_of(subject, saturates, not_below, one_by_one)
                inputs[name] = np.broadcast_to(least, first.shape)
        return inputs

    def _answers(
        self,
        rows: Rows,
        first: Ints,
        failing: Bools,
        limit: Ints,
        verdict: Ints,
        one_by_one: ScalarFallback,
        known: Values,
    ) -> ModeAnswers:
        mode = self.mode
        found = self._all_saturations(rows, first, verdict == SOUND, one_by_one)
        saturates, not_below = [at for at, _ in found], [near for _, near in found]
        at = limit if self.at is None else np.full(rows.count, self.at, dtype=np.int64)
        inputs = self._answer_inputs(first, saturates, not_below, one_by_one)
        left = self._reported.difference(known) | self._reported_of_answers
        values = known | self.runner.run(left, rows.known, inputs, at.astype(float))

        def column(number: int | None) -> Floats:
            if number is None:
                return np.full(rows.count, np.nan)
            return rows.column(values, number)

        saturation_table = saturation_table_of(mode, rows, saturates)
        bottleneck = rows.of_each(saturation_table.bottleneck())
        quality = column(mode.quality)
        at_limit = quality
        if self.at is not None and mode.quality is not None:
            there = self.runner.run([mode.quality], rows.known, inputs, limit.astype(float))
            at_limit = rows.column(there, mode.quality)
        return ModeAnswers(
            verdict=verdict,
            one_by_one=one_by_one,
            first=first,
            limited=rows.of_each(saturation_table.limiting(list(failing), resources_of(mode))),
            at=at,
            loads=[column(resource.load) for resource in mode.resources],
            saturates=saturates,
            not_below=not_below,
            from_start=from_start(mode, rows, saturates),
            stays_full=rows.of_each(saturation_table.stays_full(first - 1, bottleneck)),
            bottleneck=bottleneck,
            quality=quality,
            quality_at_limit=at_limit,
            cost=column(mode.cost),
            running_cost=column(mode.running_cost),
            columns=[column(number) for number in mode.columns],
            comparisons=[(column(left), column(right)) for left, right in mode.comparisons],
        )

    @cached_property
    def _reported(self) -> frozenset[int]:
        """The operations that are computed for each row, at one population."""
        mode = self.mode
        numbers = [resource.load for resource in mode.resources]
        numbers += [n for n in (mode.quality, mode.cost, mode.running_cost) if n is not None]
        return frozenset(numbers)

    @cached_property
    def _reported_of_answers(self) -> frozenset[int]:
        """The operations that are computed for each row and may rest on answers."""
        pairs = (number for pair in self.mode.comparisons for number in pair)
        numbers = (*self.mode.columns, *pairs)
        return frozenset(number for number in numbers if number is not None)
