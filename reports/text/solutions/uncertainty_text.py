"""How sure an answer is, in words, and what to measure next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import isfinite

from qps.reports.text.layout.table import Table
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    first_words,
    joined_words,
    number,
    percent,
    rounded_down,
    rounded_up,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import Interval
from qps.solver.answers.solution import QUALITY
from qps.solver.uncertainty.interval_result import (
    ALONE,
    OutcomeProbability,
    RequirementProbability,
    Uncertainty,
)

_MOST_NAMED = 3
_LEAST_SHARE_SHOWN = 0.005
"""The least error of a probability that is reported."""
_LEAST_ERROR = 0.001
"""A smaller error of a surface is reported as this."""
_APART = 0.1
"""Of the width of an interval: ends that differ by more are reported."""


def uncertainty_lines(answer: Answer) -> Iterator[str]:
    """Yield how sure the answer is; nothing where every number of the spec is known."""
    if answer.uncertainty is not None:
        yield from _lines_of(answer, answer.uncertainty)
    for one in answer.counted_as_known:
        are = "is" if len(one.numbers) == 1 else "are"
        yield phrase("uncertainty.exact", names=joined_words(one.numbers), are=are, table=one.table)


def _lines_of(answer: Answer, uncertainty: Uncertainty) -> Iterator[str]:
    if uncertainty.linear_interval is not None and are_apart(
        _numbers(uncertainty.interval), _numbers(uncertainty.linear_interval), least_gap=1
    ):
        yield phrase(
            "uncertainty.linear",
            rounded_ends=rounded_ends(uncertainty.linear_interval, answer.high),
        )
    yield from left_out_lines(uncertainty.left_out)
    yield from _approximated(uncertainty)
    yield from _likely(answer, uncertainty)


def left_out_lines(left_out: Sequence[OutcomeProbability]) -> Iterator[str]:
    """Yield how many samples cannot be, and why, and of how many it is not known."""
    impossible = [one for one in left_out if one.name != ALONE]
    if impossible:
        share = percent(sum(one.probability for one in impossible))
        why = joined_words([one.name for one in impossible[:_MOST_NAMED]])
        yield phrase("uncertainty.impossible", share=share, why=why)
    unsolved = [one.probability for one in left_out if one.name == ALONE]
    if unsolved:
        share = percent(sum(unsolved))
        yield phrase("uncertainty.unsolved", share=share, alone=ALONE)


def _approximated(uncertainty: Uncertainty) -> Iterator[str]:
    """Yield what is an approximation in the samples, and how good it is."""
    if uncertainty.surrogate_models:
        names = _some(sorted(one.requirement for one in uncertainty.surrogate_models))
        points = max(one.points for one in uncertainty.surrogate_models)
        error = percent(max(_LEAST_ERROR, *(one.error for one in uncertainty.surrogate_models)), 2)
        yield phrase("uncertainty.surrogate", points=points, names=names, error=error)
    assumed = {one.name for one in uncertainty.limits} & set(uncertainty.assumed)
    if assumed:
        does = phrase("uncertainty.exceeds") if len(assumed) == 1 else phrase("uncertainty.exceed")
        yield phrase("uncertainty.assumption", some=_some(sorted(assumed)), does=does)


def _some(names: Sequence[str]) -> str:
    return first_words([f"`{name}`" for name in names], _MOST_NAMED)


_MOST_TYPICAL = 5


def typical_remark(uncertain: Collection[str]) -> tuple[str, ...]:
    """Return with what uncertain numbers are played; nothing where there are none."""
    if not uncertain:
        return ()
    named = first_words([f"`{name}`" for name in uncertain], _MOST_TYPICAL)
    which = "value" if len(uncertain) == 1 else "values"
    inputs = (
        phrase("uncertainty.one_input")
        if len(uncertain) == 1
        else phrase("uncertainty.several_inputs")
    )
    return (phrase("uncertainty.nominal_values", which=which, inputs=inputs, named=named),)


def typical_lines(uncertain: Collection[str]) -> tuple[str, ...]:
    """Return that an answer is one of typical values; nothing where every number is known."""
    return tuple(
        phrase(
            "uncertainty.evaluates",
            first=remark[0].upper(),
            rest=remark[1:],
            verb="its" if len(uncertain) == 1 else "their",
        )
        for remark in typical_remark(uncertain)
    )


def unsimulated_remark(names: Sequence[str]) -> tuple[str, ...]:
    """Return which requirements playing typical values says nothing of; nothing for none."""
    if not names:
        return ()
    are = "is" if len(names) == 1 else "are"
    return (phrase("uncertainty.confidence", some=_some(names), are=are),)


def shares_table(answer: Answer, labels: Labels = PLAIN) -> Table:
    """Return what each uncertain number has to do with how uncertain the answer is."""
    uncertainty = answer.uncertainty
    if uncertainty is None:
        return Table((), ())
    rows = []
    for one in uncertainty.shares:
        halved = "none" if one.capacity_if_halved is None else rounded_down(one.capacity_if_halved)
        rows.append(
            (
                labels.of(one.number),
                one.stated,
                percent(one.first_order, 2),
                percent(one.total, 2),
                halved,
            )
        )
    headings = (
        phrase("term.measure_next"),
        "Specified",
        phrase("uncertainty.variance"),
        phrase("uncertainty.with_interactions"),
        phrase("uncertainty.halved", noun=noun(answer.population).capitalize()),
    )
    long = frozenset(range(len(headings)))
    return Table(headings, tuple(rows), frozenset([2, 3, 4]), long=long)


def samples_text(samples: int, numbers: Sequence[str], labels: Labels = PLAIN) -> str:
    """Return how many samples there are of which inputs: `10,000 samples of 1 uncertain input: x`.

    The first of several are named; of those that were fitted together, the first.
    """
    named = [labels.of(one.partition(", ")[0]) for one in numbers[:_MOST_NAMED]]
    names, more = ", ".join(named), len(numbers) - len(named)
    key = "inputs.uncertain.one" if len(numbers) == 1 else "inputs.uncertain"
    if more:
        names = phrase("inputs.more", names=names, count=more)
    inputs = phrase(key, count=len(numbers), names=names)
    return phrase("inputs.samples", samples=f"{samples:,}", inputs=inputs)


def uncertain_inputs(uncertainty: Uncertainty) -> tuple[str, ...]:
    """Return the names of uncertain inputs, those first that cause most of the variance."""
    return tuple(one.number for one in uncertainty.shares)


def ends_of(interval: Interval) -> str:
    """Return the ends of an interval: `6,870–8,010`."""
    if interval.most is None:
        return phrase("uncertainty.none_at_all")
    if interval.least == interval.most:
        return f"{interval.most:,}"
    low = "none" if interval.least is None else f"{interval.least:,}"
    return f"{low}–{interval.most:,}"


def rounded_ends(interval: Interval, end: int) -> str:
    """Return the same to three digits, outwards; at the `end` of a range there may be more."""
    more = "+" if interval.most == end else ""
    if interval.most is None or interval.least == interval.most:
        return ends_of(interval) + more
    low = "none" if interval.least is None else rounded_down(interval.least)
    high = f"{interval.most:,}" if more else rounded_up(interval.most)
    return f"{low}–{high}{more}"


def _numbers(interval: Interval) -> tuple[int, int]:
    return interval.least or 0, interval.most or 0


def are_apart(
    sampled: tuple[float, float], linear_interval: tuple[float, float], least_gap: float = 0
) -> bool:
    """Return whether the ends of two intervals are apart by a part of their width.

    What is no further apart than the `least_gap` is not.
    """
    if not all(map(isfinite, (*sampled, *linear_interval))):
        return sampled != linear_interval
    width = max(high - low for low, high in (sampled, linear_interval))
    gaps = (abs(one - other) for one, other in zip(sampled, linear_interval, strict=True))
    return any(gap > max(_APART * width, least_gap) for gap in gaps)


def _likely(answer: Answer, uncertainty: Uncertainty) -> Iterator[str]:
    parts = [
        one
        for one in requirement_probabilities(answer, uncertainty)
        if one.name != QUALITY and _may_fail(one)
    ]
    parts.sort(key=lambda one: one.probability)
    if parts:
        named = ", ".join(f"{likely_text(one)} for `{one.name}`" for one in parts[:_MOST_NAMED])
        users = counted(answer.at, answer.population)
        yield phrase("uncertainty.met", users=users, named=named)
    if uncertainty.bottlenecks and uncertainty.bottlenecks[0].probability < 1:
        yield phrase("uncertainty.bottleneck", named=_named(uncertainty.bottlenecks))


def requirement_probabilities(
    answer: Answer, uncertainty: Uncertainty
) -> tuple[RequirementProbability, ...]:
    """Return how likely each requirement is met, and each load what is demanded of it unstated.

    Loads that nobody states a requirement of are those that some sample takes beyond their targets.
    """
    stated = {item.name for item in answer.requirements} | {QUALITY}
    return tuple(one for one in uncertainty.requirements if one.name in stated or _may_fail(one))


def _may_fail(one: RequirementProbability) -> bool:
    return one.probability < 1 or one.error >= _LEAST_SHARE_SHOWN


def likely_text(one: RequirementProbability) -> str:
    """Return how likely a requirement is met, and how far off that may be: `37 ± 4 %`."""
    likely = percent(one.probability, 2)
    if one.error < _LEAST_SHARE_SHOWN:
        return likely
    return f"{likely.removesuffix(' %')} ± {number(100 * one.error, 1)} %"


def _named(found: Sequence[OutcomeProbability]) -> str:
    return ", ".join(f"{percent(one.probability, 2)} `{one.name}`" for one in found[:_MOST_NAMED])
