"""The answer in words, with its reason: which requirement passes its limit with one user more.

What a person reads calls things by their labels, and names the requirements behind a quality.
Without labels (`PLAIN`) it has identifiers, as the JSON has.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from qps.compiler.ir.measure_names import resource_in
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.reports.text.solutions.capacity_text import confidence_text
from qps.reports.text.words.certainty_marks import marked_value, parenthesis, users_known
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.mode_words import in_mode
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    Limited,
    in_percent,
    joined_words,
    percent,
    quantity,
    quantity_at_limit,
    quantity_beyond_limit,
    side_of,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import Reading, RequirementAnswer, RequirementThere
from qps.solver.answers.solution import QUALITY, CapacityVerdict

_DIGITS = 3


def answer_sentence(answer: Answer, labels: Labels = PLAIN) -> str:
    """Return the answer in words, with its reason; with `--confidence` that one."""
    if answer.at_confidence and answer.uncertainty is not None:
        return confidence_text(answer)
    known, low, high = answer.known, answer.low, answer.high
    fewest, are = counted(low, answer.population), "is" if low == 1 else "are"
    if answer.verdict is CapacityVerdict.RANGE:
        if low == high:
            return phrase("answer.only", users=fewest, are=are)
        of = {"noun": noun(answer.population), "low": f"{low:,}", "high": f"{high:,}"}
        if not answer.rests_on_users:
            return phrase("answer.any", **of)
        every = phrase("every" if known.is_exact else "every.known")
        return phrase("answer.range", every=every, **of)
    reason = _reason(answer, labels)
    if answer.verdict is CapacityVerdict.NOWHERE:
        if low == high:
            return phrase("answer.not_only", users=fewest, are=are, reason=reason)
        are = are if known.is_exact else are + phrase("known_to_be")
        return phrase("answer.not_even", users=fewest, are=are, reason=reason)
    largest = answer.capacity or 0
    return phrase(
        "answer.limited",
        users=users_known(known) + counted(largest, answer.population),
        more=f"{largest + 1:,}",
        mode=in_mode(answer.mode),
        reason=reason,
    )


def limit_reached(answer: Answer, labels: Labels) -> str:
    """Return which limit is passed with one user more; the whole answer where none is."""
    if answer.verdict is not CapacityVerdict.LIMITED:
        return answer_sentence(answer, labels)
    users = counted((answer.capacity or 0) + 1, answer.population)
    mode = in_mode(answer.mode)
    return phrase("limit.reached", users=users, mode=mode, reason=_reason(answer, labels))


def _reason(answer: Answer, labels: Labels) -> str:
    """Return what passes which limit where the capacity ends."""
    name, there, one = answer.limited_by or "", answer.limit_there, answer.limiting
    if one is not None and one.confidence is not None:
        called = f"`{name}`" if labels.is_plain else labels.of(name)
        return phrase("reason.confidence", name=called)
    if one is not None and there is not None:
        text = beyond_limit(there, one)
        allowed = quantity(one.limit, one.dimension, share=in_percent(one))
        return beyond(one, labels.measure(name), text + _as_known(text, there.known), allowed)
    if name == QUALITY:
        if labels.is_plain and there is not None:
            text = quantity_beyond_limit(there.value, 1, gap=there.excess)
            text += _as_known(text, there.known)
            return phrase("reason.above", name=QUALITY, value=text, limit=1)  # in the JSON
        return quality_beyond(answer.behind_quality_there, labels)
    found = answer.resource(resource_in(name))
    if found is not None and there is not None:
        called, target = labels.of(found.name), found.target
        text = quantity_beyond_limit(there.value, target, share=True, gap=there.excess)
        if target != 1:
            return phrase("reason.target", name=called, value=text, target=percent(target))
        return phrase("reason.saturated", name=called, value=text)
    return f"{labels.of(name)} fails"


def beyond_limit(there: Reading, one: RequirementAnswer, digits: int = 4) -> str:
    """Return what a requirement comes to somewhere, distinguished from its limit."""
    share, gap = in_percent(one), there.excess
    return quantity_beyond_limit(
        there.value, one.limit, one.dimension, share=share, gap=gap, digits=digits
    )


def _as_known(text: str, known: Certainty) -> str:
    """Return in parentheses how a value is known; nothing of one that is infinite."""
    return "" if text == quantity(inf, DIMENSIONLESS) else parenthesis(known)


def beyond(one: Limited, name: str, text: str, limit: str) -> str:
    """Return that a measure is beyond its limit: `replies p99 is 101 ms, above the …`."""
    if one.strict:
        key = "reason.not_below" if one.at_most else "reason.not_above"
    else:
        key = "reason.above" if one.at_most else "reason.below"
    return phrase(key, name=name, value=text, limit=limit)


def quality_beyond(behind: Sequence[RequirementThere], labels: Labels) -> str:
    """Return which requirements make a quality more than acceptable."""
    text = behind_quality(behind, labels)
    if not text:
        return phrase("reason.needs")
    key = "reason.together" if len(text) > 1 else "reason.alone"
    return phrase(key, value=joined_words(text))


def behind_quality(behind: Sequence[RequirementThere], labels: Labels) -> list[str]:
    """Return requirements with their values and limits: `delay 227 ms (limit 230 ms)`."""
    return [
        f"{labels.measure(one.requirement.name)} {value_and_limit(one.requirement, one.reading)}"
        for one in behind
    ]


def value_and_limit(one: RequirementAnswer, there: Reading) -> str:
    """Return the value of a requirement somewhere, and its limit: `≥ 227 ms (limit 230 ms)`."""
    share = in_percent(one)
    limit = quantity(one.limit, one.dimension, _DIGITS, share=share)
    value = quantity_at_limit(there.value, one.limit, one.dimension, share=share, digits=_DIGITS)
    if not there.known.is_exact:
        value = _without_just(value, limit)
    return f"{marked_value(value, there.value, there.known)} ({side_of(one)} {limit})"


def _without_just(value: str, limit: str) -> str:
    """Return a value that is not exact: which side of a limit it is just on is not known."""
    return limit if value.startswith("just ") else value
