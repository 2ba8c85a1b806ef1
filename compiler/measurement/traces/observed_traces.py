"""Files of traces as the graph of calls in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces.call_graph import (
    CallGraph,
    Message,
    TracedRoute,
    TracedService,
)
from qps.compiler.measurement.traces.call_order import call_of
from qps.compiler.measurement.traces.call_tallies import RouteTally, Tallies
from qps.compiler.measurement.traces.span_files import spans_of_file
from qps.compiler.measurement.traces.span_store import MOST_OF_TRACE, by_trace
from qps.compiler.measurement.traces.spans import TraceSpan
from qps.compiler.measurement.traces.trace_tree import Flaws, requests_of

_STEPS = 10_000


class _Read(Struct, kw_only=True):
    """What was read so far."""

    spans: int = 0
    with_secrets: int = 0
    traces: int = 0
    sampled: bool = False
    first: int = 0
    last: int = 0
    starts: int = 0

    def start_at(self, start: int) -> None:
        """Note when a request came in."""
        self.first = min(self.first or start, start)
        self.last = max(self.last, start)
        self.starts += 1

    @property
    def seconds(self) -> float:
        """How long requests came in: n of them are n - 1 times between them."""
        if self.starts < 2:  # noqa: PLR2004 - one says nothing of time
            return 0.0
        return (self.last - self.first) / 1e9 * self.starts / (self.starts - 1)


def observed_traces(
    files: Sequence[Path],
    *,
    clients: Iterable[str] = (),
    advance: Callable[[int], None] = lambda _: None,
) -> CallGraph:
    """Return what the traces of files say; DataError where they say nothing.

    Services in `clients` are no part of the system. `advance` is called with numbers of spans.
    """
    notes: list[str] = []
    flaws, read, tallies = Flaws(), _Read(), Tallies()
    for spans in by_trace(_counted(files, notes, read, advance)):
        read.traces += 1
        if len(spans) > MOST_OF_TRACE:
            flaws.too_long += 1
            continue
        for request in requests_of(spans, flaws, frozenset(clients)):
            if request.is_synchronous:
                read.start_at(request.start)
            tallies.add(request)
    if not tallies.routes:
        raise _without_requests(files, read)
    return CallGraph(
        services=_services(tallies),
        routes=_routes(tallies),
        traces=read.traces,
        spans=read.spans - flaws.duplicates,
        first=read.first / 1e9,
        seconds=read.seconds,
        sampled=read.sampled,
        flaws=flaws,
        notes=(*notes, *_hidden(read), *_warnings(flaws, tallies)),
        weight=_weight(tallies),
        spreads={
            key: spread
            for key, one in tallies.elapsed.items()
            if (spread := one.spread) is not None
        },
    )


def _weight(tallies: Tallies) -> float:
    """Return how many requests each that was recorded stands for, on average."""
    counted = [route.tally for route in tallies.routes.values()]
    return sum(one.count for one in counted) / max(1, sum(one.raw for one in counted))


def _counted(
    files: Sequence[Path], notes: list[str], read: _Read, advance: Callable[[int], None]
) -> Iterator[TraceSpan]:
    for path in files:
        for span in spans_of_file(path, notes.append):
            read.spans += 1
            read.sampled |= span.weight != 1.0
            read.with_secrets += span.has_secrets
            if not read.spans % _STEPS:
                advance(_STEPS)
            yield span


def _without_requests(files: Sequence[Path], read: _Read) -> DataError:
    names = ", ".join(f"`{path}`" for path in files[:3])
    if not read.spans:
        return DataError(f"{names} holds no spans", "export traces of the period to describe")
    return DataError(
        f"{names} holds {read.spans:,} spans, but no request: all of them lack their parents, or "
        "are calls of clients",
        "export whole traces; leave out `--client` for services that belong to the system",
    )


def _services(tallies: Tallies) -> tuple[TracedService, ...]:
    return tuple(
        TracedService(
            name=name,
            instances=len(one.instances),
            requests=one.requests,
            own=one.own.value,
            is_peer=one.is_peer,
        )
        for name, one in tallies.services.items()
        if one.requests
    )


def _routes(tallies: Tallies) -> tuple[TracedRoute, ...]:
    """Return the routes, those from outside first, the most frequent first."""
    order = sorted(
        tallies.routes.values(),
        key=lambda route: (bool(route.messages), -route.tally.count, route.tally.key),
    )
    numbers = {route.tally.key: number for number, route in enumerate(order)}
    return tuple(_route(route, numbers) for route in order)


def _route(route: RouteTally, numbers: dict[tuple[str, str], int]) -> TracedRoute:
    times = sorted(time for time, _ in route.times if time > 0)
    return TracedRoute(
        root=call_of(route.tally, route.tally.count),
        messages=tuple(
            Message(route=numbers[cause], count=count)
            for cause, count in sorted(route.messages.items())
        ),
        p50=_quantile(times, 0.50),
        p95=_quantile(times, 0.95),
        p99=_quantile(times, 0.99),
    )


def _quantile(times: Sequence[float], p: float) -> float | None:
    """Return a quantile, None where fewer than ten values would lie beyond it."""
    beyond = 10 if p > 0.5 else 1  # noqa: PLR2004 - the median
    if len(times) * (1 - p) < beyond:
        return None
    return times[min(len(times) - 1, int(p * len(times)))]


def _hidden(read: _Read) -> Iterator[str]:
    """Yield what is left out of names, as it may open a door."""
    if read.with_secrets:
        one = read.with_secrets == 1
        yield (
            f"{read.with_secrets:,} span{'s' * (not one)} with credentials or values of a query "
            f"in {'its name' if one else 'their names'}, left out"
        )


def _warnings(flaws: Flaws, tallies: Tallies) -> Iterator[str]:
    """Yield what is wrong with the traces, and what follows from it."""
    counts = (
        (flaws.orphans, "span", "whose parent is missing; calls per request may be too low"),
        (flaws.in_cycles, "span", "in cycles of parents, which no request leads to"),
        (flaws.duplicates, "span", "with the id of another; the first one counts"),
        (flaws.ends_before_start, "span", "with an end before the start; it counts as no time"),
        (flaws.too_long, "trace", f"of more than {MOST_OF_TRACE:,} spans, left out"),
        (flaws.too_deep, "call", "nested more than 25 deep, left out with all below"),
        (flaws.rootless, "trace", "without its first span; the first one present takes its place"),
        (tallies.merged, "request", "of services with more than 200 operations, counted as one"),
        (tallies.lost, "call", "on more than 50,000 different ways, left out"),
    )
    for count, noun, what in counts:
        if count:
            yield f"warning: {count:,} {noun}{'s' * (count != 1)} {what}"
    if flaws.skewed:
        yield (
            f"{flaws.skewed:,} call{'s' * (flaws.skewed != 1)}: the service's span is outside its "
            "caller's, because clocks differ; the caller's clock counts"
        )
    if flaws.outside_parent:
        yield (
            f"{flaws.outside_parent:,} call{'s' * (flaws.outside_parent != 1)} not within the "
            "request that makes them; only the time within it counts as waiting"
        )
