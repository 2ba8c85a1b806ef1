"""Traffic of which more must be known where it waits: repeated requests, flows that burst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.think_times import think_time


def report_think_times(model: ir.Model, sink: Sink) -> None:
    """Warn of rates that are one over a stated time, where random arrivals wait.

    `1 request / think` reads as a user who thinks, sends a request, waits and thinks again. Streams
    are open: the rate stays what it is however long the answer takes (docs/traffic.md). Where
    nothing waits this makes no difference, and what media send goes by their clock.
    """
    for stream in model.streams:
        rate = stream.emission.values[0]
        time = think_time(model, stream)
        waited = next((q for q in _waits(model, stream.legs) if q.traits.is_random), None)
        if time is None or waited is None:
            continue
        sink.report(
            codes.OPEN_TRAFFIC,
            rate.span,
            f"`{stream.name}` is an open workload with the rate 1/`{time.name}`",
            label="open: no think time",
            secondary=[Label(waited.span, "items queue here")],
            hint=instead(
                rate.span.text,
                f"1 {stream.emission.primary}, think {time.name}",
                words=f"for a closed workload, write `traffic 1 {stream.emission.primary}, think "
                f"{time.name}`; for an open one, declare a rate: `param pace = 4 "
                "request/minute`",
            ),
        )


def report_bursts(model: ir.Model, sink: Sink) -> None:
    """Warn of flows that are active at times, of which nobody says how long, and that wait then.

    How many are on at once is the same however long they are. How long they wait is not: short
    bursts are over before a queue has grown.
    """
    found: dict[Span, tuple[ir.Stream, ir.Queueing]] = {}
    for stream in model.streams:
        for index, leg in enumerate(stream.legs):
            open_ones = [one for one in _active(leg) if one.lasting is None]
            waited = next(_waits(model, stream.legs[index + 1 :]), None) if open_ones else None
            if waited is not None:
                for one in open_ones:
                    found.setdefault(one.span, (stream, waited))
    for span, (stream, waited) in found.items():
        sink.report(
            codes.OPEN_BURSTS,
            span,
            f"`{stream.name}` has no burst duration: bursts are averaged out",
            label="on-off traffic",
            secondary=[Label(waited.span, "bursts queue here")],
            hint="add the mean burst duration: `active 1/3 for 1 s`",
        )


def report_priorities(model: ir.Model, sink: Sink) -> None:
    """Warn of priorities by which nothing goes, and of what goes by priority and finds none."""
    met: dict[ir.Queueing, bool] = {}
    for stream in model.streams:
        ranked = [q for q in _waits(model, stream.legs) if q.traits.has_ranks]
        for queueing in ranked:
            met[queueing] = met.get(queueing, False) or stream.priority is not None
        if stream.priority is None or ranked:
            continue
        sink.report(
            codes.PRIORITIES,
            stream.priority.span,
            f"no resource of `{stream.name}` uses priorities",
            hint=single_statement_hint(
                stream.priority.span,
                "add `queueing cpu priority`, or remove this",
            ),
        )
    for queueing, has_any in met.items():
        if has_any:
            continue
        sink.report(
            codes.PRIORITIES,
            queueing.span,
            "no stream here has a priority: service is first come, first served",
            hint="add `priority 1` to the first stream; streams without a priority are served last",
        )


def _active(leg: ir.Leg) -> Iterator[ir.Effect]:
    """Yield what makes flows active at times, of the steps at a node."""
    for step in leg.steps if isinstance(leg, ir.Visit) else ():
        yield from (one for one in step.component.effects if one.kind is ir.EffectKind.ACTIVE)


def _waits(model: ir.Model, legs: Sequence[ir.Leg]) -> Iterator[ir.Queueing]:
    """Yield how what comes waits on a way."""
    nodes = {node.name: node for node in model.nodes}
    links = {link.name: link for link in model.links}
    for leg in legs:
        if isinstance(leg, ir.Visit):
            node = nodes.get(leg.node)
            machine = None if node is None else ir.machine_at(model, node)
            found = [r.queueing for r in machine.resources] if machine else []
        elif isinstance(leg, ir.Crossing):
            link = links.get(leg.link)
            network = None if link is None else ir.network_at(model, link)
            found = [network.queueing] if network else []
        else:
            continue
        yield from (q for q in found if q is not None and q.that_waits is not None)
