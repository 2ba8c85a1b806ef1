"""A structure of the design space as formulas in the numbers that are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.lower.certainty_requirements import confidence_requirement, without_certainty
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.substitution import Substitution
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.cheapest.design_objective import (
    constant_objective,
    dimension_of,
    nothing_priced,
    objective_of,
    refuse_unpriced,
)
from qps.solver.cheapest.design_space import DesignSpace


class DesignCriterion(Struct, frozen=True, kw_only=True):
    """A requirement at the population: above zero where it fails, with `strict` at zero too."""

    name: str
    mode: str | None
    over: Formula
    strict: bool


class DesignFormulas(Struct, frozen=True, kw_only=True):
    """The requirements and the cost of a structure; `symbols` are the numbers that are chosen."""

    structure: tuple[int, ...]
    symbols: Mapping[str, Formula]
    criteria: tuple[DesignCriterion, ...]
    cost: Formula
    dimension: Dimension


class NoGraphError(Exception):
    """Raised where a structure has no load graph; `error` says why."""

    def __init__(self, error: QpsError) -> None:
        self.error = error
        super().__init__(str(error))


class NumbersDecideError(Exception):
    """Raised where numbers that are chosen decide about the structure."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        super().__init__(", ".join(sorted(names)))


def design_formulas(
    space: DesignSpace,
    structure: Sequence[int],
    choices: ir.DesignChoices,
    population: int,
    relaxed: Mapping[str, Formula] = MappingProxyType({}),
) -> DesignFormulas:
    """Return the formulas of a structure.

    Numbers that are `relaxed` are multiplied by factors; certainties are left out.
    NoGraphError where it cannot be built or has no load graph, NumbersDecideError where numbers
    must be structures, QpsError where its cost is not known.
    """
    configuration = space.lowered_with(structure)
    sink = Sink()
    check_placement(space.model, configuration, sink)
    if sink.has_errors:
        raise NoGraphError(QpsError([one for one in sink.found if one.is_error]))
    model = space.model
    if model.derived(confidence_requirement) is not None:
        model = model.derived(without_certainty)
    values = space.numbers_in(structure)
    outside = replace(configuration, mode=None, mode_changes=())
    symbols: dict[str, Formula] = {}
    criteria: list[DesignCriterion] = []
    for each in in_each_mode(model, configuration):
        graph, put_in = _lowered(model, each, values, population, relaxed, symbols)
        criteria += [
            DesignCriterion(
                name=one.name,
                mode=graph.mode,
                over=put_in(excess(one)),
                strict=one.strict,
            )
            for one in all_criteria(graph)
        ]
    graph, put_in = _lowered(model, outside, values, population, relaxed, symbols)
    refuse_unpriced(space, graph, choices)
    cost = objective_of(model, outside, graph, choices, _moving(values))
    if cost is None:
        raise nothing_priced(choices)
    cost = put_in(cost)
    if not cost.symbols & set(symbols.values()) and space.size > 1:
        raise constant_objective(choices.span)
    return DesignFormulas(
        structure=tuple(structure),
        symbols=symbols,
        criteria=tuple(criteria),
        cost=cost,
        dimension=dimension_of(graph, choices),
    )


def with_relaxed(graph: LoadGraph, relaxed: Mapping[str, Formula]) -> LoadGraph:
    """Return a load graph in which some numbers, such as limits, are multiplied by factors."""
    known = graph.assumptions
    values = {name: known[name].value * by for name, by in relaxed.items() if name in known}
    return graph.with_values(values)


def _lowered(
    model: ir.Model,
    configuration: Configuration,
    values: Mapping[str, Sequence[Fraction]],
    population: int,
    relaxed: Mapping[str, Formula],
    symbols: dict[str, Formula],
) -> tuple[LoadGraph, Substitution]:
    """Return a load graph, and what puts in all of its numbers but those that are chosen."""
    active = in_force(configuration)
    own = {name: all_values for name, all_values in values.items() if name in active.parameters}
    try:
        graph = with_relaxed(lower(model, configuration, _moving(own)), relaxed)
    except QpsError as error:
        raise NoGraphError(error) from error
    varied = {name for name, all_values in own.items() if len(set(all_values)) > 1}
    if graph.basis.decided & varied:
        raise NumbersDecideError(frozenset(graph.basis.decided & varied))
    known: dict[Formula, Formula] = {graph.population: number(Fraction(population))}
    for name, assumed in graph.assumptions.items():
        if name in varied:
            symbols[name] = assumed.symbol
        else:
            known[assumed.symbol] = assumed.value
    return graph, Substitution(known)


def _moving(values: Mapping[str, Sequence[Fraction]]) -> dict[str, bool]:
    """Return numbers that take several values, and whether these may be zero or less."""
    return {name: min(all_values) <= 0 for name, all_values in values.items()}
