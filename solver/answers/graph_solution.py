"""Solve a load graph: saturation, bottleneck, requirements, the largest acceptable population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.answer_certainty import saturation_known
from qps.solver.answers.answer_warnings import warnings_of
from qps.solver.answers.capacity import excess, fails_at
from qps.solver.answers.closed_answers import closed_solutions
from qps.solver.answers.graph_criteria import (
    first_unacceptable,
    has_endless_value,
    in_order,
    is_stated,
    shown_failure,
    when_it_fails,
)
from qps.solver.answers.impossible_values import refuse_impossible, refuse_undefined
from qps.solver.answers.knees import elastic_solutions
from qps.solver.answers.limiting_factors import SaturationTable
from qps.solver.answers.saturation import bottleneck, saturation_of, saturation_table_of
from qps.solver.answers.sensitivity import crossing, elasticities
from qps.solver.answers.solution import (
    QUALITY,
    CapacityVerdict,
    CostSolution,
    CriterionSolution,
    FirstFailure,
    ResourceSolution,
    Saturation,
    Sensitivity,
    Solution,
    SolverFault,
)
from qps.solver.search.method import SearchMethod


@dataclass(frozen=True)
class _FirstFailure:
    """A criterion and the first population at which it fails."""

    criterion: Criterion
    first_failure: int | None


@dataclass(frozen=True)
class _Answer:
    """The answer, with every criterion judged and the first population at which one fails."""

    failures: list[_FirstFailure]
    first_failure: int | None
    verdict: CapacityVerdict
    largest: int | None


def _answered(graph: LoadGraph) -> _Answer:
    """Return the answer alone.

    QpsError where the model cannot be, SolverFault as for `solve`.
    """
    judged = [
        _FirstFailure(criterion, when_it_fails(graph, criterion)) for criterion in in_order(graph)
    ]
    failures = (item.first_failure for item in judged if item.first_failure is not None)
    first = min(failures, default=None)
    verdict, largest = _verdict(graph, first)
    at = graph.low if largest is None else largest
    refuse_impossible(graph, min(at + 1, graph.high))
    _certify(graph, judged, largest, first)
    return _Answer(judged, first, verdict, largest)


def _fullness(graph: LoadGraph) -> dict[str, Formula]:
    """Return all loads as parts of their targets, numbers put in for all assumptions."""
    loads = {name: graph.valued(r.fullness) for name, r in graph.resources.items()}
    refuse_undefined(loads, graph)
    return loads


@dataclass(frozen=True, slots=True)
class CertifiedAnswer:
    """The largest acceptable population, None for none, and what it rests on."""

    largest: int | None
    failures: tuple[FirstFailure, ...]


def certified_answer(graph: LoadGraph) -> CertifiedAnswer:
    """Return the largest acceptable population as `solve` does, without all the rest."""
    _fullness(graph)
    answer = _answered(graph)
    return CertifiedAnswer(answer.largest, _failures(graph, answer.failures))


def certified_capacity(graphs: Sequence[LoadGraph], until: int) -> int | None:
    """Return the capacity of the worst of all modes alone, as `solve` does; None for none.

    Something is expected to fail at `until` or before: what fails later is looked for only where
    nothing does.
    """
    for graph in graphs:
        _fullness(graph)
    firsts = [first_unacceptable(graph, until) for graph in graphs]
    if all(one is None for one in firsts):
        firsts = [first_unacceptable(graph) for graph in graphs]
    first = min((one for one in firsts if one is not None), default=None)
    answers = [_verdict(graph, first)[1] for graph in graphs]
    for graph, largest in zip(graphs, answers, strict=True):
        at = graph.low if largest is None else largest
        refuse_impossible(graph, min(at + 1, graph.high))
        for criterion in in_order(graph):
            if largest is not None and fails_at(graph, criterion, largest):
                raise SolverFault(f"{criterion.name} fails at the capacity {largest}")
    return None if None in answers else answers[0]


@dataclass(frozen=True, slots=True)
class LimitedCapacity:
    """The capacity of a graph, None for nobody, what limits it, and where it is looked at."""

    capacity: int | None
    at: int
    limited_by: str | None


def limited_capacity(graph: LoadGraph, first: int | None) -> LimitedCapacity:
    """Return the capacity as `solve` does, of a graph of which the `first` failure is known.

    Where a criterion that holds there fails is not looked for. SolverFault where the answer does
    not satisfy its own equation.
    """
    loads = _fullness(graph)
    verdict, largest = _verdict(graph, first)
    at = graph.low if largest is None else largest
    refuse_impossible(graph, min(at + 1, graph.high))
    criteria = in_order(graph)
    failing = [first is not None and fails_at(graph, one, first) for one in criteria]
    judged = [
        _FirstFailure(one, first if fails else None)
        for one, fails in zip(criteria, failing, strict=True)
    ]
    _certify(graph, judged, largest, first)
    if verdict is CapacityVerdict.RANGE:
        return LimitedCapacity(largest, at, None)
    if not any(failing):
        raise SolverFault(f"nothing fails above the capacity {largest}")
    table = saturation_table_of(graph, {name: saturation_of(graph, name) for name in loads})
    limiting = criteria[limiting_of(criteria, failing, table, graph)]
    return LimitedCapacity(largest, at, limiting.name)


def failures_at(graph: LoadGraph, first: int | None) -> tuple[FirstFailure, ...]:
    """Return all criteria, of which the `first` failure is known: what fails there, or nowhere."""
    return tuple(
        _failure(
            graph,
            criterion,
            first if first is not None and fails_at(graph, criterion, first) else None,
        )
        for criterion in in_order(graph)
    )


def _failures(graph: LoadGraph, failures: list[_FirstFailure]) -> tuple[FirstFailure, ...]:
    return tuple(_failure(graph, item.criterion, item.first_failure) for item in failures)


def _failure(graph: LoadGraph, criterion: Criterion, first: int | None) -> FirstFailure:
    there = None if first is None else known_at(graph, criterion, first)
    return FirstFailure(criterion, first, there)


def solve(graph: LoadGraph) -> Solution:
    """Return the answers; SolverFault where one does not satisfy its own equation."""
    return with_requirement_values(solved_limits(graph))


def with_requirement_values(solution: Solution) -> Solution:
    """Return a solution with the values of its requirements, which `solved_limits` leaves out."""
    graph = solution.graph
    return replace(
        solution,
        requirements=tuple(
            CriterionSolution(
                one.criterion,
                _passes_up_to(graph, one.criterion, one.first),
                value_at(graph, one.criterion.value, solution.at),
            )
            for one in solution.failures
            if one.criterion.span is not None
        ),
    )


def solved_limits(graph: LoadGraph) -> Solution:
    """Return the answers without `requirements`, whose exact values take most of the time."""
    loads = _fullness(graph)
    saturations = {name: saturation_of(graph, name) for name in loads}
    saturation_table = saturation_table_of(graph, saturations)
    answer = _answered(graph)
    judged, largest = answer.failures, answer.largest
    failing = [item.first_failure == answer.first_failure for item in judged]
    limiting = (
        None
        if answer.first_failure is None
        else judged[
            limiting_of([item.criterion for item in judged], failing, saturation_table, graph)
        ]
    )
    at = graph.low if largest is None else largest
    resources = tuple(resource_at(graph, name, saturations[name], at) for name in graph.resources)
    found = bottleneck(saturation_table, saturations, loads, graph, largest)
    sensitivity, sensitivity_of = _sensitivity(graph, limiting, resources)
    quality = [item for item in judged if item.criterion.name == QUALITY]
    return Solution(
        graph=graph,
        verdict=answer.verdict,
        capacity=largest,
        limited_by=limiting.criterion.name if limiting else None,
        at=at,
        resources=resources,
        bottleneck=found,
        requirements=(),
        quality_at_limit=None
        if graph.quality_value is None
        else value_at(graph, graph.quality_value, at),
        quality_met_up_to=_passes_up_to(graph, quality[0].criterion, quality[0].first_failure)
        if quality
        else None,
        sensitivity=sensitivity,
        sensitivity_of=sensitivity_of,
        elastic=elastic_solutions(graph, at),
        closed=closed_solutions(graph, at),
        costs=costs_at(graph, at),
        warnings=warnings_of(graph, answer.verdict, resources, at),
        failures=_failures(graph, judged),
    )


def limiting_of(
    criteria: Sequence[Criterion],
    failing: Sequence[bool],
    saturation_table: SaturationTable,
    graph: LoadGraph,
) -> int:
    """Return the number of the criterion that limits, of some that fail at the same population."""
    place = {utilization_of(name): number for number, name in enumerate(graph.resources)}
    resources = [None if is_stated(one) else place[one.name] for one in criteria]
    return int(saturation_table.limiting(failing, resources))


def _verdict(graph: LoadGraph, first_failure: int | None) -> tuple[CapacityVerdict, int | None]:
    if first_failure is None:
        return CapacityVerdict.RANGE, graph.high
    if first_failure == graph.low:
        return CapacityVerdict.NOWHERE, None
    return CapacityVerdict.LIMITED, first_failure - 1


def _certify(
    graph: LoadGraph, failures: list[_FirstFailure], largest: int | None, first_failure: int | None
) -> None:
    """Check the answer itself: all criteria hold at it, those that limit it fail just above."""
    for item in failures:
        if largest is not None and fails_at(graph, item.criterion, largest):
            raise SolverFault(f"{item.criterion.name} fails at the capacity {largest}")
        if first_failure is None or item.first_failure != first_failure:
            continue
        if not fails_at(graph, item.criterion, first_failure):
            raise SolverFault(f"{item.criterion.name} passes above the capacity {largest}")


def resource_at(graph: LoadGraph, name: str, saturation: Saturation, at: int) -> ResourceSolution:
    """Return a resource with what it comes to at a population."""
    resource = graph.resources[name]
    total = value_at(graph, resource.load, at)
    parts = {by: value_at(graph, part, at) for by, part in resource.parts.items()}
    shares = {by: part / total if total else 0.0 for by, part in parts.items()}
    return ResourceSolution(
        name=name,
        load=resource.load,
        saturation=saturation,
        utilization_at_limit=total,
        target=value_at(graph, resource.target, at),
        throughput=None
        if resource.throughput is None
        else value_at(graph, resource.throughput, at),
        count=value_at(graph, resource.count, at),
        shares=dict(sorted(shares.items(), key=lambda item: -item[1])),
        port_of=resource.port_of,
        known=resource.known,
        saturation_known=saturation_known(saturation, resource, graph.population),
    )


def costs_at(graph: LoadGraph, at: int) -> tuple[CostSolution, ...]:
    """Return what is bought and what runs, each where anything has such a price."""
    found = []
    for is_running in (False, True):
        prices = [price for price in graph.stated.prices if price.is_running is is_running]
        if prices:
            places = {price.place: value_at(graph, price.value, at) for price in prices}
            total = sum(places.values())
            found.append(
                CostSolution(
                    unit="$/s" if is_running else "$",
                    total=total,
                    per_user=total / at,
                    places=places,
                    unpriced=graph.stated.unpriced,
                )
            )
    return tuple(found)


def _passes_up_to(graph: LoadGraph, criterion: Criterion, failure: int | None) -> int | None:
    """Return up to where the value that is shown stays within its limit: to saturation at most."""
    if has_endless_value(graph, criterion) and failure != graph.low:
        failure = shown_failure(graph, criterion, failure)
    return _limit_population(graph, failure)


def _limit_population(graph: LoadGraph, failure: int | None) -> int | None:
    if failure is None:
        return graph.high
    return None if failure == graph.low else failure - 1


def value_at(graph: LoadGraph, expr: Formula, at: int) -> float:
    """Return a value at a population; not-a-number where it has none."""
    return graph.at(at).number(expr)


def _sensitivity(
    graph: LoadGraph, limiting: _FirstFailure | None, resources: tuple[ResourceSolution, ...]
) -> tuple[tuple[Sensitivity, ...], str | None]:
    """Return the elasticities of the answer, or of the first saturation where none limits."""
    if limiting is not None and limiting.first_failure is not None:
        failure = limiting.first_failure
        if failure > graph.low:
            over = excess(limiting.criterion)
            put_in = graph.valued(over)
            at = crossing(put_in, graph.population, failure - 1, failure)
            if at is not None:
                return elasticities(over, at, graph), limiting.criterion.name
        return (), None
    found: Saturation | None = None
    name = ""
    for resource in resources:
        saturation = resource.saturation
        if saturation.at is None or saturation.method is SearchMethod.AT_START:
            continue
        if found is None or found.at is None or saturation.at < found.at:
            found, name = saturation, resource.name
    if found is None or found.at is None:
        return (), None
    full = graph.resources[name]
    return elasticities(full.demand - full.target, found.at, graph), utilization_of(name)
