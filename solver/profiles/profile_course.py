"""The course of a day or a week: each distinct moment is evaluated as a steady state.

Loads change over hours, and queues adapt within seconds: each moment is as if its load had always
been there (the pointwise stationary approximation; Green and Kolesar 1991). Queues that adapt more
slowly are followed one by one. Where a load is above the capacity, the backlog is that of a fluid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, inf, isfinite, isnan

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_each_mode
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.clock_times import moment_name, without_moment
from qps.compiler.quantities.limit_use import limit_used
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import QUALITY
from qps.solver.profiles.course_answer import (
    Backlog,
    BacklogCourse,
    BacklogPoint,
    CourseAnswer,
    MomentAnswer,
    ServerHours,
)
from qps.solver.profiles.fluid_backlog import LoadPeriod, backlog_course, backlogs
from qps.solver.profiles.moment_values import MomentValues
from qps.solver.profiles.transient_queues import QueueAt, queues_at, transient_queues

_MINUTE = 60.0
_HOUR = 60
_ROUNDING = 1e-9
_FEW = 24
"""States that are evaluated exactly; more are in floats."""
_MOST_STATES = 200
_STEPS = 100
"""Values of a profile that are distinguished where there are more states."""
_SECONDS_OF_HOUR = 3600.0

Values = tuple[tuple[str, Fraction], ...]


class _State(Struct, frozen=True, kw_only=True):
    """What a moment comes to: loads, these as parts of targets, and the limit that is nearest."""

    resource: str | None
    utilization: float
    loads: Mapping[str, float]
    utilizations: Mapping[str, float]
    counts: Mapping[str, float]
    costs: Mapping[str, float]
    """What all machines of a node cost in an hour, in $, of those with such a price."""
    requirement: str | None
    used: float
    is_met: bool
    queues: Mapping[str, QueueAt]


def profile_course(
    model: ir.Model, configuration: Configuration, population: int | None
) -> CourseAnswer | None:
    """Return how a cycle goes at a population; None for a spec without profiles.

    A configuration with one population is evaluated there. Profiles that are set do not change.
    """
    fixed = {one.name for one in configuration.explicit if isinstance(one, ir.SetParameter)}
    profiles = [one for one in model.profiles if one.name not in fixed]
    if not profiles:
        return None
    at = population or configuration.low
    if configuration.low == configuration.high:
        at = configuration.low
    cycle = ir.cycle_of(profiles)
    moments = _rounded(ir.moments_of(profiles))
    distinct = dict.fromkeys(one.values for one in moments)
    numbers = MomentValues(is_in_floats=len(distinct) > _FEW)
    states = {values: _state(model, configuration, values, at, numbers) for values in distinct}
    found = [states[one.values] for one in moments]
    waiting, peaks, courses = _backlogs(moments, found)
    return CourseAnswer(
        cycle=cycle,
        at=at,
        profiles=tuple(one.name for one in profiles),
        moments=tuple(
            _answered(moment, state, cycle, seconds)
            for moment, state, seconds in zip(moments, found, waiting, strict=True)
        ),
        backlogs=tuple(peaks),
        backlog_courses=tuple(courses),
        servers=tuple(_servers(model, moments, found)),
        transient=transient_queues(moments, [one.queues for one in found], cycle),
    )


def _rounded(moments: tuple[ir.Moment, ...]) -> tuple[ir.Moment, ...]:
    """Return moments with few distinct values: of many, rounded up to a part of the largest."""
    if len({one.values for one in moments}) <= _MOST_STATES:
        return moments
    largest = dict(moments[0].values)
    for moment in moments:
        largest = {name: max(value, largest[name]) for name, value in moment.values}
    steps = {name: value / _STEPS for name, value in largest.items()}
    return tuple(
        replace(
            one,
            values=tuple(
                (name, ceil(value / steps[name]) * steps[name]) for name, value in one.values
            ),
        )
        for one in moments
    )


def _answered(moment: ir.Moment, state: _State, cycle: int, backlog: float) -> MomentAnswer:
    return MomentAnswer(
        start=moment.start,
        end=moment.end,
        name=moment_name(moment.start, cycle),
        values=tuple((name, float(value)) for name, value in moment.values),
        resource=state.resource,
        utilization=state.utilization,
        requirement=state.requirement,
        used=state.used,
        is_met=state.is_met and backlog == 0,
        backlog=backlog,
    )


def _state(
    model: ir.Model, configuration: Configuration, values: Values, at: int, numbers: MomentValues
) -> _State:
    """Return what a moment comes to in its worst mode."""
    changes = [
        ir.SetParameter(one.name, ir.Constant(value), one.span)
        for name, value in values
        for one in model.profiles
        if one.name == name
    ]
    there = changed(configuration, changes)
    # The changes decide the moment: each mode is evaluated there once.
    modes = {without_moment(each.mode): each for each in in_each_mode(model, there)}
    graphs = [lower(model, each, by_points=False) for each in modes.values()]
    states = [_evaluated(graph, at, numbers) for graph in graphs]
    return max(states, key=lambda one: (not one.is_met, one.used))


def _evaluated(graph: LoadGraph, at: int, numbers: MomentValues) -> _State:
    names, resources = list(graph.resources), list(graph.resources.values())
    criteria = all_criteria(graph)
    sides = [side for one in criteria for side in (one.value, one.limit)]
    loads, utilizations, counts = (
        dict(zip(names, map(_finite, numbers.at(graph, formulas, at)), strict=True))
        for formulas in (
            [one.load for one in resources],
            [one.fullness for one in resources],
            [one.count for one in resources],
        )
    )
    running = [one for one in graph.stated.prices if one.is_running]
    prices = numbers.at(graph, [one.value for one in running], at) if running else ()
    found = numbers.at(graph, sides, at)
    used = {}
    is_met = True
    for one, value, limit in zip(criteria, found[::2], found[1::2], strict=True):
        part = limit_used(value, limit, at_most=one.at_most)
        if one.name != QUALITY:  # it is the most of the others
            used[one.name] = inf if isnan(part) else part
        rounding = numbers.rounding * abs(limit)
        is_met &= value <= limit + rounding if one.at_most else value >= limit - rounding
    fullest = max(utilizations, key=lambda name: utilizations[name], default=None)
    nearest = max(used, key=lambda name: used[name], default=None)
    return _State(
        resource=fullest,
        utilization=0.0 if fullest is None else loads[fullest],
        loads=loads,
        utilizations=utilizations,
        counts=counts,
        costs={
            one.place: _SECONDS_OF_HOUR * price for one, price in zip(running, prices, strict=True)
        },
        requirement=nearest,
        used=0.0 if nearest is None else used[nearest],
        is_met=is_met,
        queues=queues_at(graph, at, numbers),
    )


def _finite(value: float) -> float:
    return inf if isnan(value) else value


def _backlogs(
    moments: Sequence[ir.Moment], states: Sequence[_State]
) -> tuple[list[float], list[Backlog], list[BacklogCourse]]:
    """Return the longest backlog at the end of each moment, in s, and the peaks of resources.

    Also the course of each backlog.
    """
    longest = [0.0] * len(moments)
    found: list[Backlog] = []
    courses: list[BacklogCourse] = []
    names = dict.fromkeys(name for state in states for name in state.loads)
    for name in names:
        loads = [state.loads.get(name, 0.0) for state in states]
        if not any(load > 1 + _ROUNDING for load in loads) or not all(map(isfinite, loads)):
            continue
        periods = [
            LoadPeriod(moment.start, moment.end, load, state.counts.get(name, 0.0) or 1.0)
            for moment, load, state in zip(moments, loads, states, strict=True)
        ]
        ends, peaks = backlogs(periods)
        longest = [max(one, _MINUTE * end) for one, end in zip(longest, ends, strict=True)]
        points = backlog_course(periods)
        courses.append(
            BacklogCourse(
                resource=name,
                points=tuple(BacklogPoint(at=at, backlog=_MINUTE * one) for at, one in points),
            )
        )
        found += [
            Backlog(
                resource=name,
                start=peak.start,
                worst_at=peak.worst_at,
                worst=_MINUTE * peak.worst,
                cleared_at=peak.cleared_at,
            )
            for peak in peaks
        ]
    return longest, sorted(found, key=lambda one: -one.worst), courses


def _servers(
    model: ir.Model, moments: Sequence[ir.Moment], states: Sequence[_State]
) -> Iterator[ServerHours]:
    """Yield how many machines of each node its moments need at the utilization of its peak."""
    if any(isinstance(one, ir.LoseMachines) for mode in model.modes for one in mode.changes):
        return  # how many machines failures need is no matter of one state's utilization
    nodes = {node.name for node in model.nodes}
    minutes = sum(one.end - one.start for one in moments)
    for node in sorted(nodes):
        own = [name for name in states[0].counts if name.rpartition(".")[0] == node]
        counts = [state.counts[name] for state in states for name in own if name in state.counts]
        if not counts or max(counts) <= 1 or not all(map(isfinite, counts)):
            continue
        # In machines: the load of one, by how many there are.
        work = [
            max(state.utilizations.get(name, 0.0) * state.counts.get(name, 0.0) for name in own)
            for state in states
        ]
        per_machine = max(state.utilizations.get(name, 0.0) for state in states for name in own)
        if not per_machine > 0 or not isfinite(per_machine):
            continue
        needed_then = [max(1, ceil(one / per_machine - _ROUNDING)) for one in work]
        lengths = [moment.end - moment.start for moment in moments]
        needed = sum(many * length for many, length in zip(needed_then, lengths, strict=True))
        there = [max(state.counts.get(name, 0.0) for name in own) for state in states]
        count = max(state.counts.get(name, 0.0) for state in states for name in own)
        price = _price(node, states, there)
        yield ServerHours(
            node=node,
            count=round(count),
            hours=count * minutes / _HOUR,
            needed=needed / _HOUR,
            cost=None if price is None else price * count * minutes / _HOUR,
            needed_cost=None if price is None else price * needed / _HOUR,
        )


def _price(node: str, states: Sequence[_State], counts: Sequence[float]) -> float | None:
    """Return what a machine of a node costs in an hour, in $; None if that is not always the same.

    Nor where it has no running price.
    """
    found = [
        state.costs[node] / count
        for state, count in zip(states, counts, strict=True)
        if count > 0 and node in state.costs
    ]
    is_same = bool(found) and max(found) - min(found) <= _ROUNDING * max(found)
    return found[0] if is_same else None
