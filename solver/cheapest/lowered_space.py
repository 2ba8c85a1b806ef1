"""All structures of a design space, lowered once for all populations and limits."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.dimension import Dimension
from qps.solver.cheapest.configured_graphs import ConfiguredGraphs
from qps.solver.cheapest.design_formulas import (
    LoweredStructure,
    NoGraphError,
    NumbersDecideError,
    lowered_structure,
)
from qps.solver.cheapest.design_objective import constant_objective, mixed_prices
from qps.solver.cheapest.design_space import DesignSpace
from qps.solver.cheapest.option_values import SearchProblems
from qps.solver.cheapest.search_record import SearchRecord, SpaceRecord

MOST_STRUCTURES = 1_000
"""Structures of a design space: each is lowered by itself."""


class LoweredSpace(Struct, frozen=True, eq=False, kw_only=True):
    """A design space with its structures: those that have load graphs, at least one.

    Options of the `space` are structures where their numbers decide about the load graph. `graphs`
    are those of single configurations, `problems` the structures as searches. The `record` has what
    searches of it have come to.
    """

    space: DesignSpace
    structures: tuple[LoweredStructure, ...]
    graphs: ConfiguredGraphs
    problems: SearchProblems
    record: SpaceRecord

    @property
    def dimension(self) -> Dimension:
        """The dimension of what is to be as small as possible."""
        return self.structures[0].dimension


def lowered_space(
    space: DesignSpace, choices: ir.DesignChoices, record: SpaceRecord | None = None
) -> LoweredSpace:
    """Return all structures, at least one; QpsError where there are too many.

    One that has no load graph supports nobody, unless none has any: then its error is raised.
    Searches are recorded in the `record`, by default in one of its own.
    """
    while True:
        if space.structure_count > MOST_STRUCTURES:
            raise too_many_structures(space)
        found: list[LoweredStructure] = []
        first: QpsError | None = None
        try:
            for structure in space.structures():
                try:
                    found.append(lowered_structure(space, structure, choices))
                except NoGraphError as failed:
                    first = first or failed.error
        except NumbersDecideError as decided:
            space = space.split(decided.names)
            continue
        if not found and first is not None:
            raise first
        costs = {one.fixed_cost for one in found}
        if len(costs) == 1 and None not in costs and _has_alternatives(space, found):
            raise constant_objective(choices.span)
        if len({one.dimension for one in found}) > 1:
            raise mixed_prices(space.model, space.configuration, choices)
        return LoweredSpace(
            space=space,
            structures=tuple(found),
            graphs=ConfiguredGraphs(space),
            problems=SearchProblems(space),
            record=record or SearchRecord().of_space("plan"),
        )


def _has_alternatives(space: DesignSpace, found: Sequence[LoweredStructure]) -> bool:
    """Return whether there is more than one configuration in structures that have load graphs."""
    axes = space.axes
    return len(found) > 1 or any(
        sum(one.structure == at and one.is_possible for one in axis.options) > 1
        for lowered in found
        for axis, at in zip(axes, lowered.structure, strict=True)
    )


def too_many_structures(space: DesignSpace) -> QpsError:
    """Return the error of a choice between too many systems that differ in more than numbers."""
    most = max(space.axes, key=lambda axis: len({one.structure for one in axis.options}))
    return QpsError.single(
        codes.NO_ANSWER,
        most.options[0].change.span,
        f"the choice is too varied: {space.structure_count:,} combinations differ in more than "
        "numbers",
        hint=f"choose among fewer alternatives of `{most.name}`, or machines that have the same "
        "resources and queueing",
    )
