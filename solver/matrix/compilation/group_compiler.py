"""Compiles the groups of one product of axes: each is lowered once, and turned into programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.lower.expressions.symbolic_numbers import Moving
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.lower.lowering import lower, lower_as_one_of_many
from qps.compiler.quantities.certainty import together
from qps.engine.expressions.formulas import ONE, Formula
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.impossible_values import impossible
from qps.solver.answers.saturation import is_filled
from qps.solver.matrix.compilation.column_labels import BY_ITSELF, ColumnsKnown, all_known
from qps.solver.matrix.compilation.compiled_matrix import CompiledGroup, CompiledMode
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.compilation.mode_programs import compiled_mode
from qps.solver.matrix.compilation.mode_templates import ModeTemplate, ResourceTemplate, families
from qps.solver.matrix.compilation.row_guards import guards_of
from qps.solver.matrix.compilation.row_questions import QuestionLowering, RowQuery
from qps.solver.matrix.compilation.structures import ConfigurationGroup, Structure, configured


@dataclass(frozen=True)
class TemplateGroup:
    """A group by one of its configurations; without drafts it is solved as it is."""

    configuration: Configuration
    group: CompiledGroup
    drafts: tuple[ModeTemplate, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GroupCompiler:
    """Compiles the groups of one product of axes; numbers that are `fixed` do not vary in any."""

    model: ir.Model
    matrix: ir.Matrix
    structure: Structure
    question: RowQuery
    is_alone: bool = False
    fixed: frozenset[str] = frozenset()

    @cached_property
    def _moving_axes(self) -> tuple[ir.Axis, ...]:
        """The axes of numbers, along which a group may vary; one configuration does not."""
        axes = () if self.is_alone else self.structure.axes
        varied = (one for axis in axes for one in axis.varied)
        return tuple(one for one in varied if one.name not in self.fixed)

    @cached_property
    def _moving(self) -> Moving:
        """The numbers of a group that are not those of the graph that is lowered for it."""
        axes = self._moving_axes
        return {axis.name: numbers_of(axis).min() <= 0 for axis in axes}

    def groups(self) -> tuple[CompiledGroup, ...]:
        """Return all groups compiled."""
        return self.compiled([self.drafted(group) for group in self.structure.groups])

    def drafted(self, group: ConfigurationGroup) -> TemplateGroup:
        """Return a group before it is compiled."""
        configuration, found = self._sound_of(self.structure.members(group))
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
            return TemplateGroup(configuration, replace(compiled, is_sound=True, reason=found))
        with self._errors_by_row():
            drafts = self._drafts(configuration)
            if self.is_alone or self._is_shared(group, drafts):
                return TemplateGroup(configuration, compiled, drafts)
        return TemplateGroup(configuration, self._without_modes(configuration, compiled))

    @contextmanager
    def _errors_by_row(self) -> Iterator[None]:
        """Go on behind an error, what a program cannot be made of, a fault: each row reports it."""
        try:
            yield
        except Exception:
            if self.is_alone:
                raise

    def _without_modes(
        self, configuration: Configuration, compiled: CompiledGroup
    ) -> CompiledGroup:
        return replace(compiled, is_sound=True, known=self._columns_known(configuration))

    def compiled(self, drafted: Sequence[TemplateGroup]) -> tuple[CompiledGroup, ...]:
        """Return groups compiled; those that differ in numbers alone share their modes."""
        found = [one.group for one in drafted]
        sound = {n: one.drafts for n, one in enumerate(drafted) if one.drafts}
        by_soundness = [
            {n: drafts for n, drafts in sound.items() if found[n].is_sound is is_sound}
            for is_sound in (True, False)
        ]
        for numbers, whole in (one for each in by_soundness for one in families(each)):
            modes: tuple[CompiledMode, ...] = ()
            with self._errors_by_row():
                modes = tuple(map(self._mode, whole))
            for member, number in enumerate(numbers):
                known = all_known([mode.known for mode in modes])
                found[number] = (
                    replace(found[number], modes=modes, member=member, known=known)
                    if modes
                    else self._without_modes(drafted[number].configuration, found[number])
                )
        return tuple(found)

    def _columns_known(self, configuration: Configuration) -> ColumnsKnown:
        """Return how columns are known of rows that are solved one by one."""
        try:
            modes = in_each_mode(self.model, configuration)
            return all_known([self._known(self._question_lowering(each)) for each in modes])
        except Exception:  # noqa: BLE001 - this one has no graph, others of the group may have
            own = tuple(BY_ITSELF for _ in self.question.columns)
            compared = tuple(BY_ITSELF for _ in self.question.comparisons)
            return ColumnsKnown(BY_ITSELF, own, compared, BY_ITSELF)

    def _question_lowering(self, configuration: Configuration) -> QuestionLowering:
        lowered = lower if self.is_alone else lower_as_one_of_many
        graph = lowered(self.model, configuration, self._moving)
        lowering = QuestionLowering(self.model, configuration, graph, self._moving)
        lowering.know_all_parameters()
        return lowering

    def _known(self, lowering: QuestionLowering) -> ColumnsKnown:
        own = tuple(lowering.known(column.value.expr) for column in self.question.columns)
        found = ColumnsKnown(lowering.graph.analysis.criteria.quality_in_series, own)
        if not self.question.is_criterion:
            return found
        compared = tuple(
            together(lowering.known(each.left), lowering.known(each.right))
            for each in self.question.comparisons
        )
        return replace(found, compared=compared, answer=lowering.answer_known)

    def _is_shared(self, group: ConfigurationGroup, modes: tuple[ModeTemplate, ...]) -> bool:
        """Return whether one program serves a whole group.

        Where something requests a number of an axis while the graph is made, the number may have
        gone into it. It must be one that a known condition requests, and two members that lie
        far apart must come to the same program.
        """
        axes, deciding = self.structure.axes, self.structure.deciding
        options = {name for mode in modes for name in mode.decided}
        own = {i for i, axis in enumerate(axes) if any(one.name in options for one in axis.varied)}
        if not own.issubset(deciding):
            return False
        if not own or group.last == group.index:
            return True
        configuration, _ = self._sound_of(sorted(self.structure.members(group), reverse=True))
        both = modes, self._drafts(configuration)
        one, other = ([self._mode(draft).signature for draft in each] for each in both)
        return one == other

    def _sound_of(self, members: Iterable[tuple[int, ...]]) -> tuple[Configuration, str | None]:
        """Return the first configuration of some that may be, else one that may not, and why."""
        for index in members:
            configuration = configured(self.model, self.matrix, self.structure.axes, index)
            sink = Sink()
            check_placement(self.model, configuration, sink)
            if not sink.has_errors:
                return configuration, None
        return configuration, next(d.message for d in sink.found if d.is_error)

    def _drafts(self, configuration: Configuration) -> tuple[ModeTemplate, ...]:
        return tuple(self._draft(mode) for mode in in_each_mode(self.model, configuration))

    def _draft(self, configuration: Configuration) -> ModeTemplate:
        lowering = self._question_lowering(configuration)
        graph = lowering.graph
        known = lowering.expressions.assumptions
        inputs = self._inputs(known, configuration)
        sides = (*self.question.comparisons, *self.question.excluded)
        columns = [lowering.expression(column.value.expr) for column in self.question.columns]
        columns += map(lowering.formula, self.question.further)
        operands = [side for compare in sides for side in (compare.left, compare.right)]
        costs = graph.cost(is_running=False), graph.cost(is_running=True)
        return ModeTemplate(
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
                ResourceTemplate(
                    name=one.name,
                    load=one.load,
                    target=one.target,
                    is_filled=is_filled(graph, one.name),
                    is_never_full=one.is_never_full and one.target is ONE,
                    demand=one.demand,
                )
                for one in graph.resources.values()
            ),
            guards=guards_of(self.model, configuration, graph, lowering, inputs),
            outputs=(graph.quality_value, *costs, *columns, *map(lowering.expression, operands)),
            values={a.symbol: a.value for a in known.values() if a.symbol not in inputs},
            inputs=inputs,
            decided=graph.basis.decided,
            known=self._known(lowering),
        )

    def _mode(self, draft: ModeTemplate) -> CompiledMode:
        return compiled_mode(draft, self.question, self._moving_axes, self._moving)

    def _inputs(
        self, assumptions: Mapping[str, Assumption], configuration: Configuration
    ) -> dict[Formula, str]:
        """Return the symbols of the parameters that vary, each with the name of its axis."""
        active = in_force(configuration)
        drawn = {
            one.name
            for axis in self.structure.axes
            if axis.kind is ir.AxisKind.DRAWN
            for one in axis.parameters
        }
        found = {}
        for axis in self._moving_axes:
            known = assumptions.get(axis.name)
            if known is None:
                continue
            is_drawn = axis.name in drawn and isinstance(active.parameters[axis.name], ir.Uncertain)
            # A mode may set it otherwise.
            if is_drawn or active.values_from[axis.name] is axis.span:
                found[known.symbol] = axis.name
        return found
