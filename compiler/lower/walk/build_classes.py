"""A stream lowered: it is walked from its source to its end."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.conditional_paths import active_path, legs_of
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.expressions.item_flows import Flow, word
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.lower_groups import flows_in_each, flows_of_pairs
from qps.compiler.lower.walk.build_calls import CallBuilder
from qps.compiler.lower.walk.build_crossings import LinkBuilder
from qps.compiler.lower.walk.build_holds import PoolBuilder
from qps.compiler.lower.walk.build_visits import NodeBuilder
from qps.compiler.lower.walk.class_state import ClassState
from qps.compiler.lower.walk.network_builder import NetworkBuilder
from qps.compiler.lower.walk.split_runs import with_split_runs
from qps.compiler.network.alternative_visits import with_alternative_visits
from qps.compiler.network.arrivals import ArrivalProcess, Arrivals
from qps.compiler.network.classes import Class, Holder, Items, Playout
from qps.compiler.network.event_outcomes import with_event_alternatives
from qps.compiler.network.itinerary import Delay
from qps.compiler.network.stations_and_pools import Open
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE
from qps.engine.expressions.formulas import ONE, Formula, number, symbol


class StreamClass(Struct, frozen=True, kw_only=True):
    """A stream as a class of the network, with its calls by their numbers."""

    of: Class
    stream: ir.Stream
    calls: dict[int, ir.Call]


def build_class(stream: ir.Stream, network: NetworkBuilder) -> StreamClass:
    """Walk a stream from its source to its end; QpsError where it has no way."""
    expressions = network.expressions
    flow, emission = _source(stream, expressions), stream.emission
    amount = think = variation = None
    if emission.think is not None:
        amount = _stated(stream, "traffic", emission.values[0], expressions)
        think = _stated(stream, "think", emission.think, expressions)
    if stream.arrivals is not None:
        variation = _stated(stream, "arrivals", stream.arrivals, expressions)
    rank = expressions.rank(stream.priority)
    under_way = ClassState(network=network, flow=flow)
    _packetization(stream, flow, under_way)
    calls = CallBuilder(under_way, stream, expressions)
    _build_steps(stream, network, under_way, calls)
    decided = with_event_alternatives(
        under_way.itinerary.itinerary, stream.name, calls.event_conditions, calls.repeated
    )
    calls.copy(decided.copies)
    found = with_alternative_visits(decided.itinerary, network.is_store)
    calls.stand_for(found)
    of = Class(
        name=stream.name,
        stream=stream.name,
        flows=flow.total,
        arrivals=Arrivals(
            process=ArrivalProcess.POISSON if variation is None else ArrivalProcess.RENEWAL,
            rate=flow.rates[flow.primary or INFORMATION_BASE],
            variation=variation,
        ),
        items=_items(flow),
        holder=_holder(stream.flows_from),
        itinerary=found.itinerary,
        span=stream.span,
        amount=amount,
        think=think,
        rank=None if rank is None else number(rank),
        playout=_playout(stream.playout),
    )
    return StreamClass(of=of, stream=stream, calls=calls.calls)


def _build_steps(
    stream: ir.Stream, network: NetworkBuilder, state: ClassState, calls: CallBuilder
) -> None:
    nodes = NodeBuilder(network, stream, state)
    links = LinkBuilder(network, state)
    pools = PoolBuilder(network, stream, state)
    way = active_path(stream, network.expressions.holds)
    if way is not None and way.faults:
        raise QpsError(way.faults)
    legs = with_split_runs(legs_of(stream, network.expressions.path_test), network)
    for index, leg in enumerate(legs):
        if isinstance(leg, ir.Visit):
            nodes.visit(leg)
        elif isinstance(leg, ir.Crossing):
            links.cross(leg, last=isinstance(legs[index + 1], ir.Visit))
        elif isinstance(leg, ir.CallMark):
            calls.pass_by(leg)
        else:
            pools.pass_by(leg)


def _stated(
    stream: ir.Stream, what: str, stated: ir.Quantity, expressions: ExpressionLowering
) -> Formula:
    return expressions.symbol(f"{stream.name}.{what}", stated)


def _source(stream: ir.Stream, expressions: ExpressionLowering) -> Flow:
    """Return the flows that leave a source; where they wait for answers, at a rate still open."""
    emission = stream.emission
    first, *sizes = emission.values
    base = next(b for b, _ in first.dimension.exponents if b != TIME_BASE)
    flows = _flows(stream, expressions)
    traffic = _stated(stream, "traffic", first, expressions)
    rates = {base: traffic if emission.think is None else symbol(f"{stream.name} each second")}
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
    return Flow(flows, rates, known_sizes, emission.primary)


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


def _packetization(stream: ir.Stream, flow: Flow, state: ClassState) -> None:
    """A source of bytes waits until its packet is full."""
    if stream.emission.framed_bytes and flow.primary is not None:
        state.add(Delay(why="packetisation", time=1 / flow.rates[flow.primary]))
