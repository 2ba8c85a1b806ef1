"""Traffic that reads as if users waited for their answer before they ask again."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import codes, ir
from qps.compiler.diagnostics import Label, Sink
from qps.compiler.dimension import INFORMATION_BASE, TIME
from qps.compiler.values import parts_of

_RANDOM = frozenset({ir.Discipline.MM1, ir.Discipline.MD1, ir.Discipline.MG1, ir.Discipline.MMC})
_MEDIA = frozenset({INFORMATION_BASE, "packet", "frame"})
"""What a source sends by a clock, whether or not something comes back."""


def report_think_times(model: ir.Model, sink: Sink) -> None:
    """Warn of rates that are one over a stated time, where random arrivals wait.

    `1 request / think` reads as a user who thinks, asks, waits and thinks again. Streams are open:
    the rate stays what it is however long the answer takes (docs/traffic.md). Where nothing
    waits this makes no difference, and what media send goes by their clock.
    """
    times = {p.name: p for p in model.parameters if p.dimension == TIME}
    for stream in model.streams:
        if stream.emission.primary is None or stream.emission.primary in _MEDIA:
            continue
        rate = stream.emission.values[0]
        time = next((times[name] for name in _below(rate.expr) if name in times), None)
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


def _below(expr: ir.Expr) -> Iterator[str]:
    """Yield the parameters by which an expression divides."""
    for part in parts_of(expr):
        match part:
            case ir.Power(base, ir.Constant(exponent)) if exponent < 0:
                for inner in parts_of(base):
                    if isinstance(inner, ir.ParameterValue):
                        yield inner.name


def _waited_for(model: ir.Model, stream: ir.Stream) -> Iterator[ir.Queueing]:
    """Yield how random arrivals wait on the way of a stream."""
    nodes = {node.name: node.machine for node in model.nodes}
    links = {link.name: link.network for link in model.links}
    for leg in stream.legs:
        if isinstance(leg, ir.Visit):
            machine = model.machines.get(nodes.get(leg.node, ""))
            found = [r.queueing for r in machine.resources] if machine else []
        else:
            network = model.networks.get(links.get(leg.link, ""))
            found = [network.queueing] if network else []
        yield from (q for q in found if q is not None and q.discipline in _RANDOM)
