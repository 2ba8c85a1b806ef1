"""The numbers of a spec at a population, in the configuration in which an incident happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isfinite

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_each_mode, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.item_kinds import averaged, mixtures_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.network.classes import Class
from qps.compiler.quantities.clock_times import without_moment
from qps.compiler.quantities.dimension import TIME
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.worst_mode import nearness_at


class IncidentNumbers(Struct, frozen=True, kw_only=True):
    """A spec that is lowered in one of its modes, and what its formulas come to."""

    model: ir.Model
    configuration: Configuration
    graph: LoadGraph
    incident: ir.Incident
    population: int
    folder: Folder

    @classmethod
    def of(
        cls, model: ir.Model, configuration: Configuration, incident: ir.Incident, population: int
    ) -> IncidentNumbers:
        """Return the numbers of a spec in the first of its modes, at nominal inputs."""
        first = incident_modes(model, configuration, population)[0]
        return cls(
            model=model,
            configuration=first,
            graph=lower(model, first),
            incident=incident,
            population=population,
            folder=Folder(configuration=in_force(first), population=Fraction(population)),
        )

    def number(self, formula: Formula) -> float:
        """Return what a formula comes to, over all kinds."""
        return self.graph.at(self.population).number(over_kinds(self.graph)(formula))

    def value(self, stated: ir.Quantity | None, otherwise: float = 0.0) -> float:
        """Return a number that is stated; `otherwise` where none is."""
        return otherwise if stated is None else self._folded(stated.expr)

    def hit_rate(self, cache: str) -> float:
        """Return the hit rate of a cache in steady state, or the one that is set."""
        return self._folded(ir.ParameterValue(cache))

    def _folded(self, expr: ir.Expr) -> float:
        exact = self.folder.fold(expr)
        near = self.folder.nearly(expr) if exact is None else exact
        assert near is not None, "values that cannot be are reported before"
        return float(near)

    def with_hit_rate(self, cache: str, hits: Fraction) -> LoadGraph:
        """Return the graph with another hit rate of a cache."""
        change = ir.SetParameter(cache, ir.Constant(hits), self.incident.span)
        return lower(self.model, changed(self.configuration, [change]))

    @property
    def classes(self) -> tuple[Class, ...]:
        """The classes that send requests."""
        return tuple(one for one in self.graph.network.classes.values() if self.rate(one) > 0)

    def rate(self, of: Class) -> float:
        """Return the requests of a class in a second, of all its flows."""
        return self.number(of.flows * of.arrivals.rate)

    def latency(self, of: Class) -> float:
        """Return the mean response time of a class; 0 where there is none."""
        found = self.number(self.graph.streams[of.name].mean_latency)
        return found if isfinite(found) else 0.0

    def limit(self, of: Class) -> float | None:
        """Return the shortest response time that a requirement limits a class to."""
        limits = [
            self.number(one.limit)
            for one in self.graph.criteria
            if one.at_most and one.dimension == TIME and one.name.startswith(f"{of.stream}.")
        ]
        return min(limits, default=None)


def incident_modes(
    model: ir.Model, configuration: Configuration, population: int
) -> tuple[Configuration, ...]:
    """Return a configuration in each mode, with profiles at the moment nearest to a limit.

    The states after failures that are to be survived are no modes of an incident, unless one of
    them was chosen.
    """
    modes = in_each_mode(model, configuration)
    moments: dict[str, list[Configuration]] = {}
    for one in [one for one in modes if not _has_lost(one.mode_changes)] or modes:
        moments.setdefault(without_moment(one.mode), []).append(one)
    return tuple(_at_peak(model, own, population) for own in moments.values())


def modes_of_incidents(model: ir.Model) -> tuple[str, ...]:
    """Return the names of the modes in which incidents may happen."""
    own = (one for one in model.modes if not _has_lost(one.changes))
    return tuple(dict.fromkeys(without_moment(one.name) for one in own))


def _has_lost(changes: Sequence[ir.Change]) -> bool:
    return any(isinstance(one, ir.LoseMachines) for one in changes)


def _at_peak(model: ir.Model, moments: list[Configuration], population: int) -> Configuration:
    """Return the moment of a mode that comes nearest to a limit."""
    if len(moments) == 1:
        return moments[0]
    return max(moments, key=lambda one: nearness_at(lower(model, one), population))


def over_kinds(graph: LoadGraph) -> Callable[[Formula], Formula]:
    """Return what has the mean of a formula over all kinds of users and items of a graph."""
    mixtures = mixtures_of(graph.network.kinds)
    return lambda formula: averaged(formula, mixtures)


def no_answer(span: Span, message: str, hint: str) -> QpsError:
    """Return why there is no answer for an incident."""
    return QpsError.single(codes.NO_ANSWER, span, message, hint=hint)
