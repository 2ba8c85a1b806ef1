"""What happens in an incident to nodes, streams and caches, as changes between two times."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.solver.incidents.incident_numbers import IncidentNumbers, no_answer
from qps.solver.incidents.incident_system import CacheFlush, CapacityLoss, TrafficChange

_MOST_SURGE = 1_000_000
"""Backlogs of more are lost in rounding beside what is served in a step."""
_KIND = ir.DisturbanceKind


def report_overlaps(numbers: IncidentNumbers) -> None:
    """Refuse what happens twice to something at the same time."""
    for first, second in combinations(numbers.incident.disturbances, 2):
        if first.kind is _KIND.EMPTY or (first.kind, first.target) != (second.kind, second.target):
            continue
        (start, end), (begin, finish) = times_of(numbers, first), times_of(numbers, second)
        if start < finish and begin < end:
            raise QpsError.single(
                codes.MISPLACED,
                second.span,
                f"`{second.kind} {second.target}` overlaps an earlier one",
                secondary=[Label(first.span, "the earlier one")],
                hint="use one statement for both, or start one after the end of the other",
            )


def times_of(numbers: IncidentNumbers, of: ir.Disturbance) -> tuple[float, float]:
    """Return when something starts and ends, in s."""
    start = numbers.value(of.start)
    return start, start + numbers.value(of.length)


def capacity_changes(numbers: IncidentNumbers) -> tuple[CapacityLoss, ...]:
    """Return what happens to nodes."""
    found = []
    for one in numbers.incident.disturbances:
        machines = 0
        if one.kind is _KIND.LOSE:
            factor, machines = _part_left(numbers, one), _machines_lost(numbers, one)
        elif one.kind is _KIND.FAIL:
            factor = _part_without_errors(numbers, one)
        elif one.kind is _KIND.SLOW:
            factor = 1 - numbers.value(one.amount)
        else:
            continue
        start, end = times_of(numbers, one)
        found.append(
            CapacityLoss(
                node=one.target,
                factor=factor,
                start=start,
                end=end,
                is_slower=one.kind is _KIND.SLOW,
                machines=machines,
                answers_errors=one.kind is _KIND.FAIL,
            )
        )
    return tuple(found)


def _part_without_errors(numbers: IncidentNumbers, of: ir.Disturbance) -> float:
    """Return which part of the machines of a node does not fail."""
    if of.count is not None and any(one.node == of.target for one in numbers.model.autoscalers):
        raise no_answer(
            of.span,
            f"incidents are not supported in which some machines of the autoscaled node "
            f"`{of.target}` fail with errors: how many there are changes",
            f"have all of them fail: `fail {of.target} for 10 minute`, or remove `autoscale` in a "
            "copy of the spec",
        )
    return 0.0 if of.count is None else _counted_part(numbers, of)


def _machines_lost(numbers: IncidentNumbers, of: ir.Disturbance) -> int:
    """Return how many machines of an autoscaled node are lost at most; 0 of another one."""
    scaler = next((one for one in numbers.model.autoscalers if one.node == of.target), None)
    if scaler is None:
        return 0
    most = round(numbers.value(scaler.most))
    if of.count is None:
        return most
    if of.count > most:
        raise _too_many(of, most)
    return of.count


def _part_left(numbers: IncidentNumbers, of: ir.Disturbance) -> float:
    """Return which part of the machines of a node is left; 1 of one that counts its machines."""
    if any(one.node == of.target for one in numbers.model.autoscalers):
        return 1.0
    return 0.0 if of.count is None else _counted_part(numbers, of)


def _counted_part(numbers: IncidentNumbers, of: ir.Disturbance) -> float:
    assert of.count is not None
    count = machines_of(numbers, of.target)
    if of.count > count:
        raise _too_many(of, count)
    return 1 - of.count / count


def _too_many(of: ir.Disturbance, count: float) -> QpsError:
    return QpsError.single(
        codes.OUT_OF_RANGE,
        of.span,
        f"`{of.target}` has only {count:g} machines",
        hint=f"for all of them, write `{of.kind} {of.target} for 10 minute`",
    )


def machines_of(numbers: IncidentNumbers, node: str) -> float:
    """Return how many machines of a node there are."""
    return float(numbers.folder.fold(numbers.folder.configuration.nodes[node].count) or 0)


def traffic_changes(numbers: IncidentNumbers) -> tuple[TrafficChange, ...]:
    """Return what happens to streams."""
    found = []
    for one in numbers.incident.disturbances:
        if one.kind is _KIND.SURGE:
            start, end = times_of(numbers, one)
            factor = 1 + numbers.value(one.amount)
            if factor > _MOST_SURGE:
                raise no_answer(
                    one.span,
                    f"incidents are not supported with more than {_MOST_SURGE:,} times the usual "
                    f"traffic: this is {factor:.3g} times",
                    f"state less traffic, such as `surge {one.target} by 900 % for 10 minute`",
                )
            found += [
                TrafficChange(stream=each.name, factor=factor, start=start, end=end)
                for each in numbers.classes
                if each.stream == one.target
            ]
    return tuple(found)


def _set_parameters(numbers: IncidentNumbers) -> set[str]:
    explicit = numbers.configuration.explicit
    return {one.name for one in explicit if isinstance(one, ir.SetParameter)}


def warm_caches(numbers: IncidentNumbers, emptied: Collection[str]) -> list[str]:
    """Return the caches that are not emptied, and whose hit rate is their own."""
    fixed = _set_parameters(numbers)
    names = [one.name for one in numbers.model.caches]
    return [one for one in names if one not in fixed and one not in emptied]


def cache_flushes(numbers: IncidentNumbers) -> tuple[CacheFlush, ...]:
    """Return when caches are emptied. QpsError for one whose hit rate is set."""
    fixed = _set_parameters(numbers)
    found = []
    for one in numbers.incident.disturbances:
        if one.kind is not _KIND.EMPTY:
            continue
        if one.target in fixed:
            raise no_answer(
                one.span,
                f"the hit rate of `{one.target}` is set, so it cannot change",
                f"remove `--set {one.target}=…`",
            )
        found.append(CacheFlush(one.target, numbers.value(one.start)))
    return tuple(found)
