"""Elastic parameters in words: their values, what limits them, and from which population on."""

from __future__ import annotations

from functools import partial

from qps.reports.text.words.certainty_marks import marked
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted, noun, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import joined_words, quantity, whole_population
from qps.solver.answer import Answer
from qps.solver.answers.solution import ElasticSolution
from qps.solver.search.method import SearchMethod

SATURATED = phrase("elastic.saturated")
"""The state of a resource that elastic traffic fills."""


def elastic_facts(answer: Answer) -> list[str]:
    """Return which resources elastic traffic saturates, and what is left to it there."""
    lines = zip(answer.elastic, elastic_lines(answer), strict=True)
    facts = [line for item, line in lines if item.is_lowered]
    full = sorted(answer.saturated_by_elastic)
    if full:
        facts[:-1] = [f"{line.removesuffix('.')};" for line in facts[:-1]]
        end = ":" if facts else "."
        facts.insert(
            0, f"{joined_words(full)} {'is' if len(full) == 1 else 'are'} {SATURATED}{end}"
        )
    return facts


def elastic_lines(answer: Answer, labels: Labels = PLAIN) -> list[str]:
    """Return a sentence for each elastic parameter: its value, and from where on it yields."""
    return [_elastic(answer, item, labels) for item in answer.elastic]


def _elastic(answer: Answer, item: ElasticSolution, labels: Labels) -> str:
    formatted = partial(quantity, dimension=item.dimension)
    rank = "" if item.priority is None else f" (priority {item.priority})"
    name = f"{labels.of(item.name)}{rank}"
    value = marked(formatted(item.value_at_limit), item.known)
    if item.yields is None:
        return phrase("elastic.maximum", name=name, value=value)
    if item.exhausted is not None and item.exhausted.method is SearchMethod.AT_START:
        return phrase("elastic.minimum", name=name, value=value, resource=item.yields.resource)
    users = counted(answer.at, answer.population)
    line = phrase(
        "elastic.limited", name=name, value=value, users=users, limited_by=_limited_by(answer, item)
    )
    if item.yields.method is not SearchMethod.AT_START:
        most = _people(answer, item.yields.at)
        line = phrase(
            "elastic.maximum_then_limited",
            name=name,
            value=value,
            users=users,
            maximum=formatted(item.most),
            most=most,
            limited_by=_limited_by(answer, item),
        )
    if item.exhausted is not None:
        line += phrase(
            "elastic.falls",
            value=formatted(item.least),
            people=_people(answer, item.exhausted.at),
            resource=item.exhausted.resource,
        )
    return f"{line}."


def _people(answer: Answer, at: float) -> str:
    """Return a population that need not be whole: `382 users`."""
    count = whole_population(at)
    return f"{count} {(noun_of_one if count == '1' else noun)(answer.population)}"


def _limited_by(answer: Answer, item: ElasticSolution) -> str:
    """Return the resources that limit an elastic parameter, each up to which population."""
    assert item.yields is not None
    by = [
        item.yields.resource,
        *(one.to or phrase("elastic.unknown_resource") for one in item.changes),
    ]
    ends = [phrase("elastic.up_to", users=_people(answer, one.at)) for one in item.changes]
    parts = [f"{one}{end}" for one, end in zip(by, ends, strict=False)]
    if not parts:
        return by[-1]
    first, *others = [*parts, phrase("elastic.above_that", by=by[-1])]
    return joined_words([first, *(f"by {one}" for one in others)])
