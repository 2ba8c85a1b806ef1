"""What limits a capacity, as facts: bottleneck, violated requirement, next limit, other limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import floor

from qps.compiler.ir.measure_names import percentile_level, resource_in
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.losses_in_series import known_at
from qps.compiler.quantities.dimension import TIME
from qps.reports.text.answers import SolveView
from qps.reports.text.how_known import (
    marked,
    marked_value,
)
from qps.reports.text.labels import Labels
from qps.reports.text.nouns import counted, noun
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import (
    beside_limit,
    beyond_limit,
    in_percent,
    joined_words,
    percent,
    quantity,
)
from qps.reports.text.reasons import behind_quality, criteria_behind_quality, value_and_limit
from qps.solver.answers.answering import QUALITY, value_at
from qps.solver.answers.solution import CriterionSolution, Solution

MOST_NAMED = 3
"""Things that a fact names one by one."""
_DIGITS = 3


def limit(view: SolveView, solution: Solution, labels: Labels) -> tuple[str, str]:
    """Return what limits the capacity, with its value there and one user further on."""
    name, further = solution.limited_by or "", solution.at + 1
    if name == QUALITY:
        return "Limit", _behind_quality(solution, labels)
    named = [item for item in solution.requirements if item.criterion.name == name]
    found = solution.graph.resources.get(resource_in(name))
    for item in sorted(named, key=lambda item: item.met_up_to or 0)[:1]:
        criterion = item.criterion
        if criterion.promised_with is not None:
            return "Limit", f"{labels.of(name)}: not met at {further:,}"
        if found is not None:
            at = value_at(solution.graph, criterion.value, solution.at)
            limit = solution.graph.number(criterion.limit)
            then = _further(criterion, solution, further)
            return "Bottleneck", _utilization(labels.of(found.name), at, limit, "limit", then)
        told = f"{labels.measure(name)}: {value_and_limit(criterion, solution, solution.at)}"
        then = _further(criterion, solution, further)
        return "Limit", f"{told}, {then}"
    mine = [one for one in view.resources if found is not None and one.name == found.name]
    if found is None or not mine:
        return "Limit", labels.of(name)
    then = beyond_limit(
        solution.graph, found.load, found.target, further, share=True, digits=_DIGITS
    )
    target = solution.graph.number(found.target)
    then = f"{_or_just(then, percent(target), 'over')} at {further:,}"
    of = "target" if target != 1 else ""
    return "Bottleneck", _utilization(
        labels.of(found.name), mine[0].utilization_at_limit, target, of, then
    )


def _utilization(name: str, at: float, limit: float, of: str, then: str) -> str:
    """Return the utilization of a bottleneck beside its limit, and beyond it."""
    if percent(at, _DIGITS) != percent(limit, _DIGITS):
        behind = f" ({of} {percent(limit)})" if of else ""
        return f"{name}: utilization {percent(at, _DIGITS)}{behind}, {then}"
    if of:
        return f"{name}: utilization at its {percent(limit)} {of}"
    return f"{name}: saturated, {then}"


def in_samples(view: SolveView, label: str) -> str:
    """Return which other resources saturate first in some samples of uncertain inputs."""
    if view.odds is None or label != "Bottleneck":
        return ""
    name = resource_in(view.limited_by or "")
    others = [one for one in view.odds.bottlenecks if one.name != name]
    told = [
        f"`{one.name}` saturates first in {percent(one.probability, 2)}"
        for one in others[:MOST_NAMED]
    ]
    return f"; {joined_words(told)} of samples" if told else ""


def busiest(view: SolveView, labels: Labels) -> str:
    """Return which resource saturates first, and where."""
    found = view.bottleneck
    mine = [one for one in view.resources if found is not None and one.name == found.resource]
    if found is None or not mine:
        return ""
    one, verb = mine[0], "saturates"
    if one.target != 1:
        verb = f"reaches its {percent(one.target)} target"
    at = f"{labels.of(one.name)}: utilization {percent(one.utilization_at_limit, _DIGITS)}"
    if one.saturates_at is None:
        return f"{at}, never {verb}" if not found.undecided else at
    if found.from_start:
        return at
    return f"{at}, {verb} at {floor(one.saturates_at * (1 + _ROUNDINGS)):,}"


_ROUNDINGS = 1e-12
_LEAST_SHARE = 1e-3
"""Of the largest part of a latency; smaller parts are not named."""


def violated(solution: Solution, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield what fails already for the smallest population, and what a latency is made of there."""
    graph = solution.graph
    name, at = solution.limited_by or "", graph.low
    users = counted(at, str(graph.population))
    named = [item.criterion for item in solution.requirements if item.criterion.name == name]
    if name == QUALITY:
        yield "Violated", f"{_behind_quality(solution, labels)} with {users}"
        return
    for criterion in named[:1]:
        if criterion.promised_with is not None:
            yield "Violated", f"{labels.of(name)}: not met with {users}"
            return
        share = in_percent(criterion)
        amount = graph.at(at).number(criterion.value)
        value = beyond_limit(
            graph, criterion.value, criterion.limit, at, criterion.dimension,
            share=share, digits=_DIGITS,
        )  # fmt: skip
        value = marked_value(value, amount, known_at(graph, criterion, at))
        limit = quantity(graph.number(criterion.limit), criterion.dimension, _DIGITS, share=share)
        side = "" if criterion.at_most and not criterion.strict else _SIDES[criterion.at_most]
        yield "Violated", f"{labels.measure(name)}: {value} with {users}, limit {side}{limit}"
        yield "", _made_of(solution, criterion, labels)
        return
    found = graph.resources.get(resource_in(name))
    if found is None:
        yield "Violated", labels.of(name)
        return
    told = beyond_limit(graph, found.load, found.target, at, share=True, digits=_DIGITS)
    target = graph.number(found.target)
    of = f", target {percent(target)}" if target != 1 else ""
    yield "Violated", f"{labels.of(found.name)}: utilization {told} with {users}{of}"


_SIDES = {True: "below ", False: "at least "}


def _made_of(solution: Solution, criterion: Criterion, labels: Labels) -> str:
    """Return the largest parts of the mean latency behind a requirement; empty for others."""
    graph = solution.graph
    found = [graph.streams[one] for one in _timed(criterion.name) if one in graph.streams]
    if len(found) != 1:
        return ""
    point = graph.at(graph.low)
    parts: dict[str, float] = {}
    for part in found[0].latency:
        parts[part.stage] = parts.get(part.stage, 0.0) + point.number(part.value)
    ordered = sorted(parts.items(), key=lambda pair: -pair[1])
    told = [
        f"{labels.stage(stage)} {quantity(value, TIME, _DIGITS)}"
        for stage, value in ordered[:MOST_NAMED]
        if value > _LEAST_SHARE * ordered[0][1]
    ]
    return f"mean latency there: {', '.join(told)}" if told else ""


def _timed(requirement: str) -> list[str]:
    """Return the streams of which a requirement limits the latency, its mean or a percentile."""
    named = (word.rpartition(".") for word in re.findall(r"[\w.]+", requirement))
    return [
        stream
        for stream, _, measure in named
        if measure == "latency" or percentile_level(measure) is not None
    ]


def _behind_quality(solution: Solution, labels: Labels) -> str:
    told = behind_quality(solution, solution.at, labels)
    if not told:
        return phrase("limit.needs")
    return phrase("limit.together" if len(told) > 1 else "limit.alone", told=joined_words(told))


def _further(criterion: Criterion, solution: Solution, at: int) -> str:
    """Return the value of a requirement for more users, distinguishable from its limit."""
    share, graph = in_percent(criterion), solution.graph
    told = beyond_limit(
        graph, criterion.value, criterion.limit, at, criterion.dimension,
        share=share, digits=_DIGITS,
    )  # fmt: skip
    limit = quantity(graph.number(criterion.limit), criterion.dimension, _DIGITS, share=share)
    known = known_at(graph, criterion, at)
    side = "over" if criterion.at_most else "under"
    value = graph.at(at).number(criterion.value)
    return f"{marked_value(_or_just(told, limit, side), value, known)} at {at:,}"


def _or_just(told: str, limit: str, side: str) -> str:
    """Return a value beyond a limit; `just over` it where it takes many digits to tell them."""
    digits = sum(character.isdigit() for character in told.partition("×")[0].lstrip("0.,"))
    return f"just {side} {limit}" if digits > _DIGITS else told


def next_limit(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return what would limit next: its value now, and up to which population it is met."""
    found = view.next_limit
    if found is None:
        return ""
    name = f"`users {view.population.name}`"
    if found.requirement is None:
        return f"none up to {found.met_up_to:,}, the end of {name}"
    mode = phrase("in_mode", mode=found.mode) if found.mode else ""
    called = labels.of(found.requirement)
    if found.met_up_to is None:
        return f"{called}{mode}{phrase('next.never')}"
    now = "" if found.mode else _now(view, solution, found.requirement)
    met = marked(f"{found.met_up_to:,} {noun(view.population.name)}", found.known)
    return f"{called}{mode}: {now}met up to {met}"


def _now(view: SolveView, solution: Solution, name: str) -> str:
    """Return the value of a requirement or a utilization at the capacity, beside its limit."""
    for item in solution.requirements:
        if item.criterion.name == name and item.criterion.promised_with is None:
            return f"{value_and_limit(item.criterion, solution, solution.at)} now, "
    for one in view.resources:
        if one.name == resource_in(name):
            at = beside_limit(one.utilization_at_limit, one.target, share=True)
            target = f" (target {percent(one.target)})" if one.target != 1 else ""
            return f"utilization {at} now{target}, "
    return ""


def _other_items(view: SolveView, solution: Solution) -> list[CriterionSolution]:
    """Return the requirements that other facts do not show, the nearest to its limit first."""
    shown = {view.limited_by, None if view.next_limit is None else view.next_limit.requirement}
    items = [
        item
        for item in solution.requirements
        if item.criterion.name not in shown and item.criterion.promised_with is None
    ]
    if view.limited_by == QUALITY:
        behind = criteria_behind_quality(solution, solution.at)
        items = [one for one in items if one.criterion not in behind]
    items.sort(key=lambda item: (item.met_up_to is None, item.met_up_to or 0))
    return items


def others_label(view: SolveView, solution: Solution) -> str:
    """Return the label of the other limits: that of latencies where all are."""
    names = [item.criterion.name for item in _other_items(view, solution)]
    return "Latency" if all(map(_timed, names)) else "Other limits"


def others(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return the values of other requirements beside their limits."""
    items = _other_items(view, solution)
    of = " latency" if others_label(view, solution) == "Latency" else ""
    told = []
    for item in items:
        called = labels.measure(item.criterion.name).removesuffix(of)
        told.append(f"{called} {value_and_limit(item.criterion, solution, solution.at)}")
    more = len(told) - MOST_NAMED
    return ", ".join([*told[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
