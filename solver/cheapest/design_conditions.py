"""Which configurations are excluded from a choice."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.ir.parts import operands_of, parts_of, words_in
from qps.solver.cheapest.design_space import DesignSpace, machines_of


def is_excluded(conditions: Iterable[ir.Condition], configuration: Configuration) -> bool:
    """Return whether a condition holds for a configuration: it is not to be chosen."""
    active = in_force(configuration)
    folder = Folder(configuration=active, population=Fraction(active.low))
    return any(_holds(condition, active, folder) for condition in conditions)


def _holds(condition: ir.Condition, active: Configuration, folder: Folder) -> bool:
    match condition:
        case ir.AllOf(parts):
            return all(_holds(part, active, folder) for part in parts)
        case ir.AnyOf(parts):
            return any(_holds(part, active, folder) for part in parts)
        case ir.Negated(inner):
            return not _holds(inner, active, folder)
        case ir.RowIs(column, value):
            return value == _word_of(column, active)
    return folder.holds(condition) is True


def _word_of(column: str, active: Configuration) -> str | None:
    """Return the machine or network of a place, the mode or the scenario."""
    if column == "mode":
        return active.mode
    if column == "scenario":
        return active.scenario
    node = active.nodes.get(column)
    return active.links[column].network if node is None else node.machine


def axes_of_conditions(conditions: Iterable[ir.Condition], space: DesignSpace) -> set[int]:
    """Return the axes on which conditions may depend: all where a value may depend on any."""
    names: set[str] = set()
    for condition in conditions:
        names |= set(words_in(condition))
        for side in operands_of(condition):
            for part in parts_of(side):
                if isinstance(part, ir.NodeCount):
                    names.add(machines_of(part.name))
                elif isinstance(part, ir.ParameterValue) and part.name in space.number_names:
                    names.add(part.name)
                elif not isinstance(part, ir.Constant | ir.Sum | ir.Product | ir.Power):
                    return set(range(len(space.axes)))
    return {
        at
        for at, axis in enumerate(space.axes)
        if axis.name in names or any(names & one.numbers.keys() for one in axis.options)
    }
