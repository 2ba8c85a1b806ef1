"""An oracle: the meaning of a model in plain fractions, at one population.

Written from the language reference, "Streams" and "What users need", and from nothing else: no
sympy, no symbols, no load graph. What it computes must be what the compiler and solver compute.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

from oracles.plain_numbers import applied, compare, power
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION_BASE, TIME, TIME_BASE

Rates = dict[str, Fraction]


@dataclass
class Plain:
    """Loads by resource and component; latency, queues, what is kept and what arrives by stream.

    `sound` is what transmission leaves, what was recovered put back.
    """

    loads: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    parts: dict[tuple[str, str], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    carried: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    latency: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    queue: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    sound: dict[str, Fraction] = field(default_factory=lambda: defaultdict(lambda: Fraction(1)))
    retained: dict[str, Fraction] = field(default_factory=dict)
    passes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    arriving: dict[str, tuple[Fraction, Fraction]] = field(default_factory=dict)

    def served(self, stream: str) -> Fraction:
        """Return the share that saturated resources on the way still serve."""
        share = Fraction(1)
        for resource in self.passes[stream]:
            share /= max(Fraction(1), self.loads[resource])
        return share

    def loss(self, stream: str) -> Fraction:
        """Return the share of a stream that is lost."""
        return 1 - self.retained[stream] * self.served(stream)

    def loads_of(self, subject: str) -> list[Fraction]:
        """Return the load of a resource, or all those of a link."""
        if "." in subject:
            return [self.loads[subject]] if subject in self.loads else self._below(subject)
        return [v for n, v in self.loads.items() if n == subject] + self._below(subject)

    def _below(self, subject: str) -> list[Fraction]:
        return [v for n, v in self.loads.items() if n.startswith(subject + ".")]


def plain_model(model: ir.Model, configuration: Configuration, population: int | Fraction) -> Plain:
    """Return the loads, latencies and losses of a model at a population."""
    return walked(model, configuration, population).result


def plain_measure(
    model: ir.Model, configuration: Configuration, expr: ir.Expr, population: int
) -> Fraction:
    """Return the value of a measure or any other expression; UndefinedError where it has none."""
    return walked(model, configuration, population).value(expr)


def walked(model: ir.Model, configuration: Configuration, population: int | Fraction) -> PlainWalk:
    walker = PlainWalk(model, configuration, Fraction(population))
    for stream in model.streams:
        walker.walk(stream)
    for node in configuration.nodes.values():
        for resource in model.machines[node.machine].resources:
            if resource.idle is not None:
                name = f"{node.name}.{resource.name}"
                walker.load(name, "idle", walker.value(resource.idle.expr))
    return walker


class PlainWalk:
    def __init__(self, model: ir.Model, configuration: Configuration, n: Fraction) -> None:
        self.model, self.configuration, self.n = model, configuration, n
        self.case = configuration.case
        self.result = Plain()
        self.work: list[tuple[Fraction, Fraction]] = []  # times at a node, cores that share them

    # -- expressions ---------------------------------------------------------------------

    def value(self, expr: ir.Expr) -> Fraction:  # noqa: C901, PLR0911, PLR0912 - a case a node
        match expr:
            case ir.Constant(value):
                return value
            case ir.ParameterValue(name):
                return self.value(self.configuration.parameters[name])
            case ir.Population():
                return self.n
            case ir.NodeCount(name):
                return self.count(name)
            case ir.Members(name):
                return min(self.value(self.model.group(name).size.expr), self.n)
            case ir.GroupCount(name):
                return self.groups(name)
            case ir.Sum(terms):
                return sum((self.value(t) for t in terms), Fraction(0))
            case ir.Product(factors):
                product = Fraction(1)
                for factor in factors:
                    product *= self.value(factor)
                return product
            case ir.Power(base, exponent):
                return power(self.value(base), self.value(exponent))
            case ir.Apply(word, arguments):
                return applied(word, [self.value(a) for a in arguments])
            case ir.Choice(condition, then, otherwise):
                return self.value(then if self.holds(condition) else otherwise)
            case ir.Measured():
                return self.measured(expr)
            case ir.InCase(case, value):
                before, self.case = self.case, case
                found = self.value(value)
                self.case = before
                return found
            case ir.ByCase(stated):
                return self.value(next(one.value for one in stated if one.case is self.case))
            case ir.Mixture(classes=classes):
                values = [self.value(ir.ParameterValue(kind.parameter)) for kind in classes]
                if self.case is not ir.Case.AVERAGE:
                    return min(values) if self.case is ir.Case.LEAST else max(values)
                return sum((k.share * v for k, v in zip(classes, values, strict=True)), Fraction(0))
        raise AssertionError(f"the oracle knows no {expr}")

    def measured(self, requested: ir.Measured) -> Fraction:
        result, subject = self.result, requested.subject
        match requested.kind:
            case ir.MeasureKind.LOAD:
                return max(result.loads_of(subject), default=Fraction(0))
            case ir.MeasureKind.SHARE:
                part = result.parts[subject, requested.component or ""]
                return part / result.loads[subject]
            case ir.MeasureKind.LATENCY:
                return result.latency[subject]
            case ir.MeasureKind.MAX_WAIT:
                return result.queue[subject]
            case ir.MeasureKind.TRANSMISSION_LOSS:
                return 1 - result.sound[subject]
            case ir.MeasureKind.LOSS:
                return result.loss(subject)
            case ir.MeasureKind.RATE:
                return result.arriving[subject][0] * result.served(subject)
            case ir.MeasureKind.THROUGHPUT:
                return result.arriving[subject][1] * result.served(subject)
        raise AssertionError(f"the oracle knows no {requested}")

    def target(self, name: str) -> Fraction:
        """Return how full a resource may be: the closest of the targets, else 1."""
        place, *rest = name.split(".")
        found = {target.name: self.value(target.value.expr) for target in self.model.targets}
        wider = "link" if place in self.configuration.links else rest[0]
        parts = [place, *rest]
        closer = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
        return next((found[key] for key in [*closer, wider] if key in found), Fraction(1))

    def load(self, name: str, by: str, load: Fraction) -> None:
        self.result.loads[name] += load
        self.result.parts[name, by] += load

    def holds(self, condition: ir.Condition | None) -> bool:
        match condition:
            case None:
                return True
            case ir.OptionIs(option, choice):
                return self.configuration.options[option] == choice
            case ir.AllOf(parts):
                return all(self.holds(p) for p in parts)
            case ir.AnyOf(parts):
                return any(self.holds(p) for p in parts)
            case ir.Negated(inner):
                return not self.holds(inner)
            case ir.Compare(operator, left, right):
                sign = compare(self.value(left), self.value(right))
                if operator == "!=":
                    return sign != 0
                return (
                    sign
                    in {"<": (-1,), "<=": (-1, 0), "==": (0,), ">=": (0, 1), ">": (1,)}[operator]
                )
        raise AssertionError(f"the oracle knows no {condition}")

    def count(self, name: str) -> Fraction:
        nodes, links = self.configuration.nodes, self.configuration.links
        return self.value(nodes[name].count if name in nodes else links[name].count)

    # -- streams -------------------------------------------------------------------------

    def walk(self, stream: ir.Stream) -> None:  # noqa: C901, PLR0915 - one walk, told in one piece
        name, emission = stream.name, stream.emission
        rates, sizes = self.source(emission)
        primary = emission.primary
        if emission.framed_bytes:
            self.result.latency[name] += 1 / rates[primary]
        arriving = sent = self.flows(stream)
        stored = Fraction(1)
        for index, leg in enumerate(stream.legs):
            if isinstance(leg, ir.Crossing):
                last = isinstance(stream.legs[index + 1], ir.Visit)
                rates, stored = self.cross(stream, leg, rates, stored, sent, arriving, last)
                continue
            machines = self.count(leg.node)
            held, copies, receivers = arriving / machines, Fraction(1), Fraction(1)
            self.work = []
            for step in leg.steps:
                if not self.holds(step.condition):
                    continue
                step_copies = Fraction(1)
                if step.spread is not None:
                    receivers = self.receivers(step.spread, machines, held * machines)
                    cast = step.spread.cast
                    if isinstance(cast, str):
                        cast = self.configuration.options[cast] == "multicast"
                    step_copies = copies = Fraction(1) if cast else receivers
                merges = any(e.kind is ir.EffectKind.MERGE for e in step.component.effects)
                repeated = self.value(step.repeat) if step.repeat else Fraction(1)
                # What is merged within groups is one flow of each group, of those on a machine.
                groups = self.groups(step.group) / machines if step.group else Fraction(1)
                merged = max(Fraction(0), held / groups - 1)
                if merges:
                    self.finish_all(name, held / groups)
                charge = (merged * groups if merges else held) * repeated * step_copies
                each = repeated * step_copies * (merged if merges else 1)
                self.charge(stream, leg.node, step, rates, primary, charge, each)
                for effect in step.component.effects:
                    value = self.value(effect.value.expr) if effect.value else Fraction(0)
                    match effect.kind:
                        case ir.EffectKind.MERGE:
                            held = min(held / groups, Fraction(1)) * groups
                        case ir.EffectKind.KEEP:
                            rates = {b: r * value for b, r in rates.items()}
                        case ir.EffectKind.ACTIVE:
                            held *= value
                        case ir.EffectKind.DELAY:
                            self.result.latency[name] += value * repeated
                        case ir.EffectKind.DROP:
                            rates = {b: r * (1 - value) for b, r in rates.items()}
                            stored *= 1 - value
                        case ir.EffectKind.QUEUE | ir.EffectKind.RECOVER:
                            mended = self.transport(name, effect, value, rates)
                            rates, stored = (
                                {b: r * mended for b, r in rates.items()},
                                stored * mended,
                            )
                        case ir.EffectKind.EMIT:
                            rates = self.emit(effect, value, rates, sizes, primary)
            sent, arriving = held * machines * copies, held * machines * receivers
        self.result.retained[name] = stored
        bits = rates.get(INFORMATION_BASE, Fraction(0))
        self.result.arriving[name] = (rates[primary] if primary else bits, bits)

    def finish_all(self, name: str, flows: Fraction) -> None:
        """Add what a merged flow waits until the work on all flows here is done, on all cores."""
        done = self.work
        self.work = [(time * max(Fraction(1), flows / cores), cores) for time, cores in done]
        self.result.latency[name] += sum(t for t, _ in self.work) - sum(t for t, _ in done)

    def source(self, emission: ir.Emission) -> tuple[Rates, Rates]:
        first, *rest = emission.values
        base = next(b for b, _ in first.dimension.exponents if b != TIME_BASE)
        rates, sizes = {base: self.value(first.expr)}, {}
        for size in rest:
            powers = {power: b for b, power in size.dimension.exponents}
            above, below = powers[1], powers[-1]
            value = self.value(size.expr)
            if above == INFORMATION_BASE:
                sizes[below] = value
            if below in rates:
                rates[above] = rates[below] * value
            else:
                rates[below] = rates[above] / value
        return rates, sizes

    def transport(self, name: str, effect: ir.Effect, value: Fraction, rates: Rates) -> Fraction:
        """Add a queue, or recover what was lost; return by how much the stream grows."""
        if effect.kind is ir.EffectKind.QUEUE:
            (item,) = effect.value.dimension.bases
            self.result.queue[name] += value / rates[item]
            return Fraction(1)
        sound = self.result.sound[name]
        self.result.sound[name] = sound + value * (1 - sound)
        return self.result.sound[name] / sound

    def members(self, group: str) -> Fraction:
        return self.value(ir.Members(group))

    def groups(self, group: str) -> Fraction:
        return self.n / self.members(group)

    def flows(self, stream: ir.Stream) -> Fraction:
        each = stream.flows_from
        if isinstance(each, ir.InEachGroup):
            sending = min(self.value(each.flows.expr), self.members(each.group))
            return sending * self.groups(each.group)
        if isinstance(each, ir.EachPair):
            many, groups = self.count(each.node) if each.node else self.members(each.group), 1
            if each.group:
                groups = self.groups(each.group)
            return groups * many * (many - 1) / (1 if each.is_ordered else 2)
        if each is ir.Whose.ALL:
            return Fraction(1)
        if each is ir.Whose.EACH_USER:
            return self.n if stream.users is None else self.value(stream.users)
        return self.count(each)

    def receivers(self, spread: ir.Spread, machines: Fraction, flows: Fraction) -> Fraction:
        if spread.count is not None:
            there = self.members(spread.group) if spread.group else machines
            return min(self.value(spread.count.expr), there - 1)
        if spread.group is not None:
            return self.receivers_in(spread, flows)
        if spread.kind is ir.SpreadKind.OTHERS:
            return machines - 1
        return self.count(spread.target) if spread.kind is ir.SpreadKind.ALL else Fraction(1)

    def receivers_in(self, spread: ir.Spread, flows: Fraction) -> Fraction:
        members = self.members(spread.group)
        if spread.kind is ir.SpreadKind.ALL:
            return members
        if spread.most is None or flows == 0:
            return members - 1
        most, senders = self.value(spread.most.expr), flows / self.groups(spread.group)
        to_senders = senders * min(most, senders - 1)
        to_listeners = (members - senders) * min(most, senders)
        return (to_senders + to_listeners) / senders

    def emit(
        self, effect: ir.Effect, value: Fraction, rates: Rates, sizes: Rates, primary: str | None
    ) -> Rates:
        bits = rates[INFORMATION_BASE]
        items = effect.value.dimension.bases - {INFORMATION_BASE}
        if not items:
            bits *= value
        else:
            (item,) = items
            sizes[item] = value
            if item == primary:
                bits = value * rates[item]
        changed = rates | {INFORMATION_BASE: bits}
        for item, size in sizes.items():
            if item != primary:
                changed[item] = bits / size
        return changed

    def charge(
        self,
        stream: ir.Stream,
        node: str,
        step: ir.Step,
        rates: Rates,
        primary: str | None,
        charge: Fraction,
        each: Fraction,
    ) -> None:
        machine = self.model.machines[self.configuration.nodes[node].machine]
        for resource in machine.resources:
            costs = [c for c in step.component.costs if c.resource == resource.name]
            exact = [c for c in costs if c.measured_on == machine.name]
            chosen = exact or [c for c in costs if c.measured_on == costs[0].measured_on]
            name = f"{node}.{resource.name}"
            capacity = self.value(resource.capacity.expr)
            for cost in chosen:
                scale = self.scale(cost, machine)
                work, item_work = Fraction(0), Fraction(0)
                for term in cost.terms:
                    amount = self.value(term.expr)
                    counted = resource.work / term.dimension * TIME
                    base = counted.single_base
                    if resource.work / term.dimension == DIMENSIONLESS or base is None:
                        work += amount
                        continue
                    work += amount * rates[base]
                    unit = rates[primary] if primary else rates[INFORMATION_BASE] / 8
                    item_work += amount * rates[base] / unit
                processor = resource.kind is ir.ResourceKind.PROCESSOR
                factor = scale if processor else Fraction(1)
                by = step.component.name
                self.load(name, by, charge * work * factor / capacity)
                self.result.passes[stream.name].add(name)
                if cost.single_thread and capacity != 1:
                    thread = f"{name}.{cost.thread or step.component.name}"
                    self.load(thread, by, charge * work * factor)
                    self.result.passes[stream.name].add(thread)
                if resource.kind is not ir.ResourceKind.STORE:
                    service = each * item_work * (factor if processor else 1 / capacity)
                    self.result.latency[stream.name] += service
                    is_shared = processor and not cost.single_thread
                    self.work.append((service, capacity if is_shared else Fraction(1)))

    def scale(self, cost: ir.Cost, machine: ir.Machine) -> Fraction:
        if cost.measured_on is None:
            return Fraction(1)
        measured = self.model.machines[cost.measured_on]
        resource = measured.resource(cost.resource)
        base = cost.scaled_by or (
            resource.speed.dimension.single_base if resource and resource.speed else None
        )
        if base is None:
            return Fraction(1)
        theirs, ours = dict(measured.ratings)[base], dict(machine.ratings)[base]
        return self.value(theirs.expr) / self.value(ours.expr)

    def cross(
        self,
        stream: ir.Stream,
        leg: ir.Crossing,
        rates: Rates,
        stored: Fraction,
        sent: Fraction,
        arriving: Fraction,
        last: bool,
    ) -> tuple[Rates, Fraction]:
        link = self.configuration.links[leg.link]
        network = self.model.networks[link.network]
        count, rate = self.value(link.count), self.value(network.rate.expr)
        primary = stream.emission.primary
        unit = rates[primary] if primary else rates[INFORMATION_BASE] / 8
        bits = rates[INFORMATION_BASE]
        if network.header is not None:
            (item,) = network.header.dimension.bases - {INFORMATION_BASE}
            bits += self.value(network.header.expr) * rates[item]
        at_end = arriving if last else sent
        match network.medium:
            case ir.Medium.SHARED:
                ports = {leg.link: sent / count}
            case ir.Medium.DUPLEX:
                ends = [*link.ends, leg.before, leg.after]
                forth = ends.index(leg.before) <= ends.index(leg.after)
                ports = {f"{leg.link}.{'forth' if forth else 'back'}": sent / count}
            case ir.Medium.SWITCHED:
                ports = {
                    f"{leg.link}.{leg.before}.out": sent / self.count(leg.before) / count,
                    f"{leg.link}.{leg.after}.in": at_end / self.count(leg.after) / count,
                }
        for name, flows in ports.items():
            self.load(name, stream.name, flows * bits / rate)
            self.result.carried[name] += flows * bits
            self.result.passes[stream.name].add(name)
            if network.cap is not None:
                (item,) = network.cap.dimension.bases - {TIME_BASE}
                capped = f"{name}.{item}s"
                self.load(capped, stream.name, flows * rates[item] / self.value(network.cap.expr))
                self.result.passes[stream.name].add(capped)
        self.result.latency[stream.name] += bits / unit / rate
        if network.propagation is not None:
            self.result.latency[stream.name] += self.value(network.propagation.expr)
        if network.loss is not None:
            share = 1 - self.value(network.loss.expr)
            rates, stored = {b: r * share for b, r in rates.items()}, stored * share
            self.result.sound[stream.name] *= share
        return rates, stored
