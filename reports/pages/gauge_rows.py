"""Utilizations as gauges, and limits in their order: rows of the first screen.

The scripts of the page make the same rows: `scripts/live/panels/gauges.js`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, isnan
from operator import attrgetter

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.ir.measure_names import resource_in
from qps.reports.text.solutions.elastic_text import SATURATED
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.limit_states import LimitState, limit_state, limit_used
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import with_ports_together
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    quantity_at_limit,
    whole_population,
)
from qps.solver.answer import Answer
from qps.solver.answers.solution import QUALITY, ResourceSolution

_MOST_SHOWN = 4
_MOST_PARTS = 3
_MOST_LIMITS = 5
_WIDEST = 100
"""How many times as far as the first limit another one is drawn at most."""


class Gauge(Struct, frozen=True, kw_only=True):
    """A resource's utilization beside its target; `filled` and `tick` are those in per cent."""

    name: str
    parts: str
    utilization: str
    target: str
    state: str
    word: str
    filled: float
    tick: float


class Gauges(Struct, frozen=True, kw_only=True):
    """The gauges that are shown, and those folded behind a line that says what they are."""

    shown: tuple[Gauge, ...]
    folded: tuple[Gauge, ...]
    summary: str


class LimitRow(Struct, frozen=True, kw_only=True):
    """A limit, and where it is reached; `length` is a bar's, in per cent, and `tick` on it."""

    name: str
    at: str
    state: str
    length: float
    tick: float | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """What limits the capacity, in order: a picture beside the headline."""

    title: str
    heading: str
    rows: tuple[LimitRow, ...]


def gauges(answer: Answer, called: Callable[[str], str]) -> Gauges:
    """Return the resources, those nearest to their targets first; all that are near are shown."""
    rows = sorted(
        with_ports_together(answer.by_saturation, attrgetter("name"), answer),
        key=lambda row: -_used(row[0], answer),
    )
    near = sum(_state(one, answer) is not LimitState.WITHIN for one, _ in rows)
    most = max(_MOST_SHOWN, near) if len(rows) > max(_MOST_SHOWN, near) + 1 else len(rows)
    made = [_gauge(one, name, answer, called) for one, name in rows]
    folded = rows[most:]
    summary = ""
    if folded:
        summary = phrase(
            "page.more_resources", count=len(folded), most=percent(_used(folded[0][0], answer), 2)
        )
    return Gauges(shown=tuple(made[:most]), folded=tuple(made[most:]), summary=summary)


def _target(one: ResourceSolution, answer: Answer) -> float:
    """Return the lowest limit of a utilization: its target, or what a requirement allows."""
    required = [
        need.limit
        for need in answer.requirements
        if need.at_most and need.name != one.name and resource_in(need.name) == one.name
    ]
    return min(one.target, *required) if required else one.target


def _used(one: ResourceSolution, answer: Answer) -> float:
    used = limit_used(one.utilization_at_limit, _target(one, answer))
    return 0.0 if isnan(used) else used


def _state(one: ResourceSolution, answer: Answer) -> LimitState:
    """Return the state of a utilization; what limits the capacity is not beyond its limit there."""
    used = limit_used(one.utilization_at_limit, _target(one, answer))
    is_limit = answer.capacity is not None and resource_in(answer.limited_by or "") == one.name
    return limit_state(min(used, 1.0) if is_limit else used, limits_capacity=is_limit)


def _gauge(one: ResourceSolution, name: str, answer: Answer, called: Callable[[str], str]) -> Gauge:
    shares = sorted(one.shares.items(), key=lambda share: -share[1])
    parts = [(called(by), share) for by, share in shares if share > 0][:_MOST_PARTS]
    is_elastic = one.name in answer.saturated_by_elastic
    state, target = _state(one, answer), _target(one, answer)
    return Gauge(
        name=called(one.name) + name.removeprefix(one.name),
        parts=", ".join(by if len(parts) == 1 else f"{by} {percent(share)}" for by, share in parts),
        utilization=percent(one.utilization_at_limit),
        target=percent(target),
        state="elastic" if is_elastic else state.value,
        word=SATURATED if is_elastic else phrase(f"state.{state.value}"),
        filled=min(100.0, max(0.0, 100 * one.utilization_at_limit)),
        tick=min(100.0, 100 * target),
    )


def limits(answer: Answer, called: Callable[[str], str]) -> Limits:
    """Return the limits in order; where not even the fewest are supported, requirements there."""
    if answer.capacity is None and answer.requirements:
        users = counted(answer.at, answer.population)
        return Limits(
            title=phrase("page.requirements_at", users=users),
            heading=f"At {answer.at:,}",
            rows=_requirements(answer, called),
        )
    title = phrase("page.limits_in_order", noun=noun(answer.population))
    return Limits(title=title, heading="Reached at", rows=_limits_in_order(answer, called))


def _requirements(answer: Answer, called: Callable[[str], str]) -> tuple[LimitRow, ...]:
    """Return requirements as bars of how much of their limits is used, those beyond them first."""
    rows = [
        (limit_used(one.now.value, one.limit, at_most=one.at_most), one)
        for one in answer.requirements
    ]
    rows = sorted(((used, one) for used, one in rows if isfinite(used)), key=lambda row: -row[0])
    longest = max(1.0, rows[0][0]) if rows else 1.0
    return tuple(
        LimitRow(
            name=called(one.name),
            at=marked_value(
                quantity_at_limit(one.now.value, one.limit, one.dimension, share=in_percent(one)),
                one.now.value,
                one.now.known,
            ),
            state=limit_state(used, limits_capacity=False).value,
            length=100 * used / longest,
            tick=100 / longest,
        )
        for used, one in rows[:_MOST_LIMITS]
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
    for resource, _ in with_ports_together(answer.by_saturation, attrgetter("name"), answer):
        if resource.saturation.at is not None and resource.saturation.not_below is None:
            found.setdefault(resource.name, resource.saturation.at)
    rows = sorted(found.items(), key=lambda row: row[1])[:_MOST_LIMITS]
    rows = [(name, at) for name, at in rows if at <= _WIDEST * max(1.0, rows[0][1])]
    longest = max((at for _, at in rows), default=0.0)
    return tuple(
        LimitRow(
            name=called(name),
            at=whole_population(at),
            state="limit"
            if resource_in(answer.limited_by or "") == resource_in(name)
            else "within",
            length=100 * at / longest if longest else 0.0,
        )
        for name, at in rows
    )
