"""The claims of a spec from traces: rates, calls and latencies are those that were measured."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.diagnostics.suggest import shortened
from qps.reports.text.measurements.fit_text import quoted
from qps.reports.text.systems.observed_system import USERS, System, comment
from qps.reports.text.systems.spec_numbers import duration, plain
from qps.reports.text.words.phrases import phrase

_RECORDED = "with scenario = recorded"


def claim_lines(system: System) -> Iterator[str]:
    """Yield the claims that rates and latencies are those of the traces."""
    yield ""
    name = system.names.streams[0]
    yield from comment(phrase("system.require", name=name))
    yield ""
    yield f"scenario recorded {{ N = {USERS}; recorded_users = {USERS}; traced = 100 % }}"
    files = ", ".join(shortened(one) for one in system.files)
    yield f'expect recorded_rates "{system.phrase("system.claims")}" {{'
    for number, route in enumerate(system.graph.routes):
        if system.graph.seconds:
            rate = plain(route.root.count / system.graph.seconds)
            name = system.names.streams[number]
            yield f"  {USERS} * {name}.rate ~ {rate} request/s within 1 % {_RECORDED}"
    for service in system.graph.services:
        name = system.names.nodes[service.name]
        idle = system.idle(service)
        busy = f"({name}.cpu.utilization - {idle})" if idle else f"{name}.cpu.utilization"
        rate = plain(system.rates[service.name])
        yield f"  {busy} * count({name}) * {name}_cores"
        yield f"    / {name}_cpu ~ {rate} request/s within 1 % {_RECORDED}"
    yield f"  source {quoted(system.phrase('system.files', files=files))}"
    yield "}"
    yield from _latency_claims(system, files)


def _latency_claims(system: System, files: str) -> Iterator[str]:
    """Yield claims of latencies, where all processor times are known."""
    if any(system.cost(one) is None for one in system.graph.services):
        return
    timed = [
        (system.names.streams[number], route.root.duration)
        for number, route in enumerate(system.graph.routes)
        if route.root.duration
    ]
    if not timed:
        return
    yield f'expect recorded_latencies "{system.phrase("system.latencies")}" {{'
    for name, mean in timed:
        yield f"  {name}.latency ~ {duration(mean)} within 20 % {_RECORDED}"
    yield f"  fitted {quoted(phrase('system.latency_fitted'))}"
    yield f"  source {quoted(files)}"
    yield "}"
