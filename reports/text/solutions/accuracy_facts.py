"""What a capacity covers, as facts: its side, model errors, uncertain inputs, what to measure."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.quantities.certainty import MOST_STATED, Certainty, CertaintyKind
from qps.reports.text.layout.facts import Fact
from qps.reports.text.solutions.capacity_text import has_nominal, supported, without_error
from qps.reports.text.solutions.uncertainty_text import samples_text, uncertain_inputs
from qps.reports.text.words.certainty_marks import merged, users_as_known
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    quantity,
    rounded_down,
    rounded_up,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import ResourceSolution
from qps.solver.uncertainty.interval_result import Uncertainty

_MOST_DOUBTS = 2
_DIGITS = 3
_LEAST_SHARE = 0.005
"""Of the variance: what causes less is not worth measuring."""


def accuracy(answer: Answer, labels: Labels) -> Fact:
    """Return what a capacity is that is no bound from above: exact, or conservative.

    Where nobody is supported, it is how certain that is.
    """
    if supported(answer) is None:
        return _certainty_of_none(answer)
    return Fact(phrase("accuracy"), labels.sentence(_side(answer)))


def _side(answer: Answer) -> str:
    if answer.known.kind is CertaintyKind.LOWER_BOUND:
        reasons = dict.fromkeys(reason.partition(": ")[0] for reason in answer.known.reasons)
        known = users_as_known(answer.known)
        return f"{known}: {'; '.join(merged(tuple(reasons), answer.ports))}"
    return (
        users_as_known(answer.known) if answer.known.is_exact and answer.uncertainty is None else ""
    )


def _certainty_of_none(answer: Answer) -> Fact:
    """Return how certain it is that not even the smallest population is supported.

    Samples say that of uncertain inputs, and a capacity without model error, where there is one.
    """
    label, one, there = phrase("accuracy"), answer.limiting, answer.limit_there
    if answer.capacity is not None or answer.uncertainty is not None:
        return Fact(label, "")
    if there is None or (one is not None and one.confidence is not None):
        return Fact(label, "")
    at_most = one is None or one.at_most
    known, error = there.known, there.known.error
    if not _is_doubtful(known, at_most=not at_most, is_limiting=False):
        return Fact(label, phrase("accuracy.none"))
    hint = phrase("accuracy.none.hint", file=answer.file)
    is_stated = (
        known.kind is CertaintyKind.APPROXIMATION and error is not None and error <= MOST_STATED
    )
    if one is None or error is None or not is_stated:
        return Fact(label, phrase("accuracy.none.doubtful", known=known.kind.value), hint=hint)
    mildest = there.value / (1 + error if at_most else 1 - error)
    is_certain = mildest > one.limit if at_most else mildest < one.limit
    key = "accuracy.none.error" if is_certain else "accuracy.none.within_error"
    text = phrase(key, error=percent(error, 2))
    return Fact(label, text, hint="" if is_certain else hint)


def model_error(answer: Answer, labels: Labels) -> str:
    """Return the model errors that the capacity allows for, what limits first."""
    if answer.reliable is None or without_error(answer) is None:
        return ""
    errors = {one.name for one in answer.reliable.allowed_for}
    found = [text for name, text in _doubts(answer, labels) if name in errors]
    return phrase("error.covered", value=_first(found, ", ")) if found else ""


def not_covered(answer: Answer, labels: Labels) -> Fact:
    """Return what the capacity does not allow for: model errors that no measurement bounds."""
    label = phrase("error.not_covered")
    if answer.reliable is None or without_error(answer) is None:
        return Fact(label, "")
    unmeasured = answer.reliable.unmeasured
    names = [name for name, _ in _doubts(answer, labels) if name in unmeasured]
    names += [name for name in unmeasured if name not in names]  # in another mode than the worst
    found = [labels.measure(name) for name in names]
    if not found:
        return Fact(label, "")
    hint = phrase("error.unmeasured.hint", file=answer.file)
    return Fact(label, phrase("error.unmeasured", value=_first(found, ", ")), hint=hint)


def accuracy_rows(answer: Answer, labels: Labels) -> list[Fact]:
    """Return under their labels what the capacity covers, and what it does not."""
    return [
        accuracy(answer, labels),
        Fact(phrase("error"), model_error(answer, labels)),
        not_covered(answer, labels),
        uncertainty(answer, labels),
        Fact(phrase("term.measure_next"), labels.sentence(measure_next(answer))),
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


_UNCERTAINTY = "Uncertainty"


def uncertainty(answer: Answer, labels: Labels) -> Fact:
    """Return the capacity with nominal inputs, and which one few samples exceed.

    Where no input is uncertain, it says so: a capacity is no more certain than its inputs.
    """
    label = _UNCERTAINTY
    if is_of_forecast_only(answer):
        return Fact(label, phrase("uncertainty.only_forecast"))
    if answer.uncertainty is not None:
        return Fact(label, _spread(answer, answer.uncertainty, labels))
    if answer.reliable is None or not answer.rests_on_users:
        return Fact(label, "")
    stated, hint = map(phrase, ("uncertainty.not_stated", "uncertainty.not_stated.hint"))
    return Fact(label, stated, hint=hint)


def _spread(answer: Answer, uncertainty: Uncertainty, labels: Labels) -> str:
    interval, samples = (
        uncertainty.interval,
        samples_text(uncertainty.samples, uncertain_inputs(uncertainty), labels),
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
