"""Machines and networks that differ in numbers alone have one form.

What stands in their place in a graph are symbols, named after the place; so one graph serves all
machines of a form, with other numbers put in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.load_graph import Assumption
from qps.engine.expressions.formulas import Formula, number

Form = tuple[object, ...]


class HardwareForms:
    """The forms of the machines and networks of a model."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._known: dict[str, Form] = {}

    def of(self, name: str) -> Form:
        """Return all of a machine or network that is no number; its name where costs use it."""
        if name not in self._known:
            self._known[name] = tuple(self._form(name))
        return self._known[name]

    def _form(self, name: str) -> Iterator[object]:
        network = self._model.networks.get(name)
        if network is not None:
            yield network.medium
            yield from _queueing_numbers(network)
        else:
            machine = self._model.machines[name]
            if not self._measured.isdisjoint((name, *machine.family)):
                yield name
            for one in machine.resources:
                yield from (one.name, one.kind, one.work, *_queueing_numbers(one))
            yield tuple(base for base, _ in machine.ratings)
        yield from map(_kind, self._numbers(name))

    @cached_property
    def _measured(self) -> frozenset[str]:
        """The machines that costs were measured on, with their families: they are distinguished."""
        machines = self._model.machines
        steps = (
            step
            for stream in self._model.streams
            for leg in stream.legs
            if isinstance(leg, ir.Visit)
            for step in leg.steps
        )
        names = {cost.measured_on for step in steps for cost in step.component.costs}
        known = [machines[name] for name in names if name is not None]
        return frozenset(name for one in known for name in (one.name, *one.family))

    def _numbers(self, name: str) -> Iterator[ir.Quantity | None]:
        network = self._model.networks.get(name)
        if network is not None:
            yield from (network.rate, network.header, network.cap, network.loss)
            yield from (network.propagation, network.price)
            return
        machine = self._model.machines[name]
        for one in machine.resources:
            yield from (one.capacity, one.speed, one.idle, one.efficiency)
        yield from (quantity for _, quantity in machine.ratings)
        yield machine.price

    def moved(
        self, known: Mapping[str, Assumption], before: Configuration, now: Configuration
    ) -> dict[str, Formula] | None:
        """Return the numbers of hardware in a graph that are others in another configuration.

        `known` are those that the graph rests on. None where it is not known which are which.
        """
        found: dict[str, Formula] = {}
        for place, one, other in _replaced(before, now):
            values: dict[tuple[int, Formula], Formula] = {}
            for old, new in zip(self._numbers(one), self._numbers(other), strict=True):
                was, becomes = _number(old), _number(new)
                if old is None or was is None or becomes is None:
                    continue
                if values.setdefault((id(old.span), was), becomes) is not becomes:
                    return None
            for name, assumed in known.items():
                if name.startswith(f"{place}."):
                    value = values.get((id(assumed.span), assumed.value), assumed.value)
                    if value is not assumed.value:
                        found[name] = value
        return found


def _number(quantity: ir.Quantity | None) -> Formula | None:
    expr = None if quantity is None else quantity.expr
    return number(expr.value) if isinstance(expr, ir.Constant) else None


def _replaced(before: Configuration, now: Configuration) -> Iterator[tuple[str, str, str]]:
    """Yield the places where other hardware stands, with what stood and what stands there."""
    for name, node in now.nodes.items():
        if node.machine != before.nodes[name].machine:
            yield name, before.nodes[name].machine, node.machine
    for name, link in now.links.items():
        if link.network != before.links[name].network:
            yield name, before.links[name].network, link.network


def _queueing_numbers(one: ir.Resource | ir.Network) -> Iterator[object]:
    """Yield the laws of what waits, with their numbers: these are no symbols."""
    yield None if one.jitter is None else id(one.jitter)
    yield one.queueing and one.queueing.as_read


def _kind(quantity: ir.Quantity | None) -> object:
    """Return what is looked at of a number while formulas are made: whether it is 0 or 1."""
    if quantity is None:
        return None
    if not isinstance(quantity.expr, ir.Constant):
        return quantity.dimension, id(quantity.expr)
    value = quantity.expr.value
    if value in (0, 1):
        return quantity.dimension, value
    return quantity.dimension, "above zero" if value > 0 else "below"
