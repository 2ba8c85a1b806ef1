"""The answer in words, with its reason: which requirement passes its limit with one user more.

What a person reads calls things by their labels, and names the requirements behind a quality.
Without labels (`PLAIN`) it has identifiers, as the JSON has.
"""

from __future__ import annotations

from math import inf, isfinite

from qps.compiler.ir.measure_names import resource_in
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.losses_in_series import known_at, quality_known_at
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.formulas import ONE
from qps.reports.text.answers import SolveView
from qps.reports.text.how_known import in_words, marked_value, parenthesis, users_known
from qps.reports.text.labels import PLAIN, Labels
from qps.reports.text.nouns import counted, noun
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import (
    beside_limit,
    beyond_limit,
    in_percent,
    joined_words,
    percent,
    quantity,
    side_of,
)
from qps.solver.answers.answer_certainty import answer_known
from qps.solver.answers.answering import QUALITY, rests_on_users
from qps.solver.answers.solution import Solution, Verdict

_DIGITS = 3
_MOST_OF_QUALITY = 2


def answer(solution: Solution, labels: Labels = PLAIN) -> str:
    """Return the answer in words, with its reason."""
    graph = solution.graph
    known = answer_known(solution)
    name = str(graph.population)
    fewest, are = counted(graph.low, name), "is" if graph.low == 1 else "are"
    if solution.verdict is Verdict.RANGE:
        if graph.low == graph.high:
            return phrase("answer.only", users=fewest, are=are)
        of = {"noun": noun(name), "low": f"{graph.low:,}", "high": f"{graph.high:,}"}
        if not rests_on_users(graph):
            return phrase("answer.any", **of)
        every = phrase("every" if known.is_exact else "every.known")
        return phrase("answer.range", every=every, **of)
    if solution.verdict is Verdict.NOWHERE:
        reason = _reason(solution, graph.low, labels)
        if graph.low == graph.high:
            return phrase("answer.not_only", users=fewest, are=are, reason=reason)
        are = are if known.is_exact else are + phrase("known_to_be")
        return phrase("answer.not_even", users=fewest, are=are, reason=reason)
    largest = solution.capacity or 0
    return phrase(
        "answer.limited",
        users=users_known(known) + counted(largest, name),
        more=f"{largest + 1:,}",
        mode=phrase("in_mode", mode=graph.mode) if graph.mode else "",
        reason=_reason(solution, largest + 1, labels),
    )


def answer_told(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return the answer of a view for people; one of another question stays as it is."""
    return answer(solution, labels) if view.answer == answer(solution) else view.answer


def _reason(solution: Solution, at: int, labels: Labels) -> str:
    """Return what passes which limit at a population."""
    name = solution.limited_by or ""
    named = [item for item in solution.requirements if item.criterion.name == name]
    for item in sorted(named, key=lambda item: item.met_up_to or 0)[:1]:
        criterion = item.criterion
        if criterion.promised_with is not None:
            called = f"`{name}`" if labels.is_plain else labels.of(name)
            return phrase("reason.promise", name=called)
        share, dimension = in_percent(criterion), criterion.dimension
        sides = criterion.value, criterion.limit
        told = beyond_limit(solution.graph, *sides, at, dimension, share=share)
        as_known = _as_known(told, known_at(solution.graph, criterion, at))
        allowed = quantity(solution.graph.number(criterion.limit), dimension, share=share)
        return beyond(criterion, labels.measure(name), told + as_known, allowed)
    if name == QUALITY and solution.graph.quality is not None:
        return _of_quality(solution, at, labels)
    found = solution.graph.resources.get(resource_in(name))
    if found is not None:
        called = labels.of(found.name)
        told = beyond_limit(solution.graph, found.load, found.target, at, share=True)
        target = solution.graph.number(found.target)
        if target != 1:
            return phrase("reason.target", name=called, told=told, target=percent(target))
        return phrase("reason.saturated", name=called, told=told)
    return f"{labels.of(name)} fails"


def _as_known(told: str, known: Certainty) -> str:
    """Return in parentheses how a value is known; nothing of one that is infinite."""
    return "" if told == quantity(inf, DIMENSIONLESS) else parenthesis(known)


def beyond(criterion: Criterion, name: str, told: str, limit: str) -> str:
    """Return that a measure is beyond its limit: `replies p99 is 101 ms, above the …`."""
    if criterion.strict:
        key = "reason.not_below" if criterion.at_most else "reason.not_above"
    else:
        key = "reason.above" if criterion.at_most else "reason.below"
    return phrase(key, name=name, told=told, limit=limit)


def _of_quality(solution: Solution, at: int, labels: Labels) -> str:
    graph = solution.graph
    if labels.is_plain and graph.quality_value is not None:
        told = beyond_limit(graph, graph.quality_value, ONE, at)
        known = _as_known(told, quality_known_at(graph, at))
        return phrase("reason.above", name=QUALITY, told=told + known, limit=1)  # in the JSON
    return quality_beyond(solution, at, labels)


def quality_beyond(solution: Solution, at: int, labels: Labels) -> str:
    """Return which requirements make a quality more than acceptable at a population."""
    told = behind_quality(solution, at, labels)
    if not told:
        return phrase("reason.needs")
    key = "reason.together" if len(told) > 1 else "reason.alone"
    return phrase(key, told=joined_words(told))


def behind_quality(solution: Solution, at: int, labels: Labels) -> list[str]:
    """Return the requirements that make quality what it is, with their values and limits."""
    return [against(one, solution, at, labels) for one in criteria_behind_quality(solution, at)]


def criteria_behind_quality(solution: Solution, at: int) -> list[Criterion]:
    """Return the requirements that make quality what it is: those nearest to their limits."""
    point = solution.graph.at(at)
    judged = [
        (point.number(item.criterion.axis_value), item.criterion)
        for item in solution.requirements
        if item.criterion.axis_value is not None
    ]
    judged.sort(key=lambda pair: -pair[0])
    return [criterion for share, criterion in judged if share > 0][:_MOST_OF_QUALITY]


def against(criterion: Criterion, solution: Solution, at: int, labels: Labels) -> str:
    """Return a requirement with its value at a population and its limit: `delay 227 of 230 ms`."""
    return f"{labels.measure(criterion.name)} {in_words(value_and_limit(criterion, solution, at))}"


def value_and_limit(criterion: Criterion, solution: Solution, at: int) -> str:
    """Return the value of a requirement at a population, and its limit: `≥ 227 of 230 ms`."""
    share, graph = in_percent(criterion), solution.graph
    most = graph.number(criterion.limit)
    limit = quantity(most, criterion.dimension, _DIGITS, share=share)
    amount = graph.at(at).number(criterion.value)
    value = beside_limit(amount, most, criterion.dimension, share=share, digits=_DIGITS)
    known = known_at(graph, criterion, at)
    if criterion.at_most and not criterion.strict and isfinite(amount):
        return marked_value(of_limit(value, limit), amount, known)
    return f"{marked_value(value, amount, known)} ({side_of(criterion)} {limit})"


def of_limit(value: str, limit: str) -> str:
    """Return a value of its limit, the unit once where they have the same one.

    >>> of_limit("227 ms", "230 ms"), of_limit("1 s", "230 ms"), of_limit("just under 2 s", "2 s")
    ('227 of 230 ms', '1 s of 230 ms', 'just under 2 s')
    """
    if value.startswith("just "):
        return value
    amount, _, unit = value.partition(" ")
    return f"{amount if unit == limit.partition(' ')[2] else value} of {limit}"
