"""A stream lowered: it is walked from its source to its end."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.ways import legs_of, way_in_force
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.flows import ClosedSource, Flow, StreamResult, word
from qps.compiler.lower.latency_parts import LatencyPart
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.lower_groups import flows_in_each, flows_of_pairs
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.walk.under_way import UnderWay
from qps.compiler.lower.walk.walk_calls import WalkedCalls
from qps.compiler.lower.walk.walk_links import WalkedLinks
from qps.compiler.lower.walk.walk_nodes import WalkedNodes
from qps.compiler.lower.walk.walk_pools import WalkedPools
from qps.compiler.lower.walk.walk_waits import WalkedWaits
from qps.compiler.network.arrivals import ArrivalProcess, Arrivals
from qps.compiler.network.classes import Class, Holder, Items, Playout
from qps.compiler.network.itinerary import Delay, Sequence
from qps.compiler.network.stations_and_pools import Open
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE
from qps.engine.formulas import ONE, ZERO, Formula, number, symbol


def lower_stream(stream: ir.Stream, demands: StreamDemands) -> StreamResult:
    """Walk a stream from its source to its end."""
    flow, closed = _source(stream, demands.expressions)
    result = StreamResult(name=stream.name, closed=closed)
    rate = flow.rates[flow.primary or INFORMATION_BASE]
    amount, think = (None, None) if closed is None else (closed.amount, closed.think)
    variation = _stated(stream, "arrivals", stream.arrivals, demands.expressions)
    rank = demands.expressions.rank(stream.priority)
    result.source = Class(
        name=stream.name,
        flows=flow.total,
        arrivals=Arrivals(
            process=ArrivalProcess.POISSON if variation is None else ArrivalProcess.RENEWAL,
            rate=rate,
            variation=variation,
        ),
        items=_items(flow),
        holder=_holder(stream.flows_from),
        itinerary=Sequence(),
        span=stream.span,
        amount=amount,
        think=think,
        rank=None if rank is None else number(rank),
        playout=_playout(stream.playout),
    )
    _packetisation(stream, flow, result)
    under_way = UnderWay(flow=flow, result=result, copies=flow.total)
    waits = WalkedWaits(demands, stream, under_way)
    nodes = WalkedNodes(demands, stream, under_way, waits)
    links = WalkedLinks(demands, stream, under_way, waits)
    way = way_in_force(stream, demands.expressions.holds)
    if way is not None and way.faults:
        raise QpsError(way.faults)
    legs = legs_of(stream, demands.expressions.holds)
    pools = WalkedPools(demands, stream, under_way, waits)
    calls = WalkedCalls(under_way, stream, demands.expressions)
    for index, leg in enumerate(legs):
        if isinstance(leg, ir.Visit):
            nodes.visit(leg)
        elif isinstance(leg, ir.Crossing):
            links.cross(leg, last=isinstance(legs[index + 1], ir.Visit))
        elif isinstance(leg, ir.CallMark):
            calls.pass_by(leg)
        else:
            pools.pass_by(leg, calls.depth)
    waits.end()
    end = under_way.flow
    result.rate = end.rates[end.primary or INFORMATION_BASE]
    result.arriving = end.total * result.rate
    result.throughput = end.rates.get(INFORMATION_BASE, ZERO)
    return result


def _stated(
    stream: ir.Stream, what: str, stated: ir.Quantity | None, expressions: ExpressionLowering
) -> Formula | None:
    return None if stated is None else expressions.symbol(f"{stream.name}.{what}", stated)


def _source(stream: ir.Stream, expressions: ExpressionLowering) -> tuple[Flow, ClosedSource | None]:
    """Return the flows that leave a source; where they wait for answers, at a rate still open."""
    emission = stream.emission
    first, *sizes = emission.values
    base = next(b for b, _ in first.dimension.exponents if b != TIME_BASE)
    flows = _flows(stream, expressions)
    traffic = expressions.symbol(f"{stream.name}.traffic", first)
    closed = None
    if emission.think is not None:
        closed = ClosedSource(
            symbol=symbol(f"{stream.name} each second"),
            flows=flows,
            amount=traffic,
            think=expressions.symbol(f"{stream.name}.think", emission.think),
        )
    rates = {base: traffic if closed is None else closed.symbol}
    known_sizes: dict[str, Formula] = {}
    for size in sizes:
        above = next(b for b, power in size.dimension.exponents if power == 1)
        below = next(b for b, power in size.dimension.exponents if power == -1)
        name = f"{stream.name}.{word(above)}_per_{below}"
        value = expressions.symbol(name, size)
        if above == INFORMATION_BASE:
            known_sizes[below] = value
        if below in rates:
            rates[above] = rates[below] * value
        else:
            rates[below] = rates[above] / value
    return Flow(flows, rates, known_sizes, emission.primary), closed


def _flows(stream: ir.Stream, expressions: ExpressionLowering) -> Formula:
    """Return how many flows a stream has."""
    if isinstance(stream.flows_from, ir.InEachGroup):
        return flows_in_each(stream.name, stream.flows_from, expressions)
    if isinstance(stream.flows_from, ir.EachPair):
        return flows_of_pairs(stream.flows_from, expressions)
    if isinstance(stream.flows_from, ir.Whose):
        users = ir.Population() if stream.users is None else stream.users
        return expressions.lower(users) if stream.flows_from is ir.Whose.EACH_USER else ONE
    return expressions.count(stream.flows_from)


def _items(flow: Flow) -> Items:
    """Return what a source sends."""
    has_size = flow.primary is not None and INFORMATION_BASE in flow.rates
    bits = flow.per_item(INFORMATION_BASE) if has_size else None
    sizes = {item: size for item, size in flow.sizes.items() if item != flow.primary}
    return Items(primary=flow.primary, bits=bits, sizes=sizes)


def _holder(flows_from: str | ir.InEachGroup | ir.EachPair | ir.Whose) -> Holder:
    """Return whose the flows of a stream are."""
    match flows_from:
        case ir.InEachGroup(group=group):
            return Holder("group", group)
        case ir.EachPair(node=node, group=group):
            return Holder("pair", node or group)
        case ir.Whose():
            return Holder(flows_from.value)
        case _:
            return Holder("node", flows_from)


def _playout(playout: ir.Playout | None) -> Playout | None:
    if playout is None:
        return None
    dropping = None if playout.dropping is None else Open(playout.dropping)
    return Playout(Open(playout.delay), dropping, playout.span)


def _packetisation(stream: ir.Stream, flow: Flow, result: StreamResult) -> None:
    """A source of bytes waits until its packet is full."""
    if stream.emission.framed_bytes and flow.primary is not None:
        time = 1 / flow.rates[flow.primary]
        result.latency.append(LatencyPart(stage="packetisation", value=time))
        result.itinerary.add(Delay(why="packetisation", time=time))
