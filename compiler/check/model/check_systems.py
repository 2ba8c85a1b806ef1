"""A system: the spec itself or an instance, with places, streams, needs and scenarios of its own.

All systems of a spec are one model: what belongs to an instance is called by its name there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import TypeVar

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.model.check_requirements import RequirementChecker
from qps.compiler.check.model.components.check_components import ComponentChecker
from qps.compiler.check.model.hardware.check_targets import TargetChecker
from qps.compiler.check.model.hardware.check_topology import TopologyChecker
from qps.compiler.check.model.streams.check_steps import StepChecker
from qps.compiler.check.model.streams.check_streams import StreamChecker
from qps.compiler.check.names.declarations import keyword
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_percentiles import PercentileChecker
from qps.compiler.check.values.part import sound
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

N = TypeVar("N", bound=ast.Named)


class SystemChecker(OfChanges, frozen=True):
    """Checks what the spec itself or an instance has of its own: the `main` module at hand."""

    @property
    def topology(self) -> TopologyChecker:
        """What checks its places."""
        return TopologyChecker(self.expressions)

    @property
    def is_instance(self) -> bool:
        """True for what is used in another file."""
        return bool(self.main.prefix)

    def instance(self) -> ir.Instance:
        """Return the instance in the model: how many users it has.

        What rests on users that cannot be is not looked at: they have no value.
        """
        assert self.main.used is not None
        users = next((d for d in self.main.names.values() if isinstance(d, ast.Users)), None)
        population = None if users is None else self._population(users)
        source = self.main.syntax.source.label
        return ir.Instance(self.main.prefix, source, population, self.main.used.span)

    def _population(self, users: ast.Users) -> ir.Quantity | None:
        given = self.main.arguments[users.name.text]
        scope = Scope(given.module, AllowedNames.POPULATION)
        quantity = self.expressions.quantity(given.value, scope, DIMENSIONLESS, "a population")
        fixed = (
            quantity.expr
            if quantity is not None and isinstance(quantity.expr, ir.Constant)
            else None
        )
        if fixed is not None and (fixed.value < 1 or fixed.value.denominator != 1):
            self.sink.report(
                codes.OUT_OF_RANGE,
                given.value.span,
                "a fixed number of users must be a whole number of at least 1",
                hint="write `population = 20`, or a share of the users of this spec: "
                "`population = N * 50 %`",
            )
            quantity = None
        if quantity is None:
            self.known.values[self.main.qualified(users.name.text)] = None
        return quantity

    def streams(
        self,
        nodes: dict[str, ir.Node],
        links: dict[str, ir.Link],
        components: ComponentChecker,
        used_components: set[str],
    ) -> tuple[ir.Stream, ...]:
        """Return the streams that are sound; the components that they use are added to these."""
        steps = StepChecker(
            expressions=self.expressions,
            components=components,
            nodes=nodes,
            used_components=used_components,
        )
        checker = StreamChecker(expressions=self.expressions, steps=steps, links=links)
        return sound([checker.stream(stream) for stream in self.main.syntax.every(ast.Stream)])

    def measures(self) -> tuple[ir.Measure, ...]:
        """Return the measures of its own."""
        built: list[tuple[int, ir.Measure]] = []
        scope = Scope(self.main, AllowedNames.MODEL)
        for measure in self.main.syntax.every(ast.Measure):
            value = self.expressions.quantity(measure.value, scope)
            if value is not None:
                name = self.main.qualified(measure.name.text)
                source = measure.source.value if measure.source else None
                built.append(
                    (
                        measure.span.start,
                        ir.Measure(name=name, value=value, doc=measure.doc, source=source),
                    )
                )
        built += self._percentiles(scope)
        return tuple(measure for _, measure in sorted(built, key=itemgetter(0)))

    def _percentiles(self, scope: Scope) -> Iterator[tuple[int, ir.Measure]]:
        """Yield the percentiles that are listed as measures, each once, with where they stand."""
        listed: dict[str, Span] = {}
        for item in self.main.syntax.every(ast.Percentiles):
            source = item.source.value if item.source else None
            for one in PercentileChecker(self.expressions).percentiles(item, scope):
                if one.name in listed:
                    self.sink.report(
                        codes.PERCENTILES,
                        one.span,
                        f"`{one.name}` is listed twice",
                        secondary=[Label(listed[one.name], "first listed here")],
                        hint="remove one of them",
                    )
                    continue
                listed[one.name] = one.span
                yield (
                    item.span.start,
                    ir.Measure(
                        name=one.name,
                        value=one.value,
                        doc=item.doc,
                        source=source,
                        percentile_of=one.listed_for,
                    ),
                )

    def requirements(self) -> tuple[ir.Requirement, ...]:
        """Return what it needs, with the needs of the one mode that it is fixed to."""
        blocks: list[ast.Require | ast.Mode] = [*self.main.syntax.every(ast.Require)]
        blocks += [m for m in self.main.syntax.every(ast.Mode) if m.name.text in self.main.mode]
        return self._requirements(r for block in blocks for r in block.requirements)

    def targets(self) -> tuple[ir.Target, ...]:
        """Return how full its resources may be by plan."""
        return TargetChecker(self.expressions).targets(self.main.syntax.every(ast.Target))

    def waits(self) -> tuple[ir.Wait, ...]:
        """Return how what arrives at its resources waits."""
        return TargetChecker(self.expressions).waits(self.main.syntax.every(ast.DefaultQueueing))

    def modes(self) -> tuple[ir.Mode, ...]:
        """Return its modes, none where it is fixed to one."""
        declared = [] if self.main.mode else self.distinct(ast.Mode)
        return tuple(self.changes.mode(m, self._requirements(m.requirements)) for m in declared)

    def scenarios(self) -> tuple[ir.Scenario, ...]:
        """Return its scenarios; one that sets the users of an instance is none of the spec's."""
        declared = self.distinct(ast.Scenario)
        return tuple(
            self.changes.scenario(scenario)
            for scenario in declared
            if not self.changes.choices.sets_population(scenario, self.main)
        )

    def left_out(self, quality: ir.Quality) -> None:
        """Say where an instance states a metric: all needs of a spec are joined by its own."""
        for stated in self.main.syntax.every(ast.Quality):
            metric = stated.metric
            if isinstance(metric, ast.Name) and metric.text == quality.metric.value:
                continue
            label = metric.text if isinstance(metric, ast.Name) else "= …"
            self.sink.report(
                codes.LEFT_OUT,
                stated.span,
                f"the quality metric of `{self.main.prefix}` is ignored: the spec's own "
                "metric covers all instances",
                hint=f"to use it for all, write `quality {label}` in the spec",
            )

    def _requirements(self, items: Iterable[ast.Requirement]) -> tuple[ir.Requirement, ...]:
        return sound(map(RequirementChecker(self.expressions).requirement, items))

    def distinct(self, kind: type[N]) -> list[N]:
        """Return the declarations of a kind, whose names must differ."""
        declared = self.main.syntax.every(kind)
        self.report_twice(keyword(kind), declared)
        return declared

    def report_twice(self, kind: str, declared: Iterable[ast.Named]) -> None:
        """Report what has a name that stands before it."""
        message = f"{kind} {{}} is declared twice"
        self.are_distinct(declared, message, "first declared here", "rename one of them")


def with_twins(machines: Iterable[ir.Machine]) -> dict[str, ir.Machine]:
    """Return machines by their names; those that several instances have of one file are a family.

    So a cost that was measured on a machine holds for it, whichever instance it stands in.
    """
    known = tuple(machines)
    alike: dict[ir.Machine, list[str]] = {}
    for machine in known:
        alike.setdefault(replace(machine, name="", family=()), []).append(machine.name)
    twins = {name: names for names in alike.values() for name in names if len(names) > 1}
    return {
        machine.name: replace(machine, family=_related_names(machine, twins)) for machine in known
    }


def _related_names(machine: ir.Machine, twins: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the names of a machine's family, each with those of its twins."""
    line = [machine.name, *machine.family]
    names = dict.fromkeys(name for one in line for name in (one, *twins.get(one, ())))
    return tuple(name for name in names if name != machine.name)
