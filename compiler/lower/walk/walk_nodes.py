"""Nodes on the way of a stream, step by step: what each step asks for, and does.

The meaning is that of the language reference, "What a stream does": a flow carries rates of
items and bits; a node instance holds k flows at once; a component loads its resource with
k times its cost at these rates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.parts import names_own_rate
from qps.compiler.lower.bursts import Burst
from qps.compiler.lower.costs import (
    cores_of,
    costs_in_force,
    is_carried,
    is_on_measured,
    number_of,
    scale_of,
    speed_of,
    work_of,
)
from qps.compiler.lower.latency_parts import LatencyPart, TimeSpent
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.lower_groups import receivers_in
from qps.compiler.lower.queueing import Place
from qps.compiler.lower.stream_demands import StreamDemands, kind_of
from qps.compiler.lower.stream_measures import LossKind
from qps.compiler.lower.switches import loads_what_others_do, only_works
from qps.compiler.lower.tidy import tidy_extremes
from qps.compiler.lower.walk.lower_transport import full_queue, recovery
from qps.compiler.lower.walk.under_way import UnderWay
from qps.compiler.lower.walk.walk_waits import WalkedWaits
from qps.compiler.network.itinerary import (
    At,
    Delay,
    Merge,
    Resize,
    Restore,
    Send,
    Sequence,
    Serve,
    Thin,
    Times,
)
from qps.compiler.network.stations_and_pools import StationKind
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.engine.formulas import ONE, ZERO, Formula, maximum, minimum


def _merges(step: ir.Step) -> bool:
    return any(effect.kind is ir.EffectKind.MERGE for effect in step.component.effects)


class WalkedNodes:
    """The nodes of one walk along a stream, with the steps that it takes there."""

    def __init__(
        self, streams: StreamDemands, stream: ir.Stream, under_way: UnderWay, waits: WalkedWaits
    ) -> None:
        self._streams = streams
        self._expressions = streams.expressions
        self._stream = stream
        self._under_way = under_way
        self._waits = waits
        self._result = under_way.result
        self._is_bounded = False  # whether what waits at a step stands in a queue with an end
        self._taken: Formula = ONE  # how often the step is taken
        self._served_by: dict[int, Formula] = {}  # cores that share a part of the latency

    def visit(self, leg: ir.Visit) -> None:
        """Run the steps at a node."""
        count = self._expressions.count(leg.node)
        if any(map(_merges, leg.steps)):  # what comes alone is not merged
            count = self._expressions.with_counts(count)
            flows = self._expressions.with_counts(self._under_way.flow.total)
            self._under_way.flow = replace(self._under_way.flow, total=flows)
        held = self._under_way.flow.total / count
        copies: Formula = ONE
        receivers: Formula = ONE
        spread: ir.Spread | None = None
        begins = len(self._result.latency)
        self._under_way.add(At(leg.node, count))
        self._waits.at(Place(leg.node, count))
        for step in leg.steps:
            taken = self._taken = self._switch(step, leg) or ONE
            if taken is ONE and not self._expressions.holds(step.condition):
                continue
            merges = _merges(step)
            pools = self._pools(step, count)
            merged = self._extreme(maximum, 0, held / pools - 1) if merges else None
            if merges:
                self._wait_for_all(begins, held / pools)
                make = partial(_merged, by=step.component.name, flows=held / pools)
                self._result.itinerary.merge(make)
            step_copies: Formula = ONE
            if step.spread is not None:
                spread = step.spread
                receivers = self._receivers(step.spread, leg.node, held * count)
                step_copies = copies = self._sent(step.spread, receivers)
            repeat = self._expressions.lower(step.repeat) if step.repeat else ONE
            times = repeat * step_copies * taken
            charged = (held if merged is None else merged * pools) * times
            often = Times(repeat, step_copies, taken, ONE if merged is None else merged)
            self._is_bounded = any(
                effect.kind is ir.EffectKind.QUEUE for effect in step.component.effects
            )
            for cost in costs_in_force(step.component, self._machine(leg.node)):
                self._charge(step, leg.node, cost, charged, often, held)
            held = self._effects(step, leg.node, repeat, held, pools)
        now = self._under_way
        now.copies = held * count * copies
        now.batch = self._extreme(maximum, 1, copies)
        now.meets = now.meets or now.spreads
        now.spreads = now.spreads or receivers is not ONE
        now.flow = replace(now.flow, total=held * count * receivers)
        if receivers is not ONE or copies is not ONE:
            assert spread is not None
            now.add(_sent(spread, copies, receivers))

    def _switch(self, step: ir.Step, leg: ir.Visit) -> Formula | None:
        """Return how often a step is taken, none times or once; None where it is no number."""
        if step.condition is None or self._expressions.switches is None:
            return None
        machine = self._machine(leg.node)
        if not only_works(step, machine, self._streams.model.machines):
            return None
        costs = costs_in_force(step.component, machine)
        if not all(is_carried(cost, machine, self._under_way.flow) for cost in costs):
            return None
        is_outline = self._expressions.counts_move and not any(r.jitter for r in machine.resources)
        if not is_outline and not loads_what_others_do(step, leg.steps):
            return None
        return self._expressions.switch(step.condition, step.span)

    def _pools(self, step: ir.Step, count: Formula) -> Formula:
        """Return how many merged flows a step makes of those of one machine: one for each group."""
        if step.group is None:
            return ONE
        return self._expressions.groups(step.group) / count

    def _wait_for_all(self, begins: int, held: Formula) -> None:
        """Count what was done here for one flow as often as there are flows to be merged.

        What is merged goes on when the last of the flows is there: until then the machine
        has done the steps before the merge for all of them, on all cores that they may use.
        """
        latency = self._result.latency
        for index in range(begins, len(latency)):
            part = latency[index]
            if part.is_work:
                times = self._extreme(maximum, 1, held / self._served_by[index])
                latency[index] = replace(part, value=part.value * times)

    def _receivers(self, spread: ir.Spread, node: str, flows: Formula) -> Formula:
        if spread.count is not None:
            return self._some(spread, spread.count, node)
        if spread.group is not None:
            flows = self._expressions.with_counts(flows)
            return receivers_in(spread, self._stream.name, flows, self._expressions)
        if spread.kind is ir.SpreadKind.ONE:
            return ONE
        if spread.kind is ir.SpreadKind.OTHERS:
            return self._expressions.counted(node) - 1
        assert spread.target is not None
        return self._expressions.counted(spread.target)

    def _some(self, spread: ir.Spread, stated: ir.Quantity, node: str) -> Formula:
        """Return so many others as are stated, all of them where there are fewer.

        Of a fixed number of others there are so many, which is looked at where values are.
        """
        count = self._expressions.symbol(f"{self._stream.name}.others", stated)
        if spread.group is not None:
            others, grows = self._expressions.members(spread.group) - 1, True
        else:
            others = self._expressions.counted(node) - 1
            grows = self._expressions.population in others.symbols
        return self._extreme(minimum, count, others) if grows else count

    def _sent(self, spread: ir.Spread, receivers: Formula) -> Formula:
        """Return how many copies the sender makes: one by multicast."""
        multicast = spread.cast
        if isinstance(multicast, str):
            multicast = self._expressions.chosen(multicast) == "multicast"
        return ONE if multicast else receivers

    def _extreme(self, function: Callable[..., Formula], *arguments: Formula | int) -> Formula:
        """Return a maximum or minimum, decided where the population's range decides it."""
        low = self._streams.configuration.low
        return tidy_extremes(function(*arguments), self._expressions.population, low)

    def _machine(self, node: str) -> ir.Machine:
        """Return the machine that stands at a node."""
        streams = self._streams
        machine = ir.machine_at(streams.model, streams.configuration.nodes[node])
        assert machine is not None
        return machine

    def _charge(
        self,
        step: ir.Step,
        node: str,
        cost: ir.Cost,
        charged: Formula,
        times: Times,
        held: Formula,
    ) -> None:
        """Charge a cost on the resource of a node, and add its service time to the latency."""
        machine = self._machine(node)
        resource = machine.resource(cost.resource)
        assert resource is not None
        name = f"{node}.{resource.name}"
        self._waits.admit(name, resource)
        work, item_work, constant = work_of(
            self._expressions,
            self._under_way.flow,
            step,
            cost,
            resource.work,
            self._where(node),
        )
        per_second, capacity = self._speed_and_capacity(node, resource, cost)
        fastest = self._streams.fastest(name, resource.waits)
        demand = self._streams.demand(
            name, resource.span, self._expressions.count(node), at=node, kind=kind_of(resource)
        )
        by = step.component.name
        demand.add(by, charged * work * per_second / capacity / fastest, self._stream.name)
        if resource.carries_bits:
            demand.carried.append(charged * work)
        self._pass(name)
        if cost.measured_at is not None:
            self._calibrate(name, by, cost, machine, charged)
        self._shake(name, machine, resource)
        is_thread = cost.single_thread and capacity is not ONE
        thread = f"{name}.{cost.thread or by}"
        if is_thread:
            single = self._streams.demand(
                thread, cost.span, demand.count, at=node, kind=StationKind.THREAD
            )
            single.add(by, charged * work * per_second, self._stream.name)
            self._pass(thread)
        if resource.kind is ir.ResourceKind.STORE:
            demand.capacity = capacity
            self._under_way.add(
                Serve(station=name, by=by, span=step.span, times=times, per_flow=work)
            )
            return
        if resource.kind is ir.ResourceKind.PROCESSOR:
            demand.servers = capacity
        self._waits.end_runs(name, thread)
        busy = charged * per_second
        servers = capacity
        if resource.kind is ir.ResourceKind.RATE:
            busy, servers = busy / capacity, ONE
        bounded, busy = self._is_bounded, busy * item_work
        on_thread = thread if is_thread else None
        self._waits.wait(name, demand, resource, held, busy, is_bounded=bounded, thread=on_thread)
        if constant is not ZERO:
            demand.keep(by, charged * constant * per_second / capacity / fastest)
        if is_thread:
            self._waits.wait(thread, single, resource, held, busy, is_bounded=bounded)
            if constant is not ZERO:
                single.keep(by, charged * constant * per_second)
        pace = per_second
        if resource.kind is ir.ResourceKind.RATE:
            pace, demand.rate = ONE / capacity, capacity
        service = times.mean * item_work * pace
        self._under_way.add(
            Serve(
                station=name,
                by=by,
                span=step.span,
                work=item_work,
                pace=pace,
                times=times,
                per_flow=constant * pace,
                thread=on_thread,
                counted=() if cost.fit is None else tuple(self._under_way.flow.rates.items()),
            )
        )
        on = (name, thread) if is_thread else (name,)
        self._serve(by, node, service, ONE if cost.single_thread else servers, on)

    def _shake(self, name: str, machine: ir.Machine, resource: ir.Resource) -> None:
        """Note the jitter law of a resource, with its rating where the law names that."""
        if resource.jitter is None:
            return
        self._result.jitter[name] = resource.jitter
        if resource.speed is not None and names_own_rate(resource.jitter.expr):
            rating = speed_of(self._expressions, name, machine, resource.speed)
            self._result.rates[name] = rating

    def _speed_and_capacity(
        self, node: str, resource: ir.Resource, cost: ir.Cost
    ) -> tuple[Formula, Formula]:
        """Return the seconds that a unit of work takes on one core, and how many cores there are.

        Of a resource that is no processor work is what its capacity has a second.
        """
        name = f"{node}.{resource.name}"
        if resource.kind is not ir.ResourceKind.PROCESSOR:
            return ONE, self._streams.capacity(name, resource)
        scale = scale_of(self._expressions, node, self._machine(node), cost)
        return scale, cores_of(self._expressions, name, resource)

    def _where(self, node: str) -> tuple[str, str]:
        """Return what tells numbers of one name apart: the node, then the stream."""
        return f"at {node}", f"in {self._stream.name}"

    def _pass(self, resource: str) -> None:
        """Note that items pass a resource: all of them, where the step is taken."""
        passes, taken = self._result.passes, self._taken
        passes[resource] = (
            ONE if taken is ONE else 1 - (1 - passes.get(resource, ZERO)) * (1 - taken)
        )

    def _calibrate(
        self, resource: str, by: str, cost: ir.Cost, machine: ir.Machine, charged: Formula
    ) -> None:
        """Note at which load a cost was measured, and what a fitted one is asked for in all."""
        assert cost.measured_at is not None
        low, high = map(float, cost.measured_at)
        known = self._streams.calibrations
        rates = dict(known[resource, by].rates) if (resource, by) in known else {}
        for item, rate in self._under_way.flow.rates.items() if cost.fit is not None else ():
            rates[item] = rates.get(item, ZERO) + charged * rate
        known[resource, by] = Calibration(
            resource=resource,
            component=by,
            low=low,
            high=high,
            span=cost.span,
            fit=cost.fit,
            rates=rates,
            is_on_measured=is_on_measured(self._streams.model, cost, machine),
        )

    def _serve(
        self, by: str, node: str, service: Formula, cores: Formula, on: tuple[str, ...]
    ) -> None:
        """Add the time that work on an item takes; so many cores share that on several flows."""
        self._served_by[len(self._result.latency)] = cores
        stage = f"{by} at {node}"
        self._under_way.takes(
            LatencyPart(stage=stage, value=service, place=node, spent=TimeSpent.WORK), *on
        )

    def _effects(
        self, step: ir.Step, node: str, repeat: Formula, held: Formula, pools: Formula
    ) -> Formula:
        """Change the flow as the component says; return how many flows are held then.

        A step that is repeated takes its fixed delay so often; all else it does once.
        """
        for effect in step.component.effects:
            if effect.kind is ir.EffectKind.MERGE:
                held = self._extreme(minimum, held / pools, 1) * pools
                self._under_way.burst = None  # merged flows are on by another law
                continue
            assert effect.value is not None
            what, where = effect.kind.value, self._where(node)
            value = number_of(self._expressions, step.component, what, effect.value, where)
            match effect.kind:
                case ir.EffectKind.KEEP:
                    self._under_way.flow = self._under_way.flow.scaled(value)
                    self._under_way.add(Thin(share=value))
                case ir.EffectKind.DROP:
                    self._under_way.lose(
                        f"dropped by {step.component.name}",
                        LossKind.VOLUNTARY,
                        value,
                        effect.value.span,
                    )
                case ir.EffectKind.ACTIVE:
                    held = held * value
                    self._bursts(step, where, effect, value)
                case ir.EffectKind.DELAY:
                    self._waits.end_runs()
                    stage, taken = f"{step.component.name}, fixed", value * repeat
                    self._under_way.takes(LatencyPart(stage=stage, value=taken, place=node))
                    self._under_way.add(Delay(why=stage, time=value, times=Times(repeat)))
                case ir.EffectKind.EMIT:
                    self._emit(effect.value, value)
                case ir.EffectKind.QUEUE:
                    what = f"`{self._stream.name}`", f"{step.component.name} at {node}"
                    full = full_queue(
                        what, effect.value, value, self._under_way.flow.rates, self._expressions
                    )
                    self._result.queues.append(full)
                case ir.EffectKind.RECOVER:
                    stage = f"recovered by {step.component.name}"
                    part = recovery(stage, self._result.losses, value, effect.value.span)
                    self._result.losses.append(part)
                    self._under_way.flow = self._under_way.flow.scaled(1 - part.value)
                    self._under_way.add(Restore(stage, value))
        return held

    def _bursts(
        self, step: ir.Step, where: tuple[str, str], effect: ir.Effect, share: Formula
    ) -> None:
        """Note that flows are on at times, and for how long, where that is known of all of them."""
        now, lasting = self._under_way, None
        if effect.lasting is not None:
            what = f"{effect.kind.value}.lasting"
            lasting = number_of(self._expressions, step.component, what, effect.lasting, where)
        now.burst = None if lasting is None or now.is_bursty else Burst(share, lasting)
        now.is_bursty = True
        now.add(Thin(share=share, bursty=True, on_for=lasting))

    def _emit(self, quantity: ir.Quantity, value: Formula) -> None:
        """Change the size: by a share of the bits, or to so many bits an item."""
        now = self._under_way
        bits = now.flow.rates[INFORMATION_BASE]
        item = next(iter(quantity.dimension.bases - {INFORMATION_BASE}), None)
        if item is None:
            now.flow = now.flow.with_bits(bits * value)
            now.add(Resize(share=value))
            return
        now.flow = replace(now.flow, sizes=now.flow.sizes | {item: value})
        changed = value * now.flow.rates[item] if item == now.flow.primary else bits
        now.flow = now.flow.with_bits(changed)
        if item == now.flow.primary:
            now.add(Resize(bits=value))


def _merged(body: Sequence, *, by: str, flows: Formula) -> Merge:
    return Merge(by=by, flows=flows, body=body)


def _sent(spread: ir.Spread, copies: Formula, receivers: Formula) -> Send:
    to, target, group = spread.kind.value, spread.target, spread.group
    return Send(copies=copies, receivers=receivers, to=to, target=target, group=group)
