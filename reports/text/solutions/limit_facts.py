"""What limits a capacity, as facts: bottleneck, violated requirement, next limit, other limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, isfinite

from qps.compiler.ir.measure_names import is_utilization, resource_in, timed_streams, utilization_of
from qps.compiler.quantities.dimension import TIME
from qps.reports.text.layout.facts import Fact
from qps.reports.text.solutions.limit_reasons import behind_quality, beyond_limit, value_and_limit
from qps.reports.text.words.certainty_marks import marked, marked_value
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.mode_words import in_mode
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    joined_words,
    percent,
    quantity,
    quantity_at_limit,
    quantity_beyond_limit,
    side_of,
    utilization_text,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import (
    NextLimit,
    Reading,
    RequirementAnswer,
    RequirementThere,
    ValueAtCapacity,
)
from qps.solver.answers.solution import QUALITY, ResourceSolution

MOST_NAMED = 3
"""Things that a fact names one by one."""
_DIGITS = 3


def limit(answer: Answer, labels: Labels) -> Fact:
    """Return what limits the capacity, with its value there and one user further on."""
    name, further = answer.limited_by or "", counted(answer.at + 1, answer.population)
    one, there = answer.limiting, answer.limit_there
    if name == QUALITY:
        return Fact("Limit", _behind_quality(answer.behind_quality, labels))
    found = answer.resource(resource_in(name))
    if one is not None and there is not None:
        if one.confidence is not None:
            text = phrase("limit.not_met_above", further=further)
            return Fact("Limit", text, labels.of(name))
        then = _further(one, there, further)
        if found is not None:
            value = one.now.value
            text = _utilization(value, one.limit, "limit", then)
            return Fact("Bottleneck", text, labels.of(found.name))
        then = f", {then}" if then else ""
        return Fact("Limit", f"{value_and_limit(one, one.now)}{then}", labels.measure(name))
    if one is not None and found is not None:
        text = _utilization(one.now.value, one.limit, "limit", "")
        return Fact("Bottleneck", text, labels.of(found.name))
    if one is not None and one.confidence is None:
        return Fact("Limit", value_and_limit(one, one.now), labels.measure(name))
    if found is None:
        return Fact("Limit", labels.of(name))
    target, then = found.target, ""
    if there is not None:
        then = f"{_or_just(_load_there(found, there), percent(target), 'over')} at {further}"
    of = "target" if target != 1 else ""
    text = _utilization(found.utilization_at_limit, target, of, then)
    return Fact("Bottleneck", text, labels.of(found.name))


def _load_there(found: ResourceSolution, there: Reading) -> str:
    """Return the utilization of a resource beyond its target, distinguished from it."""
    return quantity_beyond_limit(
        there.value, found.target, share=True, gap=there.excess, digits=_DIGITS
    )


def _utilization(at: float, limit: float, of: str, then: str) -> str:
    """Return the utilization of a bottleneck beside its limit, and beyond it."""
    if percent(at, _DIGITS) != percent(limit, _DIGITS):
        behind = f" ({of} {percent(limit)})" if of else ""
        text = f"utilization {percent(at, _DIGITS)}{behind}"
        return f"{text}, {then}" if then else text
    if of:
        return phrase("limit.at_target", share=percent(limit), of=of)
    return f"saturated ({then})" if then else "saturated"


def in_samples(answer: Answer, label: str) -> str:
    """Return which other resources saturate first in some samples of uncertain inputs."""
    if answer.uncertainty is None or label != "Bottleneck" or _is_at_confidence(answer):
        return ""
    name = resource_in(answer.limited_by or "")
    others = [one for one in answer.uncertainty.bottlenecks if one.name != name]
    parts = [
        phrase("limit.in_samples", name=one.name, share=percent(one.probability, 2))
        for one in others[:MOST_NAMED]
    ]
    return phrase("limit.share_of_samples", names=joined_words(parts)) if parts else ""


def busiest(answer: Answer, labels: Labels) -> str:
    """Return which resource uses most of its target, and where it saturates."""
    found = answer.bottleneck
    first = None if found is None else answer.resource(found.resource)
    if found is None or first is None:
        return ""
    one = first if found.from_start else _fullest(answer, first)
    verb, saturates_at = "saturated", one.saturation.at
    if one.target != 1:
        verb = phrase("limit.target_exceeded", share=percent(one.target))
    at = f"{labels.of(one.name)}: utilization {percent(one.utilization_at_limit, _DIGITS)}"
    if saturates_at is None:
        return at if one is first and found.undecided else f"{at}{_levels_off(answer)}"
    if found.from_start:
        return at
    if one.name in answer.saturated_by_elastic:
        most = counted(_last_within(one) or 0, answer.population)
        return phrase(
            "limit.overloaded_above",
            of=labels.of(one.name),
            value=phrase("elastic.saturated"),
            most=most,
        )
    side = "at" if _saturates_at_last(one) else "above"
    last = _last_within(one) or 0
    if _is_at_confidence(answer):
        side, last = "above", answer.reliable_limits.get(utilization_of(one.name), last)
    return f"{at}, {verb} {side} {counted(last, answer.population)}"


def _fullest(answer: Answer, first: ResourceSolution) -> ResourceSolution:
    """Return the resource that uses most of its target; the first to saturate, if none uses more.

    What never saturates, as its users wait for responses, may be used more than what does.
    """
    by_design = set(answer.saturated_by_elastic)
    if first.name in by_design:
        return first
    others = [one for one in answer.resources if one.name not in by_design]
    return max([first, *others], key=_target_used)


def _target_used(one: ResourceSolution) -> float:
    used = one.utilization_at_limit / one.target
    return used if isfinite(used) else 0.0


def _is_at_confidence(answer: Answer) -> bool:
    """Return whether the values of an answer are at a confidence."""
    beside = answer.at_reliable
    return beside is not None and beside.confidence is not None and answer.at == beside.population


def _levels_off(answer: Answer) -> str:
    """Return why the busiest resource is never overloaded: its users wait for their responses."""
    return phrase("limit.closed") if answer.closed else phrase("limit.never_overloaded")


_ROUNDINGS = 1e-12
_LEAST_SHARE = 1e-3
"""Of the largest part of a latency; smaller parts are not named."""


def violated(answer: Answer, labels: Labels) -> Iterator[Fact]:
    """Yield what fails already for the smallest population, and what a latency is made of there."""
    name, one, there = answer.limited_by or "", answer.limiting, answer.limit_there
    users = counted(answer.low, answer.population)
    if name == QUALITY:
        yield Fact("Violated", f"{_behind_quality(answer.behind_quality, labels)} at {users}")
        return
    if one is not None and one.confidence is not None:
        yield Fact("Violated", phrase("limit.not_met", users=users), labels.of(name))
        return
    if one is not None and there is not None:
        value = marked_value(beyond_limit(there, one, _DIGITS), there.value, there.known)
        limit = quantity(one.limit, one.dimension, _DIGITS, share=in_percent(one))
        text = f"{value} at {users} ({side_of(one)} {limit})"
        yield Fact("Violated", text, labels.measure(name))
        yield Fact(phrase("limit.cause"), _largest_parts(answer.latency_there, labels))
        return
    found = answer.resource(resource_in(name))
    if found is None or there is None:
        yield Fact("Violated", labels.of(name))
        return
    of = f", target {percent(found.target)}" if found.target != 1 else ""
    load = _load_there(found, there)
    text = phrase("limit.utilization_now", value=load, users=users, target=of)
    yield Fact("Violated", text, labels.of(found.name))


def _largest_parts(stages: Sequence[tuple[str, float]], labels: Labels) -> str:
    """Return the largest parts of a mean latency, and what is left; empty where there are none."""
    named = [one for one in stages[:MOST_NAMED] if one[1] > _LEAST_SHARE * stages[0][1]]
    if not named:
        return ""
    rest = sum(value for _, value in stages) - sum(value for _, value in named)
    parts = [(labels.stage(stage), value) for stage, value in named]
    if rest > _LEAST_SHARE * stages[0][1]:
        parts.append((phrase("limit.other_parts"), rest))
    texts = [f"{what} {quantity(time, TIME, _DIGITS, other=stages[0][1])}" for what, time in parts]
    return phrase("limit.breakdown", names=", ".join(texts))


def _behind_quality(behind: Sequence[RequirementThere], labels: Labels) -> str:
    text = behind_quality(behind, labels)
    if not text:
        return phrase("limit.needs")
    return phrase("limit.together" if len(text) > 1 else "limit.alone", value=joined_words(text))


def _further(one: RequirementAnswer, there: Reading, at: str) -> str:
    """Return the value of a requirement for more users, distinguishable from its limit."""
    limit = quantity(one.limit, one.dimension, _DIGITS, share=in_percent(one))
    text = beyond_limit(there, one, _DIGITS)
    shown = _or_just(text, limit, "over" if one.at_most else "under")
    if shown != text and not there.known.is_exact:
        return ""  # on which side of the limit it is just is not known
    return f"{marked_value(shown, there.value, there.known)} at {at}"


def _or_just(text: str, limit: str, side: str) -> str:
    """Return a value beyond a limit; `just over` it where few digits are equal."""
    digits = sum(character.isdigit() for character in text.partition("×")[0].lstrip("0.,"))
    return f"just {side} {limit}" if digits > _DIGITS else text


def next_limit(answer: Answer, labels: Labels) -> str:
    """Return what would limit next: from which population on, and its value at the capacity."""
    found, population = answer.next_limit, answer.population
    if found is None:
        return ""
    if found.requirement is None:
        most = counted(found.met_up_to or 0, population)
        return phrase("next.none", users=most, name=population)
    mode = in_mode(found.mode)
    name = f"{labels.of(found.requirement)}{mode}"
    if found.met_up_to is None:
        return phrase("next.never", name=name)
    users = marked(counted(found.met_up_to, population), found.known)
    if found.requirement == QUALITY:
        return phrase("next.quality", name=name, users=users)
    for one in answer.requirements:
        if one.name == found.requirement and one.confidence is None:
            name = f"{labels.measure(found.requirement)}{mode}"
            return _reached(answer, one, name, users, with_value=not mode)
    resource = answer.resource(resource_in(found.requirement))
    if resource is None:
        return phrase("next.met", name=name, users=users)
    return _saturates_next(answer, resource, name, users, found)


def _reached(
    answer: Answer, one: RequirementAnswer, name: str, users: str, *, with_value: bool
) -> str:
    """Return where a requirement reaches its limit, and what it is at the capacity."""
    share = in_percent(one)
    limit = quantity(one.limit, one.dimension, _DIGITS, share=share)
    value = quantity_at_limit(one.now.value, one.limit, one.dimension, share=share, digits=_DIGITS)
    if is_utilization(one.name) and one.now.value < one.limit:
        value = utilization_text(one.now.value)
    now = marked_value(value, one.now.value, one.now.known)
    is_shown = with_value and one.limit != one.now.value and not _is_percentile(answer, one)
    return phrase(
        "next.limit" if one.at_most else "next.least",
        name=name,
        limit=limit,
        users=users,
        now=_at_capacity(answer, now) if is_shown else "",
    )


def _saturates_next(
    answer: Answer, resource: ResourceSolution, name: str, users: str, found: NextLimit
) -> str:
    """Return where a resource reaches its target, or saturates, and its utilization now.

    Where a bottleneck is full with a whole number of users, one less is the last whose queue is
    finite. Elastic traffic fills a resource before.
    """
    if resource.name in answer.saturated_by_elastic:
        return phrase("next.overloaded", name=name, users=users)
    now = _at_capacity(answer, utilization_text(resource.utilization_at_limit))
    if resource.name == resource_in(answer.limited_by or ""):
        now = ""  # which the row of the bottleneck has
    if is_bottleneck(answer, found):
        last = _last_within(resource)
        if last is not None and not _is_at_confidence(answer) and _saturates_at_last(resource):
            whole = counted(last, answer.population)
            return phrase("next.saturates_at", name=name, users=whole, now=now)
    if found.mode:
        now = ""  # of another mode than the answer is of
    if resource.target != 1:
        limit = percent(resource.target)
        return phrase("next.target", name=name, limit=limit, users=users, now=now)
    return phrase("next.saturates", name=name, users=users, now=now)


def _at_capacity(answer: Answer, value: str) -> str:
    return phrase("next.now", value=value, at=f"{answer.at:,}")


def is_bottleneck(answer: Answer, found: NextLimit) -> bool:
    """Return whether what limits next is the saturation of the resource that saturates first.

    A requirement of the same resource is another limit.
    """
    one = answer.bottleneck
    if one is None or one.resource != resource_in(found.requirement or "") or found.mode:
        return False
    if _is_at_confidence(answer):
        return found.requirement not in {required.name for required in answer.requirements}
    resource = answer.resource(one.resource)
    if resource is None:
        return False
    last = _last_within(resource)
    return last is not None and found.met_up_to in (last, last - _saturates_at_last(resource))


def _saturates_at_last(found: ResourceSolution) -> bool:
    """Return whether the largest population that fits is the one that takes all of a resource."""
    at, last = found.saturation.at, _last_within(found)
    if at is None or last is None or found.target != 1:
        return False
    return last * (1 + _ROUNDINGS) >= at


def _last_within(found: ResourceSolution) -> int | None:
    """Return the largest population with which a resource does not saturate; None without end."""
    at = found.saturation.at
    return None if at is None else floor(at * (1 + _ROUNDINGS))


def _percentiles(answer: Answer) -> tuple[ValueAtCapacity, ...]:
    return () if answer.at_reliable is None else answer.at_reliable.percentiles


def _is_percentile(answer: Answer, one: RequirementAnswer) -> bool:
    """Return whether a requirement is of a p99 that stands beside the capacity."""
    return any(one.name == f"{stream.name}.p99" for stream in _percentiles(answer))


def percentiles(answer: Answer, labels: Labels) -> str:
    """Return p99 of the streams that people wait for, beside its limit where it has one."""
    parts = []
    limits = {one.name: one for one in answer.requirements}
    for one in _percentiles(answer):
        required = limits.get(f"{one.name}.p99")
        if required is not None and required.confidence is None:
            value = value_and_limit(required, required.now)
        else:
            value = marked_value(quantity(one.value, TIME, _DIGITS), one.value, one.known)
        parts.append(f"{labels.of(one.name)} {value}")
    return ", ".join(parts)


def _others(answer: Answer) -> list[RequirementAnswer]:
    """Return the requirements that other facts do not show, the nearest to its limit first."""
    shown = {
        answer.limited_by,
        None if answer.next_limit is None else answer.next_limit.requirement,
    }
    behind = [one.requirement for one in answer.behind_quality]
    items = [
        one
        for one in answer.requirements
        if one.name not in shown
        and not _is_percentile(answer, one)
        and one.confidence is None
        and one not in behind
    ]
    items.sort(key=lambda one: (one.met_up_to is None, one.met_up_to or 0))
    return items


def others_label(answer: Answer) -> str:
    """Return the label of other requirements: that of latencies where all are."""
    names = [one.name for one in _others(answer)]
    if all(timed_streams(name) == (name.removesuffix(".latency"),) for name in names):
        return phrase("limit.mean_latency")
    return "Latency" if all(map(timed_streams, names)) else "Requirements"


def others(answer: Answer, labels: Labels) -> str:
    """Return the values of other requirements beside their limits."""
    of = "" if others_label(answer) == "Requirements" else " latency"
    texts = [
        f"{labels.measure(one.name).removesuffix(of)} {value_and_limit(one, one.now)}"
        for one in _others(answer)
    ]
    more = len(texts) - MOST_NAMED
    return ", ".join([*texts[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
