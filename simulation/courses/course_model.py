"""From a spec with an incident to what is played over time; what cannot be played is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import msgspec
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.network.stations_and_pools import StationKind
from qps.simulation.courses.course_input import ClientStream, CourseInput, CourseStation
from qps.simulation.model_builder import network_simulation
from qps.simulation.operating_point import operating_point
from qps.simulation.simulated_model import (
    BackgroundLoad,
    Give,
    Pick,
    Reach,
    Serve,
    SimulatedNetwork,
    Take,
)
from qps.simulation.simulated_model import Station as SimulatedStation
from qps.simulation.station_registry import refused
from qps.solver.incidents.course_steps import calm_of
from qps.solver.incidents.incident_numbers import IncidentNumbers
from qps.solver.incidents.incident_system import FluidCourse, IncidentSystem

_LEAST_LEAD = 60.0
_POINTS = 240
_LEAST_WIDTH = 0.5
_LONGER = 1.5
"""A run is broken off after so many times the time that the fluid model takes."""


def incident_course(
    model: ir.Model,
    configuration: Configuration,
    incident: ir.Incident,
    population: int,
    system: IncidentSystem,
    course: FluidCourse,
) -> CourseInput:
    """Return what is played of an incident at a population.

    Of the fluid model it takes how long to play, and nothing else.
    """
    _refuse_slower_delays(system)
    _refuse_errors_together(system)
    numbers = IncidentNumbers.of(model, configuration, incident, population)
    emptied = [one.name for one in system.caches]
    miss = _network(numbers, emptied, 0)
    hit = _network(numbers, emptied, 1) if emptied else miss
    stations = miss.stations
    streams = []
    for place, source in enumerate(miss.sources):
        of = next((one for one in system.streams if _is_of(one.name, source.stream)), None)
        other = hit.sources[place]
        streams.append(
            ClientStream(
                name=source.stream if of is None else of.name,
                rate=source.rate,
                priority=source.priority,
                steps=renumbered(source.steps, stations, stations),
                steps_of_hit=renumbered(other.steps, hit.stations, stations),
                cache=None if of is None else of.cache,
                retry=None if of is None else of.retry,
                limit=None if of is None else of.limit,
            )
        )
    last = course.points[-1].at + course.points[1].at - course.points[0].at
    calm = calm_of(system)
    until = (
        last
        if not course.returns or course.is_extrapolated
        else max(_LONGER * course.cleared_at, system.end) + 2 * calm
    )
    return CourseInput(
        network=replace(miss, sources=()),
        stations=tuple(stations_of(numbers.graph, miss)),
        streams=tuple(streams),
        caches=system.caches,
        scalers=system.scalers,
        capacity_changes=system.capacity_changes,
        traffic_changes=system.traffic_changes,
        flushes=system.flushes,
        lead=max(_LEAST_LEAD, calm),
        end=system.end,
        calm=calm,
        until=until,
        width=max(_LEAST_WIDTH, until / _POINTS),
    )


def _refuse_slower_delays(system: IncidentSystem) -> None:
    slower = {one.node for one in system.capacity_changes if one.is_slower}
    for one in system.streams:
        for route in one.routes:
            if any(node in slower for node, _ in route.delays):
                raise refused(
                    f"`{one.name}` has a delay at a node that is slower: it cannot be simulated",
                    "in a copy of the spec, state it as `cpu` of a node with enough cores",
                )


def _refuse_errors_together(system: IncidentSystem) -> None:
    if not any(one.answers_errors for one in system.capacity_changes):
        return
    for one in system.streams:
        if any(route.has_parallel_calls for route in one.routes):
            raise refused(
                f"`{one.name}` makes calls together, and a node fails with errors: it cannot be "
                "simulated",
                "in a copy of the spec, make its calls one after the other",
            )


def _is_of(name: str, stream: str) -> bool:
    return stream != "" and (name == stream or name.startswith(f"{stream}."))


def _network(numbers: IncidentNumbers, caches: list[str], hits: int) -> SimulatedNetwork:
    """Return the network with a hit rate of 0 or 1 of some caches, overloaded or not."""
    graph = numbers.graph
    if caches:
        changes = [
            ir.SetParameter(one, ir.Constant(Fraction(hits)), numbers.incident.span)
            for one in caches
        ]
        graph = lower(numbers.model, changed(numbers.configuration, changes))
    return overloaded_network(graph, numbers.population)


def overloaded_network(graph: LoadGraph, population: int) -> SimulatedNetwork:
    """Return a network that may be overloaded; QpsError if it cannot be simulated over time."""
    found = network_simulation(graph.network, operating_point(graph, population), is_over_time=True)
    for station in found.stations:
        if station.period is not None:
            raise refused(
                f"`{station.name}` has a CPU limit: it cannot be simulated over time",
                "in a copy of the spec, state its cores as `cpu` without a limit",
            )
    for source in found.sources:
        if source.customers:
            raise refused(
                f"users of `{source.stream}` wait for answers: they cannot be simulated over time",
                "state its traffic as a rate, such as `traffic 1 request / 10 s`",
            )
        if any(step.thread is not None for step in _steps_of(source.steps, Serve)):
            raise refused(
                f"`{source.stream}` uses a single thread: it cannot be simulated over time",
                "in a copy of the spec, remove `threads`",
            )
    return found


def stations_of(graph: LoadGraph, network: SimulatedNetwork) -> Iterator[CourseStation]:
    """Yield the stations of a network, with their nodes."""
    for one in network.stations:
        known = graph.network.stations.get(one.name)
        yield CourseStation(
            name=one.name,
            node=one.name.rpartition(".")[0],
            servers=one.fastest,
            copies=one.copies,
            is_processor=known is not None and known.kind is StationKind.PROCESSOR,
        )


def _steps_of(steps: Any, kind: type[Any]) -> Iterator[Any]:
    """Yield all steps of a kind, inside of others, too."""
    if isinstance(steps, tuple):
        for one in steps:
            yield from _steps_of(one, kind)
    elif isinstance(steps, msgspec.Struct):
        if isinstance(steps, kind):
            yield steps
        for name in steps.__struct_fields__:
            yield from _steps_of(getattr(steps, name), kind)


def renumbered(
    steps: Any, before: tuple[SimulatedStation, ...], after: tuple[SimulatedStation, ...]
) -> Any:
    """Return steps of one network with the numbers that stations have in another one."""
    places = {one.name: place for place, one in enumerate(after)}
    return _mapped(steps, {place: places[one.name] for place, one in enumerate(before)})


def _mapped(steps: Any, places: Mapping[int, int]) -> Any:
    if isinstance(steps, tuple):
        return tuple(_mapped(one, places) for one in steps)
    if not isinstance(steps, msgspec.Struct):
        return steps
    inner: dict[str, Any] = {
        name: _mapped(getattr(steps, name), places)
        for name in steps.__struct_fields__
        if isinstance(getattr(steps, name), tuple | msgspec.Struct)
    }
    if isinstance(steps, Serve | BackgroundLoad | Take | Give):
        inner["station"] = places[steps.station]
    if isinstance(steps, Pick | Reach):
        inner["copies"] = 1  # all machines share one queue
    return replace(steps, **inner) if inner else steps
