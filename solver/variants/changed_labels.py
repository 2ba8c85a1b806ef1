"""How numbers are known whatever a reader changes: labels that hold for all values a page takes.

Some numbers decide on formulas, such as how often a call is made. They move only where one of them
is changed: else a page would compute all values by the formulas that suit any of them.
"""

from __future__ import annotations

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.expressions.symbolic_numbers import Moving
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.solver.variants.variant_guards import VariantGuards


class ChangedLabels(Struct, frozen=True):
    """A graph with labels that hold for all numbers, for use where one of `numbers` is changed."""

    graph: LoadGraph
    numbers: tuple[str, ...]


def changed_labels(
    model: ir.Model, configuration: Configuration, graph: LoadGraph, guards: VariantGuards
) -> tuple[ChangedLabels, ...]:
    """Return the labels that hold whatever the numbers are; none where those of a graph do.

    Most labels rest on no number's value: only where one does, the model is lowered once more, and
    twice where some of these decide on formulas. The first that has a number that is changed holds.
    """
    declared = {parameter.name: parameter for parameter in model.parameters}
    moving: Moving = {
        name: not _stays_positive(number, declared.get(name), guards)
        for name, number in graph.assumptions.items()
        if name not in graph.basis.decided
    }
    structural = graph.basis.structural
    weighed = graph.basis.weighed.items()
    numbers = {n for n, by_sign in weighed if n in moving and (moving[n] or not by_sign)}
    plain = {name: turns for name, turns in moving.items() if name not in structural}
    found = []
    for together, names in ((moving, numbers & structural), (plain, numbers - structural)):
        if names:
            other = lower(model, configuration, together, sizes_move=True)
            found.append(ChangedLabels(other, tuple(sorted(names))))
    return tuple(found)


def _stays_positive(
    number: Assumption, declared: ir.Parameter | None, guards: VariantGuards
) -> bool:
    """Return whether a page takes nothing but values above zero for a number."""
    low = None if declared is None else declared.low
    if isinstance(low, ir.Constant) and low.value > 0:
        return True
    bounded = guards.of_numbers.get(number.span)
    if bounded is None:
        return False
    interval = bounded.bound.interval
    least = interval.least
    return least is not None and (least > 0 or (least == 0 and interval.is_least_out))
