"""The capacity in words: how many, at which confidence."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.words.certainty_marks import MARKS, users_as_known
from qps.reports.text.words.nouns import counted, noun, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    percent,
    reliable_number,
    rounded_down,
)
from qps.solver.answer import Answer
from qps.solver.answers.solution import CapacityVerdict


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
    return without_error(answer) if answer.reliable is None else answer.reliable.capacity


def is_covered(answer: Answer) -> bool:
    """Return whether every model error that can lower the capacity is known and allowed for."""
    if answer.reliable is None:
        return answer.known.kind in (CertaintyKind.EXACT, CertaintyKind.LOWER_BOUND)
    return not answer.reliable.unmeasured


class Headline(Struct, frozen=True, kw_only=True):
    """A capacity: its number, of whom it is, what stands before it and what it is known to be.

    Without a number `before` has all words.
    """

    before: str = ""
    number: str = ""
    noun: str = ""
    qualifier: str = ""

    @property
    def text(self) -> str:
        """All of it: `100 users at 95 % confidence`."""
        return f"{self.before}{self.number}{' ' * bool(self.noun)}{self.noun}{self.qualifier}"

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """What is not empty, each with its kind: the number is read first."""
        if not self.number:
            return (("words none", self.before),)
        pairs = (
            ("words", self.before),
            ("figure", self.number),
            ("words", f" {self.noun}"),
            ("beside", self.qualifier),
        )
        return tuple((kind, text) for kind, text in pairs if text)


def capacity(answer: Answer) -> str:
    """Return the capacity in a few words: `100 users at 95 % confidence`."""
    return headline(answer).text


def headline(answer: Answer) -> Headline:
    """Return the capacity with its parts.

    Without uncertain inputs it is a round number, beside the one that it was rounded from.
    """
    count, name, uncertainty = supported(answer), answer.population, answer.uncertainty
    if count is None:
        if uncertainty is not None:
            sure = percent(uncertainty.at_confidence.confidence)
            return Headline(before=phrase(f"capacity.none.{_lacks(answer)}samples", sure=sure))
        if answer.capacity is not None:
            computed = marked_users(answer, f"{answer.capacity:,}")
            return Headline(before=phrase("capacity.none.error", users=computed))
        is_or_are = "is" if answer.low == 1 else "are"
        users = counted(answer.low, name)
        return Headline(before=phrase("capacity.none", users=users, are=is_or_are))
    if uncertainty is None:
        if not answer.rests_on_users:
            return Headline(before=phrase("capacity.any", noun=noun(name)))
        return _planned(answer, count)
    sure = percent(uncertainty.at_confidence.confidence)
    is_set = _is_set(answer)
    is_marked = not is_covered(answer) or answer.known.kind is CertaintyKind.LOWER_BOUND
    mark = MARKS[answer.known.kind] if is_marked else ""
    notes = [_meaning_of_mark(answer)] if mark else []
    notes += [phrase("capacity.set")] if is_set else []
    return Headline(
        before=mark,
        number=f"{count:,}" if is_set else _to_end(answer, count, rounded_down(count)),
        noun=noun(name),
        qualifier=phrase(f"capacity.{'confident' if is_covered(answer) else 'sampled'}", sure=sure)
        + (f" ({', '.join(notes)})" if notes else ""),
    )


def _meaning_of_mark(answer: Answer) -> str:
    """Return what the mark before the capacity means: `≤: an upper bound`."""
    kind = answer.known.kind
    known = phrase(f"served.is.{kind.value}")
    return phrase("changes.marked", mark=MARKS[kind].strip(), known=known)


def _is_set(answer: Answer) -> bool:
    """Return whether there is one population only: then it is no capacity, but holds or not."""
    return answer.low == answer.high


def _lacks(answer: Answer) -> str:
    """Return the part of a key for answers where only model error leaves no capacity."""
    return "" if without_error(answer) is None else "error."


def without_error(answer: Answer) -> int | None:
    """Return the capacity that allows for uncertain inputs, but for no model error."""
    return (
        answer.capacity if answer.uncertainty is None else answer.uncertainty.at_confidence.capacity
    )


def _planned(answer: Answer, count: int) -> Headline:
    """Return a capacity of certain inputs, rounded down, with its side and what it came from."""
    is_end = count == answer.high and answer.low < count
    planned = count if is_end or _is_set(answer) else reliable_number(count)
    kind = answer.known.kind
    beside = []
    if kind is CertaintyKind.LOWER_BOUND or not is_covered(answer):
        beside.append(users_as_known(answer.known))
    if answer.capacity is not None and answer.capacity != planned:
        computed = _to_end(answer, answer.capacity, f"{answer.capacity:,}")
        what = "rounded" if count == answer.capacity else "without_error"
        beside.append(phrase(f"capacity.{what}", users=computed))
    if _is_set(answer):
        beside.append(phrase("capacity.set"))
    name = answer.population
    return Headline(
        number=_to_end(answer, count, f"{planned:,}"),
        noun=noun_of_one(name) if planned == 1 else noun(name),
        qualifier=f" ({', '.join(beside)})" if beside else "",
    )


def _to_end(answer: Answer, count: int, users: str) -> str:
    """Return a number of users; at the end of the range there may be more."""
    return f"{users}+" if count == answer.high and answer.low < count else users


def marked_users(answer: Answer, users: str) -> str:
    """Return a number of users with the mark of the capacity."""
    return MARKS[answer.known.kind] + users


def confidence_text(answer: Answer) -> str:
    """Return the answer to `--confidence`: the population that can be promised."""
    of = phrase("with_nominal" if has_nominal(answer) else "with_required")
    nominal = "none" if answer.capacity is None else f"{answer.capacity:,}"
    text = capacity(answer)
    return f"{text[0].upper()}{text[1:]}; {nominal} {of}."


def headline_line(answer: Answer) -> str:
    """Return the line before all values at the headline; empty if inputs are certain."""
    if answer.uncertainty is None or answer.at_reliable is None:
        return nominal_line(answer)
    users = counted(answer.at_reliable.population, answer.population)
    sure = percent(headline_confidence(answer))
    key = "at_headline" if is_covered(answer) else "at_headline.sampled"
    return phrase(key, users=users, sure=sure)


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
