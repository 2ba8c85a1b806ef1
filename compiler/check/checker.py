"""Names bound, dimensions checked: a program becomes a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TypeVar

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.claims.check_claims import ClaimChecker
from qps.compiler.check.claims.check_design_choices import DesignChoiceChecker
from qps.compiler.check.claims.check_figures import FigureChecker
from qps.compiler.check.claims.check_matrices import MatrixChecker
from qps.compiler.check.claims.check_observations import ObservationChecker, report_cores
from qps.compiler.check.model.changes.check_changes import OfChanges, change_checker
from qps.compiler.check.model.check_quality import check_quality
from qps.compiler.check.model.check_systems import SystemChecker, with_twins
from qps.compiler.check.model.check_unused import report_unreached
from qps.compiler.check.model.components.check_components import ComponentChecker
from qps.compiler.check.model.components.check_threads import check_threads
from qps.compiler.check.model.hardware.check_machines import MachineChecker
from qps.compiler.check.model.hardware.check_networks import NetworkChecker
from qps.compiler.check.model.hardware.check_targets import agreed
from qps.compiler.check.model.parameters.check_calendar import CalendarChecker
from qps.compiler.check.model.parameters.check_correlations import CorrelationChecker
from qps.compiler.check.model.parameters.check_parameters import ParameterChecker
from qps.compiler.check.model.parameters.check_quotients import report_quotients
from qps.compiler.check.model.parameters.check_signs import report_signs
from qps.compiler.check.model.streams.check_chances import report_chances
from qps.compiler.check.model.streams.check_groups import GroupChecker
from qps.compiler.check.model.streams.check_shares import report_shares_of_axes
from qps.compiler.check.model.streams.check_traffic import (
    report_bursts,
    report_priorities,
    report_think_times,
)
from qps.compiler.check.model.unused_declarations import UnusedChecker
from qps.compiler.check.names.scope import AllowedNames
from qps.compiler.check.values.context import Context
from qps.compiler.check.values.part import sound
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.own_numbers import own_numbers, with_parameters
from qps.compiler.ir.parts import operands_of
from qps.compiler.syntax import ast

_OF_A_SYSTEM = (
    AllowedNames.MEASURES | AllowedNames.ANSWERS | AllowedNames.QUALITY | AllowedNames.HORIZON
)
_CLAIMS = (ast.Expect, ast.Observe)
_LIKELY_MISTAKES = (
    report_cores,
    report_think_times,
    report_priorities,
    report_bursts,
    report_chances,
)
_NO_USERS = ir.UserRange(name="N", low=1, high=1, span=None)

T = TypeVar("T")


def check_model(context: Context) -> ir.Model:
    """Return the model of a program, with those of its parts that are sound."""
    return _ModelChecker(change_checker(context).expressions).model()


class _ModelChecker(OfChanges, frozen=True):
    """Checks one program, part by part."""

    def model(self) -> ir.Model:
        """Return the model of the program, with those of its parts that are sound.

        Each pass takes the model of the one before. The order is that in which parts rest on each
        other.
        """
        systems = self._systems()
        declared = self._declared(systems)
        changing = self._with_modes(declared, systems)
        claimed = self._with_claims(changing, systems)
        placed = self._with_hardware_of_changes(claimed)
        known = self._with_uncertain_numbers(placed, declared.parameters)
        whole = self._at_worst_moments(self._with_incidents(known))
        unused = UnusedChecker(self.expressions)
        unused.hardware()
        unused.parameters()
        unused.functions()
        self._report_likely_mistakes(whole)
        return whole

    def _declared(self, systems: Sequence[SystemChecker]) -> ir.Model:
        """Return what the program declares, but for what changes it and what it claims."""
        syntax, program = self.main.syntax, self.program
        own, *instances = systems
        population = self._population()
        used = tuple(instance.instance() for instance in instances)
        checker = ParameterChecker(self.expressions)
        options, parameters = checker.options(), checker.parameters()
        calendars = CalendarChecker(self.expressions)
        calendar = calendars.calendar()
        forecast = calendars.forecast(calendar)
        groups = GroupChecker(self.expressions).groups(program.everywhere(ast.Group))
        self._plain_hardware()
        nodes, links = self._topology(systems)
        streams = self._streams(systems, nodes, links)
        measures = _joined(system.measures() for system in systems)
        UnusedChecker(self.expressions).definitions()
        own.report_twice("claim", self._claims())
        quality = check_quality(self)
        for instance in instances:
            instance.left_out(quality)
        return ir.Model(
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
            instances=used,
            requirements=_joined(system.requirements() for system in systems),
            targets=agreed(_joined(s.targets() for s in systems), "its target", self.sink),
            waits=agreed(_joined(s.waits() for s in systems), "its queueing discipline", self.sink),
            quality=quality,
            scenarios=(),
            expectations=(),
            observations=(),
            machines=self._machines(),
            networks=self._networks(),
            calendar=calendar,
            forecast=forecast,
        )

    def _with_modes(self, model: ir.Model, systems: Sequence[SystemChecker]) -> ir.Model:
        """Return the model with its modes, which may set any number that stands in place."""
        self.known.numbers.update(own_numbers(model))
        found = replace(model, modes=self._modes(systems))
        self.known.numbers.update(own_numbers(found))
        return found

    def _with_claims(self, model: ir.Model, systems: Sequence[SystemChecker]) -> ir.Model:
        """Return the model with its scenarios, matrices and figures, and all that it claims."""
        own, *instances = systems
        matrices, figures = MatrixChecker(self.expressions), FigureChecker(self.expressions)
        claims = self._claims()
        return replace(
            model,
            # What is in force in an instance can be a part of a scenario of the spec.
            scenarios=_joined(system.scenarios() for system in (*reversed(instances), own)),
            matrices=sound(map(matrices.matrix, own.distinct(ast.Matrix))),
            choices=sound(
                map(DesignChoiceChecker(self.expressions).choices, own.distinct(ast.Choose))
            ),
            expectations=self._expectations(claims),
            observations=self._observations(claims),
            figures=sound(map(figures.figure, own.distinct(ast.Figure))),
        )

    def _with_hardware_of_changes(self, model: ir.Model) -> ir.Model:
        """Return the model with the machines and the numbers that changes have made and set."""
        found = replace(
            model,
            fits=tuple(self.known.fitted.items()),
            stations=tuple(self.known.stations_used.items()),
            fitted=self._fitted(model.parameters),
            machines=self._machines(),
            networks=self._networks(),
        )
        return with_parameters(found, self.known.numbers_set, self.known.numbers)

    def _with_uncertain_numbers(
        self, model: ir.Model, declared: tuple[ir.Parameter, ...]
    ) -> ir.Model:
        """Return the model with uncertain numbers that checks of any part have met.

        And with what correlates those that are `declared` parameters.
        """
        stated = {parameter.name for parameter in model.parameters}  # whose values were met, too
        met = self.known.uncertain.items()
        uncertain = tuple(parameter for name, parameter in met if name not in stated)
        correlated = CorrelationChecker(self.expressions).correlations(declared)
        return replace(model, parameters=(*model.parameters, *uncertain), correlations=correlated)

    def _with_incidents(self, model: ir.Model) -> ir.Model:
        """Return the model with its incidents, and with what acts in them."""
        kinds = (ast.Incident, ast.Autoscaler, ast.Retrying)
        caches = tuple(self.known.caches.values())
        if not any(isinstance(one, kinds) for one in self.main.syntax.declarations):
            return replace(model, caches=caches) if caches else model
        from qps.compiler.check.model.incidents.check_incidents import IncidentChecker  # noqa: PLC0415 - of few specs

        checker = IncidentChecker(self.expressions)
        return replace(
            model,
            caches=caches,
            autoscalers=checker.autoscalers(),
            retrying=checker.retrying(),
            incidents=checker.incidents(),
        )

    def _at_worst_moments(self, model: ir.Model) -> ir.Model:
        """Return the model at the moments of its profiles that may limit its capacity."""
        profiles = tuple(self.known.profiles.values())
        if not profiles:
            return model
        from qps.compiler.check.model.parameters.worst_moments import with_worst_moments  # noqa: PLC0415 - of few specs

        return with_worst_moments(model, profiles, self.sink)

    def _report_likely_mistakes(self, model: ir.Model) -> None:
        """Warn of what is sound, and likely to mean something else than it says."""
        for report in _LIKELY_MISTAKES:
            report(model, self.sink)
        if not any(found.is_error for found in self.sink.found):
            report_quotients(self.program.modules, self.sink)
        report_signs(self.program.modules, self.sink)
        report_shares_of_axes(model, self.sink)

    def _claims(self) -> list[ast.Named]:
        return [one for one in self.main.syntax.declarations if isinstance(one, _CLAIMS)]

    def _plain_hardware(self) -> None:
        """Check the machines and networks without parameters."""
        for machine in self.program.everywhere(ast.Machine):
            if not machine.declaration.formals:
                MachineChecker(self.expressions).plain(machine)
        for network in self.program.everywhere(ast.Network):
            if not network.declaration.formals:
                NetworkChecker(self.expressions).plain(network)

    def _machines(self) -> dict[str, ir.Machine]:
        """Return the machines that are sound, by their names."""
        known = {n: m for n, m in self.known.machines.items() if m is not None}
        labels = {module.syntax.source.label for module in self.program.modules}
        return known if len(labels) == len(self.program.modules) else with_twins(known.values())

    def _networks(self) -> dict[str, ir.Network]:
        """Return the networks that are sound, by their names."""
        return {n: m for n, m in self.known.networks.items() if m is not None}

    def _systems(self) -> tuple[SystemChecker, ...]:
        """Return what checks the spec itself and, in the order of their use, its instances."""
        instances = (system for system in self.program.systems if system is not self.main)
        return (
            SystemChecker(self.expressions),
            *(SystemChecker(self.expressions.within(instance)) for instance in instances),
        )

    def _fitted(self, parameters: tuple[ir.Parameter, ...]) -> tuple[tuple[Span, str], ...]:
        """Return every number that was chosen to hit another, where it stands, and what it is."""
        tables = {span: f"to {fit.file}" for span, fit in self.known.fitted.items()}
        tables |= {span: f"to {one.table.file}" for span, one in self.known.stations_used.items()}
        stated = {p.value_span: p.fitted for p in parameters if p.fitted is not None}
        chosen = self.known.chosen_with
        beside = {p.value_span: chosen[p.name] for p in parameters if p.name in chosen}
        return tuple((tables | self.known.chosen | beside | stated).items())

    def _missing(self, what: str, hint: str) -> None:
        """Report that the spec lacks a part, unless that may stand in what could not be parsed."""
        syntax = self.main.syntax
        if self.program.is_module or self.program.lacks_parts:
            return
        if not syntax.declarations:
            # Nothing is there: that is said once, not once for each part.
            what, hint = "is empty", "start from a working spec: `qps new NAME`"
        message = f"{syntax.source.label}: the spec {what}"
        self.sink.report(codes.MISSING_PART, None, message, hint=hint)

    # -- what may vary -------------------------------------------------------------------

    def _population(self) -> ir.UserRange:
        hint = "remove one; anything else that varies is a `param`"
        users = self.first(
            self.main.syntax.every(ast.Users), "a spec has only one population", hint
        )
        if users is None:
            self._missing(
                "has no `users`",
                "add the range of the population: `users N in 1..1000`",
            )
            return _NO_USERS
        bounds = self.changes.user_bounds(users.range)
        if bounds is None:
            return _NO_USERS
        low, high = bounds
        return ir.UserRange(
            name=users.name.text,
            low=low,
            high=high,
            span=users.name.span,
            source=users.source.value if users.source else None,
        )

    # -- streams and measures ------------------------------------------------------------

    def _topology(
        self, systems: Sequence[SystemChecker]
    ) -> tuple[dict[str, ir.Node], dict[str, ir.Link]]:
        """Return all nodes and links; one that several systems share joins what each joins."""
        nodes: dict[str, ir.Node] = {}
        links: dict[str, ir.Link] = {}
        for system in systems:
            nodes |= system.topology.nodes()
            links |= system.topology.links()
        for system in systems:
            system.topology.link_ends()
            for name, ends in system.topology.shared_links().items():
                if name in links:
                    joined = tuple(dict.fromkeys((*links[name].ends, *ends)))
                    links[name] = replace(links[name], ends=joined)
        return nodes, links

    def _streams(
        self,
        systems: Sequence[SystemChecker],
        nodes: dict[str, ir.Node],
        links: dict[str, ir.Link],
    ) -> tuple[ir.Stream, ...]:
        if not any(system.main.syntax.every(ast.Stream) for system in systems):
            self._missing(
                "has no stream",
                "add one: `stream voice { traffic …; at node { … } }`",
            )
        used: set[str] = set()
        components = ComponentChecker(self.expressions)
        streams = _joined(system.streams(nodes, links, components, used) for system in systems)
        UnusedChecker(self.expressions).components(components, used)
        check_threads(streams, self.sink)
        if streams:
            report_unreached(self.sink, nodes, links, streams)
        return streams

    # -- needs and claims ----------------------------------------------------------------

    def _modes(self, systems: Sequence[SystemChecker]) -> tuple[ir.Mode, ...]:
        """Return the modes of the spec or of its one instance that has any."""
        found = [(system.main, system.modes()) for system in systems]
        several = [(module, modes) for module, modes in found if modes]
        for module, modes in several[1:]:
            first = several[0][0]
            assert module.used is not None
            self.sink.report(
                codes.MISPLACED,
                module.used.span,
                f"`{module.prefix}` has modes, and so does "
                + (f"`{first.prefix}`" if first.prefix else "this spec")
                + ": their combinations are not defined",
                secondary=[Label(modes[0].span, "one of its modes")],
                hint=f"choose one mode: `with mode = {modes[0].name.rpartition('.')[2]}`",
            )
        return several[0][1] if several else ()

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
                    "this needs a solved model, but the file has no population",
                    hint="add `users`, a topology and a stream; a module can claim only "
                    "values of its functions and parameters",
                )


def _joined(found: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    """Return what the spec and its instances have, one after the other."""
    return tuple(one for of_one in found for one in of_one)
