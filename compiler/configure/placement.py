"""Do the steps fit the machines they stand on, and the costs what the streams carry?

This is checked for the model as it stands, of each of its scenarios, and of every change that
comes later: another machine may lack a resource or a rating that the first one had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.conditional_paths import (
    active_path,
    conditions_of,
    legs_of,
    path_test,
)
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.configure.measured_costs import PlacedCost
from qps.compiler.configure.missing_items import ItemUse, MissingItems, items_in_words
from qps.compiler.configure.pool_steps import check_take
from qps.compiler.configure.possible_values import PossibleValues
from qps.compiler.configure.validation_cache import (
    Meanings,
    ValidationCache,
    ValidationStep,
    names_in,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import insertion_after_hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.ir.cost_items import is_amount_per_flow, item_of, item_of_dimension, item_word
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME, TIME_BASE
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.quantities.written_shares import more_than_all


def check_placement(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every step that cannot run where it stands, and every value that cannot be."""
    model.derived(Placement).check(configuration, sink)


_STEPS = dict.fromkeys(
    ("take", "give"),
    "take it in a stream: `at node { take threads; …; give threads }`",
)
"""What is a step of a stream, and no cost of a component."""


class Placement:
    """Checks configurations of one model; what they share is looked at once."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._meanings = Meanings(model)
        self._bounds = PossibleValues(model)
        self._streams = ValidationCache([_part(model, stream) for stream in model.streams])

    def check(self, configuration: Configuration, sink: Sink) -> None:
        """Report every step that cannot run where it stands, and every value that cannot be."""
        found = Sink(failed_names=sink.failed_names)
        active = in_force(configuration)
        moved = self._meanings.moved(active)
        self._bounds.check(active, moved, found)
        self._streams.look((active, found), active, moved, found)
        notes = (f"in scenario `{configuration.scenario}`",) if configuration.scenario else ()
        for diagnostic in found.found:
            sink.add(replace(diagnostic, notes=(*diagnostic.notes, *notes)))

    def check_modes(self, configuration: Configuration, sink: Sink) -> None:
        """Check a configuration in each mode; what is wrong in several is reported once."""
        reported: set[tuple[str, Span | None, str]] = set()
        for mode in in_each_mode(self._model, configuration):
            found = Sink(failed_names=sink.failed_names)
            self.check(mode, found)
            for one in found.found:
                span = one.primary.span if one.primary else None
                key = (one.code.id, span, one.message)
                if key not in reported:
                    reported.add(key)
                    sink.add(one)


def _part(model: ir.Model, stream: ir.Stream) -> ValidationStep[tuple[Configuration, Sink]]:
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

    return ValidationStep(names_in(*conditions, *shares) | names, look)


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
        """Report what does not fit; an item that the source lacks is reported once."""
        test = path_test(self.configuration)
        way = active_path(self.stream, test.holds)
        if way is not None and way.faults:
            self.sink.add_all(way.faults)
            return
        for leg in legs_of(self.stream, test):
            if isinstance(leg, ir.Crossing):
                self._crossing(leg)
                continue
            if isinstance(leg, ir.CallMark):
                if leg.point is ir.CallPoint.BEGINS:
                    self._sizes(leg.call)
                    self._share(leg.call)
                continue
            if isinstance(leg, ir.PoolMark):
                machine = self._machine(leg.node)
                if machine is not None and leg.point is ir.PoolPoint.TAKE:
                    check_take(leg, machine, self.stream, self.missing, self.sink)
                continue
            machine = self._machine(leg.node)
            for step in leg.steps if machine is not None else ():
                assert machine is not None
                self._costs(leg.node, machine, step)
                for effect in step.component.effects:
                    self._effect(effect)
        self.missing.report(self.stream, self.sink)

    def _machine(self, node: str) -> ir.Machine | None:
        return ir.machine_at(self.model, self.configuration.nodes[node])

    # -- costs ---------------------------------------------------------------------------

    def _costs(self, node: str, machine: ir.Machine, step: ir.Step) -> None:
        """Report which costs of a step do not fit; one of which all did is not looked at again."""
        key = id(machine), id(step)
        if key in self.fitting:
            return
        found, missing_count = len(self.sink.found), self.missing.count
        for cost in step.component.costs:
            self._cost(node, machine, step, cost)
        is_fitted = any(cost.fit is not None for cost in step.component.costs)
        if not is_fitted and (found, missing_count) == (len(self.sink.found), self.missing.count):
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
        self._one_thread(f"{node}.{cost.resource}", resource, cost)
        terms = [term for term in cost.terms if not is_amount_per_flow(term, resource)]
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
        placed = PlacedCost(node=node, machine=machine, resource=resource, step=step, cost=cost)
        placed.check_rating(self.model, self.sink)
        placed.check_fit(self.model, self.configuration, self.sink)

    def _timed(self, term: ir.Quantity, resource: ir.Resource) -> str:
        """Return the hint to say of what a time is the cost: `8 ms` for each request."""
        items = sorted(self.stream.emission.items)
        is_time = term.dimension == TIME and resource.kind is ir.ResourceKind.PROCESSOR
        written = term.span.text
        if not is_time or len(items) != 1 or not _NUMBER.fullmatch(written):
            return ""
        hint = f"add the item: `{written}/{items[0]}`"
        return insertion_after_hint(term.span, f"/{items[0]}", text=hint)

    def _term(self, step: ir.Step, term: ir.Quantity, resource: ir.Resource) -> None:
        item = item_of(term, resource.work)
        if not item or item_word(item) in items_in_words(self.stream.emission):
            return
        name, component = self.stream.name, step.component.name
        carries = " and ".join(f"{word}s" for word in items_in_words(self.stream.emission))
        self.missing.ask(
            item,
            ItemUse(
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
        self.missing.ask("packet", ItemUse(span, message, f"`{resource}` needs packets", also))

    def _one_thread(self, name: str, resource: ir.Resource, cost: ir.Cost) -> None:
        """Report a thread of what has a CPU limit: all its cores are those of the host."""
        waits = resource.waits
        if not cost.single_thread or waits is None or waits.host_cores is None:
            return
        self.sink.report(
            codes.MISPLACED,
            cost.span,
            f"`single_thread` is not modeled under the CPU limit of `{name}`",
            secondary=[Label(waits.span, "CPU limit stated here")],
            hint="if all work runs on one thread, remove `single_thread` and write `on 1 core`",
        )

    def _one_server(self, name: str, resource: ir.Resource) -> None:
        """Report what is said to wait for cores, of what has none or whose cores are unlike.

        A machine that says it of its own resource is reported where it is checked.
        """
        waits = resource.waits
        if waits is None or not (waits.has_full_speed or waits.speeds):
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
            if word not in items_in_words(self.stream.emission):
                message = f"a queue of {word}s, but `{self.stream.name}` has no {word}s"
                self.missing.ask(base, ItemUse(effect.span, message, f"a queue of {word}s"))

    def _emit(self, effect: ir.Effect, size: ir.Quantity) -> None:
        emission, name = self.stream.emission, self.stream.name
        if not emission.carries_information:
            message = f"`emit` changes a size, but `{name}` has no bytes"
            self.missing.ask(INFORMATION_BASE, ItemUse(effect.span, message, "a size"))
            return
        for base in size.dimension.bases - {INFORMATION_BASE, *emission.items}:
            message = f"a size per {base}, but `{name}` has no {base}s"
            self.missing.ask(base, ItemUse(effect.span, message, f"a size per {base}"))

    def _sizes(self, call: ir.Call) -> None:
        """Ask for a size where a call states one of its own."""
        size = call.sends or call.returns
        if size is not None and not self.stream.emission.carries_information:
            message = f"this call has a size, but `{self.stream.name}` has no bytes"
            self.missing.ask(INFORMATION_BASE, ItemUse(size.span, message, "a size"))

    def _share(self, call: ir.Call) -> None:
        """Report a parameter by which more than all make a call, written as a share."""
        named = None if call.times is None or call.is_local else call.times.expr
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
                words=f"for {often} calls per request write `{often}`",
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
                INFORMATION_BASE, ItemUse(leg.span, message, "a link needs a size in bits or bytes")
            )
        for quantity, what in _per_item(network):
            base = next(iter(quantity.dimension.bases - {INFORMATION_BASE, TIME_BASE}))
            if base not in emission.items:
                message = f"the {what} of `{leg.link}` is per {base}, but `{name}` has no {base}s"
                also = (Label(quantity.span, f"the {what}"),)
                self.missing.ask(
                    base, ItemUse(leg.span, message, f"`{leg.link}` needs {base}s", also)
                )


def _cost_example(resource: ir.Resource) -> str:
    if resource.kind is ir.ResourceKind.PROCESSOR:
        return "CPU demand is a time per item, such as `0.2 ms/packet`"
    if resource.kind is ir.ResourceKind.STORE:
        return (
            f"specify an amount per flow, such as `2 MB`, or give `{resource.name}` a rate, "
            "such as `10 Gbit/s`"
        )
    return f"specify the demand in {resource.work}, such as `1 byte/byte`"


def _per_item(network: ir.Network) -> Iterator[tuple[ir.Quantity, str]]:
    if network.header is not None:
        yield network.header, "header"
    if network.cap is not None:
        yield network.cap, "cap"
