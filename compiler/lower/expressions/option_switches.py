"""Steps that options switch on and off, as numbers: 1 where a condition holds, else 0.

A step that does nothing but work, on what the stream works on at that place in any case, changes no
formula but by its cost. Where many configurations are lowered, they share one graph so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.ir.cost_items import scaling_base

OfOptions: TypeAlias = "ir.OptionIs | ir.AllOf | ir.AnyOf | ir.Negated"


def of_options(condition: ir.Condition | None) -> OfOptions | None:
    """Return a condition that requests nothing but options; None for any other."""
    match condition:
        case ir.OptionIs():
            return condition
        case ir.AllOf(conditions) | ir.AnyOf(conditions):
            return condition if all(of_options(one) for one in conditions) else None
        case ir.Negated(inner):
            return condition if of_options(inner) else None
    return None


def is_on(condition: ir.Condition, options: Mapping[str, str]) -> bool:
    """Return whether a condition on options holds."""
    match condition:
        case ir.OptionIs(option, choice):
            return options[option] == choice
        case ir.AllOf(conditions):
            return all(is_on(one, options) for one in conditions)
        case ir.AnyOf(conditions):
            return any(is_on(one, options) for one in conditions)
        case ir.Negated(inner):
            return not is_on(inner, options)
    raise AssertionError("it asks for nothing but options")


def only_works(step: ir.Step, machine: ir.Machine, machines: Mapping[str, ir.Machine]) -> bool:
    """Return whether a step adds to loads and times alone: to no flow, and to no queue."""
    if not _is_plain(step) or any(one.waits is not None for one in machine.resources):
        return False
    # What is not taken need not fit its machine.
    return all(_fits(cost, machine, machines) for cost in step.component.costs)


def loads_what_others_do(step: ir.Step, others: Iterable[ir.Step]) -> bool:
    """Return whether a step loads nothing but what others load in any case.

    Then no name in the graph says whether it is taken, either.
    """
    always = {
        cost.resource
        for one in others
        if one.condition is None and _is_plain(one)
        for cost in one.component.costs
    }
    return all(cost.resource in always for cost in step.component.costs)


def _is_plain(step: ir.Step) -> bool:
    component = step.component
    is_alone = step.spread is None and step.group is None and not component.effects
    return is_alone and not any(cost.single_thread for cost in component.costs)


def _fits(cost: ir.Cost, machine: ir.Machine, machines: Mapping[str, ir.Machine]) -> bool:
    resource = machine.resource(cost.resource)
    if resource is None:
        return False
    base = None if cost.measured_on is None else scaling_base(machines[cost.measured_on], cost)
    return base is None or machine.rating(base) is not None
