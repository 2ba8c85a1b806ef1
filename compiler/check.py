"""Names bound, dimensions checked: a program becomes a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import PurePath
from typing import TypeVar

from qps.compiler import ast, codes, ir
from qps.compiler.check_claims import ClaimChecker
from qps.compiler.check_components import ComponentChecker
from qps.compiler.check_conditions import choices_of
from qps.compiler.check_expressions import ExpressionChecker
from qps.compiler.check_figures import FigureChecker
from qps.compiler.check_fits import FitChecker
from qps.compiler.check_functions import FunctionChecker
from qps.compiler.check_groups import GroupChecker
from qps.compiler.check_hardware import HardwareChecker
from qps.compiler.check_names import EVERYTHING
from qps.compiler.check_observations import ObservationChecker
from qps.compiler.check_requirements import RequirementChecker
from qps.compiler.check_streams import StreamChecker
from qps.compiler.check_targets import TargetChecker
from qps.compiler.check_topology import TopologyChecker
from qps.compiler.diagnostics import Label, Outcome, Sink
from qps.compiler.dimension import DIMENSIONLESS
from qps.compiler.importer import Importer
from qps.compiler.ranges import with_unit_of
from qps.compiler.resolve import Found, Module, Program, lookup, report_name
from qps.compiler.scope import Allowed, Scope
from qps.compiler.suggest import did_you_mean
from qps.compiler.values import mentions_of, sides_of

D = TypeVar("D")

_ONE = Fraction(1)
_OF_A_SYSTEM = Allowed.MEASURES | Allowed.ANSWERS | Allowed.QUALITY
_NOBODY = ir.UserRange("N", 1, 1, None)


class Checker:
    """Checks one program, part by part; also the changes that come from a command line."""

    def __init__(self, program: Program, importer: Importer) -> None:
        self.sink = Sink(failed_names=set(program.failed_names))
        self._program = program
        self.main = program.main
        self.expressions = ExpressionChecker(self.sink, Scope(self.main), importer)
        ratings = frozenset(
            unit.name.text
            for module in program.modules
            for unit in module.names.values()
            if isinstance(unit, ast.Unit) and unit.is_rating
        )
        self._fits = FitChecker(importer, self.sink)
        self.hardware = HardwareChecker(self.expressions, self.sink, ratings, self._fits)
        self.claims = ClaimChecker(self.expressions, self.hardware, self.sink, self.main)
        self._observed = ObservationChecker(self.claims, importer)
        self.expressions.changes = self.claims.changes

    @cached_property
    def is_module(self) -> bool:
        """True for a file that only declares what others use: it has nothing to solve.

        It may claim what its functions and numbers come to.
        """
        needs = (ast.Users, ast.Topology, ast.Stream, ast.Require, ast.Observe, ast.Mode)
        declared = self.main.syntax.declarations
        return bool(declared) and not any(isinstance(item, needs) for item in declared)

    def model(self) -> Outcome[ir.Model]:
        """Return the model of the program, with those of its parts that are sound."""
        population = self._population()
        options, parameters = self._options(), self._parameters()
        groups = self._groups()
        self._all_hardware()
        nodes, links = TopologyChecker(self.claims, self.main).topology()
        streams = self._streams(nodes, links)
        measures = self._measures()
        self._functions_and_lets()
        self._traces()
        requirements = self._requirements()
        targets = self._targets()
        quality = self._quality()
        modes = self._modes()
        scenarios = self._scenarios()
        expectations = self._expectations()
        observations = self._observations()
        figures = self._figures()
        self._unused_parameters()
        source = self.main.syntax.source
        return self.sink.partial(
            ir.Model(
                PurePath(source.label).stem,
                source.label,
                self.main.syntax.doc,
                population,
                options,
                parameters,
                {n: m for n, m in self.hardware.machines.items() if m is not None},
                {n: m for n, m in self.hardware.networks.items() if m is not None},
                tuple(nodes.values()),
                tuple(links.values()),
                streams,
                measures,
                requirements,
                quality,
                scenarios,
                expectations,
                observations,
                modes,
                figures,
                groups,
                targets,
            )
        )

    def _missing(self, kind: str, what: str, hint: str) -> None:
        """Report that the spec lacks a part; it may stand in what could not be parsed."""
        syntax = self.main.syntax
        if self.is_module or syntax.failed_kinds & {kind, ""}:
            return
        if not syntax.declarations and not syntax.failed_kinds:
            # Nothing is there: that is said once, not once for each part.
            what, hint = "declares nothing", "`qps new NAME` writes one to start from"
        message = f"{syntax.source.label}: the spec {what}"
        self.sink.report(codes.MISSING_PART, None, message, hint=hint)

    # -- what may vary -------------------------------------------------------------------

    def _population(self) -> ir.UserRange:
        users = [d for d in self.main.syntax.declarations if isinstance(d, ast.Users)]
        if not users:
            self._missing(
                "users",
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
        bounds = self.claims.user_bounds(users[0].range)
        if bounds is None:
            return _NOBODY
        return ir.UserRange(users[0].name.text, *bounds, users[0].name.span)

    def _groups(self) -> tuple[ir.Group, ...]:
        checker = GroupChecker(self.expressions, self.sink, self.main)
        declared = self._everywhere(ast.Group)
        return checker.groups(Found(module, group) for module, group in declared)

    def _options(self) -> tuple[ir.Option, ...]:
        built = []
        for module, option in self._everywhere(ast.Option):
            found = Found(module, option)
            words = [choice.text for choice in option.choices]
            choices = choices_of(found)
            if len(choices) == 1:
                self.sink.report(
                    codes.MISSING_PART,
                    option.name.span,
                    f"option `{option.name.text}` has one choice only",
                    hint=f"list them all, the usual one first: "
                    f"`option {option.name.text} = {words[0]} or …`",
                )
            for index, choice in enumerate(option.choices):
                if choice.text in words[:index]:
                    self.sink.report(
                        codes.DUPLICATE_NAME,
                        choice.span,
                        f"`{choice.text}` is listed twice",
                        hint="list it once",
                    )
            built.append(ir.Option(found.qualified, choices, option.name.span, option.doc))
        return tuple(built)

    def _parameters(self) -> tuple[ir.Parameter, ...]:
        built = list(self._shares())
        several = (ast.Cases, ast.KindTable)
        params = [param for _, param in self._everywhere(ast.Param)]
        self.claims.has_cases = any(isinstance(param.value, several) for param in params)
        for module, param in self._everywhere(ast.Param):
            scope = Scope(module, Allowed.NOTHING)
            value = self.expressions.quantity(param.value, scope)
            if value is None:
                continue
            name = module.qualified(param.name.text)
            self.claims.dimensions[name] = value.dimension
            low = high = None
            if param.range is not None:
                low = self._bound(param.range.low, param.range.high, value, scope)
                high = low and self._bound(param.range.high, None, value, scope)
                if low is not None and high is not None:
                    self._check_order(low, high, param.range)
            priority = None
            if param.priority is not None:
                asked = "a priority"  # one that failed is reported: the rest goes on without it
                priority = self.expressions.quantity(param.priority, scope, DIMENSIONLESS, asked)
            built.append(
                ir.Parameter(
                    name,
                    value.expr,
                    value.dimension,
                    low.expr if low else None,
                    high.expr if high else None,
                    param.name.span,
                    param.value.span,
                    param.source.value if param.source else None,
                    param.doc,
                    param.is_elastic,
                    _least_text(param) if param.is_elastic else "",
                    priority=priority,
                )
            )
            built += self._each_kind(built[-1], param, scope)
        return tuple(built)

    def _each_kind(
        self, whole: ir.Parameter, param: ast.Param, scope: Scope
    ) -> Iterator[ir.Parameter]:
        """Yield what a parameter is for each of its kinds, as a parameter: `frame_size.I`."""
        for entry in param.value.entries if isinstance(param.value, ast.KindTable) else ():
            value = self.expressions.quantity(entry.value, scope)
            if value is not None:
                name = f"{whole.name}.{entry.name.text}"
                self.claims.dimensions[name] = value.dimension
                yield replace(
                    whole,
                    name=name,
                    value=value.expr,
                    span=entry.name.span,
                    value_span=entry.value.span,
                )

    def _shares(self) -> Iterator[ir.Parameter]:
        """Yield the share of each kind as a parameter: `film.I`."""
        for module, kinds in self._everywhere(ast.Kinds):
            found = Found(module, kinds)
            shares = self.expressions.kinds.shares(found)
            source = kinds.source.value if kinds.source else None
            for kind, share in shares.of.items() if shares else ():
                yield ir.Parameter(
                    f"{found.qualified}.{kind}",
                    ir.Constant(share.value),
                    DIMENSIONLESS,
                    None,
                    None,
                    share.span,
                    share.span,
                    source,
                    kinds.doc,
                    text=shares.text(kind) if shares else "",
                )

    def _check_order(self, low: ir.Quantity, high: ir.Quantity, bounds: ast.Range) -> None:
        ends = [end.expr.value for end in (low, high) if isinstance(end.expr, ir.Constant)]
        if len(ends) > 1 and ends[0] > ends[1]:
            self.sink.report(
                codes.OUT_OF_RANGE,
                bounds.span,
                "this range ends below its start",
                hint="write the smaller end first",
            )

    def _bound(
        self, bound: ast.Expr, other: ast.Expr | None, value: ir.Quantity, scope: Scope
    ) -> ir.Quantity | None:
        """Return a bound of a range; in `3..30 frame/s` the unit holds for both ends."""
        written = with_unit_of(bound, other)
        return self.expressions.quantity(written, scope, value.dimension, "the range")

    # -- hardware and topology -----------------------------------------------------------

    def _all_hardware(self) -> None:
        for module, machine in self._everywhere(ast.Machine):
            self.hardware.machine(Found(module, machine), machine)
        for module, network in self._everywhere(ast.Network):
            self.hardware.network(Found(module, network), network)

    def _machine_name(self, module: Module, name: ast.Name) -> str | None:
        """Return the machine that a cost was measured on."""
        found = lookup(module, name)
        if found is None or not isinstance(found.declaration, ast.Machine):
            report_name(self.sink, module, name, "machine", (ast.Machine,))
            return None
        self.hardware.machine(found, found.declaration)
        return found.qualified

    @cached_property
    def _resources(self) -> frozenset[str]:
        """The names of everything that a machine has."""
        return frozenset(
            resource.name.text
            for _, machine in self._everywhere(ast.Machine)
            for resource in machine.resources
        )

    # -- streams and measures ------------------------------------------------------------

    def _streams(
        self, nodes: dict[str, ir.Node], links: dict[str, ir.Link]
    ) -> tuple[ir.Stream, ...]:
        components = ComponentChecker(
            self.expressions,
            self.sink,
            self._machine_name,
            self._resources,
            self._fits,
            self.hardware.machines,
        )
        checker = StreamChecker(
            self.expressions, components, self.sink, self._program, nodes, links
        )
        streams = [
            checker.stream(declaration)
            for declaration in self.main.syntax.declarations
            if isinstance(declaration, ast.Stream)
        ]
        if not streams:
            self._missing(
                "stream",
                "has no stream",
                "a stream says what travels: `stream voice { source …; at node { … } }`",
            )
        self._components(checker)
        return tuple(stream for stream in streams if stream is not None)

    def _components(self, checker: StreamChecker) -> None:
        """Check the components that no stream uses, and say that none does."""
        for module, component in self._everywhere(ast.Component):
            found = Found(module, component)
            if found.qualified in checker.used_components:
                continue
            if not component.formals:
                checker.components.component(found, {})
            if module is self.main and not self.is_module:
                self.sink.report(
                    codes.UNUSED,
                    component.name.span,
                    f"no stream uses component `{component.name.text}`",
                    hint="use it at a node, or take it out",
                )

    def _unused_parameters(self) -> None:
        """Say which parameters of the spec no formula names; to set them changes nothing."""
        for param in self.main.syntax.declarations:
            if self.is_module or not isinstance(param, ast.Param):
                continue
            if not self.expressions.is_named(param):
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

    def _functions_and_lets(self) -> None:
        """Check the `let`s that nothing uses; a function is checked where it is called."""
        everything = EVERYTHING
        functions = FunctionChecker(self.expressions, self.sink)
        for module, func in self._everywhere(ast.Func):
            functions.function(module, func)
        for module, let in self._everywhere(ast.Let):
            name = ast.Reference(let.name.span, let.name)
            self.expressions.quantity(name, Scope(module, everything))
        for module, unit in self._everywhere(ast.Unit):
            if unit.value is not None:
                name = ast.Reference(unit.name.span, unit.name)
                self.expressions.quantity(name, Scope(module, everything))

    def _traces(self) -> None:
        """Read the traces that nothing uses, too: a file that is not there is a mistake."""
        for module, trace in self._everywhere(ast.Trace):
            self.expressions.traces.recording(Found(module, trace))

    # -- needs and claims ----------------------------------------------------------------

    def _requirements(self) -> tuple[ir.Requirement, ...]:
        checker = RequirementChecker(self.expressions, self.sink, self.main)
        built = [
            checker.requirement(item)
            for declaration in self.main.syntax.declarations
            if isinstance(declaration, ast.Require)
            for item in declaration.requirements
        ]
        return tuple(item for item in built if item is not None)

    def _targets(self) -> tuple[ir.Target, ...]:
        checker = TargetChecker(self.expressions, self.sink, self.main, self._resources)
        declared = self.main.syntax.declarations
        return checker.targets(item for item in declared if isinstance(item, ast.Target))

    def _quality(self) -> ir.Quality:
        stated = [d for d in self.main.syntax.declarations if isinstance(d, ast.Quality)]
        for extra in stated[1:]:
            self.sink.report(
                codes.MISPLACED,
                extra.span,
                "a spec has one metric of quality",
                secondary=[Label(stated[0].span, "the first one")],
                hint="keep one",
            )
        if not stated:
            return ir.Quality(ir.Metric.EUCLIDEAN, None, None)
        metric = stated[0].metric
        if not isinstance(metric, ast.Name):
            scope = Scope(self.main, Allowed.MODEL)
            formula = self.expressions.quantity(metric, scope, DIMENSIONLESS, "quality")
            return ir.Quality(ir.Metric.FORMULA, formula, stated[0].span)
        names = [m.value for m in ir.Metric if m is not ir.Metric.FORMULA]
        if metric.text not in names:
            self.sink.report(
                codes.UNKNOWN_NAME,
                metric.span,
                f"unknown metric `{metric.text}`",
                hint=did_you_mean(metric.text, names)
                or "there is `euclidean`, `worst`, or a formula: `quality = …`",
            )
            return ir.Quality(ir.Metric.EUCLIDEAN, None, None)
        return ir.Quality(ir.Metric(metric.text), None, stated[0].span)

    def _modes(self) -> tuple[ir.Mode, ...]:
        checker = RequirementChecker(self.expressions, self.sink, self.main)
        seen: dict[str, ast.Mode] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Mode):
                self._claim_name(item.name, seen.get(item.name.text), "mode")
                seen.setdefault(item.name.text, item)
                found = [checker.requirement(requirement) for requirement in item.requirements]
                sound = tuple(requirement for requirement in found if requirement is not None)
                built.append(self.claims.mode(item, sound))
        return tuple(built)

    def _figures(self) -> tuple[ir.Figure, ...]:
        checker = FigureChecker(self.claims)
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
        return tuple(self.claims.scenario(item) for item in seen.values())

    def _claim_name(
        self,
        name: ast.Name,
        earlier: ast.Mode | ast.Scenario | ast.Expect | ast.Observe | ast.Figure | None,
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

    def _expectations(self) -> tuple[ir.Expectation, ...]:
        seen: dict[str, ast.Expect | ast.Observe] = {}
        built = []
        for item in self.main.syntax.declarations:
            if isinstance(item, ast.Expect):
                self._claim_name(item.name, seen.get(item.name.text), "claim")
                seen[item.name.text] = item
                expectation = self.claims.expectation(item)
                if self.is_module and expectation is not None:
                    self._refuse_answers(expectation)
                built.append(expectation)
        return tuple(item for item in built if item is not None)

    def _refuse_answers(self, expectation: ir.Expectation) -> None:
        """Report what a module claims of a system that it does not have."""
        for claim in expectation.claims:
            sides = [claim.value.expr] if isinstance(claim.value, ir.Quantity) else []
            if not isinstance(claim.value, ir.Quantity):
                sides = sides_of(claim.value)
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
                built.append(self._observed.observation(item))
            if isinstance(item, ast.Expect | ast.Observe):
                seen.setdefault(item.name.text, item)
        return tuple(item for item in built if item is not None)

    def _everywhere(self, kind: type[D]) -> list[tuple[Module, D]]:
        """Return the declarations of a kind in every module, with their modules."""
        return [
            (module, declaration)
            for module in self._program.modules
            for declaration in module.names.values()
            if isinstance(declaration, kind)
        ]


def _least_text(param: ast.Param) -> str:
    """Return how the spec writes the least of an elastic parameter: 3 frame/s of 3..30 frame/s."""
    assert param.range is not None
    low, high = param.range.low, param.range.high
    if not isinstance(low, ast.Number):
        return low.span.text
    return re.sub(r"^[\d_.]+", low.span.text, high.span.text)
