"""A structure of the design space as formulas in the numbers that are chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force, uncertain_in
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.lower.certainty_requirements import (
    as_stated,
    confidence_requirement,
    without_certainty,
)
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.substitution import Substitution
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import QUALITY
from qps.solver.cheapest.design_objective import (
    dimension_of,
    nothing_priced,
    objective_of,
    refuse_unpriced,
)
from qps.solver.cheapest.design_space import DesignSpace
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.uncertainty.confidence_capacity import IsolatedRequirement, isolated_requirements
from qps.solver.uncertainty.interval_result import Sampling

Relaxed = Mapping[str, Formula]
"""Factors of numbers, such as limits, by their names."""


class DesignCriterion(Struct, frozen=True, kw_only=True):
    """A requirement at the population: above zero where it fails, with `strict` at zero too."""

    name: str
    over: Formula
    strict: bool


class SampledCriteria(Struct, frozen=True, eq=False, kw_only=True):
    """A requirement with a certainty: a sample fails where any of the `criteria` does.

    `draws` are the values of uncertain numbers in the samples; so many of these `may_fail`.
    """

    name: str
    criteria: tuple[DesignCriterion, ...]
    draws: Mapping[Formula, Floats]
    may_fail: int


class DesignFormulas(Struct, frozen=True, eq=False, kw_only=True):
    """The requirements and the cost of a structure; `symbols` are the numbers that are chosen."""

    structure: tuple[int, ...]
    symbols: Mapping[str, Formula]
    criteria: tuple[DesignCriterion, ...]
    sampled: tuple[SampledCriteria, ...]
    cost: Formula


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


class _OpenGraph(Struct, frozen=True, eq=False, kw_only=True):
    """A load graph, and the names of its numbers that stay open: they are chosen or drawn."""

    graph: LoadGraph
    open: frozenset[str]


class _SampledGraphs(Struct, frozen=True, eq=False, kw_only=True):
    """The load graphs in which a requirement with a certainty is judged, and its samples."""

    isolated: IsolatedRequirement
    graphs: tuple[_OpenGraph, ...]
    draws: Mapping[str, Floats]

    @property
    def drawn(self) -> dict[Formula, Floats]:
        """The values of the numbers that are drawn, by their symbols."""
        return {
            one.graph.assumptions[name].symbol: values
            for one in self.graphs
            for name, values in self.draws.items()
            if name in one.open
        }


class LoweredStructure(Struct, frozen=True, eq=False, kw_only=True):
    """A structure, lowered once for all populations: the graphs of its modes, and its cost."""

    structure: tuple[int, ...]
    symbols: Mapping[str, Formula]
    graphs: tuple[_OpenGraph, ...]
    sampled: tuple[_SampledGraphs, ...]
    priced: _OpenGraph
    cost: Formula
    dimension: Dimension

    def formulas(self, users: int, relaxed: Relaxed) -> DesignFormulas:
        """Return the formulas at a population, with numbers that are `relaxed`."""
        sampled = tuple(
            SampledCriteria(
                name=one.isolated.requirement.name,
                criteria=tuple(_criteria(one.graphs, users, relaxed)),
                draws=one.drawn,
                may_fail=one.isolated.may_fail,
            )
            for one in self.sampled
        )
        return DesignFormulas(
            structure=self.structure,
            symbols=self.symbols,
            criteria=tuple(_criteria(self.graphs, users, relaxed)),
            sampled=sampled,
            cost=_put_in(self.priced, users, relaxed)(self.cost),
        )

    @property
    def fixed_cost(self) -> Formula | None:
        """The cost if it is the same for all options; None where they differ in it."""
        cost = _put_in(self.priced, self.priced.graph.low, {})(self.cost)
        return None if cost.symbols & set(self.symbols.values()) else cost


def _criteria(
    graphs: Sequence[_OpenGraph], users: int, relaxed: Relaxed
) -> Iterator[DesignCriterion]:
    for one in graphs:
        put_in = _put_in(one, users, relaxed)
        for criterion in all_criteria(one.graph):
            if criterion.name == QUALITY and one.graph.metric is ir.Metric.WORST:
                continue  # it is the worst of the requirements
            over = put_in(excess(criterion))
            yield DesignCriterion(name=criterion.name, over=over, strict=criterion.strict)


def _put_in(one: _OpenGraph, users: int, relaxed: Relaxed) -> Substitution:
    """Return what puts in all numbers but those that stay open."""
    known: dict[Formula, Formula] = {one.graph.population: number(Fraction(users))}
    for name, assumed in with_relaxed(one.graph, relaxed).assumptions.items():
        if name not in one.open:
            known[assumed.symbol] = assumed.value
    return Substitution(known)


def lowered_structure(
    space: DesignSpace, structure: Sequence[int], choices: ir.DesignChoices
) -> LoweredStructure:
    """Return a structure with the load graphs of its modes.

    NoGraphError where it cannot be built or has no load graph, NumbersDecideError where numbers
    must be structures, QpsError where its cost is not known.
    """
    configuration = space.lowered_with(structure)
    sink = Sink()
    check_placement(space.model, configuration, sink)
    if sink.has_errors:
        raise NoGraphError(QpsError([one for one in sink.found if one.is_error]))
    values = space.numbers_in(structure)
    outside = replace(configuration, mode=None, mode_changes=())
    symbols: dict[str, Formula] = {}
    model, sampled = space.model, tuple[_SampledGraphs, ...]()
    if model.derived(confidence_requirement) is not None:
        if uncertain_in(configuration):
            sampled = tuple(_sampled(model, configuration, values, symbols))
            model = as_stated(model, configuration)
        else:
            model = model.derived(without_certainty)
    graphs = tuple(
        _lowered(model, each, values, symbols) for each in in_each_mode(model, configuration)
    )
    priced = _lowered(model, outside, values, symbols)
    refuse_unpriced(space, priced.graph, choices)
    cost = objective_of(model, outside, priced.graph, choices, _moving(values))
    if cost is None:
        raise nothing_priced(choices)
    return LoweredStructure(
        structure=tuple(structure),
        symbols=symbols,
        graphs=graphs,
        sampled=sampled,
        priced=priced,
        cost=cost,
        dimension=dimension_of(priced.graph, choices),
    )


def with_relaxed(graph: LoadGraph, relaxed: Mapping[str, Formula]) -> LoadGraph:
    """Return a load graph in which some numbers, such as limits, are multiplied by factors."""
    known = graph.assumptions
    values = {name: known[name].value * by for name, by in relaxed.items() if name in known}
    return graph.with_values(values)


def _sampled(
    model: ir.Model,
    configuration: Configuration,
    values: Mapping[str, Sequence[Fraction]],
    symbols: dict[str, Formula],
) -> list[_SampledGraphs]:
    """Return the requirements with a certainty, each as it is judged in a sample.

    Without those whose samples have load graphs of their own: each configuration is tried.
    """
    found = []
    for isolated in isolated_requirements(model, configuration, Sampling()):
        draws = isolated.draws
        moving = {name: bool(drawn.min() <= 0) for name, drawn in draws.items()}
        own = dict[str, Formula]()
        graphs = tuple(
            _lowered(isolated.model, each, values, own, moving)
            for each in in_each_mode(isolated.model, isolated.configuration)
        )
        if any(one.graph.basis.decided & draws.keys() for one in graphs):
            continue
        symbols |= own
        found.append(_SampledGraphs(isolated=isolated, graphs=graphs, draws=draws))
    return found


def _lowered(
    model: ir.Model,
    configuration: Configuration,
    values: Mapping[str, Sequence[Fraction]],
    symbols: dict[str, Formula],
    drawn: Mapping[str, bool] = MappingProxyType({}),
) -> _OpenGraph:
    """Return a load graph in which numbers stay open, and note the symbols of those chosen.

    A number that a mode sets is neither chosen nor drawn in the mode.
    """
    set_by_mode = {
        one.name for one in configuration.mode_changes if isinstance(one, ir.SetParameter)
    }
    known = in_force(configuration).parameters.keys() - set_by_mode
    own = {name: all_values for name, all_values in values.items() if name in known}
    moving = {name: reaches_zero for name, reaches_zero in drawn.items() if name in known}
    try:
        graph = lower(model, configuration, moving | _moving(own))
    except QpsError as error:
        raise NoGraphError(error) from error
    varied = {name for name, all_values in own.items() if len(set(all_values)) > 1}
    if graph.basis.decided & varied:
        raise NumbersDecideError(frozenset(graph.basis.decided & varied))
    chosen = varied & graph.assumptions.keys()
    symbols |= {name: graph.assumptions[name].symbol for name in chosen}
    drawn_here = moving.keys() & graph.assumptions.keys()
    return _OpenGraph(graph=graph, open=frozenset(chosen | drawn_here))


def _moving(values: Mapping[str, Sequence[Fraction]]) -> dict[str, bool]:
    """Return numbers that take several values, and whether these may be zero or less."""
    return {name: min(all_values) <= 0 for name, all_values in values.items()}
