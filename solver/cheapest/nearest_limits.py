"""What stands in the way where no configuration supports anybody: limits that are too narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.engine.expressions.formulas import Formula, number
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.graph_solution import value_at
from qps.solver.cheapest.plan_result import PlannedConfiguration, RequirementPrice

First: TypeAlias = Callable[[int, tuple[tuple[str, Formula], ...]], PlannedConfiguration | None]
"""Finds the cheapest configuration for a population, with some numbers times a factor."""

_WIDER = (2, 4, 8, 16, 64, 1024)
"""How many times as wide limits are tried, one after the other."""
_STEPS = 8
"""Halvings between the last one that is too narrow and the first one that is not."""


def nearest_limits(users: int, graph: LoadGraph, first: First) -> tuple[RequirementPrice, ...]:
    """Return the limits of which each alone stands in the way; none where several do.

    Each is as much wider as it has to be for some configuration to support so many users, the
    smallest population: the cheapest of those that do then. The `graph` is that of any one.
    """
    limits = {known.symbol: name for name, known in graph.assumptions.items()}
    stated = {limits[one.limit]: one for one in all_criteria(graph) if one.limit in limits}
    return tuple(_wide_enough(first, graph, users, stated))


def _wide_enough(
    first: First, graph: LoadGraph, users: int, stated: dict[str, Criterion]
) -> Iterator[RequirementPrice]:
    for name, criterion in stated.items():

        def holding(
            factor: Fraction, name: str = name, criterion: Criterion = criterion
        ) -> PlannedConfiguration | None:
            return first(users, ((name, _wider(criterion, factor)),))

        low = high = Fraction(1)
        found = None
        for factor in _WIDER:
            low, high = high, Fraction(factor)
            found = holding(high)
            if found is not None:
                break
        if found is None:
            continue
        for _ in range(_STEPS):
            middle = (low + high) / 2
            other = holding(middle)
            low, high, found = (middle, high, found) if other is None else (low, middle, other)
        limit = value_at(graph, criterion.limit, users)
        yield RequirementPrice(
            requirement=criterion.name,
            measure=criterion.name,
            limit=limit,
            relaxed=limit * float(high if criterion.at_most else 1 / high),
            dimension=criterion.dimension,
            configuration=found,
        )


def _wider(criterion: Criterion, factor: Fraction) -> Formula:
    return number(factor if criterion.at_most else 1 / factor)
