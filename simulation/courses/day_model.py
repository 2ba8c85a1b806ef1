"""From a spec with profiles to what is simulated over the hours of a day or a week."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_each_mode
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.clock_times import moment_name
from qps.simulation.courses.course_input import ClientStream, CourseInput
from qps.simulation.courses.course_model import overloaded_network, renumbered, stations_of
from qps.simulation.simulated_model import SimulatedNetwork, Station, StreamSource
from qps.simulation.station_registry import refused
from qps.solver.incidents.incident_system import CapacityLoss, TrafficChange

_MINUTE = 60.0
_LEAD = 60.0
_WIDTH = 60.0
_MOST_POINTS = 1440


class DayMoment(Struct, frozen=True, kw_only=True):
    """What is simulated from one time to another, in s."""

    name: str
    start: float
    end: float
    network: SimulatedNetwork

    @property
    def sources(self) -> dict[tuple[str, int], StreamSource]:
        """The sources by their streams, of which there may be several."""
        found: dict[tuple[str, int], StreamSource] = {}
        for one in self.network.sources:
            number = sum(name == one.stream for name, _ in found)
            found[one.stream, number] = one
        return found

    def capacity(self, station: str) -> float:
        """Return how many servers a station has."""
        own = (one for one in self.network.stations if one.name == station)
        return sum(one.fastest * one.copies for one in own)


def day_course(
    model: ir.Model,
    configuration: Configuration,
    population: int,
    hours: tuple[int, int] | None = None,
) -> CourseInput:
    """Return what is simulated of a cycle, or from one minute of it to another."""
    fixed = {one.name for one in configuration.explicit if isinstance(one, ir.SetParameter)}
    profiles = [one for one in model.profiles if one.name not in fixed]
    cycle = ir.cycle_of(profiles)
    start, end = hours or (0, cycle)
    spans = {one.name: one.span for one in model.profiles}
    moments, stations, nodes = [], dict[str, Station](), {}
    for one in ir.moments_of(profiles):
        if one.start >= end or one.end <= start:
            continue
        changes = [
            ir.SetParameter(name, ir.Constant(value), spans[name]) for name, value in one.values
        ]
        graph = lower(model, in_each_mode(model, changed(configuration, changes))[0])
        network = overloaded_network(graph, population)
        moments.append(
            DayMoment(
                name=moment_name(one.start, cycle),
                start=_MINUTE * (max(one.start, start) - start),
                end=_MINUTE * (min(one.end, end) - start),
                network=network,
            )
        )
        for station, known in zip(network.stations, stations_of(graph, network), strict=True):
            before = stations.get(station.name)
            if before is None or before.copies < station.copies:
                stations[station.name], nodes[station.name] = station, known
    known_stations = tuple(stations.values())
    until = _MINUTE * (end - start)
    return CourseInput(
        network=replace(moments[0].network, stations=known_stations, sources=()),
        stations=tuple(nodes[name] for name in stations),
        streams=tuple(_streams(moments, known_stations)),
        capacity_changes=tuple(_capacity_changes(moments, {one.node for one in nodes.values()})),
        traffic_changes=tuple(_traffic_changes(moments)),
        lead=_LEAD,
        end=until,
        calm=until,
        until=until,
        width=max(_WIDTH, until / _MOST_POINTS),
    )


def _streams(moments: Sequence[DayMoment], stations: tuple[Station, ...]) -> Iterator[ClientStream]:
    """Yield the streams with their highest rates; their steps must be the same at all times."""
    found: dict[tuple[str, int], ClientStream] = {}
    for moment in moments:
        for key, source in moment.sources.items():
            steps = renumbered(source.steps, moment.network.stations, stations)
            before = found.get(key)
            if before is not None and before.steps != steps:
                raise refused(
                    f"`{source.stream}` has other service demands at {moment.name}: only days in "
                    "which traffic and numbers of machines change are simulated",
                    "set the profile of the demands to one value, or simulate fewer hours, such as "
                    "`--over 08:00..12:00`",
                )
            rate = max(source.rate, 0.0 if before is None else before.rate)
            found[key] = ClientStream(
                name=_name(key), rate=rate, priority=source.priority, steps=steps
            )
    yield from found.values()


def _name(key: tuple[str, int]) -> str:
    stream, number = key
    return f"{stream}/{number}" if number else stream


def _traffic_changes(moments: Sequence[DayMoment]) -> Iterator[TrafficChange]:
    keys = dict.fromkeys(key for one in moments for key in one.sources)
    for key in keys:
        rates = [one.sources[key].rate if key in one.sources else 0.0 for one in moments]
        for place, (moment, rate) in enumerate(zip(moments, rates, strict=True)):
            yield TrafficChange(
                stream=_name(key),
                factor=rate / max(rates),
                start=moment.start if place else -_LEAD,
                end=moment.end,
            )


def _capacity_changes(moments: Sequence[DayMoment], nodes: set[str]) -> Iterator[CapacityLoss]:
    """Yield how many machines of each node there are, as a part of the most."""
    for node in sorted(nodes):
        own = dict.fromkeys(
            one.name
            for moment in moments
            for one in moment.network.stations
            if one.name.rpartition(".")[0] == node
        )
        name = next(iter(own))
        capacities = [one.capacity(name) for one in moments]
        most = max(capacities)
        for place, (moment, capacity) in enumerate(zip(moments, capacities, strict=True)):
            if 0 < capacity < most:
                start = moment.start if place else -_LEAD
                yield CapacityLoss(node=node, factor=capacity / most, start=start, end=moment.end)
