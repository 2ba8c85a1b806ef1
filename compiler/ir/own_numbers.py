"""The numbers that a model states itself, by the names that graphs call them.

By these names `explain` shows them, `--for` solves for them, pages move them, and changes set them.
A law in `tests/language/test_own_numbers.py` holds the names against those of graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.cost_items import item_of, item_word, scaling_base
from qps.compiler.ir.parts import parts_of
from qps.compiler.ir.placed_numbers import changed, each, number, numbers_in

Visit = Callable[[str, ir.Quantity, str | None], ir.Quantity]
"""What is made of a number, by its name, and what is said of where it comes from."""


class OwnNumber(Struct, frozen=True, kw_only=True):
    """What stands in a model under a name; `place` is where, of hardware in its place.

    `source` is what is said of where it comes from.
    """

    name: str
    stated: ir.Quantity
    place: str | None = None
    source: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is a number, and not worked out from others."""
        return isinstance(self.stated.expr, ir.Constant)

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The parameters that it is worked out from."""
        parts = parts_of(self.stated.expr)
        found = [part.name for part in parts if isinstance(part, ir.ParameterValue)]
        return tuple(dict.fromkeys(found))


def distinct_names(name: str, where: Sequence[str]) -> Iterator[str]:
    """Yield names for numbers that have one in the spec: by where they are, then by counting."""
    yield name
    for place in where:
        name = f"{name} {place}"
        yield name
    for further in count(2):
        yield f"{name} ({further})"


def own_numbers(model: ir.Model) -> dict[str, OwnNumber]:
    """Return the numbers that a model states itself, by their names."""
    found: dict[str, OwnNumber] = {}

    def note(
        name: str, quantity: ir.Quantity, source: str | None, place: str | None = None
    ) -> ir.Quantity:
        known = found.get(name)
        if known is None or not known.is_plain:
            source = quantity.source or source
            found[name] = OwnNumber(name=name, stated=quantity, place=place, source=source)
        return quantity

    for place, hardware in _hardware(model):
        for word, quantity in numbers_in(hardware).items():
            note(f"{place}.{word}", quantity, None, place)
    _Visiting(model, note).whole()
    return found


def with_parameters(
    model: ir.Model, names: Collection[str], known: Mapping[str, OwnNumber]
) -> ir.Model:
    """Return a model in which some of its own numbers are parameters, and so can be set.

    Those of hardware in its place are so only where they are set: other hardware has others.
    """
    there = {parameter.name for parameter in model.parameters}
    wanted = {name: known[name] for name in names if name not in there}
    if not wanted:
        return model

    def named(name: str, quantity: ir.Quantity, _: str | None) -> ir.Quantity:
        if name not in wanted or quantity.expr != wanted[name].stated.expr:
            return quantity
        return replace(quantity, expr=ir.ParameterValue(name), bound="", divisors=())

    made = tuple(
        ir.parameter_of(one.stated, name=one.name, source=one.source, place=one.place)
        for one in wanted.values()
    )
    whole = replace(model, parameters=(*model.parameters, *made))
    return _Visiting(whole, named).whole()


def _hardware(model: ir.Model) -> Iterator[tuple[str, ir.Machine | ir.Network]]:
    """Yield the places of a model, with what stands there by the spec."""
    for node in model.nodes:
        machine = ir.machine_at(model, node)
        if machine is not None:
            yield node.name, machine
    for link in model.links:
        network = ir.network_at(model, link)
        if network is not None:
            yield link.name, network


class _Visiting:
    """Visits all numbers of a model but those of hardware in its place."""

    def __init__(self, model: ir.Model, change: Visit) -> None:
        self._model, self._change = model, change
        self._name_counts: dict[str, ir.Expr] = {}

    @cached_property
    def _machines(self) -> Mapping[str, ir.Machine]:
        found = {node.name: ir.machine_at(self._model, node) for node in self._model.nodes}
        return {name: machine for name, machine in found.items() if machine is not None}

    def whole(self) -> ir.Model:
        model = self._model
        return changed(
            model,
            parameters=each(model.parameters, self._parameter),
            groups=each(model.groups, self._group),
            streams=each(model.streams, self._stream),
            requirements=each(model.requirements, self._requirement),
            targets=each(model.targets, self._target),
            modes=each(model.modes, self._mode),
        )

    def _visit(
        self,
        name: str,
        quantity: ir.Quantity,
        where: Sequence[str] = (),
        source: str | None = None,
    ) -> ir.Quantity:
        """Return what is made of a number; others of its name are distinguished as graphs do it."""
        expr = quantity.expr
        for distinct in distinct_names(name, where):
            taken = self._name_counts.get(distinct)
            if taken is None and not isinstance(expr, ir.Constant | ir.ParameterValue):
                break
            if taken is None and isinstance(expr, ir.ParameterValue) and expr.name != distinct:
                break
            if taken is None or taken == expr:
                self._name_counts[distinct] = expr
                return self._change(distinct, quantity, source)
        return self._change(name, quantity, source)  # worked out from others, it takes no name

    def _number(self, name: str, quantity: ir.Quantity | None) -> ir.Quantity | None:
        return number(name, quantity, self._visit)

    def _parameter(self, one: ir.Parameter) -> ir.Parameter:
        """Return a parameter; of an elastic one the ends of its range are numbers of their own."""
        if not one.is_elastic or one.low is None or one.high is None:
            return one
        low, high = (
            self._visit(f"{one.name}.{end}", _end(one, bound)).expr
            for end, bound in (("least", one.low), ("most", one.high))
        )
        return changed(one, low=low, high=high, value=high if one.value == one.high else one.value)

    # -- groups, and what users need -----------------------------------------------------

    def _group(self, group: ir.Group) -> ir.Group:
        size = self._visit(f"{group.name}.size", group.size, source=group.doc)
        return changed(group, size=size)

    def _mode(self, mode: ir.Mode) -> ir.Mode:
        return changed(mode, requirements=each(mode.requirements, self._requirement))

    def _requirement(self, requirement: ir.Requirement) -> ir.Requirement:
        """Return a requirement with its limits; one with certainty is called by its limit."""
        if requirement.certainty is not None:
            return requirement
        return changed(
            requirement,
            limit=self._visit(f"limit of {requirement.name}", requirement.limit),
            ideal=self._number(f"ideal of {requirement.name}", requirement.ideal),
        )

    def _target(self, target: ir.Target) -> ir.Target:
        return changed(target, value=self._visit(f"target of {target.full_name}", target.value))

    # -- streams -------------------------------------------------------------------------

    def _stream(self, stream: ir.Stream) -> ir.Stream:
        name = stream.name
        flows, playout = stream.flows_from, stream.playout
        if isinstance(flows, ir.InEachGroup):
            flows = changed(flows, flows=self._visit(f"{name}.flows", flows.flows))
        if playout is not None:
            playout = changed(
                playout,
                delay=self._visit(f"{name}.playout", playout.delay),
                dropping=self._number(f"{name}.dropping", playout.dropping),
            )

        def leg(one: ir.Leg) -> ir.Leg:
            return self._leg(name, one)

        def event(one: ir.Event) -> ir.Event:
            return changed(one, share=self._visit(f"{name}.{one.name}", one.share))

        def path(one: ir.StreamPath) -> ir.StreamPath:
            return changed(one, legs=each(one.legs, leg))

        return changed(
            stream,
            flows_from=flows,
            emission=self._emission(name, stream.emission),
            playout=playout,
            arrivals=self._number(f"{name}.arrivals", stream.arrivals),
            events=each(stream.events, event),
            legs=each(stream.legs, leg),
            paths=each(stream.paths, path),
        )

    def _emission(self, stream: str, emission: ir.Emission) -> ir.Emission:
        first, *sizes = emission.values
        values = (
            self._visit(f"{stream}.traffic", first),
            *(self._visit(f"{stream}.{_size_word(size)}", size) for size in sizes),
        )
        is_same = all(a is b for a, b in zip(values, emission.values, strict=True))
        return changed(
            emission,
            values=emission.values if is_same else values,
            think=self._number(f"{stream}.think", emission.think),
        )

    def _leg(self, stream: str, leg: ir.Leg) -> ir.Leg:
        match leg:
            case ir.Visit():
                return changed(
                    leg, steps=each(leg.steps, lambda step: self._step(stream, leg.node, step))
                )
            case ir.CallMark():
                return changed(leg, call=self._call(stream, leg.call))
            case ir.PoolMark():
                name = f"{stream}.{leg.pool}.taken"
                return changed(leg, amount=self._number(name, leg.amount))
            case ir.Crossing():
                return leg

    def _call(self, stream: str, call: ir.Call) -> ir.Call:
        name = f"{stream}.{call.node}"
        return changed(
            call,
            times=self._number(f"{stream}.{call.amount_name}", call.times),
            sends=self._number(f"{name}.sends", call.sends),
            returns=self._number(f"{name}.returns", call.returns),
            fan_out=None if call.fan_out is None else self._fan_out(name, call.fan_out),
        )

    def _fan_out(self, name: str, fan_out: ir.FanOut) -> ir.FanOut:
        return changed(
            fan_out,
            count=self._number(f"{name}.calls", fan_out.count),
            answers=self._number(f"{name}.answers", fan_out.answers),
        )

    # -- steps ---------------------------------------------------------------------------

    def _step(self, stream: str, node: str, step: ir.Step) -> ir.Step:
        spread = step.spread
        if spread is not None:
            spread = changed(
                spread,
                most=self._number(f"{stream}.most", spread.most),
                count=self._number(f"{stream}.others", spread.count),
            )
        return changed(step, spread=spread, component=self._component(stream, node, step.component))

    def _component(self, stream: str, node: str, component: ir.Component) -> ir.Component:
        def visit(what: str, quantity: ir.Quantity) -> ir.Quantity:
            name, where = f"{component.name}.{what}", [f"at {node}", f"in {stream}"]
            if component.has_arguments and quantity.bound:
                name = f"{name} {where.pop(0)}"
            return self._visit(name, quantity, where, component.source)

        def effect(one: ir.Effect) -> ir.Effect:
            return changed(
                one,
                value=number(one.kind.value, one.value, visit),
                lasting=number(f"{one.kind.value}.lasting", one.lasting, visit),
            )

        def cost(one: ir.Cost) -> ir.Cost:
            return self._cost(node, one, visit)

        return changed(
            component, costs=each(component.costs, cost), effects=each(component.effects, effect)
        )

    def _cost(
        self, node: str, cost: ir.Cost, visit: Callable[[str, ir.Quantity], ir.Quantity]
    ) -> ir.Cost:
        """Return a cost with its terms, which are called by their items."""
        machine = self._machines.get(node)
        resource = None if machine is None else machine.resource(cost.resource)
        if resource is None:
            return cost

        def term(one: ir.Quantity) -> ir.Quantity:
            item = item_of(one, resource.work)
            word = item_word(item) if item else ("held" if item is None else "share")
            return visit(f"{cost.resource}.{word}", one)

        return changed(cost, terms=each(cost.terms, term), reference=self._reference(cost))

    def _reference(self, cost: ir.Cost) -> ir.Quantity | None:
        """Return the rating that a cost is scaled from, where it is not that of its machine."""
        measured = self._model.machines.get(cost.measured_on or "")
        base = None if measured is None else scaling_base(measured, cost)
        stated = None if measured is None or base is None else measured.rating(base)
        if measured is None or stated is None:
            return cost.reference
        source = measured.origin(stated)
        found = self._visit(f"{measured.name}.{base}", cost.reference or stated, source=source)
        return cost.reference if found is stated else found


def _end(elastic: ir.Parameter, bound: ir.Expr) -> ir.Quantity:
    return ir.Quantity(
        expr=bound,
        dimension=elastic.dimension,
        span=elastic.value_span,
        source=elastic.source or elastic.doc,
    )


def _size_word(size: ir.Quantity) -> str:
    """Return what a size of a stream is called: `byte_per_packet`."""
    above = next(base for base, power in size.dimension.exponents if power > 0)
    below = next(base for base, power in size.dimension.exponents if power < 0)
    return f"{item_word(above)}_per_{below}"
