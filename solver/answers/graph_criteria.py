"""The criteria of a load graph: requirements, quality, and that no resource be saturated."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.quality_axes import axes_of
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.expressions.algebraic_functions import is_algebraic
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import ONE, Formula
from qps.solver.answers.capacity import excess, first_failure
from qps.solver.answers.solution import QUALITY


def all_criteria(graph: LoadGraph) -> tuple[Criterion, ...]:
    """Return the requirements, with quality as the last where there is one.

    A Euclidean metric is compared squared, which keeps it a rational function; of a single axis it
    is the axis, of half the degree.
    """
    if graph.quality is None:
        return graph.criteria
    measure = graph.quality
    value = measure if graph.quality_value is None else graph.quality_value
    if graph.metric is ir.Metric.EUCLIDEAN:
        axes = axes_of(graph.criteria)
        measure = axes[0] if len(axes) == 1 else measure**2
    quality = Criterion(
        name=QUALITY,
        measure=measure,
        value=value,
        limit=ONE,
        at_most=True,
        strict=False,
        dimension=DIMENSIONLESS,
        span=None,
        axis=None,
        known=graph.analysis.criteria.quality_known,
        known_in_series=graph.analysis.criteria.quality_in_series,
        unmodeled_queues=graph.analysis.criteria.quality_unmodeled_queues,
    )
    return (*graph.criteria, quality)


def largest_acceptable(graph: LoadGraph) -> int | None:
    """Return the largest acceptable population alone, None where there is none."""
    first = graph.high + 1
    # What fails later than another one does not matter: rational functions are cheapest,
    # and of all else quality mostly fails first.
    criteria = all_criteria(graph)[::-1]
    for criterion in sorted(criteria, key=lambda one: not _is_rational(one)):
        failure = when_it_fails(graph, criterion, until=first - 1)
        first = first if failure is None else failure
    return None if first == graph.low else first - 1


def _is_rational(criterion: Criterion) -> bool:
    """Return whether a criterion is made of what has pieces of rational functions."""
    parts = parts_first(excess(criterion))
    return all(is_algebraic(part) for part in parts if part.operands)


def in_order(graph: LoadGraph) -> list[Criterion]:
    """Return all criteria: what is stated comes first, then that no resource be saturated."""
    return sorted(all_criteria(graph), key=lambda criterion: not is_stated(criterion))


def is_stated(criterion: Criterion) -> bool:
    """Return whether a spec states a criterion: a resource that fills up fails by itself."""
    return criterion.span is not None or criterion.name == QUALITY


def when_it_fails(
    graph: LoadGraph,
    criterion: Criterion,
    until: int | None = None,
    over: Formula | None = None,
) -> int | None:
    """Return the first population of the range at which a criterion fails, None for nowhere.

    What fails after `until` may count as failing nowhere. It fails where `over` is above zero:
    its excess if there is none.
    """
    return first_failure(
        graph.valued(excess(criterion) if over is None else over),
        graph.population,
        graph.low,
        graph.high,
        strict=criterion.strict,
        name=criterion.name,
        until=until,
        span=criterion.span,
    )


def has_endless_value(graph: LoadGraph, criterion: Criterion) -> bool:
    """Return whether the value that is shown is infinite where what is judged may not be."""
    if criterion.name == QUALITY:
        return graph.quality_value is not graph.quality
    return criterion.value is not criterion.measure


def rests_on_users(graph: LoadGraph) -> bool:
    """Return whether a load or a requirement depends on the population at all."""
    values = [resource.load for resource in graph.resources.values()]
    values += [side for c in all_criteria(graph) for side in (c.measure, c.limit)]
    return any(graph.population in value.symbols for value in values)
