"""A spec solved for many values of what is not known: all of them as rows of one matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.solver.answers.solution import Solution
from qps.solver.matrix.compilation.compiled_matrix import (
    CompiledGroup,
    CompiledMatrix,
    CompiledMode,
)
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.compilation.row_guards import SOUND
from qps.solver.matrix.limits.row_preparation import Bools, Ints
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.mode_answers import ModeAnswers
from qps.solver.matrix.rows.mode_rows import ModeSolver
from qps.solver.matrix.rows.row_block import NONE, RowBlock
from qps.solver.matrix.rows.row_conditions import condition_rows
from qps.solver.uncertainty.criterion_samples import UNDECIDED, CriterionSamples, Outcomes
from qps.solver.uncertainty.interval_result import (
    KnownSurfaces,
    OutcomeProbability,
    SurrogateModel,
)
from qps.solver.uncertainty.limit_samples import Limits, LimitSamples, joined_limits
from qps.solver.uncertainty.sampled_modes import SampleModeSolver
from qps.solver.uncertainty.structural_samples import FewAlone
from qps.solver.uncertainty.surface_modes import StatedPoints
from qps.solver.uncertainty.surface_refinement import FittedSurface
from qps.worker_processes import Workers, cores

_PART = 65_536
"""Samples that are solved at a time, by one process."""


class SampleSolutions(Struct, frozen=True, eq=False, kw_only=True):
    """A spec solved for samples of what is not known, a value each.

    `largest` is one less than the least of the range where no population is acceptable. `limits`
    and `bottlenecks` are numbers of `words`, 0 for none. `is_answered` says which samples have an
    answer: in the others a number is such as none can be, or it is one of too many that have a load
    graph each, and `reasons` explain why of each.
    `outcomes` has three rows for each criterion: where it is met, certainly met, and perhaps met;
    `UNDECIDED` where that is unknown.
    `met_up_to` tells of the first samples up to which population each criterion is met.
    `assumed` are criteria of which it is not proved that what once fails stays failing, and
    `surfaces` say of which of them it is estimated by a surface.
    """

    largest: Ints
    limits: Ints
    bottlenecks: Ints
    words: tuple[str, ...]
    outcomes: Mapping[str, Outcomes]
    met_up_to: Limits
    is_answered: Bools
    reasons: Mapping[int, str]
    assumed: tuple[str, ...]
    surfaces: tuple[SurrogateModel, ...]


def nothing_possible(reasons: Mapping[int, str], where: Span) -> QpsError:
    """Return the error of samples of which not one can be."""
    return QpsError.single(
        codes.SPREAD,
        where,
        f"no sample is valid: {next(iter(reasons.values()))}",
        hint="narrow the distribution of inputs that must be positive or whole",
    )


def left_out(reasons: Mapping[int, str], samples: int) -> tuple[OutcomeProbability, ...]:
    """Return why samples have no answer, and how often: of the first so many."""
    counts = Counter(reason for row, reason in reasons.items() if row < samples)
    return tuple(
        OutcomeProbability(reason, count / samples) for reason, count in counts.most_common()
    )


class _Part(Struct, frozen=True, eq=False, kw_only=True):
    """Samples of a stretch; words are as each process numbers them."""

    largest: Ints
    limits: Ints
    bottlenecks: Ints
    words: tuple[str, ...]
    outcomes: Mapping[str, Outcomes]
    met_up_to: Limits
    reasons: Mapping[int, str]
    alone: int
    assumed: tuple[str, ...]
    surfaces: tuple[SurrogateModel, ...]
    fitted: tuple[FittedSurface, ...]


class LeastOfSamples(Struct, frozen=True, eq=False, kw_only=True):
    """The first population at which anything fails in each sample, as far as that is known.

    Most often it is in one `mode`.
    """

    first: Ints
    mode: str | None = None


@dataclass
class SampleSolver(FewAlone):
    """Solves samples for their answers; with `outcomes`, also which criteria are met.

    With `limits`, also up to where they are. With the `least` answer of each sample so far, nothing
    beyond it is looked for in any mode: not even which mode is the worst of those alike.
    """

    stated: StatedPoints = field(kw_only=True)
    outcomes: CriterionSamples | None = field(kw_only=True)
    limits: LimitSamples | None = field(default=None, kw_only=True)
    fitted: list[FittedSurface] = field(default_factory=list, kw_only=True)
    least: LeastOfSamples | None = field(default=None, kw_only=True)

    def solvers_of(self, number: int, group: CompiledGroup) -> list[ModeSolver]:
        """Return what solves the modes of a group: by floats."""
        axes = self.compiled.blocks[number].structure.axes
        return [self.solver_of(mode, axes, axes[-1].count) for mode in group.modes]

    def solvers_alone(self, number: int, group: CompiledGroup) -> list[ModeSolver]:
        """Return what solves the modes of a sample that no other is solved with."""
        axes = self.compiled.blocks[number].structure.axes
        return [self.solver_of(mode, axes, 1) for mode in group.modes]

    def answers_of(
        self, solvers: Sequence[ModeSolver], index: Index, count: int
    ) -> list[ModeAnswers]:
        """Return the answers of each mode; of the least alone, those of the worst mode first."""
        if self.least is None:
            return super().answers_of(solvers, index, count)
        found: dict[int, ModeAnswers] = {}
        worst = self.least.mode
        for place in sorted(range(len(solvers)), key=lambda at: solvers[at].mode.mode != worst):
            found[place] = answers = solvers[place].solve(index, count)
            is_sound = answers.verdict == SOUND
            samples = index[-2][is_sound]
            first = np.minimum(self.least.first[samples], answers.first[is_sound])
            self.least.first[samples] = first
        return [found[place] for place in range(len(solvers))]

    def worst_of(
        self, solvers: Sequence[ModeSolver], answers: Sequence[ModeAnswers], index: Index
    ) -> Ints:
        """Return the number of the worst mode of each row; of the least alone, any such mode."""
        if self.least is None:
            return super().worst_of(solvers, answers, index)
        worst: Ints = np.argmin([answer.first for answer in answers], axis=0)
        return worst

    def solver_of(
        self, mode: CompiledMode, axes: tuple[ir.Axis, ...], most: int
    ) -> SampleModeSolver:
        """Return what solves one mode for `most` samples, at most, the last of some axes."""
        drawn = {one.name: numbers_of(one) for one in axes[-1].parameters}
        return SampleModeSolver(
            mode=mode,
            axes=axes,
            at=None,
            most=most,
            drawn=drawn,
            stated=self.stated,
            outcomes=self.outcomes,
            limits=self.limits,
            until=None if self.least is None else self.least.first,
            fitted=self.fitted,
        )

    def modes(self) -> Iterator[SampleModeSolver]:
        """Yield the solvers of all modes that were used."""
        others = (solvers for known in self._others.values() for _, solvers in known)
        for solvers in (*self._solvers.values(), *others, *self.structures()):
            yield from solvers  # type: ignore[misc]


def samples_of_rows(sampled: CompiledMatrix) -> Callable[[int, int], list[RowBlock]]:
    """Return what solves the samples of all rows of a matrix, the last axis of another one."""
    return SampleSolver(sampled, stated=StatedPoints(None, {}), outcomes=None).row_blocks


def solved_for(
    model: ir.Model,
    configuration: Configuration,
    axis: ir.Axis,
    solution: Solution | None,
    workers: int | None = None,
    limits: LimitSamples | None = None,
    known: KnownSurfaces | None = None,
    least: LeastOfSamples | None = None,
    *,
    beginning_at: Solution | None = None,
    stated: StatedPoints | None = None,
    certainty: float | None = None,
) -> SampleSolutions:
    """Return a spec solved along what is drawn; requirements are judged at the answer as stated.

    Without a `solution` nothing but the answers is reported, and what `limits` ask for; searches
    then begin where criteria fail in `beginning_at`, or where they do as `stated`, if any. The same
    for any number of workers. Surfaces that are `known` of other models are not fitted again. With
    the `least` answer of each sample nothing beyond that is looked for, nor judged. What a share of
    `certainty` of the samples supports is to be known well.
    """
    at = None if solution is None or least is not None else solution.at
    matrix = as_matrix(model, configuration, axis, configuration.low if at is None else at)
    compiled = compile_matrix(model, matrix)
    if stated is None:
        stated = _stated_points(solution) if beginning_at is None else _first_failures(beginning_at)
    stated = replace(stated, tail=None if certainty is None else 1 - certainty)
    stretches = [(start, min(start + _PART, axis.count)) for start in range(0, axis.count, _PART)]
    before = () if known is None else tuple(known.fitted)
    count = min(workers or cores(), len(stretches))
    if count > 1:  # what is found when it is requested is not sent to other processes
        failures = None if stated.failures is None else dict(stated.failures)
        stated = replace(stated, failures=failures, saturations=dict(stated.saturations))
    maker = partial(_StretchSolver, compiled, stated, at, limits=limits, known=before, least=least)
    if count <= 1:
        solve = maker()
        parts = [solve(*stretch) for stretch in stretches]
    else:
        with Workers([maker] * count) as processes:
            parts = processes.results(stretches)
    if known is not None:
        known.fitted += parts[0].fitted
    return _joined(parts, configuration.low)


class _StretchSolver:
    """Solves stretches of samples, one after the other."""

    def __init__(
        self,
        compiled: CompiledMatrix,
        stated: StatedPoints,
        at: int | None,
        *,
        limits: LimitSamples | None,
        known: tuple[FittedSurface, ...],
        least: LeastOfSamples | None,
    ) -> None:
        self._known = len(known)
        self._outcomes = (
            None if at is None else CriterionSamples(population=at, samples=compiled.size)
        )
        self._limits = limits
        self._solver = SampleSolver(
            compiled,
            stated=stated,
            outcomes=self._outcomes,
            limits=self._limits,
            fitted=list(known),
            least=least,
        )

    def __call__(self, start: int, stop: int) -> _Part:
        solver, met = self._solver, self._outcomes
        (rows,) = solver.row_blocks(start, stop)
        modes = list(solver.modes())
        return _Part(
            largest=rows.largest,
            limits=rows.limited,
            bottlenecks=rows.bottleneck,
            words=tuple(rows.words),
            outcomes={
                name: column[:, start:stop]
                for name, column in ({} if met is None else met.columns).items()
            },
            met_up_to={} if self._limits is None else self._limits.between(start, stop),
            reasons={start + row: reason for row, reason in rows.reasons.items()},
            alone=int(rows.one_by_one.sum()),
            assumed=tuple(dict.fromkeys(name for mode in modes for name in mode.assumed)),
            surfaces=tuple(one for mode in modes for one in mode.surfaces_used()),
            fitted=tuple(solver.fitted[self._known :]),
        )


def _joined(parts: Sequence[_Part], low: int) -> SampleSolutions:
    """Return stretches as one: words are numbered as the first of them does."""
    words = tuple(dict.fromkeys(word for part in parts for word in part.words))
    number = {word: place for place, word in enumerate(words)}
    as_own = [np.array([number[word] for word in part.words]) for part in parts]
    reasons = {row: reason for part in parts for row, reason in part.reasons.items()}
    largest = np.concatenate([part.largest for part in parts])
    is_answered = np.ones(largest.size, dtype=bool)
    is_answered[list(reasons)] = False
    met = {
        name: np.concatenate(
            [part.outcomes.get(name, np.full((3, part.largest.size), UNDECIDED)) for part in parts],
            axis=1,
        )
        for name in dict.fromkeys(name for part in parts for name in part.outcomes)
    }
    return SampleSolutions(
        largest=np.where(largest == NONE, low - 1, largest),
        limits=np.concatenate([own[p.limits] for own, p in zip(as_own, parts, strict=True)]),
        bottlenecks=np.concatenate(
            [own[p.bottlenecks] for own, p in zip(as_own, parts, strict=True)]
        ),
        words=words,
        outcomes=met,
        met_up_to=joined_limits([part.met_up_to for part in parts]),
        is_answered=is_answered,
        reasons=reasons,
        assumed=tuple(dict.fromkeys(name for part in parts for name in part.assumed)),
        surfaces=tuple(dict.fromkeys(one for part in parts for one in part.surfaces)),
    )


def _stated_points(solution: Solution | None) -> StatedPoints:
    """Return where criteria first fail and resources saturate as stated, in the worst mode last."""
    if solution is None:
        return StatedPoints(None, {})
    failures, saturations = dict[str, float](), dict[str, float]()
    for one in (*solution.others, solution):
        failures |= {f.criterion.name: float(f.first) for f in one.failures if f.first is not None}
        for resource in one.resources:
            if resource.saturation.at is not None:
                saturations[resource.name] = float(resource.saturation.at)
    return StatedPoints(failures, saturations, solution.at)


def _first_failures(solution: Solution) -> StatedPoints:
    """Return where criteria first fail alone: nothing is to be known at its population."""
    return StatedPoints(_stated_points(solution).failures, {})


def holding(
    model: ir.Model,
    configuration: Configuration,
    axis: ir.Axis,
    at: int,
    condition: ir.Condition,
) -> tuple[Bools, Bools]:
    """Return in which samples a condition holds at a population, and which can be."""
    matrix = replace(as_matrix(model, configuration, axis, at), wanted=condition)
    solver = MatrixSolver(compile_matrix(model, matrix))
    (rows,) = solver.row_blocks(0, axis.count)
    return condition_rows(rows, condition), rows.is_answered


def as_matrix(model: ir.Model, configuration: Configuration, axis: ir.Axis, at: int) -> ir.Matrix:
    """Return the matrix of one configuration along what is drawn."""
    known = {scenario.name: scenario for scenario in model.scenarios}
    names = configuration.scenario.split(", ") if configuration.scenario else ()
    scenarios = [ir.SetScenario(name, known[name].changes, known[name].span) for name in names]
    return ir.Matrix(
        name="samples",
        title=None,
        changes=(*scenarios, *configuration.explicit),
        blocks=((axis,),),
        excluded=(),
        wanted=None,
        columns=(),
        selected=(),
        order=(),
        at=at,
        source=None,
        note=None,
        span=axis.span,
    )
