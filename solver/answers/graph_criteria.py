"""The criteria of a load graph: requirements, quality, and that no resource be saturated."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.quality_axes import axes_of
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.expressions.algebraic_functions import is_algebraic
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import ONE, ZERO, Formula
from qps.engine.expressions.substitution import substituted
from qps.engine.operations import OPERATIONS
from qps.solver.answers.capacity import excess, excess_shown, first_failure
from qps.solver.answers.solution import QUALITY
from qps.solver.search.certain_signs import UndecidedLimitError
from qps.solver.search.whole_populations import fails


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


def deciding_criteria(graph: LoadGraph) -> tuple[Criterion, ...]:
    """Return the criteria of which one fails wherever any does.

    Quality that is the worst of the requirements fails only where one of these does, so that it
    takes as long as all of them and decides nothing.
    """
    return graph.criteria if graph.metric is ir.Metric.WORST else all_criteria(graph)


def largest_acceptable(graph: LoadGraph) -> int | None:
    """Return the largest acceptable population alone, None where there is none."""
    first = first_unacceptable(graph)
    if first is None:
        return graph.high
    return None if first == graph.low else first - 1


def first_unacceptable(graph: LoadGraph, until: int | None = None) -> int | None:
    """Return the first population at which any criterion fails, None for nowhere.

    What fails after `until` counts as failing nowhere.
    """
    end = graph.high if until is None else min(until, graph.high)
    found: int | None = None
    # What fails later than another one does not matter: rational functions are cheapest, and of all
    # else what fails at the end most often fails first, quality before others.
    both = [(_is_rational(one), one) for one in reversed(deciding_criteria(graph))]
    rational = sum(is_rational for is_rational, _ in both)
    criteria = [one for is_rational, one in both if is_rational]
    criteria += [one for is_rational, one in both if not is_rational]
    for number in range(len(criteria)):
        if number == rational < len(criteria) - 1:
            criteria[number:] = sorted(criteria[number:], key=partial(_seems_to_hold, graph, end))
        failure = when_it_fails(graph, criteria[number], until=end)
        if failure is not None and failure <= end:
            found, end = failure, failure - 1
    return found


def _seems_to_hold(graph: LoadGraph, at: int, criterion: Criterion) -> bool:
    """Return whether a criterion holds at a population, as far as digits decide that."""
    over = graph.valued(excess(criterion))
    try:
        return not fails(over, graph.population, at, strict=criterion.strict)
    except (PowerTooLongError, UndecidedLimitError):
        return False


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


def shown_failure(graph: LoadGraph, criterion: Criterion, failure: int | None) -> int | None:
    """Return the first population at which the value that is shown fails, None for nowhere.

    As judged, a criterion first fails at `failure`. Most often what is shown is the same but for
    waits that are nothing up to a load of 1 and infinite from there on: then it fails no sooner
    than the first of these loads comes to 1.
    """
    until, over = failure and failure - 1, excess_shown(criterion)
    loads = _endless_loads(over, excess(_measured(graph, criterion)))
    if loads:
        ends = [_first_full(graph, criterion, load, until) for load in loads]
        end = min((one for one in ends if one is not None), default=None)
        if end is None:
            return failure
        if fails(graph.valued(over), graph.population, end, strict=criterion.strict):
            return end
    found = when_it_fails(graph, criterion, until, over)
    return failure if found is None else found


def _first_full(
    graph: LoadGraph, criterion: Criterion, load: Formula, until: int | None
) -> int | None:
    """Return the first population at which a load comes to 1, None for nowhere."""
    return first_failure(
        graph.valued(load - ONE),
        graph.population,
        graph.low,
        graph.high,
        strict=True,
        name=criterion.name,
        until=until,
        span=criterion.span,
    )


def _measured(graph: LoadGraph, criterion: Criterion) -> Criterion:
    """Return a criterion as it is judged, of quality by the formula that is shown."""
    is_quality = criterion.name == QUALITY and graph.quality is not None
    return replace(criterion, measure=graph.quality) if is_quality else criterion


def _endless_loads(shown: Formula, plain: Formula) -> list[Formula]:
    """Return the loads from 1 on of which something is infinite, if it is the same but for that."""
    same = set(parts_first(plain))
    waits = [
        part
        for part in parts_first(shown)
        if _is_wait(part) and part.operands[0] is ZERO and part not in same
    ]
    is_all = substituted(shown, dict.fromkeys(waits, ZERO)) is plain
    return [part.operands[1] for part in waits] if is_all else []


def _is_wait(part: Formula) -> bool:
    """Return whether a part is work over what a load leaves: infinite from load 1 on."""
    row = OPERATIONS.get(part.word)
    return row is not None and row.is_wait


def rests_on_users(graph: LoadGraph) -> bool:
    """Return whether a load or a requirement depends on the population at all."""
    values = [resource.load for resource in graph.resources.values()]
    values += [side for c in all_criteria(graph) for side in (c.measure, c.limit)]
    return any(graph.population in value.symbols for value in values)
