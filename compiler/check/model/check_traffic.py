"""Traffic that reads as if users waited for their answer before they ask again."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.ir.think_times import think_time


def report_think_times(model: ir.Model, sink: Sink) -> None:
    """Warn of rates that are one over a stated time, where random arrivals wait.

    `1 request / think` reads as a user who thinks, asks, waits and thinks again. Streams are open:
    the rate stays what it is however long the answer takes (docs/traffic.md). Where nothing
    waits this makes no difference, and what media send goes by their clock.
    """
    for stream in model.streams:
        rate = stream.emission.values[0]
        time = think_time(model, stream)
        waited = next(_waited_for(model, stream), None)
        if time is None or waited is None:
            continue
        sink.report(
            codes.OPEN_TRAFFIC,
            rate.span,
            f"`{stream.name}` is open traffic: its rate is 1/`{time.name}`, however long it waits",
            label="nobody waits for an answer here",
            secondary=[Label(waited.span, "random arrivals are waited for here")],
            hint="users who wait before they ask again wait less than is told, and never without "
            "end; where the rate is meant, state it: `param pace = 4 request/minute`",
        )


def _waited_for(model: ir.Model, stream: ir.Stream) -> Iterator[ir.Queueing]:
    """Yield how random arrivals wait on the way of a stream."""
    nodes = {node.name: node for node in model.nodes}
    links = {link.name: link for link in model.links}
    for leg in stream.legs:
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
        yield from (q for q in found if q is not None and q.traits.is_random)
