"""Names bound, dimensions checked: a program becomes a model."""

from __future__ import annotations

from pathlib import PurePath

from qps.compiler import ir
from qps.compiler.check.claims.check_claims import ClaimChecker
from qps.compiler.check.claims.check_figures import FigureChecker
from qps.compiler.check.claims.check_matrices import MatrixChecker
from qps.compiler.check.claims.check_observations import ObservationChecker
from qps.compiler.check.model.check_changes import ChangeChecker, change_checker
from qps.compiler.check.model.check_components import ComponentChecker
from qps.compiler.check.model.check_groups import GroupChecker
from qps.compiler.check.model.check_machines import MachineChecker
from qps.compiler.check.model.check_networks import NetworkChecker
from qps.compiler.check.model.check_parameters import ParameterChecker
from qps.compiler.check.model.check_quality import check_quality
from qps.compiler.check.model.check_requirements import RequirementChecker
from qps.compiler.check.model.check_streams import StreamChecker
from qps.compiler.check.model.check_targets import TargetChecker
from qps.compiler.check.model.check_threads import check_threads
from qps.compiler.check.model.check_topology import TopologyChecker
from qps.compiler.check.model.check_traffic import report_think_times
from qps.compiler.check.model.check_unused import report_unreached
from qps.compiler.check.names.declarations import Declared, Program
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_functions import FunctionChecker
from qps.compiler.check.values.check_names import EVERYTHING
from qps.compiler.check.values.context import Context
from qps.compiler.check.values.part import Part
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands_of
from qps.compiler.syntax import ast

_OF_A_SYSTEM = Allowed.MEASURES | Allowed.ANSWERS | Allowed.QUALITY
_NOBODY = ir.UserRange("N", 1, 1, None)


def check_model(context: Context) -> ir.Model:
    """Return the model of a program, with those of its parts that are sound."""
    return _ModelChecker(change_checker(context).expressions).model()


class _ModelChecker(Part, frozen=True):
    """Checks one program, part by part."""

    @property
    def _program(self) -> Program:
        return self.expressions.context.program

    @property
    def _changes(self) -> ChangeChecker:
        return ChangeChecker(self.expressions)

    def model(self) -> ir.Model:
        """Return the model of the program, with those of its parts that are sound."""
        population = self._population()
        checker = ParameterChecker(self.expressions)
        options, parameters = checker.options(), checker.parameters()
        groups = self._groups()
        self._all_hardware()
        nodes, links = TopologyChecker(self.expressions).topology()
        streams = self._streams(nodes, links)
        measures = self._measures()
        self._lets()
        self._traces()
        requirements = self._requirements()
        targets = self._targets()
        quality = check_quality(self.expressions)
        modes = self._modes()
        scenarios = self._scenarios()
        matrices = self._matrices()
        expectations = self._expectations()
        observations = self._observations()
        figures = self._figures()
        self._unused_parameters()
        self._functions()
        source = self.main.syntax.source
        model = ir.Model(
            name=PurePath(source.label).stem,
            file=source.label,
            doc=self.main.syntax.doc,
            population=population,
            options=options,
            parameters=parameters,
            machines={n: m for n, m in self.known.machines.items() if m is not None},
            networks={n: m for n, m in self.known.networks.items() if m is not None},
            nodes=tuple(nodes.values()),
            links=tuple(links.values()),
            streams=streams,
            measures=measures,
            requirements=requirements,
            quality=quality,
            scenarios=scenarios,
            expectations=expectations,
            observations=observations,
            modes=modes,
            figures=figures,
            groups=groups,
            matrices=matrices,
            targets=targets,
            fits=tuple(self.known.fitted.items()),
            fitted=self._fitted(parameters),
        )
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
        if self._program.is_module or syntax.failed_kinds:
            return
        if not syntax.declarations:
            # Nothing is there: that is said once, not once for each part.
            what, hint = "declares nothing", "`qps new NAME` writes one to start from"
        message = f"{syntax.source.label}: the spec {what}"
        self.sink.report(codes.MISSING_PART, None, message, hint=hint)

    # -- what may vary -------------------------------------------------------------------

    def _population(self) -> ir.UserRange:
        users = [d for d in self.main.syntax.declarations if isinstance(d, ast.Users)]
        if not users:
            self._missing(
                "does not say what its users are",
                "add `users N in 1..1000`: the population that the solver varies",
            )
            return _NOBODY
        for extra in users[1:]:
            self.sink.report(
                codes.MISPLACED,
                extra.span,
                "a spec has one population",
                secondary=[Label(users[0].span, "the first one")],
                hint="keep one; what else varies is a `param`",
            )
        bounds = self._changes.user_bounds(users[0].range)
        if bounds is None:
            return _NOBODY
        return ir.UserRange(users[0].name.text, *bounds, users[0].name.span)

    def _groups(self) -> tuple[ir.Group, ...]:
        checker = GroupChecker(self.expressions)
        declared = self._program.everywhere(ast.Group)
        return checker.groups(Declared(module, group) for module, group in declared)

    # -- hardware and topology -----------------------------------------------------------

    def _all_hardware(self) -> None:
        machines, networks = MachineChecker(self.expressions), NetworkChecker(self.expressions)
        for module, machine in self._program.everywhere(ast.Machine):
            machines.machine(Declared(module, machine), machine)
        for module, network in self._program.everywhere(ast.Network):
            networks.network(Declared(module, network), network)

    # -- streams and measures ------------------------------------------------------------

    def _streams(
        self, nodes: dict[str, ir.Node], links: dict[str, ir.Link]
    ) -> tuple[ir.Stream, ...]:
        checker = StreamChecker(
            expressions=self.expressions,
            components=ComponentChecker(self.expressions),
            nodes=nodes,
            links=links,
        )
        streams = [
            checker.stream(declaration)
            for declaration in self.main.syntax.declarations
            if isinstance(declaration, ast.Stream)
        ]
        if not streams:
            self._missing(
                "has no stream",
                "a stream says what travels: `stream voice { source …; at node { … } }`",
            )
        self._components(checker)
        sound = tuple(stream for stream in streams if stream is not None)
        check_threads(sound, self.sink)
        if sound:
            report_unreached(self.sink, nodes, links, sound)
        return sound

    def _components(self, checker: StreamChecker) -> None:
        """Check the components that no stream uses, and say that none does."""
        for module, component in self._program.everywhere(ast.Component):
            declared = Declared(module, component)
            if declared.qualified in checker.used_components:
                continue
            checker.components.unused(declared)
            if module is self.main and not self._program.is_module:
                self.sink.report(
                    codes.UNUSED,
                    component.name.span,
                    f"no stream uses component `{component.name.text}`",
                    hint="use it at a node, or take it out",
                )

    def _unused_parameters(self) -> None:
        """Say which parameters of the spec no formula names; to set them changes nothing."""
        for param in self.main.syntax.declarations:
            if self._program.is_module or not isinstance(param, ast.Param):
                continue
            if not self.expressions.is_named(Declared(self.main, param)):
                self.sink.report(
                    codes.UNUSED,
                    param.name.span,
                    f"nothing depends on parameter `{param.name.text}`",
                    hint="name it where its value belongs, or take it out",
                )

    def _measures(self) -> tuple[ir.Measure, ...]:
        built = []
        for measure in self.main.syntax.declarations:
            if isinstance(measure, ast.Measure):
                scope = Scope(self.main, Allowed.MODEL)
                value = self.expressions.quantity(measure.value, scope)
                if value is not None:
                    built.append(ir.Measure(measure.name.text, value, measure.doc))
        return tuple(built)

    def _functions(self) -> None:
        """Check the functions; comes last, when it is known which ones are called."""
        functions = FunctionChecker(self.expressions)
        for module, func in self._program.everywhere(ast.Func):
            functions.function(module, func)

    def _lets(self) -> None:
        """Check the `let`s and units that nothing uses."""
        everything = EVERYTHING
        for module, let in self._program.everywhere(ast.Let):
            name = ast.Reference(let.name.span, let.name)
            self.expressions.quantity(name, Scope(module, everything))
        for module, unit in self._program.everywhere(ast.Unit):
            if unit.value is not None:
                name = ast.Reference(unit.name.span, unit.name)
                self.expressions.quantity(name, Scope(module, everything))

    def _traces(self) -> None:
        """Read the traces that nothing uses, too: a file that is not there is a mistake."""
        for module, trace in self._program.everywhere(ast.Trace):
            self.expressions.traces.recording(Declared(module, trace))

    # -- needs and claims ----------------------------------------------------------------

    def _requirements(self) -> tuple[ir.Requirement, ...]:
        checker = RequirementChecker(self.expressions)
        built = [
            checker.requirement(item)
            for declaration in self.main.syntax.declarations
            if isinstance(declaration, ast.Require)
            for item in declaration.requirements
        ]
        return tuple(item for item in built if item is not None)

    def _targets(self) -> tuple[ir.Target, ...]:
        checker = TargetChecker(self.expressions)
        declared = self.main.syntax.declarations
        return checker.targets(item for item in declared if isinstance(item, ast.Target))

    def _modes(self) -> tuple[ir.Mode, ...]:
        checker = RequirementChecker(self.expressions)
        seen: dict[str, ast.Mode] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Mode):
                self._claim_name(item.name, seen.get(item.name.text), "mode")
                seen.setdefault(item.name.text, item)
                found = [checker.requirement(requirement) for requirement in item.requirements]
                sound = tuple(requirement for requirement in found if requirement is not None)
                built.append(self._changes.mode(item, sound))
        return tuple(built)

    def _figures(self) -> tuple[ir.Figure, ...]:
        checker = FigureChecker(self._changes)
        seen: dict[str, ast.Figure] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Figure):
                self._claim_name(item.name, seen.get(item.name.text), "figure")
                seen.setdefault(item.name.text, item)
                built.append(checker.figure(item))
        return tuple(figure for figure in built if figure is not None)

    def _scenarios(self) -> tuple[ir.Scenario, ...]:
        seen: dict[str, ast.Scenario] = {}
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Scenario):
                self._claim_name(item.name, seen.get(item.name.text), "scenario")
                seen.setdefault(item.name.text, item)
        return tuple(self._changes.scenario(item) for item in seen.values())

    def _claim_name(
        self,
        name: ast.Name,
        earlier: ast.Mode
        | ast.Scenario
        | ast.Matrix
        | ast.Expect
        | ast.Observe
        | ast.Figure
        | None,
        kind: str,
    ) -> None:
        if earlier is not None:
            self.sink.report(
                codes.DUPLICATE_NAME,
                name.span,
                f"{kind} `{name.text}` is declared twice",
                secondary=[Label(earlier.name.span, "first declared here")],
                hint="rename one of them",
            )

    def _matrices(self) -> tuple[ir.Matrix, ...]:
        seen: dict[str, ast.Matrix] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Matrix):
                self._claim_name(item.name, seen.get(item.name.text), "matrix")
                seen.setdefault(item.name.text, item)
                built.append(MatrixChecker(self._changes).matrix(item))
        return tuple(matrix for matrix in built if matrix is not None)

    def _expectations(self) -> tuple[ir.Expectation, ...]:
        seen: dict[str, ast.Expect | ast.Observe] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Expect):
                self._claim_name(item.name, seen.get(item.name.text), "claim")
                seen[item.name.text] = item
                expectation = ClaimChecker(self._changes).expectation(item)
                if self._program.is_module and expectation is not None:
                    self._refuse_answers(expectation)
                built.append(expectation)
        return tuple(item for item in built if item is not None)

    def _refuse_answers(self, expectation: ir.Expectation) -> None:
        """Report what a module claims of a system that it does not have."""
        for claim in expectation.claims:
            sides = [claim.value.expr] if isinstance(claim.value, ir.Quantity) else []
            if not isinstance(claim.value, ir.Quantity):
                sides = list(operands_of(claim.value))
            if any(mentions_of(side) & _OF_A_SYSTEM for side in sides):
                self.sink.report(
                    codes.MISSING_PART,
                    claim.span,
                    "this asks for an answer, but the file has nothing to solve",
                    hint="add `users`, a topology and a stream; a module claims only what its "
                    "functions and numbers come to",
                )

    def _observations(self) -> tuple[ir.Observation, ...]:
        seen: dict[str, ast.Expect | ast.Observe] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Observe):
                self._claim_name(item.name, seen.get(item.name.text), "claim")
                built.append(ObservationChecker(ClaimChecker(self._changes)).observation(item))
            if isinstance(item, ast.Expect | ast.Observe):
                seen.setdefault(item.name.text, item)
        return tuple(item for item in built if item is not None)
