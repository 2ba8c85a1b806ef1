"""What lies beyond the capacity: the effect of 10 % more users, and the headroom."""

from __future__ import annotations

from math import isfinite

from qps.compiler.quantities.certainty import opposite
from qps.compiler.quantities.dimension import DATA_RATE, TIME, Dimension
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.reports.text.solutions.limit_reasons import beyond, beyond_limit, quality_beyond
from qps.reports.text.words.certainty_marks import marked, marked_value
from qps.reports.text.words.labels import Labels, resource_words
from qps.reports.text.words.mode_words import in_mode
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    joined_words,
    percent,
    quantity,
    quantity_beyond_limit,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import MoreUsers, RequirementThere, StreamThere

_MOST_NAMED = 3


def beyond_lines(answer: Answer, labels: Labels) -> list[str]:
    """Return what the first screen does not print: the effect of 10 % more users, the headroom."""
    headroom = phrase("margin", value=headroom_line(answer))
    more = answer.more_users
    beyond = [] if more is None else [_more_users(answer, more, labels, _more_than(answer))]
    return [*beyond, labels.sentence(headroom)]


def more_users_lines(answer: Answer, labels: Labels) -> list[str]:
    """Return a sentence about 10 % more users; none where that is not requested."""
    more = answer.more_users
    return [] if more is None else [_more_users(answer, more, labels, "more.some")]


def headroom_line(answer: Answer) -> str:
    """Return the utilization that the spec allows: by targets, and by requirements."""
    if not answer.margins:
        return phrase("margin.none")
    parts = [
        phrase(
            "margin.one",
            name=resource_words(item.of) if item.of.isalpha() else item.of,
            target=percent(item.at_most),
        )
        + ("" if item.loaded else phrase("headroom.unused_here"))
        for item in answer.margins
    ]
    return ", ".join(parts)


# -- more users --------------------------------------------------------------------------


def _more_users(answer: Answer, more: MoreUsers, labels: Labels, some: str) -> str:
    """Return what happens with more users, and to whom; `some` is the phrase of 10 % more."""
    of = {"at": f"{more.at:,}", "noun": noun(answer.population)}
    head = phrase("more.end" if more.is_end_of_range else some, **of)
    mode = in_mode(answer.mode)
    loads = [
        phrase(
            "loaded" if one.target == 1 else "loaded.planned",
            name=labels.of(one.resource),
            load=percent(one.utilization),
            target=percent(one.target),
        )
        for one in more.loads
    ]
    fails = [_failing(one, labels) for one in more.failing]
    quality = more.quality
    if quality is None or not more.fails_quality:
        pass
    elif not labels.is_plain:
        if not fails:  # what fails by itself says more
            fails.append(quality_beyond(more.behind_quality, labels))
    else:
        value = marked_value(quantity_beyond_limit(quality.value, 1), quality.value, quality.known)
        fails.append(phrase("reason.above", name="quality", value=value, limit=1))
    sentences = [*_some(loads), *_some(fails), *map(labels.sentence, _to_whom(more, labels))]
    return f"{head}{mode}: {'; '.join(sentences)}."


def _more_than(answer: Answer) -> str:
    """Return the phrase of 10 % more, which says than what if that is not the headline."""
    reliable, capacity = answer.at_reliable, answer.capacity
    has_confidence = any(one.confidence is not None for one in answer.requirements)
    if reliable is None or capacity is None or has_confidence:
        return "more.some"
    if answer.uncertainty is not None:
        return "more.some" if reliable.population == capacity else "more.some.nominal"
    is_rounded = reliable.population == printed_capacity(capacity, high=answer.high)
    return "more.some" if is_rounded else "more.some.error"


def _failing(one: RequirementThere, labels: Labels) -> str:
    requirement, there = one.requirement, one.reading
    if requirement.confidence is not None:
        name = f"`{requirement.name}`" if labels.is_plain else labels.of(requirement.name)
        return phrase("reason.confidence", name=name)
    value = marked_value(beyond_limit(there, requirement, 3), there.value, there.known)
    share = in_percent(requirement)
    limit = quantity(requirement.limit, requirement.dimension, 3, share=share)
    return beyond(requirement, labels.measure(requirement.name), value, limit)


def _some(texts: list[str]) -> list[str]:
    more = len(texts) - _MOST_NAMED
    return [*texts[:_MOST_NAMED], *([phrase("more.like", count=more)] if more > 0 else [])]


def _to_whom(more: MoreUsers, labels: Labels) -> list[str]:
    """Return what streams lose, how much later they get, at which stage; or that none does."""
    ordered = sorted(more.streams, key=lambda one: (-one.loss[1], -one.latency[1]))
    alike: dict[tuple[str, ...], list[str]] = {}
    for one in ordered:
        if one.loses_more or one.is_later or one.is_lowered:
            alike.setdefault(_how(one, labels), []).append(one.name)
    if alike:
        return _some([f"{joined_words(names)} {' and '.join(how)}" for how, names in alike.items()])
    return [phrase("more.nobody")]


def _how(one: StreamThere, labels: Labels) -> tuple[str, ...]:
    """Return in which ways a stream gets worse, and where."""
    parts = []
    if one.loses_more:
        lost = marked(percent(one.loss[1]), one.loss_known)
        rises = phrase("headroom.loss_rises", before=percent(one.loss[0]), value=lost)
        parts.append(f"{rises} ({one.lost_at})")
    if one.is_later:
        later = one.latency[1] - one.latency[0]
        longer = (
            phrase("headroom.rises_by", amount=quantity(later, TIME, 3))
            if isfinite(later)
            else phrase("headroom.unbounded")
        )
        parts.append(f"latency {longer} ({labels.stage(one.slower_at)})")
    if one.is_lowered:
        unit = DATA_RATE if one.item == "bit" else Dimension.of(one.item) / TIME
        before, after = (quantity(rate, unit, 3) for rate in one.rate)
        parts.append(
            phrase(
                "headroom.rate_falls", before=before, value=marked(after, opposite(one.loss_known))
            )
        )
    return tuple(parts)
