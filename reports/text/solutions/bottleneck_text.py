"""The bottleneck in words: what saturates first, and what has the highest utilization."""

from __future__ import annotations

from qps.reports.text.words.nouns import noun, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import population_text, whole_population
from qps.solver.answer import Answer
from qps.solver.answers.solution import Bottleneck, StaysFull


def bottleneck_line(answer: Answer) -> str:
    """Return which resource saturates first, and which is the most used up to there."""
    found = answer.bottleneck
    if found is None:
        return ""
    if found.saturates_at is None:
        line = f"{_none_saturates(answer, found)}."
    else:
        line = f"{_saturates_first(answer, found.saturates_at)}{stays_full_text(answer)}."
    line += undecided_saturations(answer)
    if found.changes:
        line += f" {changes_in_words(answer, found)}."
    return line


def _none_saturates(answer: Answer, found: Bottleneck) -> str:
    """Return that nothing saturates, with the heaviest load unless a sentence on it follows."""
    if answer.closed and not found.undecided:
        if found.changes:
            return phrase("bottleneck.none_closed")
        has_most = phrase(f"bottleneck.{'is_closest' if _is_planned(answer) else 'has_most'}")
        return phrase("bottleneck.none_closed_only", resource=found.resource, has_most=has_most)
    none = phrase("bottleneck.none_known") if found.undecided else phrase("bottleneck.none")
    if found.changes:
        return none
    return f"{none}; {heaviest_in_words(answer).lower()}: {found.resource}"


def changes_in_words(answer: Answer, found: Bottleneck) -> str:
    """Return which resource has the highest utilization from which population on."""
    name, heaviest = answer.population, heaviest_in_words(answer)
    first = found.changes[0]
    if first.to is None and first.at < answer.low + 1:
        return phrase("bottleneck.unknown_later", heaviest=heaviest, initially=found.initially)
    path = [phrase("bottleneck.low", initially=found.initially)]
    path += [
        f"{c.to or phrase('bottleneck.not_determined')} above {whole_population(c.at)}"
        for c in found.changes
    ]
    hidden = len(path) - _MOST_CHANGES
    if hidden > 1:  # JSON has all of them
        path = [
            *path[: _MOST_CHANGES - 1],
            phrase("bottleneck.more_changes", count=hidden),
            path[-1],
        ]
    users = noun_of_one if path[-1].endswith(" 1") else noun
    return f"{heaviest}: {', '.join(path)} {users(name)}"


_MOST_CHANGES = 4
"""Resources of the highest utilization that are named one after the other."""


def undecided_saturations(answer: Answer) -> str:
    """Return the resources that may or may not saturate before the bottleneck."""
    found = answer.bottleneck
    if found is None or not found.undecided:
        return ""
    name = answer.population
    sentences = (
        phrase("undecided.one", resource=r.name, name=name, least=population_text(least))
        for r in answer.resources
        if r.name in found.undecided and (least := r.saturation.not_below) is not None
    )
    does = phrase("undecided.ever" if found.saturates_at is None else "undecided.before")
    return phrase("undecided", value=" or ".join(sentences), does=does)


def _saturates_first(answer: Answer, at: float) -> str:
    """Return which resource saturates first, and where; that is not known before the range."""
    found = answer.bottleneck
    assert found is not None
    planned = any(r.name == found.resource and r.target != 1 for r in answer.resources)
    count = whole_population(at)
    users = noun_of_one if count == "1" else noun
    where = f"{count} {users(answer.population)}"
    if found.from_start:
        full = full_from_start(found, is_planned=planned)
        if answer.low == answer.high:
            return phrase("bottleneck.is_at", resource=found.resource, full=full, where=where)
        return phrase("bottleneck.start", resource=found.resource, full=full, where=where)
    first = "bottleneck.first_to_exceed" if planned else "bottleneck.first_to_saturate"
    return phrase(first, resource=found.resource, where=where)


def full_from_start(found: Bottleneck, *, is_planned: bool) -> str:
    """Return what a resource is that is full where the range starts."""
    at_target = "at_its_target" if found.stays_full else "beyond_its_target"
    return phrase(at_target if is_planned else "saturated")


def stays_full_text(answer: Answer) -> str:
    """Return that the bottleneck is full before the answer and no more: that is not beyond it."""
    found, largest = answer.bottleneck, answer.capacity
    if found is None or found.stays_full is None:
        return ""
    key = "full.exactly" if found.stays_full == StaysFull.EXACTLY else "full.at_most"
    return phrase(key, name=answer.population, largest=f"{largest:,}")


def heaviest_in_words(answer: Answer) -> str:
    """Return what is meant by the heaviest load: targets may lie below 100 %."""
    return (
        phrase("bottleneck.closest")
        if _is_planned(answer)
        else phrase("bottleneck.highest_utilization")
    )


def _is_planned(answer: Answer) -> bool:
    return any(resource.target != 1 for resource in answer.resources)
