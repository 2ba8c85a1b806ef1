"""What a cost comes to on the machine that bears it: its work, its scale, the cores there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.ir.cost_items import item_of, scaling_base
from qps.compiler.ir.placed_numbers import CORES
from qps.compiler.lower.expressions.item_flows import Flow, word
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import ONE, Formula, apply, total


def costs_in_force(component: ir.Component, machine: ir.Machine) -> list[ir.Cost]:
    """Return the costs given for the very machine, else those of the first one measured."""
    chosen: list[ir.Cost] = []
    for resource in dict.fromkeys(cost.resource for cost in component.costs):
        costs = [cost for cost in component.costs if cost.resource == resource]
        basis = machine.measured_as([cost.measured_on for cost in costs])
        chosen += [cost for cost in costs if cost.measured_on == basis]
    return chosen


def work_of(
    expressions: ExpressionLowering,
    flow: Flow,
    step: ir.Step,
    cost: ir.Cost,
    work: Dimension,
    where: Sequence[str],
) -> tuple[Formula, Formula]:
    """Return the work of one item, and what each flow takes for good."""
    items, constant = [], []
    for term in cost.terms:
        item = item_of(term, work)
        label = word(item) if item else ("held" if item is None else "share")
        amount = number_of(expressions, step.component, f"{cost.resource}.{label}", term, where)
        if item:
            items.append(amount * flow.per_item(item))
        else:
            constant.append(amount)
    return total(items), total(constant)


def number_of(
    expressions: ExpressionLowering,
    component: ir.Component,
    what: str,
    quantity: ir.Quantity,
    where: Sequence[str],
) -> Formula:
    """Return a number of a component; one that its arguments make is named after the place."""
    name = f"{component.name}.{what}"
    if component.has_arguments and quantity.bound:
        name, where = f"{name} {where[0]}", where[1:]
    return expressions.symbol(name, quantity, component.source, where=where)


def has_counted_items(cost: ir.Cost, machine: ir.Machine, flow: Flow) -> bool:
    """Return whether a flow has all items that a cost is counted by."""
    resource = machine.resource(cost.resource)
    assert resource is not None
    items = (item_of(term, resource.work) for term in cost.terms)
    return all(not item or item in flow.rates for item in items)


def scale_of(
    expressions: ExpressionLowering, node: str, machine: ir.Machine, cost: ir.Cost
) -> Formula:
    """Return the ratio of ratings between the machine measured on and this one."""
    if cost.measured_on is None:
        return ONE
    measured = expressions.model.machines[cost.measured_on]
    base = scaling_base(measured, cost)
    if base is None:
        return ONE
    theirs, ours = cost.reference or measured.rating(base), machine.rating(base)
    assert theirs is not None
    assert ours is not None
    reference = expressions.symbol(f"{measured.name}.{base}", theirs, measured.origin(theirs))
    if cost.scaled_by is None:
        return reference / speed_of(expressions, f"{node}.{cost.resource}", machine, ours)
    return reference / expressions.symbol(
        f"{node}.{base}", ours, machine.origin(ours), is_capacity=True
    )


def speed_of(
    expressions: ExpressionLowering, name: str, machine: ir.Machine, speed: ir.Quantity
) -> Formula:
    """Return the rating of a processor in its place."""
    return expressions.symbol(f"{name}.speed", speed, machine.origin(speed), is_capacity=True)


def cores_of(expressions: ExpressionLowering, name: str, resource: ir.Resource) -> Formula:
    """Return how many cores the processor of a name has: less what each doubling costs."""
    if resource.capacity.expr == ir.Constant(Fraction(1)):
        return ONE
    cores = expressions.symbol(f"{name}.{CORES}", resource.capacity, is_capacity=True)
    if resource.efficiency is None:
        return cores
    return apply("effective", cores, expressions.symbol(f"{name}.efficiency", resource.efficiency))


def is_on_measured(model: ir.Model, cost: ir.Cost, machine: ir.Machine) -> bool:
    """Return whether a cost was measured on a machine, or one of its family that is alike."""
    measured = model.machines.get(cost.measured_on or "")
    if measured is None or measured.name not in (machine.name, *machine.family):
        return False
    resource = machine.resource(cost.resource)
    return resource is not None and resource.is_as(measured.resource(cost.resource))
