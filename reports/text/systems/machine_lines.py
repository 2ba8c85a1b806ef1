"""The services of a spec from traces: their work, its processor time, and their machines."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.traces.call_graph import (
    CallGraph,
    Operation,
    TracedCall,
    TracedService,
)
from qps.compiler.measurement.traces.cpu_costs import CpuCost
from qps.reports.text.measurements.fit_text import quoted
from qps.reports.text.systems.observed_system import System, comment
from qps.reports.text.systems.spec_numbers import amount, duration, plain
from qps.reports.text.systems.system_names import HIGHER_LOAD, all_calls, calls_below
from qps.reports.text.words.phrases import phrase

_ASSUMED = "between 0.1 and 10 ms/request"
_ALL = 0.999
_LEAST_SPREAD, _MOST_SPREAD = 0.0005, 0.99
"""What is less is that of numbers as they are written."""


class _Work(Struct, kw_only=True):
    """An operation of a service, over all routes."""

    count: float = 0.0
    duration: float = 0.0
    own: float = 0.0
    network: float = 0.0
    timed: float = 0.0


def processor_time_lines(system: System) -> Iterator[str]:
    """Yield the processor time of a request at each service, or that it is a question."""
    unknown = [one for one in system.graph.services if system.cost(one) is None]
    if system.costs is not None and len(unknown) < len(system.graph.services):
        yield system.phrase("system.cpu_measured", file=shortened(system.costs.file))
        for note in system.costs.notes:
            yield from comment(note)
    for service in system.graph.services:
        cost = system.cost(service)
        if cost is not None and system.costs is not None:
            yield from _known_cost(system, service, cost)
    if unknown:
        yield from comment(system.phrase("system.cpu_question"))
    assumed = quoted(system.phrase("system.assumed"))
    for service in unknown:
        yield f"param {system.names.nodes[service.name]}_cpu = {_ASSUMED}  source {assumed}"
    yield ""


def _known_cost(system: System, service: TracedService, cost: CpuCost) -> Iterator[str]:
    for note in cost.notes:
        yield from comment(f"{service.name}: {note}")
    assert system.costs is not None
    rows = phrase("system.cpu_fitted", rows=cost.windows, file=shortened(system.costs.file))
    value = f"{duration(cost.seconds)}/request{_plus_minus(cost.spread)}"
    yield f"param {system.names.nodes[service.name]}_cpu = {value}  source {quoted(rows)}"


def _plus_minus(spread: float) -> str:
    """Return what stands behind a number that may be off, relative; nothing where that is less."""
    return f" +- {plain(100 * min(spread, _MOST_SPREAD), 2)} %" if spread >= _LEAST_SPREAD else ""


def machine_lines(system: System) -> Iterator[str]:
    """Yield the machines, whose cores are a question."""
    yield from comment(phrase("system.cores_question"))
    assumed = quoted(system.phrase("system.assumed"))
    for service in system.graph.services:
        name = system.names.nodes[service.name]
        yield f"param {name}_cores = {system.cores(service)} in 1..1024  source {assumed}"
    for service in system.graph.services:
        name = system.names.nodes[service.name]
        if idle := system.idle(service):
            cpu = f"cpu {name}_cores * 1 core, idle {idle}, queueing mmc"
            yield f"machine {name}_machine {{ {cpu} }}"
    if any(not system.idle(one) for one in system.graph.services):
        yield "machine pod(count) { cpu count * 1 core, queueing mmc }"
    if _has_links(system.graph):
        yield from comment(phrase("system.links"))
        yield "network fabric { propagation 0 ms }"
    yield ""


def _has_links(graph: CallGraph) -> bool:
    """Return whether any service waits for another."""
    return any(
        below.service != call.service
        for route in graph.routes
        for call in all_calls(route.root)
        for below in calls_below(call)
    )


def component_lines(system: System) -> Iterator[str]:
    """Yield a component for each operation."""
    yield from comment(system.phrase("system.higher_load"))
    yield system.phrase("system.higher_load_factor", name=HIGHER_LOAD)
    yield ""
    yield from comment(system.phrase("system.delays"))
    yield system.phrase("system.waits", factor=HIGHER_LOAD)
    for key, work in _work(system.graph).items():
        cpu = f"{system.names.nodes[key[0]]}_cpu"
        delay = ""
        if work.timed:
            elapsed = work.own / work.timed + work.network / work.timed
            spread = _plus_minus(system.graph.spreads.get(key, 0.0))
            delay = f"; delay waits({duration(elapsed)}{spread}, {cpu})"
        yield from comment(_elapsed(key, work))
        is_known = system.costs is not None and key[0] in system.costs.services
        work_time = f"{cpu} * {HIGHER_LOAD}" if is_known else cpu
        yield f"component {system.names.components[key]} {{ cpu {work_time}{delay} }}"
    yield ""


def _elapsed(key: Operation, work: _Work) -> str:
    times = ""
    if work.timed:
        mean, own = work.duration / work.timed, work.own / work.timed
        is_all = own >= _ALL * mean
        kind = "system.elapsed_time" if is_all else "system.elapsed_times"
        times = phrase(kind, duration=duration(mean), own=duration(own))
        if work.network:
            between = duration(work.network / work.timed)
            times += phrase("system.elapsed_between", network=between)
    count = amount(work.count)
    return phrase(
        "system.elapsed",
        operation=f"{key[0]} {key[1]}",
        count=count,
        s="s" * (count != "1"),
        times=times,
    ).rstrip(", ")


def topology_lines(system: System) -> Iterator[str]:
    """Yield a node for each service."""
    yield "topology {"
    for service in system.graph.services:
        name = system.names.nodes[service.name]
        source = ""
        if service.instances:
            plural = "s" * (service.instances != 1)
            seen = phrase("system.all_instances", count=service.instances, s=plural)
            source = f"  source {quoted(seen)}"
        count = f" * {service.instances}" if service.instances > 1 else ""
        machine = f"{name}_machine" if system.idle(service) else f"pod({name}_cores)"
        if service.is_peer or service.name != name:
            yield from comment(_described(service))
        yield f"  node {name} = {machine}{count}{source}"
    if _has_links(system.graph):
        yield "  link calls = fabric between all"
    yield "}"


def _described(service: TracedService) -> str:
    peer = phrase("system.peer") if service.is_peer else ""
    return f"{service.name}: {peer}" if peer else service.name


def _work(graph: CallGraph) -> dict[Operation, _Work]:
    """Return what is known of each operation, over all ways that lead to it."""
    found: dict[Operation, _Work] = {}
    for route in graph.routes:
        for call in all_calls(route.root):
            work = found.setdefault(call.key, _Work())
            work.count += call.count
            _add_times(work, call)
    return found


def _add_times(work: _Work, call: TracedCall) -> None:
    if call.duration is not None and call.own is not None:
        work.timed += call.count
        work.duration += call.count * call.duration
        work.own += call.count * call.own
        work.network += call.count * (call.network or 0.0)
