"""Nodes on the way of a stream, step by step: what each step requests, and does.

The meaning is that of the language reference, "What a stream does": a flow carries rates of
items and bits; a node instance holds k flows at once; a component loads its resource with
k times its cost at these rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.parts import names_own_rate
from qps.compiler.lower.expressions.lower_groups import receivers_in
from qps.compiler.lower.expressions.option_switches import loads_what_others_do, only_works
from qps.compiler.lower.expressions.service_demands import (
    cores_of,
    costs_in_force,
    has_counted_items,
    is_on_measured,
    number_of,
    scale_of,
    speed_of,
    work_of,
)
from qps.compiler.lower.expressions.simplified_extremes import simplify_extremes
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.lower.unmodeled_waits import UnmodeledQueue, fitting
from qps.compiler.lower.walk.class_state import ClassState
from qps.compiler.lower.walk.network_builder import NetworkBuilder, kind_of
from qps.compiler.network.itinerary import (
    At,
    Delay,
    Merge,
    QueueLimit,
    Resize,
    Restore,
    Send,
    Serve,
    Thin,
    Times,
)
from qps.compiler.network.stations_and_pools import Open, Place, Station, StationKind
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.engine.expressions.formulas import ONE, ZERO, Formula, maximum, minimum

_CAPACITIES = {
    ir.ResourceKind.PROCESSOR: "servers",
    ir.ResourceKind.RATE: "rate",
    ir.ResourceKind.STORE: "capacity",
}
"""What the capacity of a resource is of its station."""


def _merges(step: ir.Step) -> bool:
    return any(effect.kind is ir.EffectKind.MERGE for effect in step.component.effects)


class NodeBuilder:
    """The nodes of one walk along a stream, with the steps that it takes there."""

    def __init__(self, network: NetworkBuilder, stream: ir.Stream, state: ClassState) -> None:
        self._network = network
        self._expressions = network.expressions
        self._stream = stream
        self._state = state

    def visit(self, leg: ir.Visit) -> None:
        """Run the steps at a node."""
        now, count = self._state, self._expressions.count(leg.node)
        if any(map(_merges, leg.steps)):  # what comes alone is not merged
            count = self._expressions.with_counts(count)
            now.flow = replace(now.flow, total=self._expressions.with_counts(now.flow.total))
        held = now.flow.total / count
        copies: Formula = ONE
        receivers: Formula = ONE
        spread: ir.Spread | None = None
        now.add(At(leg.node, count))
        for step in leg.steps:
            taken = self._switch(step, leg) or ONE
            if taken is ONE and not self._expressions.holds(step.condition):
                continue
            pools = self._pools(step, count)
            merged: Formula = ONE
            working = held
            if _merges(step):
                merged = self._extreme(maximum, 0, held / pools - 1)
                working = pools
                self._merge(step, held / pools)
            step_copies: Formula = ONE
            if step.spread is not None:
                spread = step.spread
                receivers = self._receivers(step.spread, leg.node, held * count)
                step_copies = copies = self._sent(step.spread, receivers)
            repeat = self._expressions.lower(step.repeat) if step.repeat else ONE
            times = Times(repeat, step_copies, taken, merged)
            for cost in costs_in_force(step.component, self._machine(leg.node)):
                self._charge(step, leg.node, cost, working * times.mean, times)
            held = self._effects(step, leg.node, repeat, held, pools)
        now.flow = replace(now.flow, total=held * count * receivers)
        if receivers is not ONE or copies is not ONE:
            assert spread is not None
            now.add(_sent(spread, copies, receivers))

    def _merge(self, step: ir.Step, flows: Formula) -> None:
        """Merge flows: what was done here so far was done for each of them."""
        by = step.component.name
        self._state.itinerary.merge(lambda body: Merge(by=by, flows=flows, body=body))

    def _switch(self, step: ir.Step, leg: ir.Visit) -> Formula | None:
        """Return how often a step is taken, none times or once; None where it is no number."""
        if step.condition is None or self._expressions.switches is None:
            return None
        machine = self._machine(leg.node)
        if not only_works(step, machine, self._network.model.machines):
            return None
        costs = costs_in_force(step.component, machine)
        if not all(has_counted_items(cost, machine, self._state.flow) for cost in costs):
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
        low = self._network.configuration.low
        return simplify_extremes(function(*arguments), self._expressions.population, low)

    def _machine(self, node: str) -> ir.Machine:
        """Return the machine that stands at a node."""
        machine = ir.machine_at(self._network.model, self._network.configuration.nodes[node])
        assert machine is not None
        return machine

    def _charge(
        self, step: ir.Step, node: str, cost: ir.Cost, charged: Formula, times: Times
    ) -> None:
        """Let a resource of a node serve an item; `charged` is how often, of all flows there."""
        machine = self._machine(node)
        resource = machine.resource(cost.resource)
        assert resource is not None
        name, now, by = f"{node}.{resource.name}", self._state, step.component.name
        now.admit(name, resource.waits)
        work, constant = work_of(
            self._expressions, now.flow, step, cost, resource.work, self._where(node)
        )
        per_second, capacity = self._speed_and_capacity(node, resource, cost)
        station = self._station(node, resource, capacity)
        if cost.measured_at is not None or cost.station is not None:
            self._calibrate(name, step.component, cost, node)
        busy = charged * constant * per_second / capacity / station.fastest
        if resource.kind is ir.ResourceKind.STORE:
            self._network.permanent_holds.setdefault(name, []).append((by, busy))
            now.add(
                Serve(
                    station=name, by=by, span=step.span, work=work, times=times, per_flow=constant
                )
            )
            return
        if constant is not ZERO:
            self._network.keep(name, by, busy)
        pace = ONE / capacity if resource.kind is ir.ResourceKind.RATE else per_second
        served, thread = [name], None
        if cost.single_thread and capacity is not ONE:
            thread = f"{name}.{cost.thread or by}"
            self._network.come_to(thread, station.place, StationKind.THREAD, cost.span)
            served.append(thread)
            if constant is not ZERO:
                self._network.keep(thread, by, charged * constant * per_second)
        now.add(
            Serve(
                station=name,
                by=by,
                span=step.span,
                work=work,
                pace=pace,
                times=times,
                per_flow=constant * pace,
                thread=thread,
                counted=() if cost.fit is None else self._counted(),
                is_bounded=any(e.kind is ir.EffectKind.QUEUE for e in step.component.effects),
            )
        )
        if charged * work is not ZERO:
            self._note_waits(served, resource)

    def _station(self, node: str, resource: ir.Resource, capacity: Formula) -> Station:
        """Return the station that a resource of a node is."""
        name = f"{node}.{resource.name}"
        return self._network.come_to(
            name,
            Place(node, self._expressions.count(node)),
            kind_of(resource),
            resource.span,
            speeds=self._network.speeds(name, resource.waits),
            is_bits=resource.carries_bits,
            jitter=None if resource.jitter is None else Open(resource.jitter),
            rating=self._rating(name, self._machine(node), resource),
            **{_CAPACITIES[resource.kind]: capacity},
        )

    def _note_waits(self, served: Iterable[str], resource: ir.Resource) -> None:
        """Note how what a stream uses of a resource is waited for."""
        now = self._state
        waits = None if now.flow.primary is None else resource.waits
        for one in served:
            unwaited = UnmodeledQueue(one, one, resource.name, fitting(resource))
            self._network.note_wait(one, waits, resource.queueing, unwaited)
            now.visiting.add(one)

    def _counted(self) -> tuple[tuple[str, Formula], ...]:
        """Return what comes with one item of the stream."""
        flow = self._state.flow
        return tuple((base, flow.per_item(base)) for base in flow.rates)

    def _rating(self, name: str, machine: ir.Machine, resource: ir.Resource) -> Formula | None:
        """Return the rating of a processor where its law of jitter names that."""
        if resource.jitter is None or resource.speed is None:
            return None
        if not names_own_rate(resource.jitter.expr):
            return None
        return speed_of(self._expressions, name, machine, resource.speed)

    def _speed_and_capacity(
        self, node: str, resource: ir.Resource, cost: ir.Cost
    ) -> tuple[Formula, Formula]:
        """Return the seconds that a unit of work takes on one core, and how many cores there are.

        Of a resource that is no processor work is what its capacity has a second.
        """
        name = f"{node}.{resource.name}"
        if resource.kind is not ir.ResourceKind.PROCESSOR:
            return ONE, self._network.capacity(name, resource)
        scale = scale_of(self._expressions, node, self._machine(node), cost)
        return scale, cores_of(self._expressions, name, resource)

    def _where(self, node: str) -> tuple[str, str]:
        """Return what distinguishes numbers of one name: the node, then the stream."""
        return f"at {node}", f"in {self._stream.name}"

    def _calibrate(self, resource: str, component: ir.Component, cost: ir.Cost, node: str) -> None:
        """Note at which load a cost was measured."""
        by = component.name
        # A closed load test reaches from one client to saturation: all loads.
        low, high = map(float, cost.measured_at or (0, 1))
        self._network.calibrations[resource, by] = Calibration(
            resource=resource,
            component=by,
            low=low,
            high=high,
            span=cost.span,
            fit=cost.fit,
            station=cost.station,
            rates={},
            factors={
                name: number_of(self._expressions, component, name, value, self._where(node))
                for name, value in cost.factors
            },
            is_on_measured=is_on_measured(self._network.model, cost, self._machine(node)),
        )

    def _effects(
        self, step: ir.Step, node: str, repeat: Formula, flow_count: Formula, pools: Formula
    ) -> Formula:
        """Change the flow as the component says; return how many flows are held then.

        A step that is repeated takes its fixed delay so often; all else it does once.
        """
        now = self._state
        for effect in step.component.effects:
            if effect.kind is ir.EffectKind.MERGE:
                flow_count = self._extreme(minimum, flow_count / pools, 1) * pools
                continue
            assert effect.value is not None
            by, span, where = step.component.name, effect.value.span, self._where(node)
            value = number_of(
                self._expressions, step.component, effect.kind.value, effect.value, where
            )
            match effect.kind:
                case ir.EffectKind.KEEP:
                    now.add(Thin(share=value))
                case ir.EffectKind.DROP:
                    now.lose(f"dropped by {by}", LossKind.VOLUNTARY, value, span)
                case ir.EffectKind.ACTIVE:
                    flow_count = flow_count * value
                    lasting = self._lasting(step, effect, where)
                    now.add(Thin(share=value, bursty=True, on_for=lasting))
                case ir.EffectKind.DELAY:
                    now.add(Delay(why=f"{by}, fixed", time=value, times=Times(repeat)))
                case ir.EffectKind.EMIT:
                    self._emit(effect.value, value)
                case ir.EffectKind.QUEUE:
                    (item,) = effect.value.dimension.bases
                    comes = now.flow.per_item(item)
                    why = f"{by} at {node}"
                    now.add(QueueLimit(why=why, length=value, per_item=comes, span=span))
                case ir.EffectKind.RECOVER:
                    now.add(Restore(f"recovered by {by}", value, span))
        return flow_count

    def _lasting(self, step: ir.Step, effect: ir.Effect, where: tuple[str, str]) -> Formula | None:
        """Return for how long flows are on at a time, None where nobody says it."""
        if effect.lasting is None:
            return None
        what = f"{effect.kind.value}.lasting"
        return number_of(self._expressions, step.component, what, effect.lasting, where)

    def _emit(self, quantity: ir.Quantity, value: Formula) -> None:
        """Change the size: by a share of the bits, or to so many bits an item."""
        now = self._state
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


def _sent(spread: ir.Spread, copies: Formula, receivers: Formula) -> Send:
    to, target, group = spread.kind.value, spread.target, spread.group
    return Send(copies=copies, receivers=receivers, to=to, target=target, group=group)
