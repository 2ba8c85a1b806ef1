"""Utilizations as gauges, and limits in their order: rows of the first screen.

The scripts of the page make the same rows: `scripts/live/panels/gauges.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite, isnan
from operator import attrgetter

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.ir.measure_names import is_utilization, resource_in, utilization_of
from qps.compiler.quantities.certainty import EXACT
from qps.compiler.quantities.limit_use import limit_used
from qps.reports.text.solutions.elastic_text import SATURATED
from qps.reports.text.words.certainty_marks import marked, marked_value
from qps.reports.text.words.estimates import limit_of
from qps.reports.text.words.limit_states import LimitState, limit_state
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import with_ports_together
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    quantity_at_limit,
    utilization_text,
    whole_population,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import QUALITY, ResourceSolution

_MOST_SHOWN = 4
_DIGITS = 3
_MOST_PARTS = 3
_LEAST_PART = 0.01
"""A part of a utilization that is named; what is less moves nothing."""
_LEAST_APART = 1
"""Per cents between two utilizations of one bar that differ visibly."""
_MOST_LIMITS = 5
_WIDEST = 100
"""How many times as far as the first limit another one is drawn at most."""


class Gauge(Struct, frozen=True, kw_only=True):
    """A resource's utilization beside its target.

    `nominal`, `filled` and `tick` are the utilization with nominal inputs, the one that is shown,
    and the target, in per cent. `note` says what the darker part of a bar of two is; empty for one.
    """

    name: str
    parts: str
    utilization: str
    note: str
    target: str
    state: str
    word: str
    nominal: float
    filled: float
    tick: float


class Gauges(Struct, frozen=True, kw_only=True):
    """The gauges that are shown, and those folded behind a line that says what they are."""

    shown: tuple[Gauge, ...]
    folded: tuple[Gauge, ...]
    summary: str


class LimitRow(Struct, frozen=True, kw_only=True):
    """A limit, and where it is reached; `length` is a bar's, in per cent, and `tick` on it.

    `most` is what it allows, such as `≤ 100 ms`.
    """

    name: str
    most: str
    at: str
    state: str
    length: float
    tick: float | None = None


class CapacityGauges(Struct, frozen=True, kw_only=True):
    """What limits the capacity, in order: a picture beside the headline."""

    title: str
    heading: str
    rows: tuple[LimitRow, ...]


class _Use(Struct, frozen=True, kw_only=True):
    """How much of its target a resource uses: the lowest of its target and what is required."""

    resource: ResourceSolution
    name: str
    nominal: float
    target: float
    used: float
    state: LimitState


def nominal_utilizations(answer: Answer) -> dict[str, float]:
    """Return the utilizations with nominal inputs at the headline; empty elsewhere."""
    shown = answer.at_reliable
    if shown is None or shown.population != answer.at:
        return {}
    return {one.name: one.nominal for one in shown.utilizations}


def gauges(answer: Answer, called: Callable[[str], str]) -> Gauges:
    """Return the resources, those nearest to their targets first; all that are near are shown."""
    uses = sorted(_uses(answer), key=lambda one: -one.used)
    near = sum(one.state is not LimitState.WITHIN for one in uses)
    most = max(_MOST_SHOWN, near) if len(uses) > max(_MOST_SHOWN, near) + 1 else len(uses)
    made = [_gauge(one, answer, called) for one in uses]
    summary = ""
    if uses[most:]:
        summary = phrase(
            "page.more_resources", count=len(uses[most:]), most=percent(uses[most].used, 2)
        )
    return Gauges(shown=tuple(made[:most]), folded=tuple(made[most:]), summary=summary)


def _uses(answer: Answer) -> Iterator[_Use]:
    """Yield what resources use; what limits the capacity is not beyond its limit there."""
    required: dict[str, float] = {}
    for need in answer.requirements:
        if need.at_most and is_utilization(need.name):
            resource = resource_in(need.name)
            required[resource] = min(need.limit, required.get(resource, need.limit))
    nominal = nominal_utilizations(answer)
    limiting = resource_in(answer.limited_by or "")
    for one, name in with_ports_together(answer.by_saturation, attrgetter("name"), answer):
        target = min(one.target, required.get(one.name, one.target))
        used = limit_used(one.utilization_at_limit, target)
        is_limit = answer.capacity is not None and limiting == one.name
        yield _Use(
            resource=one,
            name=name,
            nominal=nominal.get(one.name, one.utilization_at_limit),
            target=target,
            used=0.0 if isnan(used) else used,
            state=limit_state(min(used, 1.0) if is_limit else used, limits_capacity=is_limit),
        )


def _gauge(use: _Use, answer: Answer, called: Callable[[str], str]) -> Gauge:
    one = use.resource
    shares = sorted(one.shares.items(), key=lambda share: -share[1])
    parts = [(called(by), share) for by, share in shares if share >= _LEAST_PART][:_MOST_PARTS]
    is_elastic = one.name in answer.saturated_by_elastic
    return Gauge(
        name=called(one.name) + use.name.removeprefix(one.name),
        parts=", ".join(
            by if len(parts) == 1 else f"{by} {percent(share, 2)}" for by, share in parts
        ),
        utilization=utilization_text(one.utilization_at_limit),
        note=_note(use),
        target=percent(use.target),
        state="elastic" if is_elastic else use.state.value,
        word=SATURATED if is_elastic else phrase(f"state.{use.state.value}"),
        nominal=_in_percent(use.nominal),
        filled=_in_percent(one.utilization_at_limit),
        tick=_in_percent(use.target),
    )


def _note(use: _Use) -> str:
    """Return the nominal utilization of what has a bar of two parts."""
    if _in_percent(use.resource.utilization_at_limit) - _in_percent(use.nominal) < _LEAST_APART:
        return ""
    return phrase("page.nominal_part", value=utilization_text(use.nominal))


def _value_text(one: RequirementAnswer) -> str:
    """Return the value of a requirement; a utilization within its limit has one decimal."""
    if is_utilization(one.name) and one.now.value < one.limit:
        return utilization_text(one.now.value)
    return quantity_at_limit(one.now.value, one.limit, one.dimension, share=in_percent(one))


def _in_percent(value: float) -> float:
    return min(100.0, max(0.0, 100 * value))


def limits(answer: Answer, called: Callable[[str], str]) -> CapacityGauges:
    """Return the limits in order; where not even the fewest are supported, requirements there."""
    if answer.capacity is None and answer.requirements:
        users = counted(answer.at, answer.population)
        return CapacityGauges(
            title=phrase("page.requirements_at", users=users),
            heading=f"At {answer.at:,}",
            rows=_requirements(answer, called),
        )
    title = phrase("page.limits_in_order", noun=noun(answer.population))
    return CapacityGauges(
        title=title, heading=phrase("report.reached_at"), rows=_limits_in_order(answer, called)
    )


def _requirements(answer: Answer, called: Callable[[str], str]) -> tuple[LimitRow, ...]:
    """Return requirements beyond their limits, else all of them, as bars of how much is used.

    So is what is beyond its target, if no requirement is about its utilization. What is within its
    limit stands in the tables of requirements and utilizations.
    """
    rows = [
        (
            limit_used(one.now.value, one.limit, at_most=one.at_most),
            called(one.name),
            _most_allowed(one),
            marked_value(_value_text(one), one.now.value, one.now.known),
        )
        for one in answer.requirements
    ]
    required = {resource_in(one.name) for one in answer.requirements if is_utilization(one.name)}
    rows += [
        (
            limit_used(one.utilization_at_limit, one.target),
            called(one.name),
            f"≤ {percent(one.target)}",
            utilization_text(one.utilization_at_limit),
        )
        for one in answer.resources
        if one.utilization_at_limit > one.target and one.name not in required
    ]
    rows = sorted((row for row in rows if isfinite(row[0])), key=lambda row: -row[0])
    rows = [row for row in rows if row[0] > 1] or rows
    longest = max(1.0, rows[0][0]) if rows else 1.0
    return tuple(
        LimitRow(
            name=name,
            most=most,
            at=at,
            state=limit_state(used, limits_capacity=False).value,
            length=100 * used / longest,
            tick=100 / longest,
        )
        for used, name, most, at in rows[:_MOST_LIMITS]
    )


def _limits_in_order(answer: Answer, called: Callable[[str], str]) -> tuple[LimitRow, ...]:
    """Return the first limits, with the populations at which they are reached."""
    found: dict[str, float] = {}
    for requirement in answer.requirements:
        if requirement.met_up_to is not None and requirement.met_up_to < answer.high:
            found[requirement.name] = requirement.met_up_to
    quality = answer.quality
    if quality.metric != ir.Metric.WORST.value and quality.met_up_to not in (None, answer.high):
        found[QUALITY] = quality.met_up_to or 0
    reliable = answer.reliable_limits
    for resource, _ in with_ports_together(answer.by_saturation, attrgetter("name"), answer):
        if resource.saturation.at is None or resource.saturation.not_below is not None:
            continue
        name = utilization_of(resource.name)
        if reliable.get(name, answer.high) >= answer.high:  # it is met in the whole range
            found.setdefault(resource.name, resource.saturation.at)
        elif name not in found:  # of a required utilization that limit alone is as reliable
            found[resource.name] = reliable[name]
    known = {one.name: one.met_up_to_known for one in answer.requirements}
    known[QUALITY] = quality.met_up_to_known
    allowed = {one.name: f"≤ {percent(one.target)}" for one in answer.resources}
    allowed |= {one.name: _most_allowed(one) for one in answer.requirements}
    rows = sorted(found.items(), key=lambda row: row[1])[:_MOST_LIMITS]
    rows = [(name, at) for name, at in rows if at <= _WIDEST * max(1.0, rows[0][1])]
    longest = max((at for _, at in rows), default=0.0)
    return tuple(
        LimitRow(
            name=_limit_name(name, found, called),
            most=allowed.get(name, ""),
            at=marked(whole_population(at), known.get(name, EXACT)),
            state="limit" if _is_limit(name, answer) else "within",
            length=100 * at / longest if longest else 0.0,
        )
        for name, at in rows
    )


def _most_allowed(one: RequirementAnswer) -> str:
    return limit_of(one, one.limit, share=in_percent(one), digits=_DIGITS)


def _limit_name(name: str, found: Mapping[str, float], called: Callable[[str], str]) -> str:
    """Return what a limit is called: of a resource with a required utilization, its saturation."""
    if utilization_of(name) in found:
        return phrase("page.saturated", name=called(name))
    return called(name)


def _is_limit(name: str, answer: Answer) -> bool:
    """Return whether this limits: of a resource with a required utilization, that alone."""
    limited_by = answer.limited_by
    if name == limited_by:
        return True
    is_required = any(one.name == limited_by for one in answer.requirements)
    return utilization_of(name) == limited_by and not is_required
