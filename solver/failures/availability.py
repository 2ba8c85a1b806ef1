"""How often all requirements are met, if machines fail and are repaired independently.

A machine that works for a time on average, and is then repaired for another, works for
every/(every + repair) of the time, whatever the distributions of both (renewal-reward theorem;
Ross, Introduction to Probability Models, section 7.4). Machines fail independently of each other,
and as many can be repaired at the same time as have failed, so that the number of failed machines
of a node is binomial. In each state, requirements are those of the stationary state after the
failover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.solver.answers.answer_certainty import verdict_known
from qps.solver.answers.capacity import fails_at
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.failures.availability_result import Availability, PlaceUnavailability
from qps.solver.failures.state_probabilities import FailingPlace, named, states_of

AT_WORST_TIMES = known_by("failures-at-worst-times")
_MOST_STATES = 200
_ENOUGH = 0.01
"""Part of the unavailability that may be left to states that are not looked at."""
_NOTHING = 1e-10
_MOST_MACHINES = 10_000


def availability(
    model: ir.Model, configuration: Configuration, population: int
) -> Availability | None:
    """Return how often all requirements are met for a population; None if nothing can fail.

    Uncertain inputs are nominal. States are looked at, the most probable first, until those that
    are left have at most 1 % of the unavailability, 200 at most.
    """
    places = _failing_places(model, configuration, population)
    if not places:
        return None
    states = _States(model=model, configuration=configuration, population=population)
    counts = {place.name: place.count for place in places}
    met = seen = 0.0
    count = 0
    lost = dict.fromkeys(counts, 0.0)
    survived = dict.fromkeys(lost, 0)
    failed_alone: dict[str, list[int]] = {name: [] for name in lost}
    for state in states_of(places):
        failed = named(places, state)
        is_met = states.is_met(failed, counts)
        count += 1
        seen += state.probability
        met += state.probability if is_met else 0.0
        for name, number in failed.items() if len(failed) == 1 else ():
            if is_met:
                survived[name] = max(survived[name], number)
            else:
                lost[name] += state.probability
                failed_alone[name].append(number)
        left = max(0.0, 1 - seen)
        if count >= _MOST_STATES or left <= max(_NOTHING, _ENOUGH * (seen - met)):
            break
    return Availability(
        population=population,
        least=min(1.0, met),
        most=min(1.0, met + max(0.0, 1 - seen)),
        states=count,
        places=tuple(
            PlaceUnavailability(
                place=place.name,
                count=place.count,
                unavailability=place.unavailability,
                lost=lost[place.name],
                survives=min([survived[place.name], *(n - 1 for n in failed_alone[place.name])]),
            )
            for place in places
        ),
        known=together(states.known, AT_WORST_TIMES) if model.worst_moments else states.known,
    )


class _States(Struct, kw_only=True):
    """Looks at states: whether all requirements are met in them."""

    model: ir.Model
    configuration: Configuration
    population: int
    known: Certainty = EXACT

    def is_met(self, failed: Mapping[str, int], counts: Mapping[str, int]) -> bool:
        """Return whether all requirements are met for the population after so many failures."""
        if any(number >= counts[name] for name, number in failed.items()):
            return False
        return all(self._is_met_in(each) for each in self._configurations(failed))

    def _configurations(self, failed: Mapping[str, int]) -> Iterator[Configuration]:
        """Yield the configurations of a state, in each mode that `survive` has for it.

        Another state has the requirements of the modes without a failure.
        """
        if not self.model.modes or self.configuration.mode is not None:
            yield self._with_losses(self.configuration, failed)
            return
        stated = {mode.name: _losses(mode) for mode in self.model.modes}
        own = [mode for mode in self.model.modes if stated[mode.name] == dict(failed)]
        for mode in own or [one for one in self.model.modes if not stated[one.name]]:
            in_mode = replace(
                self.configuration, mode=mode.name, mode_changes=_without_losses(mode)
            )
            yield self._with_losses(in_mode, failed)

    def _with_losses(
        self, configuration: Configuration, failed: Mapping[str, int]
    ) -> Configuration:
        losses = tuple(
            ir.LoseMachines(
                name=name, number=number, zones=None, span=configuration.place(name).span
            )
            for name, number in failed.items()
        )
        changes = (*configuration.mode_changes, *losses)
        return replace(configuration, mode_changes=changes)

    def _is_met_in(self, configuration: Configuration) -> bool:
        graph = lower(self.model, configuration)
        if not graph.low <= self.population <= graph.high:
            return False
        criteria = all_criteria(graph)
        failing = [one for one in criteria if fails_at(graph, one, self.population)]
        self.known = together(self.known, _known(graph, criteria, failing, self.population))
        return not failing


def _known(
    graph: LoadGraph,
    criteria: tuple[Criterion, ...],
    failing: list[Criterion],
    population: int,
) -> Certainty:
    """Return how it is known whether all requirements are met in a state."""
    every = {one.name: replace(one, known=known_at(graph, one, population)) for one in criteria}
    return verdict_known(
        [every[one.name] for one in failing], list(every.values()), is_possible=not failing
    )


def _losses(mode: ir.Mode) -> dict[str, int]:
    """Return what has failed in a mode; of a zone, a number that no state has."""
    return {
        change.name: change.number if change.zones is None else -1
        for change in mode.changes
        if isinstance(change, ir.LoseMachines)
    }


def _without_losses(mode: ir.Mode) -> tuple[ir.Change, ...]:
    return tuple(one for one in mode.changes if not isinstance(one, ir.LoseMachines))


def _failing_places(
    model: ir.Model, configuration: Configuration, population: int
) -> list[FailingPlace]:
    """Return the places whose machines can fail. QpsError where there are too many of them."""
    active = in_force(configuration)
    folder = Folder(configuration=active, population=Fraction(population))
    kinds: list[tuple[ir.Node | ir.Link, ir.FailureTimes | None]] = []
    for node in active.nodes.values():
        machine = ir.machine_at(model, node)
        kinds.append((node, None if machine is None else machine.failures))
    for link in active.links.values():
        network = ir.network_at(model, link)
        kinds.append((link, None if network is None else network.failures))
    found = []
    for place, failures in kinds:
        count = folder.fold(place.count)
        if failures is None or not count:
            continue
        if count > _MOST_MACHINES:
            raise QpsError.single(
                codes.OUT_OF_RANGE,
                place.span,
                f"`{place.name}` has {int(count):,} machines that fail: at most "
                f"{_MOST_MACHINES:,} are supported",
                hint="remove `fails every …` from the machines of users",
            )
        every, repair = _time(folder, failures.every), _time(folder, failures.repair)
        part = repair / (every + repair)
        found.append(FailingPlace(name=place.name, count=int(count), unavailability=part))
    return found


def _time(folder: Folder, stated: ir.Quantity) -> float:
    """Return a time in s, also one that is no fraction, such as a root."""
    exact = folder.fold(stated.expr)
    near = folder.nearly(stated.expr) if exact is None else exact
    assert near is not None, "values that cannot be are reported before"
    return float(near)
