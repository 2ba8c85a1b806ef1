"""The system of an incident: what follows for it from a spec, at a population."""

from __future__ import annotations

from math import ceil, inf

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.network.classes import Class
from qps.compiler.quantities.clock_times import moment_of, without_moment
from qps.solver.incidents.course_steps import calm_of, is_too_coarse
from qps.solver.incidents.incident_changes import (
    cache_flushes,
    capacity_changes,
    machines_of,
    report_overlaps,
    traffic_changes,
    warm_caches,
)
from qps.solver.incidents.incident_numbers import (
    IncidentNumbers,
    modes_of_incidents,
    no_answer,
)
from qps.solver.incidents.incident_routes import ClassRoutes, class_routes, stations_of
from qps.solver.incidents.incident_system import (
    FluidStation,
    IncidentSystem,
    RequestStream,
    RetryPolicy,
    ScalingPolicy,
    WarmingCache,
)

_ROUNDING = 1e-9
_MOST_RETRIES = 100
"""The backoff doubles with each."""


def incident_system(
    model: ir.Model, configuration: Configuration, incident: ir.Incident, population: int
) -> IncidentSystem:
    """Return what an incident happens to, for so many users, at nominal inputs.

    Raises QpsError for what is not supported, and where a resource is overloaded before.
    """
    numbers = IncidentNumbers.of(model, configuration, incident, population)
    _refuse(numbers)
    flushes = cache_flushes(numbers)
    emptied = dict.fromkeys(one.cache for one in flushes)
    warm = warm_caches(numbers, emptied)
    routes = [
        class_routes(numbers, one, emptied, warm if _retry(numbers, one) else ())
        for one in numbers.classes
    ]
    followed = {one.cache for one in routes}
    stations = stations_of(numbers, routes)
    places = {one.name: place for place, one in enumerate(stations)}
    nodes = dict.fromkeys(one.node for one in stations)
    active = numbers.folder.configuration.nodes
    system = IncidentSystem(
        stations=stations,
        streams=tuple(
            RequestStream(
                name=one.of.name,
                rate=numbers.rate(one.of),
                routes=one.at(places),
                latency=numbers.latency(one.of),
                cache=one.cache,
                retry=_retry(numbers, one.of),
                limit=numbers.limit(one.of),
            )
            for one in routes
        ),
        caches=tuple(
            WarmingCache(name=one.name, items=one.items, exponent=one.zipf, size=one.size)
            for one in model.caches
            if one.name in emptied or one.name in followed
        ),
        scalers=tuple(_scaler(numbers, one, stations) for one in model.autoscalers),
        capacity_changes=capacity_changes(numbers),
        traffic_changes=traffic_changes(numbers),
        flushes=flushes,
        counts={node: round(machines_of(numbers, node)) for node in nodes if node in active},
        mode=_mode(numbers),
        moment=moment_of(numbers.configuration.mode),
    )
    _refuse_overload(numbers, system, routes)
    _refuse_short_changes(numbers, system)
    return system


def _mode(numbers: IncidentNumbers) -> str:
    """Return the name of the mode; empty where the spec has only one."""
    modes = modes_of_incidents(numbers.model)
    return without_moment(numbers.configuration.mode) if len(modes) > 1 else ""


def _refuse_short_changes(numbers: IncidentNumbers, system: IncidentSystem) -> None:
    """Refuse what happens for so short a time beside all of it that steps would miss it."""
    if not is_too_coarse(system):
        return
    lengths = [one.end - one.start for one in system.capacity_changes]
    lengths += [one.end - one.start for one in system.traffic_changes]
    shortest = min(lengths)
    length = system.start + 4 * (system.end - system.start) + 8 * calm_of(system)
    raise no_answer(
        numbers.incident.span,
        f"something happens for {shortest:.3g} s only, which is too short beside the {length:.3g} s"
        " in which the incident and all retries are followed",
        "start it earlier, let clients try again for a shorter time, or use several incidents",
    )


def _refuse(numbers: IncidentNumbers) -> None:
    """Refuse what is not supported."""
    for one in numbers.graph.network.classes.values():
        if one.amount is not None:
            raise no_answer(
                one.span,
                f"incidents are not supported where users wait for answers: `{one.stream}`",
                "state its traffic as a rate, such as `traffic 1 request / 10 s`",
            )
    for station in numbers.graph.network.stations.values():
        if station.room is not None:
            raise no_answer(
                station.span,
                f"incidents are not supported at a queue with an end: `{station.name}`",
                "in a copy of the spec, use a queueing discipline without `room`",
            )
    report_overlaps(numbers)


def _refuse_overload(
    numbers: IncidentNumbers, system: IncidentSystem, routes: list[ClassRoutes]
) -> None:
    """Refuse a system that is overloaded before anything happens."""
    hits = {one.name: numbers.hit_rate(one.name) for one in system.caches}
    work = [0.0] * len(system.stations)
    for stream, one in zip(system.streams, routes, strict=True):
        shares = one.shares(hits.get(stream.cache or "", 0.0))
        for route, share in zip(stream.routes, shares, strict=True):
            for place, part in route.visits:
                work[place] += stream.rate * share * part
    for station, busy in zip(system.stations, work, strict=True):
        scaler = system.scaler_of(station.node)
        machines = 1.0 if scaler is None else scaler.at_start / scaler.count
        load = busy / (station.servers * machines) + station.background
        if load < 1:
            continue
        name = numbers.model.population.name
        mode = f" in mode {system.mode}" if system.mode else ""
        raise no_answer(
            numbers.incident.span,
            f"`{station.name}` is overloaded before the incident: {100 * load:.0f} % for "
            f"{numbers.population:,} {name}{mode}",
            f"use fewer users: `--at {max(1, int(0.7 * numbers.population / load))}`"
            if scaler is None
            else f"raise the largest number of machines of `{scaler.node}`, or lower its target",
        )


def _scaler(
    numbers: IncidentNumbers, of: ir.Autoscaler, stations: tuple[FluidStation, ...]
) -> ScalingPolicy:
    """Return an autoscaler with as many machines as it has in steady state."""
    own = [one for one in stations if one.node == of.node and one.is_processor]
    if not own:
        raise no_answer(
            of.span,
            f"`{of.node}` has no CPU that requests use: nothing to scale by",
            "autoscale a node with a `cpu` that a component uses",
        )
    least, most = round(numbers.value(of.least)), round(numbers.value(of.most))
    if least > most:
        raise QpsError.single(
            codes.OUT_OF_RANGE,
            of.span,
            f"an autoscaler cannot have from {least} to {most} machines",
            hint="state the least number first",
        )
    values = {name: numbers.value(value) for name, value in of.settings.items()}
    count = machines_of(numbers, of.node)
    busy = max(numbers.number(numbers.graph.resources[one.name].load) for one in own)
    wanted = ceil(busy * count / values["target"] - _ROUNDING)
    at_start = min(max(wanted, least), most)
    return ScalingPolicy(
        node=of.node, count=count, least=least, most=most, at_start=at_start, **values
    )


def _retry(numbers: IncidentNumbers, of: Class) -> RetryPolicy | None:
    """Return what the clients of a stream do without an answer in time."""
    stated = next((one for one in numbers.model.retrying if one.stream == of.stream), None)
    if stated is None:
        return None
    settings = stated.settings
    policy = RetryPolicy(
        timeout=numbers.value(settings["timeout"], inf),
        retries=round(numbers.value(settings["retries"])),
        backoff=numbers.value(settings.get("backoff")),
        budget=numbers.value(settings["budget"]) if "budget" in settings else None,
    )
    if policy.retries > _MOST_RETRIES:
        raise no_answer(
            settings["retries"].span,
            f"incidents are not supported with more than {_MOST_RETRIES} retries",
            "state how often clients try again before they give up, such as `retries 3`",
        )
    latency = numbers.latency(of)
    if policy.timeout <= latency:
        raise no_answer(
            settings["timeout"].span,
            f"the timeout is not above the mean response time of `{of.stream}`, {latency:.3g} s",
            "state a longer timeout, or use fewer users: `--at`",
        )
    return policy
