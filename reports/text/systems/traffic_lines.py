"""The head of a spec from traces: where it comes from, and what comes in."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.traces.call_graph import TracedRoute
from qps.reports.text.measurements.fit_text import quoted
from qps.reports.text.systems.observed_system import USERS, System, comment
from qps.reports.text.systems.spec_numbers import amount, duration, moment, percent, plain
from qps.reports.text.systems.system_names import all_calls
from qps.reports.text.words.phrases import phrase


def head_lines(system: System) -> Iterator[str]:
    """Yield where the spec comes from."""
    services, routes = len(system.graph.services), len(system.graph.routes)
    doc = system.phrase(
        "system.doc",
        services=services,
        s="s" * (services != 1),
        routes=routes,
        rs="s" * (routes != 1),
    )
    yield f'"""{doc}."""'
    yield from comment(system.phrase("system.header"))
    names = ", ".join(shortened(one) for one in system.files)
    yield from comment(system.phrase("system.files", files=names))
    period = system.phrase(
        "system.period",
        start=moment(system.graph.first) or "?",
        seconds=duration(system.graph.seconds),
        traces=amount(system.graph.traces),
        spans=amount(system.graph.spans),
    )
    yield from comment(period)
    for note in system.graph.notes:
        if note.startswith("warning"):
            yield from comment(note)
    if system.left_out:
        share = percent(system.share_left_out)
        yield from comment(phrase("system.other_routes", count=system.left_out, share=share))
    yield ""
    yield "users N in 1..1_000_000"
    yield ""


def traffic_lines(system: System) -> Iterator[str]:
    """Yield what comes in, and what of that is not known."""
    yield from comment(system.phrase("system.recorded_users"))
    source = quoted(system.phrase("system.recorded_users_source"))
    yield f"param recorded_users = {USERS} in 1..1_000_000_000  source {source}"
    source = system.phrase(
        "system.traced_known" if system.graph.sampled else "system.traced_source"
    )
    if not system.graph.sampled:
        yield from comment(f"{system.phrase('system.traced')}{_share_by_table(system)}")
    yield f"param traced = 100 % in 0.0001..100 %  source {quoted(source)}"
    yield ""
    for number in range(len(system.graph.routes)):
        yield from _rate(system, number)
    for (caller, called), name in system.names.retries.items():
        retried, count = _retried(system, caller, called)
        source = phrase("system.retries", count=amount(retried), of=amount(count))
        share = retried / (count - retried) if count > retried else 1.0
        yield f"param {name} = {percent(share)} in 0..1000 %  source {quoted(source)}"
    yield ""


def _share_by_table(system: System) -> str:
    """Return what share of requests a table with their rates says was traced."""
    if system.costs is None or not system.graph.seconds:
        return ""
    rates = [
        (cost.rate, system.rates.get(name, 0.0)) for name, cost in system.costs.services.items()
    ]
    share = sum(here for _, here in rates) / sum(there for there, _ in rates)
    file = system.costs.file
    return f" {phrase('system.traced_by_table', file=file, share=percent(share, 2))}"


def _rate(system: System, number: int) -> Iterator[str]:
    route, name = system.graph.routes[number], system.names.streams[number]
    causes = [one for one in route.messages if one.route < number]
    if causes and len(causes) == len(route.messages):
        parts = [
            f"{system.names.streams[one.route]}_rate"
            + _times(one.count / system.graph.routes[one.route].root.count)
            for one in causes
        ]
        seen = sum(one.count for one in causes)
        extra = route.root.count - seen
        if extra > 1e-9 * seen and system.graph.seconds:
            parts.append(f"{plain(extra / system.graph.seconds)} request/s")
        yield f"let {name}_rate = {' + '.join(parts)}  source {quoted(_counted(system, route))}"
        return
    if not system.graph.seconds:
        yield from comment(phrase("system.rate_question", name=name))
        source = quoted(system.phrase("system.assumed"))
        yield f"param {name}_rate = {plain(route.root.count)} request/s  source {source}"
        return
    rate = route.root.count / system.graph.seconds
    yield f"param {name}_rate = {plain(rate)} request/s  source {quoted(_counted(system, route))}"


def _times(factor: float) -> str:
    text = plain(factor)
    return "" if text == "1" else f" * {text}"


def _counted(system: System, route: TracedRoute) -> str:
    count, seconds = amount(route.root.count), duration(system.graph.seconds)
    return phrase("system.rate", count=count, seconds=seconds)


def _retried(system: System, caller: str, called: str) -> tuple[float, float]:
    """Return how many calls between two services were retries, of those retried at all."""
    calls = [
        below
        for route in system.graph.routes
        for call in all_calls(route.root)
        if call.service == caller
        for step in call.steps
        for group in step.together
        for below in group
        if below.service == called and below.retries
    ]
    return sum(one.retries for one in calls), sum(one.count for one in calls)
