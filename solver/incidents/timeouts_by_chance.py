"""Timeouts by random waits alone: clients that try again may overload a system without an incident.

A fluid follows means, in which no request waits at a load below 1. Single requests do wait, and
some of them for longer than their clients do. Where all attempts of all clients together are more
than a resource can do, one longer queue is enough for that: those behind it time out as well, and
try again, so that it does not become shorter any more (Bronson et al., Metastable Failures in
Distributed Systems, HotOS 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import LoadGraph
from qps.solver.answers.graph_solution import value_at

NEGLIGIBLE = 1e-4
"""The share of requests that time out by chance, up to which nothing is said.

Of one server with timeouts of 20 service times and two retries, the share of simulated runs of 20
minutes that lost a tenth of their requests or more was 0 of 10 at 0.005 %, 1 at 0.012 %, 2 at
0.034 %, 3 at 0.09 %, 9 at 0.25 % and 10 from 1.8 % on.
"""


class ChanceTimeout(Struct, frozen=True, kw_only=True):
    """A stream of which a `share` of the requests waits beyond the timeout (in s) by chance alone.

    That is before any retries, in a steady state. With all attempts of all clients, the load of
    `resource` would be `load`, which is above 1.
    """

    stream: str
    timeout: float
    share: float
    resource: str
    load: float
    span: Span | None


def timeouts_by_chance(
    model: ir.Model, configuration: Configuration, graph: LoadGraph, population: int
) -> tuple[ChanceTimeout, ...]:
    """Return the streams whose retries may overload a system by random waits alone.

    Nothing is said of autoscaled nodes, which have more machines then, of users who wait for their
    answers, and of streams whose response time has no law.
    """
    if not model.retrying:
        return ()
    folder = Folder(configuration=in_force(configuration), population=Fraction(population))
    attempts = {one.stream: _attempts(one, folder) for one in model.retrying}
    scaled = {one.node for one in model.autoscalers}
    loads = {
        name: load
        for name, load in _loads(graph, population, attempts)
        if graph.network.place_of(name) not in scaled
    }
    return tuple(_found(model, graph, population, folder, loads))


def report_timeouts(
    found: Sequence[ChanceTimeout], graph: LoadGraph, population: int, sink: Sink
) -> None:
    """Warn of retries that may overload a system without an incident."""
    for one in found:
        sink.report(
            codes.TIMEOUTS_BY_CHANCE,
            one.span,
            f"retries of `{one.stream}` may overload {one.resource} without an incident: "
            f"{_percent(one.share)} of the requests exceed the timeout by chance at "
            f"{graph.population} = {population:,}, and all attempts together are "
            f"{_percent(one.load)} of its capacity",
            hint="use fewer users, a longer timeout, or a retry budget",
        )


def _percent(share: float) -> str:
    return f"{share * 100:.2g} %" if share < 1 else f"{share * 100:.3g} %"


def _found(
    model: ir.Model,
    graph: LoadGraph,
    population: int,
    folder: Folder,
    loads: Mapping[str, float],
) -> Iterator[ChanceTimeout]:
    policies = {one.stream: one for one in model.retrying}
    for of in graph.network.classes.values():
        policy = policies.get(of.stream)
        if policy is None or of.amount is not None:
            continue
        own = {
            load: name
            for name, load in loads.items()
            if of.name in graph.resources[name].streams and load >= 1
        }
        timeout = folder.fold(policy.settings["timeout"].expr)
        if not own or timeout is None:
            continue
        try:
            share = value_at(graph, graph.streams[of.name].later(timeout), population)
        except QpsError:
            continue
        if isfinite(share) and share > NEGLIGIBLE:
            yield ChanceTimeout(
                stream=of.name,
                timeout=float(timeout),
                share=share,
                resource=own[max(own)],
                load=max(own),
                span=policy.span,
            )


def _attempts(policy: ir.Retrying, folder: Folder) -> float:
    """Return how many attempts a request has at most, on average where a budget limits them."""
    retries = folder.fold(policy.settings["retries"].expr)
    budget = policy.settings.get("budget")
    limit = None if budget is None else folder.fold(budget.expr)
    return 1 + min(
        0.0 if retries is None else float(retries), inf if limit is None else float(limit)
    )


def _loads(
    graph: LoadGraph, population: int, attempts: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield the load of each station with all attempts of all clients."""
    classes = graph.network.classes
    for name in graph.network.stations:
        resource = graph.resources.get(name)
        if resource is None:
            continue
        load = value_at(graph, resource.load, population)
        for stream, part in resource.streams.items():
            of = classes.get(stream)
            more = attempts.get(stream if of is None else of.stream, 1.0) - 1
            load += more * value_at(graph, part, population)
        yield name, load
