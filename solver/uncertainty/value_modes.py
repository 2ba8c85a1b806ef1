"""One value of a spec, for samples of what is not known, at one population."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from msgspec import Struct

from qps.engine.operations import OPERATIONS
from qps.solver.matrix.compilation.row_guards import SOUND
from qps.solver.matrix.limits.row_preparation import Floats, Ints, Rows, sides_of
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.mode_answers import ModeAnswers
from qps.solver.matrix.rows.scalar_fallback import ScalarFallback
from qps.solver.uncertainty.interval_result import SurrogateModel
from qps.solver.uncertainty.sampled_modes import SampleModeSolver
from qps.solver.uncertainty.surface_modes import Evaluation, Key
from qps.solver.uncertainty.surface_refinement import About

FEW = 100
"""Samples whose value is computed if it takes long and no surface can estimate the others."""
_MOST_ERROR = 0.5
"""Relative error in cross-validation from which a surface says nothing about a value."""
_SAMPLES_EXAMINED = 32
"""Samples that decide whether a surface can."""
_VALUE = "value"
_PROXIMITY = 0.1
"""How near to its limit a value is at the end of its tail for that to be corrected, as a part."""
_COMPUTED = 0.008
"""Part of the samples that is computed instead of estimated there, around the end of the tail."""
PointsByCost: TypeAlias = dict[tuple[frozenset[str], bytes], Ints]
"""The points of surfaces, by what takes long of them and by the samples."""


class LimitedTail(Struct, frozen=True):
    """The value that a part of the samples is not above, and the limit next to which it stands."""

    part: float
    limit: float


@dataclass(kw_only=True)
class ValueModeSolver(SampleModeSolver):
    """Tells the columns of samples of one mode at a population, and no more."""

    evaluations: ClassVar[int] = 1
    tailed: ClassVar[frozenset[str]] = frozenset({_VALUE})
    enough: ClassVar[float] = 0.02

    population: int
    points: PointsByCost = field(default_factory=dict)
    tails: tuple[LimitedTail | None, ...] = ()
    """Of the last columns."""
    is_partial: bool = False
    """Whether it was computed for some samples alone."""

    @property
    def _requested(self) -> frozenset[int]:
        """The numbers that a value rests on: nothing else is computed before it is requested.

        What has no population in it may take long, too, and is not computed for every sample then.
        """
        mode, program = self.mode, self.mode.program
        wanted = sides_of(mode.impossible) | {n for n in mode.columns if n is not None}
        return frozenset(n for n in program.needed(wanted) if not program.steps[n].operands)

    def is_recomputed(self, number: int) -> bool:
        """Return whether an operation is computed for each request."""
        program = self.mode.program
        return program.varies[number] or bool(program.inputs[number])

    def solve(self, index: Index, count: int) -> ModeAnswers:
        """Return the value in some samples; nothing else of them is reported."""
        mode = self.mode
        verdict = self.verdicts(index, count)
        rows = self.prepared(index, count)
        self._forget_all_but(index)
        one_by_one = ScalarFallback(mode=mode, decider=self.decider, index=index)
        with np.errstate(all="ignore"):
            before = np.full(count, self.population - 1, dtype=np.int64)
            self._refuse_impossible(rows, index, before, verdict == SOUND, one_by_one)
            tails = (*(None for _ in mode.columns[len(self.tails) :]), *self.tails)
            values = [
                self._values(rows, index, number, tail)
                for number, tail in zip(mode.columns, tails, strict=True)
            ]
        nowhere = np.full(count, mode.high + 1, dtype=np.int64)
        found = self._nothing_but(verdict, one_by_one, nowhere, before)
        found.columns[:] = values
        return found

    def surrogate_model(self) -> SurrogateModel | None:
        """Return how well the value is estimated by a surface; None where each sample has it."""
        surfaces = [s for (kind, *_), s in self.surfaces.items() if kind == _VALUE]
        if not surfaces:
            return None
        worst = max(surfaces, key=lambda one: one.error)
        return SurrogateModel(requirement=_VALUE, points=worst.points, error=worst.error)

    @property
    def unreliable(self) -> frozenset[int]:
        """The places of columns that a surface estimates too badly to report them."""
        names = {
            number
            for (kind, number, *_), surface in self.surfaces.items()
            if kind == _VALUE and surface.error >= _MOST_ERROR
        }
        return frozenset(i for i, one in enumerate(self.mode.columns) if str(one) in names)

    def _values(
        self, rows: Rows, index: Index, column: int | None, tail: LimitedTail | None
    ) -> Floats:
        if column is None:
            return np.full(rows.count, np.nan)

        def evaluate(some: Rows, _about: About | None = None) -> Floats:
            return some.column(some.at([column], float(self.population)), column)

        if self.most == 1 or not self._is_long([column]):
            return evaluate(rows)
        if self._may_be_a_surface(index, column, evaluate):
            found = self._by_surface(index, (_VALUE, str(column)), evaluate, rows, None)[0]
            return found if tail is None else self._computed_at_end(found, tail, evaluate, rows)
        self.is_partial = True
        found = np.full(rows.count, np.nan)
        few = np.flatnonzero(index[-2] < FEW)
        if few.size:
            found[few] = evaluate(rows.take(few))
        return found

    def _computed_at_end(
        self, found: Floats, tail: LimitedTail, evaluate: Evaluation, rows: Rows
    ) -> Floats:
        """Return estimates, and values instead of them where a tail ends, if that is near a limit.

        There, values of a queue that is nearly saturated differ by much more than others, and a
        surface is off by more.
        """
        order = np.argsort(found, kind="stable")
        end = min(int(tail.part * found.size), found.size - 1)
        if not abs(found[order[end]] - tail.limit) <= _PROXIMITY * abs(tail.limit):
            return found
        half = int(np.ceil(_COMPUTED * found.size / 2))
        which = np.sort(order[max(end - half, 0) : end + half])
        computed = found.copy()
        computed[which] = evaluate(rows.take(which), None)
        return computed

    def _may_be_a_surface(self, index: Index, column: int, evaluate: Evaluation) -> bool:
        """Return whether a value is finite and above zero in the first samples that can be."""
        numbers = np.unique(self._numbers(index)).tolist()
        for number in numbers:
            if (column, number) not in self._is_smooth:
                pool, some = self._pool(number)
                key = _VALUE, str(column), number
                few = np.arange(min(_SAMPLES_EXAMINED, pool.size))
                values = self._computed(key, evaluate, some, few, None)
                is_smooth = bool(np.all(np.isfinite(values) & (values > 0)))
                self._is_smooth[column, number] = is_smooth
        return all(self._is_smooth[column, number] for number in numbers)

    def _first_points(self, key: Key, pool: Ints) -> Ints | None:
        """Return the points of another value that takes long by the same operations.

        They are of the same networks, as a rule, which are known at these points then.
        """
        own, samples = self._slow(int(key[1])), pool.tobytes()
        found = (p for (known, of), p in self.points.items() if of == samples and own <= known)
        return max(found, key=len, default=None)

    def _note_points(self, key: Key, pool: Ints) -> None:
        """Take note of the points of a surface, by what takes long of it: of the most of them."""
        known = self._first_points(key, pool)
        points = self.surfaces[key].chosen
        if points is not None and (known is None or known.size < points.size):
            self.points[self._slow(int(key[1])), pool.tobytes()] = points

    def _slow(self, column: int) -> frozenset[str]:
        """Return the operations by which a value takes long."""
        words = {self.mode.program.steps[n].word for n in self.mode.program.needed([column])}
        return frozenset(word for word in words if word in OPERATIONS and OPERATIONS[word].is_slow)

    def _computed(
        self, key: Key, evaluate: Evaluation, some: Rows, which: Ints, about: About | None
    ) -> Floats:
        """Return a value in some samples, each of which is computed once."""
        known = self._values_computed.setdefault(key, {})
        left = [number for number in which.tolist() if number not in known]
        if left:
            known |= zip(left, evaluate(some.take(np.array(left)), about).tolist(), strict=True)
        return np.array([known[number] for number in which.tolist()])

    @cached_property
    def _values_computed(self) -> dict[Key, dict[int, float]]:
        return {}

    @cached_property
    def _is_smooth(self) -> dict[tuple[int, int], bool]:
        return {}
