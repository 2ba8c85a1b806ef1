"""Names bound, dimensions checked: a program becomes a model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TypeVar

from qps.compiler import ir
from qps.compiler.check.claims.check_claims import ClaimChecker
from qps.compiler.check.claims.check_figures import FigureChecker
from qps.compiler.check.claims.check_matrices import MatrixChecker
from qps.compiler.check.claims.check_observations import ObservationChecker
from qps.compiler.check.model.check_changes import OfChanges, change_checker
from qps.compiler.check.model.check_components import ComponentChecker
from qps.compiler.check.model.check_groups import GroupChecker
from qps.compiler.check.model.check_machines import MachineChecker
from qps.compiler.check.model.check_networks import NetworkChecker
from qps.compiler.check.model.check_parameters import ParameterChecker
from qps.compiler.check.model.check_quality import check_quality
from qps.compiler.check.model.check_requirements import RequirementChecker
from qps.compiler.check.model.check_steps import StepChecker
from qps.compiler.check.model.check_streams import StreamChecker
from qps.compiler.check.model.check_targets import TargetChecker
from qps.compiler.check.model.check_threads import check_threads
from qps.compiler.check.model.check_topology import TopologyChecker
from qps.compiler.check.model.check_traffic import report_think_times
from qps.compiler.check.model.check_unused import report_unreached
from qps.compiler.check.names.declarations import Declared, keyword
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_functions import FunctionChecker
from qps.compiler.check.values.check_names import EVERYTHING
from qps.compiler.check.values.context import Context
from qps.compiler.check.values.part import sound
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands_of
from qps.compiler.syntax import ast

_OF_A_SYSTEM = Allowed.MEASURES | Allowed.ANSWERS | Allowed.QUALITY
_CLAIMS = (ast.Expect, ast.Observe)
_NOBODY = ir.UserRange("N", 1, 1, None)

N = TypeVar("N", bound=ast.Named)


def check_model(context: Context) -> ir.Model:
    """Return the model of a program, with those of its parts that are sound."""
    return _ModelChecker(change_checker(context).expressions).model()


class _ModelChecker(OfChanges, frozen=True):
    """Checks one program, part by part."""

    def model(self) -> ir.Model:
        """Return the model of the program, with those of its parts that are sound.

        The order is that in which parts rest on each other.
        """
        syntax, changes, program = self.main.syntax, self.changes, self.program
        population = self._population()
        checker = ParameterChecker(self.expressions)
        options, parameters = checker.options(), checker.parameters()
        groups = GroupChecker(self.expressions).groups(program.everywhere(ast.Group))
        for machine in program.everywhere(ast.Machine):
            if not machine.declaration.formals:
                MachineChecker(self.expressions).plain(machine)
        for network in program.everywhere(ast.Network):
            NetworkChecker(self.expressions).network(network)
        nodes, links = TopologyChecker(self.expressions).topology()
        streams = self._streams(nodes, links)
        measures = self._measures()
        self._named_nowhere()
        requirements = [r for block in syntax.every(ast.Require) for r in block.requirements]
        claims: list[ast.Named] = [d for d in syntax.declarations if isinstance(d, _CLAIMS)]
        self._report_twice("claim", claims)
        model = ir.Model(
            name=PurePath(syntax.source.label).stem,
            file=syntax.source.label,
            doc=syntax.doc,
            population=population,
            options=options,
            parameters=parameters,
            nodes=tuple(nodes.values()),
            links=tuple(links.values()),
            streams=streams,
            measures=measures,
            groups=groups,
            requirements=self._requirements(requirements),
            targets=TargetChecker(self.expressions).targets(syntax.every(ast.Target)),
            quality=check_quality(self),
            modes=self._modes(),
            scenarios=tuple(map(changes.scenario, self._distinct(ast.Scenario))),
            matrices=sound(
                map(
                    MatrixChecker(self.expressions).matrix,
                    self._distinct(ast.Matrix),
                )
            ),
            expectations=self._expectations(claims),
            observations=self._observations(claims),
            figures=sound(
                map(
                    FigureChecker(self.expressions).figure,
                    self._distinct(ast.Figure),
                )
            ),
            fits=tuple(self.known.fitted.items()),
            fitted=self._fitted(parameters),
            # Last: a change may have put other arguments into a machine.
            machines={n: m for n, m in self.known.machines.items() if m is not None},
            networks={n: m for n, m in self.known.networks.items() if m is not None},
        )
        self._unused_machines()
        self._unused_parameters()
        functions = FunctionChecker(self.expressions)
        for function in program.everywhere(ast.Func):  # last, when it is known which are called
            functions.function(function.module, function.declaration)
        report_think_times(model, self.sink)
        return model

    def _fitted(self, parameters: tuple[ir.Parameter, ...]) -> tuple[tuple[Span, str], ...]:
        """Return every number that was chosen to hit another, where it stands, and what it is."""
        tables = {span: f"to {fit.file}" for span, fit in self.known.fitted.items()}
        stated = {p.value_span: p.fitted for p in parameters if p.fitted is not None}
        return tuple((tables | self.known.chosen | stated).items())

    def _missing(self, what: str, hint: str) -> None:
        """Report that the spec lacks a part, unless that may stand in what could not be parsed."""
        syntax = self.main.syntax
        if self.program.is_module or syntax.failed_kinds:
            return
        if not syntax.declarations:
            # Nothing is there: that is said once, not once for each part.
            what, hint = "declares nothing", "`qps new NAME` writes one to start from"
        message = f"{syntax.source.label}: the spec {what}"
        self.sink.report(codes.MISSING_PART, None, message, hint=hint)

    # -- what may vary -------------------------------------------------------------------

    def _population(self) -> ir.UserRange:
        hint = "keep one; what else varies is a `param`"
        users = self.first(self.main.syntax.every(ast.Users), "a spec has one population", hint)
        if users is None:
            self._missing(
                "does not say what its users are",
                "add `users N in 1..1000`: the population that the solver varies",
            )
            return _NOBODY
        bounds = self.changes.user_bounds(users.range)
        return (
            _NOBODY if bounds is None else ir.UserRange(users.name.text, *bounds, users.name.span)
        )

    def _unused_machines(self) -> None:
        """Check the machines with parameters that stand nowhere."""
        used = {
            name for machine in self.known.machines.values() if machine for name in machine.family
        }
        for machine in self.program.everywhere(ast.Machine):
            if machine.declaration.formals and machine.qualified not in used:
                MachineChecker(self.expressions).unused(machine)

    def _unused_parameters(self) -> None:
        """Say which parameters of the spec no formula names; to set them changes nothing."""
        for param in self.main.syntax.every(ast.Param):
            if not self.program.is_module and not self.expressions.is_named(
                Declared(self.main, param)
            ):
                self.sink.report(
                    codes.UNUSED,
                    param.name.span,
                    f"nothing depends on parameter `{param.name.text}`",
                    hint="name it where its value belongs, or take it out",
                )

    def _named_nowhere(self) -> None:
        """Check what nothing may use: `let`s, units, traces, whose files may not be there."""
        units = self.program.everywhere(ast.Unit)
        named: list[Declared] = [unit for unit in units if unit.declaration.value is not None]
        for declared in [*self.program.everywhere(ast.Let), *named]:
            name, scope = declared.declaration.name, Scope(declared.module, EVERYTHING)
            self.expressions.quantity(ast.Reference(name.span, name), scope)
        for trace in self.program.everywhere(ast.Trace):
            self.expressions.traces.recording(trace)

    # -- streams and measures ------------------------------------------------------------

    def _streams(
        self, nodes: dict[str, ir.Node], links: dict[str, ir.Link]
    ) -> tuple[ir.Stream, ...]:
        steps = StepChecker(
            expressions=self.expressions,
            components=ComponentChecker(self.expressions),
            nodes=nodes,
        )
        checker = StreamChecker(expressions=self.expressions, steps=steps, links=links)
        declared = self.main.syntax.every(ast.Stream)
        if not declared:
            self._missing(
                "has no stream",
                "a stream says what travels: `stream voice { source …; at node { … } }`",
            )
        streams = sound([checker.stream(declaration) for declaration in declared])
        self._components(steps)
        check_threads(streams, self.sink)
        if streams:
            report_unreached(self.sink, nodes, links, streams)
        return streams

    def _components(self, checker: StepChecker) -> None:
        """Check the components that no stream uses, and say that none does."""
        for declared in self.program.everywhere(ast.Component):
            if declared.qualified in checker.used_components:
                continue
            checker.components.unused(declared)
            if declared.module is self.main and not self.program.is_module:
                name = declared.declaration.name
                self.sink.report(
                    codes.UNUSED,
                    name.span,
                    f"no stream uses component `{name.text}`",
                    hint="use it at a node, or take it out",
                )

    def _measures(self) -> tuple[ir.Measure, ...]:
        built = []
        scope = Scope(self.main, Allowed.MODEL)
        for measure in self.main.syntax.every(ast.Measure):
            value = self.expressions.quantity(measure.value, scope)
            if value is not None:
                built.append(ir.Measure(measure.name.text, value, measure.doc))
        return tuple(built)

    # -- needs and claims ----------------------------------------------------------------

    def _distinct(self, kind: type[N]) -> list[N]:
        """Return the declarations of a kind, whose names must differ."""
        declared = self.main.syntax.every(kind)
        self._report_twice(keyword(kind), declared)
        return declared

    def _report_twice(self, kind: str, declared: Iterable[ast.Named]) -> None:
        told = f"{kind} {{}} is declared twice"
        self.are_distinct(declared, told, "first declared here", "rename one of them")

    def _requirements(self, items: Iterable[ast.Requirement]) -> tuple[ir.Requirement, ...]:
        return sound(map(RequirementChecker(self.expressions).requirement, items))

    def _modes(self) -> tuple[ir.Mode, ...]:
        declared = self._distinct(ast.Mode)
        return tuple(self.changes.mode(m, self._requirements(m.requirements)) for m in declared)

    def _expectations(self, items: Iterable[ast.Named]) -> tuple[ir.Expectation, ...]:
        checker = ClaimChecker(self.expressions)
        built = sound([checker.expectation(i) for i in items if isinstance(i, ast.Expect)])
        if self.program.is_module:
            for expectation in built:
                self._refuse_answers(expectation)
        return built

    def _observations(self, items: Iterable[ast.Named]) -> tuple[ir.Observation, ...]:
        checker = ObservationChecker(self.expressions)
        return sound([checker.observation(i) for i in items if isinstance(i, ast.Observe)])

    def _refuse_answers(self, expectation: ir.Expectation) -> None:
        """Report what a module claims of a system that it does not have."""
        for claim in expectation.claims:
            value = claim.value
            sides = [value.expr] if isinstance(value, ir.Quantity) else operands_of(value)
            if any(mentions_of(side) & _OF_A_SYSTEM for side in sides):
                self.sink.report(
                    codes.MISSING_PART,
                    claim.span,
                    "this asks for an answer, but the file has nothing to solve",
                    hint="add `users`, a topology and a stream; a module claims only what its "
                    "functions and numbers come to",
                )
