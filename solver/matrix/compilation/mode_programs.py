"""Modes of a matrix as programs: what they are searched by, and what is proved of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qps.compiler import ir
from qps.compiler.lower.expressions.symbolic_numbers import Moving
from qps.compiler.lower.load_graph import Criterion
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.execution.array_runs import Runner
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.execution.programs import StraightLineProgram
from qps.engine.execution.tight_program_builder import TightBuilder
from qps.engine.expressions.formulas import UNDEFINED, ZERO, Formula
from qps.solver.answers.capacity import excess
from qps.solver.matrix.compilation.compiled_matrix import CompiledMode
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.compilation.mode_templates import ModeTemplate, ResourceTemplate
from qps.solver.matrix.compilation.row_questions import (
    LARGEST,
    RowQuery,
    quantile_level,
    saturation_subject,
)
from qps.solver.matrix.limits.range_proofs import shape_of
from qps.solver.matrix.limits.row_preparation import CompiledCriterion, tight_sides_of
from qps.solver.matrix.limits.saturations import CompiledResource

_WIDEST_CLOSED = 2


def compiled_mode(
    draft: ModeTemplate, question: RowQuery, axes: Sequence[ir.Axis], moving: Moving
) -> CompiledMode:
    """Return a draft as programs; along some axes numbers are `moving`."""
    leaves = {name: column for name, column in draft.leaves if min(column) > 0}
    above_zero = (name for name, may_vanish in moving.items() if not may_vanish)
    tight = TightBuilder(
        population=draft.population,
        values=draft.values,
        inputs=draft.inputs,
        positive=frozenset((*above_zero, *leaves)),
    )
    builder = tight.plain_builder()
    # What bounds leave open of one row is solved one by one in less time than tight ones take.
    of_bounds = tight if axes or draft.leaves else builder
    criteria = tuple(
        _criterion(builder, of_bounds, criterion, is_stated=_is_stated(criterion))
        for criterion in draft.criteria
    )
    excluded = tuple(
        _at_most(message, builder, of_bounds, (over, ZERO)) for message, over in draft.impossible
    )
    resources = tuple(_resource(builder, of_bounds, one) for one in draft.resources)
    guards = draft.guards.built([builder.build(value) for value in draft.guards.values])
    answers = _Answers(builder)
    quality, cost, running, *conditions = map(answers.number, draft.outputs)
    columns, comparisons = question.column_count, len(question.comparisons)
    sides = list(zip(conditions[columns::2], conditions[columns + 1 :: 2], strict=True))
    compiled = CompiledMode(
        mode=draft.mode,
        low=draft.low,
        high=draft.high,
        program=StraightLineProgram((), (), ()),
        criteria=criteria,
        proven=(),
        impossible=excluded,
        impossible_proven=(),
        resources=resources,
        guards=guards,
        population=draft.population,
        quality=quality,
        metric=draft.outputs[0],
        cost=cost,
        running_cost=running,
        columns=tuple(conditions[:columns]),
        comparisons=tuple(sides[:comparisons]),
        excluded=tuple(sides[comparisons:]),
        answers=tuple(answers.names),
        symbols=tuple((name, symbol) for symbol, name in draft.inputs.items()),
        numbers=tuple(draft.values.items()),
        leaves=draft.leaves,
        decided=draft.decided,
        known=draft.known,
    )
    return _proven(compiled, builder.program(), axes)


def _proven(
    mode: CompiledMode, program: StraightLineProgram, axes: Sequence[ir.Axis]
) -> CompiledMode:
    """Return a mode with what can be proved for all of its rows at once."""
    inputs = {}
    for axis in axes:
        numbers = numbers_of(axis)
        inputs[axis.name] = Bounds(numbers.min(), numbers.max())
    for name, column in mode.leaves:
        inputs[name] = Bounds(float(min(column)), float(max(column)))
    ends = (float(mode.low), float(mode.high))
    runner = Runner(program)

    def proven(criteria: Sequence[CompiledCriterion]) -> list[tuple[bool, bool]]:
        bounds = runner.bounds(tight_sides_of(criteria), {}, inputs, ends)
        shapes = [shape_of(program, criterion, bounds) for criterion in criteria]
        return [(bool(np.all(s.is_simple)), bool(np.all(s.never))) for s in shapes]

    simple = proven(mode.criteria)
    # What is proved to be possible throughout needs no look at all.
    left = [
        (criterion, is_simple)
        for criterion, (is_simple, never) in zip(
            mode.impossible, proven(mode.impossible), strict=True
        )
        if not never
    ]
    return replace(
        mode,
        program=program,
        proven=tuple(is_simple for is_simple, _ in simple),
        impossible=tuple(criterion for criterion, _ in left),
        impossible_proven=tuple(is_simple for _, is_simple in left),
    )


@dataclass
class _Answers:
    """Builds what may rest on answers: each is one more input, named after its symbol."""

    builder: ProgramBuilder

    def __post_init__(self) -> None:
        self.names: dict[str, None] = {}

    def number(self, formula: Formula | None) -> int | None:
        """Return the operation that gives a value, None where there is none."""
        if formula is None or formula is UNDEFINED:
            return None
        for symbol in sorted(formula.symbols, key=lambda each: each.name):
            is_answer = symbol == LARGEST or any(
                named(symbol) is not None for named in (saturation_subject, quantile_level)
            )
            if is_answer and symbol not in self.builder.inputs:
                self.builder.inputs = {**self.builder.inputs, symbol: symbol.name}
            if is_answer:
                self.names[symbol.name] = None
        return self.builder.build(formula)


def _is_stated(criterion: Criterion) -> bool:
    return criterion.span is not None or criterion.name == "quality"


def _criterion(
    builder: ProgramBuilder, tight: ProgramBuilder, criterion: Criterion, *, is_stated: bool
) -> CompiledCriterion:
    return CompiledCriterion(
        name=criterion.name,
        is_stated=is_stated,
        is_strict=criterion.strict,
        at_most=criterion.at_most,
        measure=builder.build(criterion.measure),
        limit=builder.build(criterion.limit),
        tight=(tight.build(criterion.measure), tight.build(criterion.limit)),
        over=excess(criterion),
        known=criterion.known,
    )


def _at_most(
    name: str,
    builder: ProgramBuilder,
    tight: ProgramBuilder,
    sides: tuple[Formula, Formula],
    *,
    is_strict: bool = False,
) -> CompiledCriterion:
    """Return a criterion that no spec states."""
    measure, limit = sides
    return CompiledCriterion(
        name=name,
        is_stated=False,
        is_strict=is_strict,
        at_most=True,
        measure=builder.build(measure),
        limit=builder.build(limit),
        tight=(tight.build(measure), tight.build(limit)),
        over=measure - limit,
    )


def _resource(
    builder: ProgramBuilder, tight: ProgramBuilder, resource: ResourceTemplate
) -> CompiledResource:
    sides = resource.demand, resource.target
    # At its target it is full, if not so by design.
    criterion = _at_most(resource.name, builder, tight, sides, is_strict=not resource.is_filled)
    quadratic = None
    powers = builder.powers(resource.demand)
    if powers is not None:
        least = min(powers, default=0)
        shift = -min(least, 0)
        if max([0, *powers]) + shift <= _WIDEST_CLOSED:  # the target is a constant
            minus = builder.build(-resource.target)
            terms = {power + shift: number for power, number in powers.items()}
            terms[shift] = builder.add(terms.get(shift, builder.constant(0)), minus)
            zero = builder.constant(0)
            quadratic = (terms.get(2, zero), terms.get(1, zero), terms.get(0, zero))
    return CompiledResource(
        name=resource.name,
        quadratic=quadratic,
        criterion=criterion,
        is_filled=resource.is_filled,
        load=builder.build(resource.load),
        fullness=resource.demand / resource.target,
        is_never_full=resource.is_never_full,
    )
