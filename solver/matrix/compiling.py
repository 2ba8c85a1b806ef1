"""Compiles a matrix: its structures are lowered, each once, and turned into programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.lower.assuming import Moving
from qps.compiler.lower.load_graph import Assumption, Criterion
from qps.compiler.lower.lowering import lower, lower_as_one_of_many
from qps.compiler.quantities.certainty import together
from qps.compiler.quantities.dimension import TIME_BASE
from qps.engine.building import Builder
from qps.engine.columns.on_bounds import Bounds
from qps.engine.formulas import UNDEFINED, ZERO, Formula
from qps.engine.programs import Program
from qps.engine.running import Runner
from qps.engine.tight_building import TightBuilder
from qps.solver.answers.answering import all_criteria
from qps.solver.answers.capacity import excess
from qps.solver.answers.impossible import impossible
from qps.solver.answers.saturation import is_filled
from qps.solver.matrix.compiled import (
    CompiledBlock,
    CompiledGroup,
    CompiledMatrix,
    CompiledMode,
)
from qps.solver.matrix.drafts import Draft, Loaded, families
from qps.solver.matrix.guards import guards_of
from qps.solver.matrix.known import BY_ITSELF, ColumnsKnown, all_known
from qps.solver.matrix.layout import numbers_of
from qps.solver.matrix.prepared import CompiledCriterion, tight_sides_of
from qps.solver.matrix.proofs import shape_of
from qps.solver.matrix.questions import (
    LARGEST,
    Asking,
    Question,
    question_of,
    saturation_subject,
)
from qps.solver.matrix.saturations import CompiledResource
from qps.solver.matrix.structure import Group, Structure, configured, structure_of

_WIDEST_CLOSED = 2


def compile_matrix(
    model: ir.Model, matrix: ir.Matrix, claims: Sequence[ir.MatrixClaim] = ()
) -> CompiledMatrix:
    """Return a matrix compiled; QpsError where it is too varied to be."""
    question = question_of(matrix, claims)
    blocks = []
    for axes in matrix.blocks:
        structure = structure_of(model, matrix, axes)
        compiler = _GroupCompiler(
            model=model, matrix=matrix, structure=structure, question=question
        )
        blocks.append(CompiledBlock(structure, compiler.groups()))
    modes = [mode for block in blocks for group in block.groups for mode in group.modes]
    resources = dict.fromkeys(resource.name for mode in modes for resource in mode.resources)
    prices = [machine.price for machine in model.machines.values()]
    prices += [network.price for network in model.networks.values()]
    running = any(p is not None and TIME_BASE in p.dimension.bases for p in prices)
    words = sorted({word for block in blocks for word in _words(block)})
    return CompiledMatrix(
        model=model,
        matrix=matrix,
        question=question,
        blocks=tuple(blocks),
        words=("", *words),
        resources=tuple(resources),
        has_running_cost=running,
    )


def compile_like(compiled: CompiledMatrix, block: int, index: tuple[int, ...]) -> CompiledGroup:
    """Return the configurations compiled that have the structure of one of them.

    It has no modes where a number that varies has gone into the structure of that one, or where
    that one has no answer.
    """
    group = _group_of(compiled, block, index, is_alone=False)
    asked = {name for mode in group.modes for name in mode.decided}
    axes = compiled.blocks[block].structure.axes
    is_apart = group.is_sound and asked.isdisjoint(axis.name for axis in axes)
    return group if is_apart else replace(group, modes=())


def compile_alone(compiled: CompiledMatrix, block: int, index: tuple[int, ...]) -> CompiledGroup:
    """Return one configuration compiled by itself; QpsError where it has no answer."""
    return _group_of(compiled, block, index, is_alone=True)


def _group_of(
    compiled: CompiledMatrix, block: int, index: tuple[int, ...], *, is_alone: bool
) -> CompiledGroup:
    """Return a group compiled by one of its configurations, and no other."""
    compiler = _GroupCompiler(
        model=compiled.model,
        matrix=compiled.matrix,
        structure=replace(compiled.blocks[block].structure, deciding=tuple(range(len(index)))),
        question=compiled.question,
        is_alone=is_alone,
    )
    return compiler.compiled([compiler.drafted(Group(index, index))])[0]


def _words(block: CompiledBlock) -> Iterator[str]:
    """Yield every text that a row of a block may hold."""
    for group in block.groups:
        yield from () if group.reason is None else (group.reason,)
        for mode in group.modes:
            yield from (criterion.name for criterion in mode.criteria)
            yield from (resource.name for resource in mode.resources)
            for guard in mode.guards:
                yield from (reason for reason in (guard.below, guard.above) if reason)


@dataclass(frozen=True)
class _Drafted:
    """A group by one of its configurations; without drafts it is told as it is."""

    configuration: Configuration
    group: CompiledGroup
    drafts: tuple[Draft, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _GroupCompiler:
    """Compiles the groups of one product of axes."""

    model: ir.Model
    matrix: ir.Matrix
    structure: Structure
    question: Question
    is_alone: bool = False

    @cached_property
    def _moving_axes(self) -> tuple[ir.Axis, ...]:
        """The axes of numbers, along which a group may vary; one configuration does not."""
        axes = () if self.is_alone else self.structure.axes
        return tuple(axis for axis in axes if axis.kind is ir.AxisKind.PARAMETER)

    @cached_property
    def _moving(self) -> Moving:
        """The numbers of a group that are not those of the graph that is lowered for it."""
        axes = self._moving_axes
        ends = {axis.name: (axis.number(0), axis.number(axis.count - 1)) for axis in axes}
        listed = {a.name: a.numbers for a in axes if isinstance(a.numbers, tuple)}
        return {name: min(*both, *listed.get(name, ())) <= 0 for name, both in ends.items()}

    def groups(self) -> tuple[CompiledGroup, ...]:
        """Return all groups compiled."""
        return self.compiled([self.drafted(group) for group in self.structure.groups])

    def drafted(self, group: Group) -> _Drafted:
        """Return a group before it is compiled."""
        configuration, found = self._sound(group)
        places = {n: node.machine for n, node in configuration.nodes.items()}
        places |= {n: link.network for n, link in configuration.links.items()}
        compiled = CompiledGroup(
            modes=(),
            low=configuration.low,
            places=places,
            options=configuration.options,
            scenario=configuration.scenario,
            is_sound=found is None,
        )
        if found is not None and not self._moving_axes:
            return _Drafted(configuration, replace(compiled, is_sound=True, reason=found))
        with self._telling_none():
            drafts = self._drafts(configuration)
            if self.is_alone or self._is_shared(group, drafts):
                return _Drafted(configuration, compiled, drafts)
        return _Drafted(configuration, self._without_modes(configuration, compiled))

    @contextmanager
    def _telling_none(self) -> Iterator[None]:
        """Go on behind an error, what a program cannot be made of, a fault: each row tells it."""
        try:
            yield
        except Exception:
            if self.is_alone:
                raise

    def _without_modes(
        self, configuration: Configuration, compiled: CompiledGroup
    ) -> CompiledGroup:
        return replace(compiled, is_sound=True, known=self._looked_at(configuration))

    def compiled(self, drafted: Sequence[_Drafted]) -> tuple[CompiledGroup, ...]:
        """Return groups compiled; those that differ in numbers alone share their modes."""
        found = [one.group for one in drafted]
        sound = {n: one.drafts for n, one in enumerate(drafted) if one.drafts}
        by_soundness = [
            {n: drafts for n, drafts in sound.items() if found[n].is_sound is is_sound}
            for is_sound in (True, False)
        ]
        for numbers, whole in (one for each in by_soundness for one in families(each)):
            modes: tuple[CompiledMode, ...] = ()
            with self._telling_none():
                modes = tuple(map(self._compiled_mode, whole))
            for member, number in enumerate(numbers):
                known = all_known([mode.known for mode in modes])
                found[number] = (
                    replace(found[number], modes=modes, member=member, known=known)
                    if modes
                    else self._without_modes(drafted[number].configuration, found[number])
                )
        return tuple(found)

    def _looked_at(self, configuration: Configuration) -> ColumnsKnown:
        """Return how columns are known of rows that are solved one by one."""
        try:
            settled = in_each_mode(self.model, configuration)
            return all_known([self._known(self._asking(each)) for each in settled])
        except Exception:  # noqa: BLE001 - this one has no graph, others of the group may have
            own = tuple(BY_ITSELF for _ in self.question.columns)
            compared = tuple(BY_ITSELF for _ in self.question.comparisons)
            return ColumnsKnown(BY_ITSELF, own, compared, BY_ITSELF)

    def _asking(self, configuration: Configuration) -> Asking:
        lowered = lower if self.is_alone else lower_as_one_of_many
        graph = lowered(self.model, configuration, self._moving)
        asking = Asking(self.model, configuration, graph, self._moving)
        asking.know_all_parameters()
        return asking

    def _known(self, asking: Asking) -> ColumnsKnown:
        own = tuple(asking.known(column.value.expr) for column in self.question.columns)
        found = ColumnsKnown(asking.graph.quality_in_series, own)
        if not self.question.is_judged:
            return found
        compared = tuple(
            together(asking.known(each.left), asking.known(each.right))
            for each in self.question.comparisons
        )
        return replace(found, compared=compared, answer=asking.answer_known)

    def _is_shared(self, group: Group, modes: tuple[Draft, ...]) -> bool:
        """Return whether one program serves a whole group.

        Where something asks for a number of an axis while the graph is made, the number may have
        gone into it. It must be one that a known condition asks for, and two members that lie
        far apart must come to the same program.
        """
        axes, deciding = self.structure.axes, self.structure.deciding
        asked = {name for mode in modes for name in mode.decided}
        own = {i for i, axis in enumerate(axes) if axis.name in asked}
        if not own.issubset(deciding):
            return False
        if not own or group.last == group.index:
            return True
        configuration = configured(self.model, self.matrix, axes, group.last)
        both = modes, self._drafts(configuration)
        one, other = ([self._compiled_mode(draft).signature for draft in each] for each in both)
        return one == other

    def _sound(self, group: Group) -> tuple[Configuration, str | None]:
        """Return a configuration of a group that may be, else one that may not, and why.

        The numbers along which a group varies are tried low, high and in the middle.
        """
        axes, deciding = self.structure.axes, self.structure.deciding
        for share in (0.0, 1.0, 0.5, 0.25, 0.75):
            index = tuple(
                at if i in deciding else int(share * (axis.count - 1))
                for i, (axis, at) in enumerate(zip(axes, group.index, strict=True))
            )
            configuration = configured(self.model, self.matrix, axes, index)
            sink = Sink()
            check_placement(self.model, configuration, sink)
            if not sink.has_errors:
                return configuration, None
            if len(deciding) == len(axes):
                break
        return configuration, next(d.message for d in sink.found if d.is_error)

    def _drafts(self, configuration: Configuration) -> tuple[Draft, ...]:
        return tuple(self._draft(settled) for settled in in_each_mode(self.model, configuration))

    def _draft(self, configuration: Configuration) -> Draft:
        asking = self._asking(configuration)
        graph = asking.graph
        known = asking.expressions.assumptions
        inputs = self._inputs(known, configuration)
        sides = (*self.question.comparisons, *self.question.excluded)
        asked = [column.value.expr for column in self.question.columns]
        asked += [side for compare in sides for side in (compare.left, compare.right)]
        costs = graph.cost(is_running=False), graph.cost(is_running=True)
        return Draft(
            mode=graph.mode,
            low=graph.low,
            high=graph.high,
            population=graph.population,
            criteria=all_criteria(graph),
            impossible=tuple(
                (message, over)
                for over, message, _ in impossible(graph)
                if graph.population in over.symbols
            ),
            resources=tuple(
                Loaded(one.name, one.load, one.target, is_filled(graph, one.name))
                for one in graph.resources.values()
            ),
            guards=guards_of(self.model, configuration, graph, asking, inputs),
            told=(graph.quality, *costs, *map(asking.expression, asked)),
            values={a.symbol: a.value for a in known.values() if a.symbol not in inputs},
            inputs=inputs,
            decided=graph.decided,
            known=self._known(asking),
        )

    def _compiled_mode(self, draft: Draft) -> CompiledMode:
        leaves = {name: column for name, column in draft.leaves if min(column) > 0}
        moving = (name for name, may_vanish in self._moving.items() if not may_vanish)
        tight = TightBuilder(
            population=draft.population,
            values=draft.values,
            inputs=draft.inputs,
            positive=frozenset((*moving, *leaves)),
        )
        builder = tight.beside()
        # What bounds leave open of one row is told one by one in less time than tight ones take.
        of_bounds = tight if self._moving_axes or draft.leaves else builder
        criteria = tuple(
            _criterion(builder, of_bounds, criterion, is_stated=_is_stated(criterion))
            for criterion in draft.criteria
        )
        excluded = tuple(
            _at_most(message, builder, of_bounds, (over, ZERO))
            for message, over in draft.impossible
        )
        resources = tuple(_resource(builder, of_bounds, one) for one in draft.resources)
        guards = draft.guards.built([builder.build(value) for value in draft.guards.values])
        answers = _Answers(builder)
        quality, cost, running, *told = map(answers.number, draft.told)
        columns, comparisons = len(self.question.columns), len(self.question.comparisons)
        sides = list(zip(told[columns::2], told[columns + 1 :: 2], strict=True))
        compiled = CompiledMode(
            mode=draft.mode,
            low=draft.low,
            high=draft.high,
            program=Program((), (), ()),
            criteria=criteria,
            proven=(),
            impossible=excluded,
            impossible_proven=(),
            resources=resources,
            guards=guards,
            population=draft.population,
            quality=quality,
            metric=draft.told[0],
            cost=cost,
            running_cost=running,
            columns=tuple(told[:columns]),
            comparisons=tuple(sides[:comparisons]),
            excluded=tuple(sides[comparisons:]),
            answers=tuple(answers.names),
            symbols=tuple((name, symbol) for symbol, name in draft.inputs.items()),
            numbers=tuple(draft.values.items()),
            leaves=draft.leaves,
            decided=draft.decided,
            known=draft.known,
        )
        return self._proven(compiled, builder.program())

    def _inputs(
        self, assumptions: Mapping[str, Assumption], configuration: Configuration
    ) -> dict[Formula, str]:
        """Return the symbols of the parameters that vary, each with the name of its axis."""
        settled = in_force(configuration)
        found = {}
        for axis in self._moving_axes:
            known = assumptions.get(axis.name)
            if known is None:
                continue
            if settled.values_from[axis.name] is axis.span:  # a mode may set it otherwise
                found[known.symbol] = axis.name
        return found

    def _proven(self, mode: CompiledMode, program: Program) -> CompiledMode:
        """Return a mode with what can be proved for all of its rows at once."""
        inputs = {}
        for axis in self._moving_axes:
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

    builder: Builder

    def __post_init__(self) -> None:
        self.names: dict[str, None] = {}

    def number(self, told: Formula | None) -> int | None:
        """Return the operation that gives a value, None where there is none."""
        if told is None or told is UNDEFINED:
            return None
        for symbol in sorted(told.symbols, key=lambda each: each.name):
            is_answer = symbol == LARGEST or saturation_subject(symbol) is not None
            if is_answer and symbol not in self.builder.inputs:
                self.builder.inputs = {**self.builder.inputs, symbol: symbol.name}
            if is_answer:
                self.names[symbol.name] = None
        return self.builder.build(told)


def _is_stated(criterion: Criterion) -> bool:
    return criterion.span is not None or criterion.name == "quality"


def _criterion(
    builder: Builder, tight: Builder, criterion: Criterion, *, is_stated: bool
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
    builder: Builder,
    tight: Builder,
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


def _resource(builder: Builder, tight: Builder, resource: Loaded) -> CompiledResource:
    sides = resource.load, resource.target
    # At its target it is full, if not so by design.
    criterion = _at_most(resource.name, builder, tight, sides, is_strict=not resource.is_filled)
    quadratic = None
    powers = builder.powers(resource.load)
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
        fullness=resource.load / resource.target,
    )
