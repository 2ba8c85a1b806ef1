"""What a reader of an answer is warned of: a model without users, a full start, numbers far off."""

from __future__ import annotations

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Sink
from qps.compiler.lower.load_graph import LoadGraph
from qps.solver.answers.extrapolation import beyond_measured, report_beyond
from qps.solver.answers.far_loads import AT_ANSWER, far_from_measured, report_far
from qps.solver.answers.graph_criteria import all_criteria, rests_on_users
from qps.solver.answers.solution import CapacityVerdict, ResourceSolution
from qps.solver.answers.unmodeled_wait_warnings import report_uncounted_waits, uncounted_waits
from qps.solver.search.method import SearchMethod


def warnings_of(
    graph: LoadGraph, verdict: CapacityVerdict, resources: tuple[ResourceSolution, ...], at: int
) -> tuple[Diagnostic, ...]:
    """Return the warnings of an answer, `at` the population of its loads."""
    sink = Sink()
    name = graph.population
    if not rests_on_users(graph):
        sink.report(
            codes.NO_USERS,
            None,
            f"no utilization or requirement depends on {name}",
            hint=f"scale the system with its users: `node user = pc * {name}` and `stream … "
            "for each user`",
        )
    elif verdict is CapacityVerdict.RANGE and graph.low < graph.high:
        sink.report(
            codes.RANGE_LIMITS,
            None,
            f"every population from {graph.low:,} to {graph.high:,} meets all requirements: "
            "the range limits the capacity",
            hint=f"widen the range of `users {graph.population}`",
        )
    for resource in resources:
        if resource.saturation.method is SearchMethod.AT_START:
            sink.report(
                codes.SATURATED_START,
                graph.resources[resource.name].span,
                f"{resource.name} is {_how_full(graph, resource.name)} "
                f"even at {graph.population} = {graph.low}",
            )
    loads = {resource.name: resource.utilization_at_limit for resource in resources}
    report_far(far_from_measured(graph, loads, AT_ANSWER), sink)
    report_beyond(beyond_measured(graph, at), sink)
    uncounted = uncounted_waits(graph, all_criteria(graph), at)
    if uncounted is not None and verdict is not CapacityVerdict.NOWHERE:
        report_uncounted_waits(uncounted, sink)
    return tuple(sink.found)


def _how_full(graph: LoadGraph, name: str) -> str:
    """Return what a resource is that is saturated from the start: full, or more than that."""
    is_full = graph.at(graph.low).exact(graph.resources[name].fullness) == 1
    return "at 100 % utilization" if is_full else "saturated"
