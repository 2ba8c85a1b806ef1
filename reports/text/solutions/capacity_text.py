"""The capacity in words: how many, at which confidence, and which requirements are not exact."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.quantities.certainty import MOST_STATED, Certainty, Kind
from qps.reports.text.solutions.uncertainty_text import rounded_ends, samples_text
from qps.reports.text.words.certainty_marks import MARKS, merged, users_as_known
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import in_percent, percent, quantity, rounded_down, side_of
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import ResourceSolution, Verdict

_MOST_DOUBTS = 2
_DIGITS = 3
_LEAST_SHARE = 0.005
"""Of the variance: what causes less is not worth measuring."""


def capacity(answer: Answer) -> str:
    """Return the capacity; with uncertain inputs also the one of nominal inputs."""
    many = headline(answer)
    if not has_nominal(answer):
        return many
    stated = answer.capacity
    if stated == supported(answer):
        return many
    nominal = "none" if stated is None else marked_users(answer, f"{stated:,}")
    return phrase("capacity.nominal", capacity=many, nominal=nominal)


def has_nominal(answer: Answer) -> bool:
    """Return whether there is a capacity of nominal inputs besides that of samples.

    A requirement with a confidence rests on samples: then none is of nominal inputs.
    """
    return answer.odds is not None and all(one.promised_with is None for one in answer.requirements)


def supported(answer: Answer) -> int | None:
    """Return the capacity; with uncertain inputs, the one that most samples support."""
    return answer.capacity if answer.odds is None else answer.odds.at_confidence.capacity


def headline(answer: Answer) -> str:
    """Return the capacity in a few words: `≤ 7,462 users`, `100 users at 95 % confidence`."""
    count, name, odds = supported(answer), answer.population, answer.odds
    sure = "" if odds is None else percent(odds.at_confidence.confidence)
    if count is None:
        is_or_are = "is" if answer.low == 1 else "are"
        if odds is not None:
            return phrase("capacity.none.samples", sure=sure)
        return phrase("capacity.none", users=counted(answer.low, name), are=is_or_are)
    if odds is None and not answer.rests_on_users:
        return phrase("capacity.any", noun=noun(name))
    users = counted(count, name) if odds is None else f"{rounded_down(count)} {noun(name)}"
    if count == answer.high and answer.low < count:
        users = users.replace(" ", "+ ", 1)
    if odds is None:
        return marked_users(answer, users)
    key = "capacity.confident" if answer.known.is_exact else "capacity.sampled"
    return phrase(key, users=marked_users(answer, users), sure=sure)


def marked_users(answer: Answer, users: str) -> str:
    """Return a number of users with the mark of the capacity."""
    return MARKS[answer.known.kind] + users


def accuracy(answer: Answer, labels: Labels) -> str:
    """Return whether a capacity is exact, else its side, and the requirements that are not."""
    if supported(answer) is None:
        return ""
    known = users_as_known(answer.known)
    if answer.known.is_exact:
        return "" if answer.odds is not None else known
    told = list(_doubts(answer, labels))
    if not told:  # what is not known is where something fails, not how large it is
        reasons = dict.fromkeys(reason.partition(": ")[0] for reason in answer.known.reasons)
        told = list(map(labels.told, merged(tuple(reasons), answer.ports)))
    more = len(told) - _MOST_DOUBTS
    shown = "; ".join([*told[:_MOST_DOUBTS], *([f"{more} more"] if more > 0 else [])])
    return f"{known}: {shown}" if shown else known


def _doubts(answer: Answer, labels: Labels) -> Iterator[str]:
    """Yield the requirements and utilizations that are not exact: what limits first."""
    told: list[tuple[bool, float, str]] = []
    for one in answer.requirements:
        is_limiting = one.name == answer.limited_by
        if _is_doubtful(one.now.known, at_most=one.at_most, is_limiting=is_limiting):
            first = float("inf") if one.met_up_to is None else one.met_up_to
            told.append((not is_limiting, first, _requirement(one, labels)))
    for resource in answer.resources:
        is_limiting = f"{resource.name}.utilization" == answer.limited_by
        if _is_doubtful(resource.known, at_most=True, is_limiting=is_limiting):
            saturates_at = resource.saturation.at
            first = float("inf") if saturates_at is None else saturates_at
            told.append((not is_limiting, first, _resource(resource, labels)))
    yield from dict.fromkeys(text for *_, text in sorted(told))


def _is_doubtful(known: Certainty, *, at_most: bool, is_limiting: bool) -> bool:
    """Return whether the capacity may be another one since this is not exact."""
    exact = Kind.UPPER_BOUND if at_most else Kind.LOWER_BOUND
    return not known.is_exact and (is_limiting or known.kind is not exact)


def _requirement(one: RequirementAnswer, labels: Labels) -> str:
    """Return what a requirement is at the capacity, its model error, and its limit."""
    if one.promised_with is not None:
        return f"{labels.of(one.name)} is computed from samples"
    share = in_percent(one)
    limit = quantity(one.limit, one.dimension, _DIGITS, share=share)
    value = quantity(one.now.value, one.dimension, _DIGITS, share=share)
    return f"{labels.measure(one.name)} {_as_known(value, one.now.known)} ({side_of(one)} {limit})"


def _resource(one: ResourceSolution, labels: Labels) -> str:
    """Return the utilization of a resource at the capacity, its model error, and its target."""
    value = percent(one.utilization_at_limit, _DIGITS)
    what = f"{labels.of(one.name)} utilization {_as_known(value, one.known)}"
    return f"{what} (target {percent(one.target)})" if one.target != 1 else what


def _as_known(value: str, known: Certainty) -> str:
    """Return a value with its model error: `is 412 ms ± 15 %`, `is at least 48.9 ms`."""
    if known.kind is Kind.UPPER_BOUND:
        return f"is at most {value}"
    if known.kind is Kind.LOWER_BOUND:
        return f"is at least {value}"
    if known.error is None or known.error > MOST_STATED:
        return f"is about {value}"
    return f"is {value} ± {percent(known.error, 2)}"


def uncertainty(answer: Answer) -> str:
    """Return the interval of the capacity with uncertain inputs, from samples."""
    odds = answer.odds
    if odds is None:
        return ""
    interval, samples = odds.interval, samples_text(odds.samples, len(odds.shares))
    share = percent(interval.probability)
    if interval.least == interval.most:
        return phrase("uncertainty.none", share=share, samples=samples)
    ends = rounded_ends(interval, answer.high)
    return phrase("uncertainty", share=share, ends=ends, samples=samples)


def nominal_line(answer: Answer) -> str:
    """Return the line before all that is of nominal inputs; empty where all inputs are certain."""
    if answer.odds is None:
        return ""
    users = counted(answer.at, answer.population)
    if answer.verdict is Verdict.NOWHERE:
        users = f"none supported, values with {users}"
    return phrase("nominal" if has_nominal(answer) else "nominal.required", users=users)


def measure_next(answer: Answer) -> str:
    """Return which uncertain input moves the capacity most, and what measuring it would give."""
    if answer.odds is None or not answer.odds.shares:
        return ""
    one = answer.odds.shares[0]
    if one.first_order < _LEAST_SHARE:
        return ""
    first, *fitted = one.number.split(", ")
    who = f"`{first}` and {len(fitted)} more fitted inputs" if fitted else f"`{first}`"
    told = f"{who}: {percent(one.first_order, 2)} of the variance in capacity"
    if one.capacity_if_halved in (None, answer.odds.at_confidence.capacity):
        return told
    halved = rounded_down(one.capacity_if_halved)
    return f"{told}; halving its uncertainty gives {halved} {noun(answer.population)}"
