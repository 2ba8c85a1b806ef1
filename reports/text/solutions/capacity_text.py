"""The capacity in words: how many, at which confidence, and which requirements are not exact."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.quantities.certainty import MOST_STATED, Certainty, CertaintyKind
from qps.reports.text.solutions.uncertainty_text import samples_text
from qps.reports.text.words.certainty_marks import MARKS, merged, users_as_known
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    quantity,
    reliable_number,
    rounded_down,
    rounded_up,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import CapacityVerdict, ResourceSolution

_MOST_DOUBTS = 2
_DIGITS = 3
_LEAST_SHARE = 0.005
"""Of the variance: what causes less is not worth measuring."""


def at_headline(answer: Answer) -> Answer:
    """Return an answer with the values that it has at its headline."""
    return answer if answer.headline is None else answer.headline


def has_nominal(answer: Answer) -> bool:
    """Return whether there is a capacity of nominal inputs besides that of samples.

    A requirement with a confidence rests on samples: then none is of nominal inputs.
    """
    return answer.uncertainty is not None and all(
        one.confidence is None for one in answer.requirements
    )


def supported(answer: Answer) -> int | None:
    """Return the capacity that can be relied on: of most samples, with model errors allowed for."""
    return _without_error(answer) if answer.reliable is None else answer.reliable.capacity


def is_covered(answer: Answer) -> bool:
    """Return whether every model error that can lower the capacity is known and allowed for."""
    if answer.reliable is None:
        return answer.known.kind in (CertaintyKind.EXACT, CertaintyKind.LOWER_BOUND)
    return not answer.reliable.unmeasured


def capacity(answer: Answer) -> str:
    """Return the capacity in a few words: `100 users at 95 % confidence`.

    Without uncertain inputs it is a round number, beside the one that it was rounded from.
    """
    count, name, uncertainty = supported(answer), answer.population, answer.uncertainty
    if count is None:
        if uncertainty is not None:
            sure = percent(uncertainty.at_confidence.confidence)
            return phrase(f"capacity.none.{_lacks(answer)}samples", sure=sure)
        if answer.capacity is not None:
            computed = marked_users(answer, f"{answer.capacity:,}")
            return phrase("capacity.none.error", users=computed)
        is_or_are = "is" if answer.low == 1 else "are"
        return phrase("capacity.none", users=counted(answer.low, name), are=is_or_are)
    if uncertainty is None:
        if not answer.rests_on_users:
            return phrase("capacity.any", noun=noun(name))
        return _planned(answer, count)
    users = _to_end(answer, count, f"{rounded_down(count)} {noun(name)}")
    sure = percent(uncertainty.at_confidence.confidence)
    if is_covered(answer):
        mark = (
            MARKS[CertaintyKind.LOWER_BOUND]
            if answer.known.kind is CertaintyKind.LOWER_BOUND
            else ""
        )
        return phrase("capacity.confident", users=mark + users, sure=sure)
    return phrase("capacity.sampled", users=marked_users(answer, users), sure=sure)


def _lacks(answer: Answer) -> str:
    """Return the part of a key for answers where only model error leaves no capacity."""
    return "" if _without_error(answer) is None else "error."


def _without_error(answer: Answer) -> int | None:
    """Return the capacity that allows for uncertain inputs, but for no model error."""
    return (
        answer.capacity if answer.uncertainty is None else answer.uncertainty.at_confidence.capacity
    )


def _planned(answer: Answer, count: int) -> str:
    """Return a capacity of certain inputs, rounded down, with its side and what it came from."""
    is_end = count == answer.high and answer.low < count
    planned = count if is_end else reliable_number(count)
    users = _to_end(answer, count, counted(planned, answer.population))
    kind = answer.known.kind
    beside = []
    if kind is CertaintyKind.LOWER_BOUND or not is_covered(answer):
        beside.append(users_as_known(answer.known))
    if answer.capacity is not None and answer.capacity != planned:
        computed = _to_end(answer, answer.capacity, f"{answer.capacity:,} ").rstrip()
        what = "rounded" if count == answer.capacity else "without_error"
        beside.append(phrase(f"capacity.{what}", users=computed))
    return f"{users} ({', '.join(beside)})" if beside else users


def _to_end(answer: Answer, count: int, users: str) -> str:
    """Return a number of users; at the end of the range there may be more."""
    is_end = count == answer.high and answer.low < count
    return users.replace(" ", "+ ", 1) if is_end else users


def marked_users(answer: Answer, users: str) -> str:
    """Return a number of users with the mark of the capacity."""
    return MARKS[answer.known.kind] + users


def confidence_text(answer: Answer) -> str:
    """Return the answer to `--confidence`: the population that can be promised."""
    of = phrase("with_nominal" if has_nominal(answer) else "with_required")
    nominal = "none" if answer.capacity is None else f"{answer.capacity:,}"
    text = capacity(answer)
    return f"{text[0].upper()}{text[1:]}; {nominal} {of}."


def accuracy(answer: Answer) -> str:
    """Return what a capacity is that is no bound from above: exact, or conservative.

    Where nobody is supported, it is how certain that is.
    """
    if supported(answer) is None:
        return _certainty_of_none(answer)
    if answer.known.kind is CertaintyKind.LOWER_BOUND:
        reasons = dict.fromkeys(reason.partition(": ")[0] for reason in answer.known.reasons)
        known = users_as_known(answer.known)
        return f"{known}: {'; '.join(merged(tuple(reasons), answer.ports))}"
    return (
        users_as_known(answer.known) if answer.known.is_exact and answer.uncertainty is None else ""
    )


def _certainty_of_none(answer: Answer) -> str:
    """Return how certain it is that not even the smallest population is supported.

    Samples say that of uncertain inputs, and a capacity without model error, where there is one.
    """
    one, there = answer.limiting, answer.limit_there
    if answer.capacity is not None or answer.uncertainty is not None:
        return ""
    if there is None or (one is not None and one.confidence is not None):
        return ""
    at_most = one is None or one.at_most
    known, error = there.known, there.known.error
    if not _is_doubtful(known, at_most=not at_most, is_limiting=False):
        return phrase("accuracy.none")
    is_stated = (
        known.kind is CertaintyKind.APPROXIMATION and error is not None and error <= MOST_STATED
    )
    if one is None or error is None or not is_stated:
        return phrase("accuracy.none.doubtful", known=known.kind.value, file=answer.file)
    mildest = there.value / (1 + error if at_most else 1 - error)
    is_certain = mildest > one.limit if at_most else mildest < one.limit
    key = "accuracy.none.error" if is_certain else "accuracy.none.within_error"
    return phrase(key, error=percent(error, 2), file=answer.file)


def model_error(answer: Answer, labels: Labels) -> str:
    """Return the model errors that the capacity allows for, what limits first."""
    if answer.reliable is None or _without_error(answer) is None:
        return ""
    errors = {one.name for one in answer.reliable.allowed_for}
    found = [text for name, text in _doubts(answer, labels) if name in errors]
    return phrase("error.covered", value=_first(found, ", ")) if found else ""


def not_covered(answer: Answer, labels: Labels) -> str:
    """Return what the capacity does not allow for: model errors that no measurement bounds."""
    if answer.reliable is None or _without_error(answer) is None:
        return ""
    unmeasured = answer.reliable.unmeasured
    names = [name for name, _ in _doubts(answer, labels) if name in unmeasured]
    names += [name for name in unmeasured if name not in names]  # in another mode than the worst
    found = [labels.measure(name) for name in names]
    if not found:
        return ""
    return phrase("error.unmeasured", value=_first(found, ", "), file=answer.file)


def accuracy_rows(answer: Answer, labels: Labels) -> list[tuple[str, str]]:
    """Return under their labels what the capacity covers, and what it does not."""
    return [
        (phrase("accuracy"), labels.sentence(accuracy(answer))),
        (phrase("error"), model_error(answer, labels)),
        (phrase("error.not_covered"), not_covered(answer, labels)),
        ("Uncertainty", uncertainty(answer)),
        (phrase("term.measure_next"), labels.sentence(measure_next(answer))),
    ]


def _first(found: Sequence[str], joint: str) -> str:
    distinct = list(dict.fromkeys(found))
    more = len(distinct) - _MOST_DOUBTS
    return joint.join([*distinct[:_MOST_DOUBTS], *([f"{more} more"] if more > 0 else [])])


def _doubts(answer: Answer, labels: Labels) -> list[tuple[str, str]]:
    """Return the requirements and utilizations that are not exact, by name: what limits first."""
    doubts: list[tuple[bool, float, str, str]] = []
    for one in answer.requirements:
        is_limiting = one.name == answer.limited_by
        if _is_doubtful(one.now.known, at_most=one.at_most, is_limiting=is_limiting):
            first = float("inf") if one.met_up_to is None else one.met_up_to
            doubts.append((not is_limiting, first, one.name, _requirement(one, labels)))
    for resource in answer.resources:
        name = utilization_of(resource.name)
        is_limiting = name == answer.limited_by
        if _is_doubtful(resource.known, at_most=True, is_limiting=is_limiting):
            saturates_at = resource.saturation.at
            first = float("inf") if saturates_at is None else saturates_at
            doubts.append((not is_limiting, first, name, _resource(resource, labels)))
    return [(name, text) for *_, name, text in sorted(doubts)]


def _is_doubtful(known: Certainty, *, at_most: bool, is_limiting: bool) -> bool:
    """Return whether the capacity may be another one since this is not exact."""
    exact = CertaintyKind.UPPER_BOUND if at_most else CertaintyKind.LOWER_BOUND
    return not known.is_exact and (is_limiting or known.kind is not exact)


def _requirement(one: RequirementAnswer, labels: Labels) -> str:
    """Return the name of a requirement with its model error; its value stands elsewhere."""
    if one.confidence is not None:  # its value is a population
        return labels.of(one.name)
    share = in_percent(one)
    value = quantity(one.now.value, one.dimension, _DIGITS, share=share, other=one.limit)
    return _as_known(labels.measure(one.name), value, one.now.known)


def _resource(one: ResourceSolution, labels: Labels) -> str:
    """Return the name of a utilization with its model error."""
    value = percent(one.utilization_at_limit, _DIGITS)
    return _as_known(f"{labels.of(one.name)} utilization", value, one.known)


def _as_known(name: str, value: str, known: Certainty) -> str:
    """Return a name with a model error: `page latency ± 15 %`, `page latency at least 48.9 ms`."""
    if known.kind is CertaintyKind.UPPER_BOUND:
        return f"{name} {phrase('capacity.at_most', value=value)}"
    if known.kind is CertaintyKind.LOWER_BOUND:
        return f"{name} {phrase('capacity.at_least', value=value)}"
    if known.error is None or known.error > MOST_STATED:
        return f"{name} about {value}"
    return f"{name} ± {percent(known.error, 2)}"


def is_of_forecast_only(answer: Answer) -> bool:
    """Return whether inputs are uncertain, but none on which the capacity depends."""
    uncertainty, forecast = answer.uncertainty, answer.calendar
    is_unmoved = uncertainty is None or not any(one.total for one in uncertainty.shares)
    return is_unmoved and forecast is not None and forecast.confidence is not None


def uncertainty(answer: Answer) -> str:
    """Return the capacity with nominal inputs, and which one few samples exceed.

    Where no input is uncertain, it says so: a capacity is no more certain than its inputs.
    """
    uncertainty = answer.uncertainty
    if is_of_forecast_only(answer):
        return phrase("uncertainty.only_forecast")
    if uncertainty is None:
        is_certain = answer.reliable is not None and answer.rests_on_users
        return phrase("uncertainty.not_stated") if is_certain else ""
    interval, samples = (
        uncertainty.interval,
        samples_text(uncertainty.samples, len(uncertainty.shares)),
    )
    if interval.least == interval.most:
        share = percent(interval.probability)
        return phrase("uncertainty.none", share=share, samples=samples)
    sentences = []
    if has_nominal(answer) and answer.capacity == interval.most != answer.high:
        share = percent((1 + interval.probability) / 2)
        users = f"{answer.capacity:,}"
        return phrase("uncertainty.same", users=users, share=share, samples=samples)
    if has_nominal(answer):
        nominal = "none" if answer.capacity is None else f"{answer.capacity:,}"
        sentences.append(phrase("uncertainty.nominal", users=nominal))
    least = uncertainty.at_confidence.capacity
    if least is not None and supported(answer) != least:
        sentences.append(phrase("uncertainty.alone", users=rounded_down(least)))
    if interval.most in (None, answer.high):
        more = phrase("uncertainty.samples", samples=samples)
    else:
        most, level = rounded_up(interval.most or 0), f"{50 * (1 + interval.probability):.3g}"
        more = phrase("uncertainty", most=most, level=level, samples=samples)
    return ", ".join([*sentences, more])


def headline_line(answer: Answer) -> str:
    """Return the line before all values at the headline; empty if inputs are certain."""
    if answer.uncertainty is None or answer.at_reliable is None:
        return nominal_line(answer)
    users = counted(answer.at_reliable.population, answer.population)
    sure = percent(headline_confidence(answer))
    return phrase("at_headline", users=users, sure=sure)


def headline_confidence(answer: Answer) -> float:
    """Return the confidence of the headline; only of an answer with uncertain inputs."""
    assert answer.uncertainty is not None
    return answer.uncertainty.at_confidence.confidence


def nominal_line(answer: Answer) -> str:
    """Return the line before all that is of nominal inputs; empty where all inputs are certain."""
    if answer.uncertainty is None:
        return ""
    users = counted(answer.at, answer.population)
    if answer.verdict is CapacityVerdict.NOWHERE:
        users = phrase("nominal.none", users=users)
    return phrase("nominal" if has_nominal(answer) else "nominal.required", users=users)


def measure_next(answer: Answer) -> str:
    """Return which uncertain input moves the capacity most, and what measuring it would give."""
    if answer.uncertainty is None or not answer.uncertainty.shares:
        return ""
    one = answer.uncertainty.shares[0]
    if one.first_order < _LEAST_SHARE:
        return ""
    first, *fitted = one.number.split(", ")
    who = phrase("measure_next.fitted", first=first, count=len(fitted)) if fitted else f"`{first}`"
    text = phrase("measure_next.share", who=who, share=percent(one.first_order, 2))
    if one.capacity_if_halved in (None, answer.uncertainty.at_confidence.capacity):
        return text
    halved = f"{rounded_down(one.capacity_if_halved)} {noun(answer.population)}"
    if (
        supported(answer) != answer.uncertainty.at_confidence.capacity
    ):  # both beside the same number
        halved += phrase("measure_next.inputs_alone")
    return phrase("measure_next.halved", share=text, halved=halved)
