"""Do the steps fit the machines they stand on, and the costs what the streams carry?

This is asked of the model as it stands, of each of its scenarios, and of every change that
comes later: another machine may lack a resource or a rating that the first one had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.looked_at import Meanings, Part, ValidationCache, names_in
from qps.compiler.configure.missing_items import Ask, MissingItems, carried
from qps.compiler.configure.possible_values import Bounds
from qps.compiler.configure.ways import conditions_of, holds_in, legs_of, way_in_force
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.mends import instead, put_behind
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.ir.cost_items import (
    is_held,
    item_of,
    item_of_dimension,
    item_word,
    scaling_base,
)
from qps.compiler.quantities.dimension import (
    INFORMATION,
    INFORMATION_BASE,
    TIME,
    TIME_BASE,
    Dimension,
)
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.quantities.written_shares import more_than_all


def check_placement(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every step that cannot run where it stands, and every value that cannot be."""
    model.once(Placement).check(configuration, sink)


_STEPS = dict.fromkeys(
    ("take", "give"),
    "take it in a stream: `at node { take threads; …; give threads }`",
)
"""What is a step of a stream, and no cost of a component."""


class Placement:
    """Checks configurations of one model; what they share is looked at once."""

    def __init__(self, model: ir.Model) -> None:
        self._meanings = Meanings(model)
        self._bounds = Bounds(model)
        self._streams = ValidationCache([_part(model, stream) for stream in model.streams])

    def check(self, configuration: Configuration, sink: Sink) -> None:
        """Report every step that cannot run where it stands, and every value that cannot be."""
        found = Sink(failed_names=sink.failed_names)
        settled = in_force(configuration)
        moved = self._meanings.moved(settled)
        self._bounds.check(settled, moved, found)
        self._streams.look((settled, found), settled, moved, found)
        notes = (f"in scenario `{configuration.scenario}`",) if configuration.scenario else ()
        for diagnostic in found.found:
            sink.add(replace(diagnostic, notes=(*diagnostic.notes, *notes)))


def _part(model: ir.Model, stream: ir.Stream) -> Part[tuple[Configuration, Sink]]:
    """Return the placement of a stream, with what it depends on."""
    visits = [leg for leg in stream.legs if isinstance(leg, ir.Visit)]
    crossed = {leg.link for leg in stream.legs if isinstance(leg, ir.Crossing)}
    names = crossed.union(
        [*(visit.node for visit in visits), *(mark.node for mark in stream.pools)]
    )
    conditions = [step.condition for visit in visits for step in visit.steps]
    conditions += conditions_of(stream)
    shares = [call.times.expr for call in stream.calls if call.times is not None]

    fitting: _Fitting = {}

    def look(at: tuple[Configuration, Sink]) -> None:
        _StreamCheck(
            model=model, configuration=at[0], stream=stream, sink=at[1], fitting=fitting
        ).run()

    return Part(names_in(*conditions, *shares) | names, look)


_NUMBER = re.compile(r"[\d_.]+ *\w+")
"""A number with its unit, which may be that of each item as well."""

_Fitting = dict[tuple[int, int], tuple[ir.Machine, ir.Step]]
"""Steps whose costs fit a machine in any configuration, by which objects these are: both are held,
so that no other ones come to be where they were."""


class _StreamCheck(Struct, kw_only=True):
    """Checks one stream in one configuration."""

    model: ir.Model
    configuration: Configuration
    stream: ir.Stream
    sink: Sink
    fitting: _Fitting
    missing: MissingItems = field(default_factory=MissingItems)

    def run(self) -> None:
        """Report what does not fit; an item that the source lacks is told once."""
        holds = holds_in(self.configuration)
        way = way_in_force(self.stream, holds)
        if way is not None and way.faults:
            self.sink.add_all(way.faults)
            return
        for leg in legs_of(self.stream, holds):
            if isinstance(leg, ir.Crossing):
                self._crossing(leg)
                continue
            if isinstance(leg, ir.CallMark):
                if leg.point is ir.CallPoint.BEGINS:
                    self._sizes(leg.call)
                    self._share(leg.call)
                continue
            if isinstance(leg, ir.PoolMark):
                self._pool(leg)
                continue
            machine = ir.machine_at(self.model, self.configuration.nodes[leg.node])
            for step in leg.steps if machine is not None else ():
                assert machine is not None
                self._costs(leg.node, machine, step)
                for effect in step.component.effects:
                    self._effect(effect)
        self.missing.report(self.stream, self.sink)

    # -- pools ---------------------------------------------------------------------------

    def _pool(self, mark: ir.PoolMark) -> None:
        """Report what is taken of something that is no pool, or in another measure."""
        machine = ir.machine_at(self.model, self.configuration.nodes[mark.node])
        if machine is None or mark.point is not ir.PoolPoint.TAKEN:
            return
        resource = machine.resource(mark.resource)
        stores = [r.name for r in machine.resources if r.kind is ir.ResourceKind.STORE]
        if resource is None:
            self.sink.report(
                codes.NO_RESOURCE,
                mark.span,
                f"node `{mark.node}` ({machine.name}) has no `{mark.resource}` to take",
                hint=did_you_mean(mark.resource, stores)
                or (
                    f"add a pool to machine `{machine.name}`, such as `{mark.resource} 200 "
                    "thread`, or name a pool of another node: `take db.connections`"
                ),
            )
        elif resource.kind is not ir.ResourceKind.STORE:
            is_processor = resource.kind is ir.ResourceKind.PROCESSOR
            pool = "threads" if is_processor else resource.name
            such = f"{pool} 200 {pool.removesuffix('s')}"
            self.sink.report(
                codes.WRONG_KIND,
                mark.span,
                f"`{mark.pool}` has a speed and cannot be taken",
                secondary=[Label(resource.span, "declared here")],
                hint=f"a pool has items or bytes, such as `{such}`; use a component for "
                "service demands",
            )
        else:
            self._amount(mark, resource)

    def _amount(self, mark: ir.PoolMark, resource: ir.Resource) -> None:
        """Report an amount that is none of the pool, and bytes of which nobody says how many."""
        wanted = resource.capacity.dimension
        if mark.amount is None and not wanted.is_item:
            self.sink.report(
                codes.MISSING_PART,
                mark.span,
                f"the amount of `{mark.pool}` to take is missing",
                hint=f"write `take {mark.resource} 300 MB`",
            )
        elif mark.amount is not None and mark.amount.dimension != wanted:
            self.sink.report(
                codes.WRONG_DIMENSION,
                mark.amount.span,
                f"`{mark.pool}` holds {wanted.in_words}, not {mark.amount.dimension.in_words}",
                secondary=[Label(resource.span, "declared here")],
                hint=f"write an amount such as `take {mark.resource} {_some_of(wanted)}`",
            )
        if not self.stream.emission.items:
            message = f"items take `{mark.pool}`, but `{self.stream.name}` has only bytes"
            self.missing.ask("request", Ask(mark.span, message, "taken by each item"))

    # -- costs ---------------------------------------------------------------------------

    def _costs(self, node: str, machine: ir.Machine, step: ir.Step) -> None:
        """Report which costs of a step do not fit; one of which all did is not looked at again."""
        key = id(machine), id(step)
        if key in self.fitting:
            return
        found, asked = len(self.sink.found), self.missing.count
        for cost in step.component.costs:
            self._cost(node, machine, step, cost)
        is_fitted = any(cost.fit is not None for cost in step.component.costs)
        if not is_fitted and (found, asked) == (len(self.sink.found), self.missing.count):
            self.fitting[key] = machine, step

    def _cost(self, node: str, machine: ir.Machine, step: ir.Step, cost: ir.Cost) -> None:
        resource = machine.resource(cost.resource)
        component = step.component
        if resource is None:
            self.sink.report(
                codes.NO_RESOURCE,
                cost.span,
                f"`{component.name}` needs `{cost.resource}`, "
                f"but `{node}` ({machine.name}) has none",
                secondary=[Label(step.span, f"it runs at `{node}` here")],
                hint=_STEPS.get(cost.resource)
                or did_you_mean(cost.resource, [r.name for r in machine.resources])
                or f"add a resource `{cost.resource}` to machine `{machine.name}`",
            )
            return
        self._wait(f"{node}.{cost.resource}", resource.waits, step.span)
        self._one_server(f"{node}.{cost.resource}", resource)
        terms = [term for term in cost.terms if not is_held(term, resource)]
        wrong = [t for t in terms if item_of(t, resource.work) is None]
        for term in wrong[:1]:
            others = wrong[1:]
            advised = advice(
                term,
                lambda other: item_of_dimension(other, resource.work) is not None,
                self._timed(term, resource) or _cost_example(resource),
            )
            self.sink.report(
                codes.WRONG_DIMENSION,
                term.span,
                f"the demand on `{cost.resource}` cannot be {term.dimension.in_words}",
                label=f"this is {term.dimension.in_words}",
                secondary=[
                    *(Label(o.span, f"nor {o.dimension.in_words}") for o in others),
                    *advised.labels,
                ],
                hint=advised.hint,
            )
        for term in terms:
            self._term(step, term, resource)
        _check_rating(self.model, node, machine, step, cost, resource, self.sink)
        self._check_fit(node, machine, step, cost, resource)

    def _timed(self, term: ir.Quantity, resource: ir.Resource) -> str:
        """Return the hint to say of what a time is the cost: `8 ms` for each request."""
        items = sorted(self.stream.emission.items)
        is_time = term.dimension == TIME and resource.kind is ir.ResourceKind.PROCESSOR
        written = term.span.text
        if not is_time or len(items) != 1 or not _NUMBER.fullmatch(written):
            return ""
        told = f"add the item: `{written}/{items[0]}`"
        return put_behind(term.span, f"/{items[0]}", told=told)

    def _check_fit(
        self, node: str, machine: ir.Machine, step: ir.Step, cost: ir.Cost, resource: ir.Resource
    ) -> None:
        """Warn of a fitted cost on another machine than the one that was measured."""
        costs = [one for one in step.component.costs if one.resource == cost.resource]
        bases = [one.measured_on for one in costs]
        measured = self.model.machines.get(cost.measured_on or "")
        if cost.fit is None or measured is None or machine.measured_as(bases) != measured.name:
            return
        if resource.is_as(measured.resource(cost.resource)):
            return
        folder = Folder(
            configuration=self.configuration, population=Fraction(self.configuration.low)
        )
        if step.condition is not None and folder.holds(step.condition) is False:
            return
        idle = (
            ""
            if resource.idle is not None or not cost.fit.fixed
            else ", and it has no idle utilization"
        )
        self.sink.report(
            codes.BEYOND_MEASURED,
            cost.span,
            f"`{step.component.name}` was measured on `{cost.measured_on}` "
            f"(`{cost.fit.file}`) but runs on `{machine.name}`, scaled by one rating{idle}",
            secondary=[Label(step.span, f"`{node}` is `{machine.name}`")],
            hint=f"measure it on `{machine.name}`, too, and add `measured on {machine.name}`; "
            f"or state the uncertainty with `{step.component.name} * "
            f"{_trusted(resource, measured.resource(cost.resource))}` of `std.trust`",
        )

    def _term(self, step: ir.Step, term: ir.Quantity, resource: ir.Resource) -> None:
        item = item_of(term, resource.work)
        if not item or item_word(item) in carried(self.stream.emission):
            return
        name, component = self.stream.name, step.component.name
        carries = " and ".join(f"{word}s" for word in carried(self.stream.emission))
        self.missing.ask(
            item,
            Ask(
                term.span,
                f"the demand is per {item_word(item)}, but `{name}` has {carries}",
                f"a demand per {item_word(item)}",
                (Label(step.span, f"`{component}` works on `{name}` here"),),
            ),
        )

    def _wait(self, resource: str, queueing: ir.Queueing | None, span: Span) -> None:
        """Say which items wait: bytes alone come from nobody knows what."""
        if queueing is None or self.stream.emission.items:
            return
        message = f"items queue at `{resource}`, but `{self.stream.name}` has only bytes"
        also = (Label(queueing.span, "queueing stated here"),)
        self.missing.ask("packet", Ask(span, message, f"`{resource}` needs packets", also))

    def _one_server(self, name: str, resource: ir.Resource) -> None:
        """Report what is said to wait for cores, of what has none or whose cores are unlike.

        A machine that says it of its own resource is reported where it is checked.
        """
        waits = resource.waits
        if waits is None or not (waits.counts_servers or waits.speeds):
            return
        if all(waits is not stated.queueing for stated in self.model.waits):
            return
        word = waits.discipline.value
        if waits.traits.needs_cores and resource.kind is not ir.ResourceKind.PROCESSOR:
            message = f"`{word}` needs the cores of a CPU; `{name}` is a single server"
        elif waits.speeds and resource.capacity.expr != ir.Constant(Fraction(1)):
            message = f"`{name}` has both cores and speeds"
        elif waits.speeds:
            return
        elif resource.efficiency is not None:
            message = f"`{word}` assumes full core speed, but `{name}` has an `efficiency`"
        else:
            return
        self.sink.report(
            codes.MISPLACED,
            waits.span,
            message,
            secondary=[Label(resource.span, "the queue is here")],
            hint=f"write `mm1`, or only for this resource `{name} mm1`",
        )

    def _effect(self, effect: ir.Effect) -> None:
        if effect.value is None:
            return
        if effect.kind is ir.EffectKind.QUEUE:
            self._queue(effect, effect.value)
        elif effect.kind is ir.EffectKind.EMIT:
            self._emit(effect, effect.value)

    def _queue(self, effect: ir.Effect, length: ir.Quantity) -> None:
        """Ask for the item that a queue holds."""
        for base in length.dimension.bases:
            word = item_word(base)
            if word not in carried(self.stream.emission):
                message = f"a queue of {word}s, but `{self.stream.name}` has no {word}s"
                self.missing.ask(base, Ask(effect.span, message, f"a queue of {word}s"))

    def _emit(self, effect: ir.Effect, size: ir.Quantity) -> None:
        emission, name = self.stream.emission, self.stream.name
        if not emission.carries_information:
            message = f"`emit` changes a size, but `{name}` has no bytes"
            self.missing.ask(INFORMATION_BASE, Ask(effect.span, message, "a size"))
            return
        for base in size.dimension.bases - {INFORMATION_BASE, *emission.items}:
            message = f"a size per {base}, but `{name}` has no {base}s"
            self.missing.ask(base, Ask(effect.span, message, f"a size per {base}"))

    def _sizes(self, call: ir.Call) -> None:
        """Ask for a size where a call states one of its own."""
        size = call.sends or call.returns
        if size is not None and not self.stream.emission.carries_information:
            message = f"this call has a size, but `{self.stream.name}` has no bytes"
            self.missing.ask(INFORMATION_BASE, Ask(size.span, message, "a size"))

    def _share(self, call: ir.Call) -> None:
        """Report a parameter by which more than all make a call, written as a share."""
        named = None if call.times is None else call.times.expr
        if call.times is None or not isinstance(named, ir.ParameterValue):
            return
        value = self.configuration.values_from[named.name]
        found = more_than_all(value.text)
        if found is None:
            return
        share, often = found
        self.sink.report(
            codes.OUT_OF_RANGE,
            call.times.span,
            f"the share {share} is above 100 %",
            secondary=[Label(value, f"`{named.name}` is this")],
            hint=instead(
                share,
                often,
                at=value,
                told=f"for {often} calls per request write `{often}`",
            ),
        )

    def _crossing(self, leg: ir.Crossing) -> None:
        network = ir.network_at(self.model, self.configuration.links[leg.link])
        if network is None:
            return
        self._wait(leg.link, network.waits, leg.span)
        name, emission = self.stream.name, self.stream.emission
        if network.rate is not None and not emission.carries_information:
            message = f"link `{leg.link}` transports bits, but `{name}` has no size"
            self.missing.ask(
                INFORMATION_BASE, Ask(leg.span, message, "a link needs a size in bits or bytes")
            )
        for quantity, what in _per_item(network):
            base = next(iter(quantity.dimension.bases - {INFORMATION_BASE, TIME_BASE}))
            if base not in emission.items:
                message = f"the {what} of `{leg.link}` is per {base}, but `{name}` has no {base}s"
                also = (Label(quantity.span, f"the {what}"),)
                self.missing.ask(base, Ask(leg.span, message, f"`{leg.link}` needs {base}s", also))


def _some_of(dimension: Dimension) -> str:
    """Return an example of so much of a pool."""
    return "300 MB" if dimension == INFORMATION else f"2 {dimension.single_base}"


def _cost_example(resource: ir.Resource) -> str:
    if resource.kind is ir.ResourceKind.PROCESSOR:
        return "CPU demand is a time per item, such as `0.2 ms/packet`"
    if resource.kind is ir.ResourceKind.STORE:
        return (
            f"state an amount per flow, such as `2 MB`, or give `{resource.name}` a rate, "
            "such as `10 Gbit/s`"
        )
    return f"state the demand in {resource.work}, such as `1 byte/byte`"


def _check_rating(
    model: ir.Model,
    node: str,
    machine: ir.Machine,
    step: ir.Step,
    cost: ir.Cost,
    resource: ir.Resource,
    sink: Sink,
) -> None:
    """Can the cost be scaled from the machine it was measured on?"""
    if resource.kind is not ir.ResourceKind.PROCESSOR:
        return
    if cost.measured_on is None:
        if resource.speed is not None and cost.scaled_by is None:
            sink.report(
                codes.UNSCALED_COST,
                cost.span,
                f"the demand of `{step.component.name}` has no measured machine and is "
                "used unscaled",
                hint="add `measured on machine`, or `costs measured on machine` at the top",
            )
        return
    measured = model.machines.get(cost.measured_on)
    if measured is None:
        return
    base = scaling_base(measured, cost)
    if base is None:
        if measured.name != machine.name and not machine.is_alike(measured, cost.resource):
            sink.report(
                codes.NO_RATING,
                cost.span,
                f"`{measured.name}` has no rating to scale its demand to `{machine.name}`",
                secondary=[Label(step.span, f"`{node}` is `{machine.name}`")],
                hint="add a rating to both machines, such as `cpu 21.8 SPECint92`",
            )
        return
    for needed in (measured, machine):
        if needed.rating(base) is None:
            sink.report(
                codes.NO_RATING,
                cost.span,
                f"`{needed.name}` has no {base} rating to scale this demand by",
                secondary=[
                    Label(needed.span, "declared here"),
                    Label(step.span, f"`{node}` is `{machine.name}`"),
                ],
                hint=f"add `rating 10 {base}` to machine `{needed.name}`",
            )
            return


def _per_item(network: ir.Network) -> Iterator[tuple[ir.Quantity, str]]:
    if network.header is not None:
        yield network.header, "header"
    if network.cap is not None:
        yield network.cap, "cap"


def _trusted(resource: ir.Resource, measured: ir.Resource | None) -> str:
    """Return the factor of `std.trust` for costs of another machine, or of more of the same."""
    if measured is None or resource.numbers[0] == measured.numbers[0]:
        return "trust.other_machine"
    is_more = resource.numbers[1] == measured.numbers[1]
    return "trust.more_cores" if is_more else "trust.other_machine * trust.more_cores"
