"""One walk along a stream, step by step: what each step and each link asks for, and does.

The meaning is that of the language reference, "What a stream does": a flow carries rates of
items and bits; a node instance holds k flows at once; a component loads its resource with
k times its cost at these rates.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.think_times import think_time
from qps.compiler.lower.costs import (
    cores_of,
    costs_in_force,
    is_carried,
    is_on_measured,
    number_of,
    scale_of,
    work_of,
)
from qps.compiler.lower.flows import Demand, Flow, StreamResult
from qps.compiler.lower.latency import LatencyPart
from qps.compiler.lower.load_graph import Calibration
from qps.compiler.lower.lower_groups import receivers_in
from qps.compiler.lower.lower_transport import full_queue, recovery
from qps.compiler.lower.queueing import Visit
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.stream_measures import LossKind, LossPart
from qps.compiler.lower.switches import loads_what_others_do, only_works
from qps.compiler.lower.tidy import tidy_extremes
from qps.compiler.lower.unwaited import Unwaited, fitting
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE
from qps.engine.formulas import (
    ONE,
    ZERO,
    Formula,
    above_and_below,
    apply,
    maximum,
    minimum,
    product,
    total,
)

_ONE = Fraction(1)
_INTO = ".in"  # how the name of a port ends through which a switch sends to a node


def _merges(step: ir.Step) -> bool:
    return any(effect.kind is ir.EffectKind.MERGE for effect in step.component.effects)


class _Run(Struct, frozen=True):
    """A visit with the service times of the steps that it is made of."""

    visit: Visit
    services: list[Formula] = field(default_factory=list)


class Walk:
    """One walk along a stream: the flows as they are now."""

    def __init__(
        self, streams: StreamDemands, stream: ir.Stream, result: StreamResult, flow: Flow
    ) -> None:
        self._streams = streams
        self._expressions = streams.expressions
        self._stream = stream
        self._result = result
        self.flow = flow
        self._copies = flow.total  # what the sender puts on the network
        self._batch: Formula = ONE  # copies of an item that leave together
        self._spreads = self._meets = self._bursty = self._is_bounded = False
        self._taken: Formula = ONE  # how often the step is taken
        self._is_asked_again = think_time(streams.model, stream) is not None
        self._runs: dict[str, _Run] = {}  # of the resource that the last step was on
        self._served: list[_Run] = []
        self._served_by: dict[int, Formula] = {}  # cores that share a part of the latency

    def end(self) -> None:
        """Sum up what the visits ask for: each as long as all of its steps."""
        for run in self._served:
            # Visits that are alike are told so by their formulas.
            run.visit.service = self._expressions.with_counts(total(run.services))

    # -- nodes ---------------------------------------------------------------------------

    def visit(self, leg: ir.Visit) -> None:
        """Run the steps at a node."""
        count = self._expressions.count(leg.node)
        if any(map(_merges, leg.steps)):  # what comes alone is not merged
            count = self._expressions.with_counts(count)
            flows = self._expressions.with_counts(self.flow.total)
            self.flow = replace(self.flow, total=flows)
        held = self.flow.total / count
        copies: Formula = ONE
        receivers: Formula = ONE
        begins = len(self._result.latency)
        self._runs = {}
        for step in leg.steps:
            taken = self._taken = self._switch(step, leg) or ONE
            if taken is ONE and not self._expressions.holds(step.condition):
                continue
            merges = _merges(step)
            pools = self._pools(step, count)
            merged = self._extreme(maximum, 0, held / pools - 1) if merges else None
            if merges:
                self._wait_for_all(begins, held / pools)
            step_copies: Formula = ONE
            if step.spread is not None:
                receivers = self._receivers(step.spread, leg.node, held * count)
                step_copies = copies = self._sent(step.spread, receivers)
            repeat = self._expressions.lower(step.repeat) if step.repeat else ONE
            times = repeat * step_copies * taken
            charged = (held if merged is None else merged * pools) * times
            item_times = times if merged is None else times * merged
            self._is_bounded = any(
                effect.kind is ir.EffectKind.QUEUE for effect in step.component.effects
            )
            for cost in costs_in_force(step.component, self._machine(leg.node)):
                self._charge(step, leg.node, cost, charged, item_times, held)
            held = self._effects(step, leg.node, repeat, held, pools)
        self._copies = held * count * copies
        self._batch = self._extreme(maximum, 1, copies)
        self._meets = self._meets or self._spreads
        self._spreads = self._spreads or receivers is not ONE
        self.flow = replace(self.flow, total=held * count * receivers)

    def _switch(self, step: ir.Step, leg: ir.Visit) -> Formula | None:
        """Return how often a step is taken, none times or once; None where it is no number."""
        if step.condition is None or self._expressions.switches is None:
            return None
        machine = self._machine(leg.node)
        if not only_works(step, machine, self._streams.model.machines):
            return None
        costs = costs_in_force(step.component, machine)
        if not all(is_carried(cost, machine, self.flow) for cost in costs):
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
        if spread.group is not None:
            flows = self._expressions.with_counts(flows)
            return receivers_in(spread, self._stream.name, flows, self._expressions)
        if spread.kind is ir.SpreadKind.ONE:
            return ONE
        if spread.kind is ir.SpreadKind.OTHERS:
            return self._expressions.counted(node) - 1
        assert spread.target is not None
        return self._expressions.counted(spread.target)

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
        item_times: Formula,
        held: Formula,
    ) -> None:
        """Charge a cost on the resource of a node, and add its service time to the latency."""
        machine = self._machine(node)
        resource = machine.resource(cost.resource)
        assert resource is not None
        name = f"{node}.{resource.name}"
        where = self._where(node)
        work, item_work, constant = work_of(
            self._expressions, self.flow, step, cost, resource.work, where
        )
        per_second = ONE
        if resource.kind is ir.ResourceKind.PROCESSOR:
            per_second = scale_of(self._expressions, node, machine, cost)
            capacity = cores_of(self._expressions, name, resource)
        else:
            capacity = self._streams.capacity(name, resource)
        demand = self._streams.demand(name, resource.span)
        by = step.component.name
        load = charged * work * per_second / capacity
        demand.add(by, load)
        if resource.carries_bits:
            demand.carried.append(charged * work)
            demand.count = self._expressions.count(node)
        self._pass(name)
        if cost.measured_at is not None:
            self._calibrate(name, by, cost, machine, charged)
        if resource.jitter is not None:
            self._result.jitter[name] = resource.jitter
        is_thread = cost.single_thread and capacity is not ONE
        thread = f"{name}.{cost.thread or by}"
        if is_thread:
            single = self._streams.demand(thread, cost.span)
            single.add(by, charged * work * per_second)
            self._pass(thread)
        if resource.kind is ir.ResourceKind.STORE:
            return
        if resource.kind is ir.ResourceKind.PROCESSOR:
            demand.servers = capacity
        self._runs = {n: run for n, run in self._runs.items() if n in (name, thread)}
        busy = charged * per_second
        if resource.kind is ir.ResourceKind.RATE:
            busy = busy / capacity
        self._wait(name, demand, resource, held, busy * item_work)
        if constant is not ZERO:
            demand.background.append(charged * constant * per_second / capacity)
        if is_thread:
            self._wait(thread, single, resource, held, busy * item_work)
            if constant is not ZERO:
                single.background.append(charged * constant * per_second)
        service = item_times * item_work * per_second
        if resource.kind is ir.ResourceKind.RATE:
            service = service / capacity
        on_any = resource.kind is ir.ResourceKind.PROCESSOR and not cost.single_thread
        self._serve(by, node, service, capacity if on_any else ONE)

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
        for item, rate in self.flow.rates.items() if cost.fit is not None else ():
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

    def _serve(self, by: str, node: str, service: Formula, cores: Formula) -> None:
        """Add the time that work on an item takes; so many cores share that on several flows."""
        self._served_by[len(self._result.latency)] = cores
        stage = f"{by} at {node}"
        self._result.latency.append(
            LatencyPart(stage=stage, value=service, place=node, is_work=True)
        )

    def _wait(
        self,
        name: str,
        demand: Demand,
        resource: ir.Resource,
        held: Formula,
        busy: Formula,
    ) -> None:
        """Let an item wait for a resource, once for a run of steps; `busy` is for all flows."""
        if busy is ZERO:
            return
        queueing = resource.waits
        if queueing is None or self.flow.primary is None:
            unwaited = Unwaited(name, name, resource.name, fitting(resource))
            self._note_uncounted(unwaited, resource.queueing)
            if not self._is_bounded:
                self._result.unbounded[name] = None
        if self.flow.primary is None:
            return
        now = self.flow.rates[self.flow.primary]
        run = self._runs.get(name)
        if run is None:
            run = self._runs[name] = _Run(self._visit(name, held * now, held))
            self._served.append(run)
            if queueing is not None:
                self._queue(run.visit, demand, queueing)
        visit = run.visit
        visit.is_uneven |= visit.rate != held * now
        service = busy / visit.flows * (now * visit.flows / visit.rate)
        run.services.append(self._for_each(service))

    def _note_uncounted(self, found: Unwaited, stated: ir.Queueing | None) -> None:
        """Note that no waiting is counted at a resource, and whether that was said."""
        self._result.uncounted[found.resource] = None
        if stated is None:
            can_wait = self.flow.primary is not None
            unsaid = found if can_wait else replace(found, discipline=None)
            self._result.unsaid[found.resource] = unsaid

    def _for_each(self, service: Formula) -> Formula:
        """Return a time for each visit: none where the population leaves no visits at all."""
        count = self._expressions.population
        if count not in service.symbols:
            return service
        below = product(above_and_below(service)[1])
        if below is count or count not in below.symbols:
            return service
        return apply("mean", service * below, below)

    def _visit(self, name: str, rate: Formula, flows: Formula) -> Visit:
        """Return a visit with what is known of the flows so far."""
        before = dict.fromkeys(visit.resource for visit in self._result.visits.values())
        return Visit(
            resource=name,
            rate=rate,
            flows=flows,
            of=(self._stream.name, len(self._result.latency)),
            after=tuple(before),
            is_bursty=self._bursty,
            meets=self._meets,
            is_asked_again=self._is_asked_again,
        )

    def _queue(self, visit: Visit, demand: Demand, queueing: ir.Queueing) -> None:
        """Put a visit in a queue, and a place for its wait into the latency."""
        demand.queueing = queueing
        demand.visits.append(visit)
        latency = self._result.latency
        self._result.visits[len(latency)] = visit
        place = self._streams.configuration.place_of(visit.resource)
        latency.append(LatencyPart(stage=f"waiting for {visit.resource}", value=ZERO, place=place))

    def _effects(
        self, step: ir.Step, node: str, repeat: Formula, held: Formula, pools: Formula
    ) -> Formula:
        """Change the flow as the component says; return how many flows are held then.

        A step that is repeated takes its fixed delay so often; all else it does once.
        """
        for effect in step.component.effects:
            if effect.kind is ir.EffectKind.MERGE:
                held = self._extreme(minimum, held / pools, 1) * pools
                continue
            assert effect.value is not None
            what, where = effect.kind.value, self._where(node)
            value = number_of(self._expressions, step.component, what, effect.value, where)
            match effect.kind:
                case ir.EffectKind.KEEP:
                    self.flow = self.flow.scaled(value)
                case ir.EffectKind.DROP:
                    self._lose(
                        f"dropped by {step.component.name}",
                        LossKind.VOLUNTARY,
                        value,
                        effect.value.span,
                    )
                case ir.EffectKind.ACTIVE:
                    held = held * value
                    self._bursty = True
                case ir.EffectKind.DELAY:
                    self._runs = {}  # it comes back later, and waits anew
                    stage, taken = f"{step.component.name}, fixed", value * repeat
                    self._result.latency.append(LatencyPart(stage=stage, value=taken, place=node))
                case ir.EffectKind.EMIT:
                    self._emit(effect.value, value)
                case ir.EffectKind.QUEUE:
                    what = f"`{self._stream.name}`", f"{step.component.name} at {node}"
                    full = full_queue(what, effect.value, value, self.flow.rates, self._expressions)
                    self._result.queues.append(full)
                case ir.EffectKind.RECOVER:
                    stage = f"recovered by {step.component.name}"
                    part = recovery(stage, self._result.losses, value, effect.value.span)
                    self._result.losses.append(part)
                    self.flow = self.flow.scaled(1 - part.value)
        return held

    def _emit(self, quantity: ir.Quantity, value: Formula) -> None:
        """Change the size: by a share of the bits, or to so many bits an item."""
        bits = self.flow.rates[INFORMATION_BASE]
        item = next(iter(quantity.dimension.bases - {INFORMATION_BASE}), None)
        if item is None:
            self.flow = self.flow.with_bits(bits * value)
            return
        sizes = self.flow.sizes | {item: value}
        self.flow = replace(self.flow, sizes=sizes)
        changed = value * self.flow.rates[item] if item == self.flow.primary else bits
        self.flow = self.flow.with_bits(changed)

    # -- links ---------------------------------------------------------------------------

    def cross(self, leg: ir.Crossing, *, last: bool) -> None:
        """Carry the flows over a link; `last` where a node follows, which gets every copy."""
        streams = self._streams
        link = streams.configuration.links[leg.link]
        network = ir.network_at(streams.model, link)
        assert network is not None
        rate = self._of_link(leg, "rate", network.rate, is_capacity=True)
        bits = self.flow.rates[INFORMATION_BASE]
        item_bits = self.flow.per_item(INFORMATION_BASE)
        if network.header is not None:
            item = next(iter(network.header.dimension.bases - {INFORMATION_BASE}))
            header = self._of_link(leg, "header", network.header)
            bits = bits + header * self.flow.rates[item]
            item_bits = item_bits + header * self.flow.per_item(item)
        arriving = self.flow.total if last else self._copies
        for name, flows, count in self._ports(leg, link, network, arriving):
            self._load_link(name, flows * bits / rate, link, network)
            demand = streams.demand(name, link.span)
            demand.carried.append(flows * bits)
            demand.count = count
            if network.waits is not None and self.flow.primary is not None:
                arriving_rate = flows * self.flow.rates[self.flow.primary]
                visit = self._visit(name, arriving_rate, flows)
                visit.service = item_bits / rate
                visit.batch = ONE if name.endswith(_INTO) else self._batch
                self._queue(visit, demand, network.waits)
            else:
                unwaited = Unwaited(name, leg.link, "link", ir.Discipline.MD1)
                self._note_uncounted(unwaited, network.queueing)
                self._result.unbounded[name] = None
            if network.jitter is not None:
                self._result.jitter[name] = network.jitter
            if network.cap is not None:
                item = next(iter(network.cap.dimension.bases - {TIME_BASE}))
                cap = self._of_link(leg, "cap", network.cap, is_capacity=True)
                load = flows * self.flow.rates[item] / cap
                self._load_link(f"{name}.{item}s", load, link, network)
                self._result.unbounded[f"{name}.{item}s"] = None
        travel = item_bits / rate
        self._result.latency.append(
            LatencyPart(stage=f"over {leg.link}", value=travel, place=leg.link)
        )
        if network.propagation is not None:
            value = self._of_link(leg, "propagation", network.propagation)
            self._result.latency.append(
                LatencyPart(stage=f"propagation on {leg.link}", value=value, place=leg.link)
            )
        if network.loss is not None:
            lost = self._of_link(leg, "loss", network.loss)
            self._lose(f"lost on {leg.link}", LossKind.TRANSMISSION, lost, network.loss.span)

    def _of_link(
        self, leg: ir.Crossing, word: str, number: ir.Quantity, *, is_capacity: bool = False
    ) -> Formula:
        """Return a number of the network that is crossed."""
        network = self._streams.model.networks[self._streams.configuration.links[leg.link].network]
        name, source = f"{leg.link}.{word}", network.origin(number)
        return self._expressions.symbol(name, number, source, is_capacity=is_capacity)

    def _lose(self, stage: str, kind: LossKind, share: Formula, span: Span) -> None:
        """Lose a share of the items; what is lost loads nothing that comes after."""
        self._result.losses.append(LossPart(stage=stage, kind=kind, value=share, span=span))
        self.flow = self.flow.scaled(1 - share)

    def _ports(
        self, leg: ir.Crossing, link: ir.Link, network: ir.Network, arriving: Formula
    ) -> list[tuple[str, Formula, Formula]]:
        """Return what a crossing loads of a link: name, flows on each, how many of it there are."""
        count = self._expressions.count(leg.link)
        if network.medium is ir.Medium.SHARED:
            return [(leg.link, self._copies / count, count)]
        if network.medium is ir.Medium.DUPLEX:
            ends = list(link.ends)
            here = ends.index(leg.before) if leg.before in ends else len(ends)
            there = ends.index(leg.after) if leg.after in ends else len(ends)
            direction = "forth" if here <= there else "back"
            return [(f"{leg.link}.{direction}", self._copies / count, count)]
        senders = self._expressions.count(leg.before) * count
        receivers = self._expressions.count(leg.after) * count
        return [
            (f"{leg.link}.{leg.before}.out", self._copies / senders, senders),
            (f"{leg.link}.{leg.after}{_INTO}", arriving / receivers, receivers),
        ]

    def _load_link(self, name: str, load: Formula, link: ir.Link, network: ir.Network) -> None:
        demand = self._streams.demand(name, link.span)
        demand.add(self._stream.name, load)
        demand.port_of = link.name if network.medium is ir.Medium.SWITCHED else None
        self._result.passes[name] = ONE
