"""A network with what follows for its visits by flow balance, and what its numbers vouch for.

Premises look at these, and never at formulas of waits. Numbers may only vouch: one that is moving
vouches for nothing, and no premise makes another formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct, field

from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Take
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage, passages, visits_of
from qps.compiler.network.station_runs import ServiceRun, runs_of
from qps.compiler.network.stations_and_pools import Place, Station
from qps.compiler.quantities.certainty import Reason
from qps.engine.execution.float_runs import numbers_function
from qps.engine.expressions.formulas import ZERO, Formula, number
from qps.engine.expressions.monomials import expanded, monomials
from qps.engine.expressions.point_values import EvaluationPoint, NoSignError
from qps.engine.expressions.substitution import Substitution
from qps.engine.numerics.value_ranges import ValueRange


class Fails(Struct, frozen=True):
    """A premise that fails: why, and where. Without one it holds."""

    why: Reason


class From(Struct, frozen=True):
    """A premise that fails in that way at populations where `beyond` is above zero."""

    beyond: Formula
    fails: Fails


Premise: TypeAlias = Fails | From


class NumberFacts(Struct, frozen=True):
    """What the numbers of a spec vouch for; those that are moving vouch for nothing."""

    expressions: ExpressionLowering

    def is_whole(self, formula: Formula) -> bool:
        """Return whether a count is whole at any population."""
        if formula.is_constant:
            return _is_whole(formula)
        populations = self._populations()

        def is_true(formula: Formula, _: Mapping[Formula, ValueRange]) -> bool:
            return all(_is_whole(each(formula)) for each in populations)

        return self.expressions.of_what_stays(formula, is_true)

    def are_equal(self, one: Formula, other: Formula) -> bool:
        """Return whether two values are equal at any population."""
        if one is other:
            return True
        population = self.expressions.population

        def is_true(formula: Formula, _: Mapping[Formula, ValueRange]) -> bool:
            return expanded(formula, {population}) is ZERO

        return self.expressions.of_what_stays(one - other, is_true)

    def is_above_zero(self, formula: Formula) -> bool:
        """Return whether a value may be above zero at the highest population."""
        highest = self._populations()[-1]

        def is_true(formula: Formula, _: Mapping[Formula, ValueRange]) -> bool:
            value = highest(formula).exact
            return value is None or value > 0

        return self.expressions.of_what_stays(formula, is_true)

    def is_always_below(self, formula: Formula, limit: Fraction) -> bool:
        """Return whether a value of which no fraction is known is below a limit at any population.

        It is looked at where populations end.
        """

        def is_below(formula: Formula, _: Mapping[Formula, ValueRange]) -> bool:
            if not formula.symbols <= {self.expressions.population}:
                return False
            return all(_is_negative(EvaluationPoint(one), formula - limit) for one in self._ends())

        return self.expressions.of_what_stays(formula, is_below)

    def is_never_above_zero(self, formula: Formula) -> bool:
        """Return whether a value is at most zero at any population: it is where it is at both ends.

        So it is of what grows evenly with the population, or falls; nothing else is vouched for.
        """
        population, populations = self.expressions.population, self._populations()

        def is_true(formula: Formula, _: Mapping[Formula, ValueRange]) -> bool:
            by = monomials(formula, {population})
            is_even = all(len(of) < 2 and population not in one.symbols for of, one in by.items())  # noqa: PLR2004 - no square
            values = [at(formula).exact for at in (populations[0], populations[-1])]
            return is_even and all(value is not None and value <= 0 for value in values)

        return self.expressions.of_what_stays(formula, is_true)

    def at_ends(self, formulas: Sequence[Formula]) -> list[list[float]]:
        """Return what formulas come to where populations end; nothing where numbers move."""
        of_all = [self.expressions.averaged(one) for one in formulas]
        numbers = {one.name for formula in of_all for one in self.expressions.assumed_in(formula)}
        if not numbers.isdisjoint(self.expressions.moving):
            return []
        values = self.expressions.values_in(*of_all)
        self.expressions.weigh(of_all)
        population = self.expressions.population
        if not frozenset().union(*(one.symbols for one in of_all)) <= {population, *values}:
            return []
        configuration = self.expressions.configuration
        applied = numbers_function(population, of_all, values)
        return [applied(at) for at in sorted({configuration.low, configuration.high})]

    def _populations(self) -> list[Substitution]:
        return [Substitution(one) for one in self._ends()]

    def _ends(self) -> list[dict[Formula, Formula]]:
        low, high = self.expressions.configuration.low, self.expressions.configuration.high
        found = sorted({low, min(low + 1, high), high})
        return [{self.expressions.population: number(at)} for at in found]


def _is_negative(point: EvaluationPoint, formula: Formula) -> bool:
    try:
        return point.sign(formula) == -1
    except NoSignError:
        return False


def _is_whole(formula: Formula) -> bool:
    value = formula.exact
    return value is not None and Fraction(value).denominator == 1


class NetworkPassages(Struct, frozen=True, kw_only=True, dict=True):
    """A network with the passages of its classes; nothing is looked at before it is requested.

    Pools that are never full are `unfilled`. Each station that is waited for is a queue with what
    visits it; `traffic` is what each class came to, `closed` the cycles of closed ones.
    """

    network: Network
    unfilled: frozenset[str] = frozenset()
    queues: Mapping[str, Queue] = field(default_factory=dict)
    shaped: Mapping[str, str] = field(default_factory=dict)
    """The queues at which arrivals are not those of the sources, with one that shapes them."""
    traffic: Mapping[str, ClassTraffic] = field(default_factory=dict)
    closed: Mapping[str, ClosedStream] = field(default_factory=dict)

    @cached_property
    def passages(self) -> dict[str, list[Passage]]:
        """What happens to an item of each class, in order."""
        return {name: list(passages(one)) for name, one in self.network.classes.items()}

    @cached_property
    def visits(self) -> dict[str, list[Passage]]:
        """The passages of each station, class after class."""
        return visits_of(self.passages.values())

    @cached_property
    def runs(self) -> dict[str, list[ServiceRun]]:
        """The visits of each station that is waited for."""
        found: dict[str, list[ServiceRun]] = {}
        for each in self.passages.values():
            for run in runs_of(each, self.network):
                found.setdefault(run.station, []).append(run)
        return found

    @cached_property
    def pools_before(self) -> dict[str, dict[str, str]]:
        """For each station the open classes that wait for a pool before they come, with that."""
        found: dict[str, dict[str, str]] = {}
        for name, each in self.passages.items():
            if self.network.classes[name].is_closed:
                continue
            pool = ""
            for passage in each:
                if isinstance(passage.node, Take) and self._is_queueing(passage.node.pool):
                    pool = passage.node.pool
                for station in passage.stations if pool else ():
                    found.setdefault(station, {}).setdefault(name, pool)
        return found

    def _is_queueing(self, pool: str) -> bool:
        return not self.network.pools[pool].is_unmodeled

    def stations_of(self, of: Class) -> list[Station]:
        """Return the stations that a class comes to, pools left out."""
        names = dict.fromkeys(name for one in self.passages[of.name] for name in one.stations)
        known = self.network.stations
        return [known[name] for name in names if name in known]

    def pools_of(self, of: Class) -> list[str]:
        """Return the pools that a class takes of."""
        taken = (one.node for one in self.passages[of.name])
        return list(dict.fromkeys(one.pool for one in taken if isinstance(one, Take)))

    def component(self, of: Class) -> list[Class]:
        """Return the closed classes that a class shares a queue or pool with, and so on."""
        return self._components[of.name]

    @cached_property
    def _components(self) -> dict[str, list[Class]]:
        return {name: self._component(one) for name, one in self.network.classes.items()}

    def _component(self, of: Class) -> list[Class]:
        closed = [one for one in self.network.classes.values() if one.is_closed]
        meets = {one.name: self._visited_by(one) for one in closed}
        found, at = set[str](), self._visited_by(of)
        while more := {n for n, met in meets.items() if n not in found and not at.isdisjoint(met)}:
            found |= more
            at |= {place for name in more for place in meets[name]}
        return [one for one in closed if one.name in found]

    def _visited_by(self, of: Class) -> set[str]:
        waited = {one.name for one in self.stations_of(of) if one.waits}
        return waited | set(self.pools_of(of))

    def waits_of(self, of: Class) -> list[tuple[Queue, QueueVisit]]:
        """Return the visits of a class that wait, in order."""
        return self._waits.get(of.name, [])

    @cached_property
    def _waits(self) -> dict[str, list[tuple[Queue, QueueVisit]]]:
        found: dict[str, list[tuple[Queue, QueueVisit]]] = {}
        for queue in self.queues.values():
            for visit in queue.visits:
                found.setdefault(visit.of[0], []).append((queue, visit))
        return {name: sorted(each, key=lambda one: one[1].of[1]) for name, each in found.items()}

    def cycles_of(self, of: Class) -> list[ClosedStream]:
        """Return the cycles of all closed classes that a class meets."""
        names = {one.name for one in self.component(of)}
        return [one for one in self.closed.values() if one.name in names]

    def closed_at(self, station: str) -> list[Class]:
        """Return the closed classes that come to a station."""
        names = dict.fromkeys(one.of.name for one in self.visits.get(station, ()))
        found = (self.network.classes[name] for name in names)
        return [one for one in found if one.is_closed]


def is_holders(place: Place, of: Class) -> bool:
    """Return whether each flow of a class is at a machine of its own there.

    Elsewhere all may be at one of the equal machines; so may those of a pair, which has two.
    """
    return of.holder.kind == "node" and of.holder.name == place.name
