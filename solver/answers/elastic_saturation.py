"""Resources that elastic streams saturate by design: they take what is left, and yield."""

from __future__ import annotations

from qps.solver.answers.solution import ElasticSolution, Solution

_ROUNDINGS = 1e-9


def saturated_by_elastic(solution: Solution) -> frozenset[str]:
    """Return the resources that are full at the answer with what elastic streams take of them.

    They are no fault: with more users these streams take less. Where they can no more, all of them
    at their least, the resource is as full as any other.
    """
    parameters = {one.parameter.name: one for one in solution.graph.elastic}
    found = {
        name
        for item in solution.elastic
        if _can_shrink(item) and item.name in parameters
        for name in parameters[item.name].left
    }
    return frozenset(
        resource.name
        for resource in solution.resources
        if resource.name in found and _is_full(resource.utilization_at_limit, resource.target)
    )


def _can_shrink(item: ElasticSolution) -> bool:
    return item.value_at_limit > item.least * (1 + _ROUNDINGS)


def _is_full(load: float, target: float) -> bool:
    return abs(load / target - 1) <= _ROUNDINGS
