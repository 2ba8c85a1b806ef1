"""How reliable numbers are: a mark before each that is not exact, its reasons once below.

Exact numbers have no mark, so that the others stand out; one line says that of all the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Protocol

from qps.compiler.quantities.certainty import MOST_STATED, Certainty, CertaintyKind, together
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import first_words, percent
from qps.solver.answer import Answer
from qps.solver.answers.solution import QUALITY, CapacityVerdict

ALL_EXACT, OTHERS_EXACT = phrase("all_exact"), phrase("others_exact")

MARKS = {kind: phrase(f"mark.{kind.value}") for kind in CertaintyKind}
MOST_PORTS = 4
"""Ports of a switch that are solved one by one: those of two nodes, out and in."""
MOST_PORTS_IN_ALL = 12
"""Ports of all such switches that are solved one by one."""
Ports = Mapping[str, str]
"""Ports of switches, with the link that each is a port of."""
_NO_PORTS: Ports = {}
_WHAT = {
    CertaintyKind.UPPER_BOUND: ("an upper bound", "upper bounds"),
    CertaintyKind.LOWER_BOUND: ("a lower bound", "lower bounds"),
    CertaintyKind.APPROXIMATION: ("an approximation", "approximations"),
    CertaintyKind.SIMULATED: ("simulated", "simulated"),
}
_TRUE_VALUE_TEXTS = {kind: phrase(f"truth.{kind.value}") for kind in _WHAT}


class CapacityChange(Protocol):
    """A change, and how many users there can be with it."""

    @property
    def capacity(self) -> int:
        """How many users there can be."""

    @property
    def known(self) -> Certainty:
        """How that is known."""

    @property
    def range_limits(self) -> bool:
        """Whether there may be more, beyond the range."""


_IN_WORDS = {
    MARKS[CertaintyKind.UPPER_BOUND]: "at most ",
    MARKS[CertaintyKind.LOWER_BOUND]: "at least ",
    MARKS[CertaintyKind.APPROXIMATION]: "about ",
}


def in_words(text: str) -> str:
    """Return a number with its mark in words.

    >>> in_words("~ 130 ms"), in_words("45")
    ('about 130 ms', '45')
    """
    for mark, words in _IN_WORDS.items():
        if mark and text.startswith(mark):
            return words + text.removeprefix(mark)
    return text


def marked(text: str, known: Certainty) -> str:
    """Return a number as it is reported, with a mark where it is not exact."""
    return MARKS[known.kind] + text


def marked_value(text: str, value: float, known: Certainty) -> str:
    """Return a number with its mark; what has no finite value needs none."""
    return marked(text, known) if isfinite(value) else text


def users_known(known: Certainty) -> str:
    """Return what stands before a number of users: `At least ` for a lower bound."""
    return phrase(f"users.{known.kind.value}")


def users_as_known(known: Certainty) -> str:
    """Return what a capacity is, beside it: exact, an upper or a lower bound, approximate."""
    return phrase(f"served.{known.kind.value}")


def capacity_as_known(known: Certainty) -> str:
    """Return the same behind `capacity is`."""
    return phrase(f"served.is.{known.kind.value}")


def users_with(item: CapacityChange) -> str:
    """Return how many users a change gives; where the range ends, there may be more."""
    return marked_users(item.capacity, item.known, range_limits=item.range_limits)


def marked_users(largest: int, known: Certainty, *, range_limits: bool) -> str:
    """Return a number of users with its mark; where the range ends, there may be more."""
    users = f"{largest:,}"
    if not range_limits:
        return marked(users, known)
    if known.is_exact:
        return phrase("at_least", users=users)
    return MARKS[CertaintyKind.APPROXIMATION] + users


def parenthesis(known: Certainty) -> str:
    """Return what stands behind a number in a sentence where it is not exact: ` (upper bound)`."""
    return "" if known.is_exact else f" ({known.kind.value})"


def known_sentence(known: Certainty) -> str:
    """Return in a sentence how a number is known, and why no better."""
    return _known_because(known, known.reasons)


def known_in_short(known: Certainty, *, is_covered: bool = False) -> str:
    """Return the same with the first reasons alone, without what they rest on.

    Of a capacity that covers the measured errors (`is_covered`) it returns the reasons: it is no
    bound.
    """
    reasons = tuple(dict.fromkeys(reason.partition(": ")[0] for reason in known.reasons))
    rest = len(reasons) - _FIRST_REASONS
    more = f" {phrase('report.more_reasons', count=rest)}" if rest > 0 else ""
    first = reasons[:_FIRST_REASONS]
    if is_covered:
        text = "; ".join(merged(first))
        return f"{text[:1].upper()}{text[1:]}.{more}"
    return f"{_known_because(known, first)}{more}"


_FIRST_REASONS = 2


def _known_because(known: Certainty, reasons: Sequence[str]) -> str:
    if known.is_exact:
        return "Exact for this model."
    what = _WHAT[known.kind][0]
    return f"{what[0].upper()}{what[1:]} ({_TRUE_VALUE_TEXTS[known.kind]}){because(reasons)}."


def known_lines(answer: Answer) -> list[str]:
    """Return how the capacity and all numbers of an answer are known, the reasons once."""
    return [
        f"{stated}{'; '.join(reasons)}." if reasons else stated
        for stated, reasons in _known_parts(answer)
    ]


def known_list(answer: Answer) -> list[str]:
    """Return the same with a line for each of several reasons, which begins with a dash."""
    lines: list[str] = []
    for stated, reasons in _known_parts(answer):
        if len(reasons) > 1:
            lines += [stated.rstrip(), *(f"- {reason}" for reason in reasons)]
        else:
            lines.append(f"{stated}{reasons[0]}." if reasons else stated)
    return lines


def _known_parts(answer: Answer) -> list[tuple[str, Sequence[str]]]:
    """Return sentences, each with the reasons that end it, if there are any."""
    by_name, capacity = numbers_known(answer), answer.known
    uncertain = {name: known for name, known in by_name.items() if not known.is_exact}
    if capacity.is_exact and not uncertain:
        return [(ALL_EXACT, ())]
    lines: list[tuple[str, Sequence[str]]] = []
    ports = answer.ports
    if not capacity.is_exact and answer.verdict is not CapacityVerdict.NOWHERE:
        what, truth = capacity_as_known(capacity), phrase(f"bound.{capacity.kind.value}")
        own = set(capacity.reasons) - {r for known in uncertain.values() for r in known.reasons}
        beside = tuple(reason for reason in capacity.reasons if reason in own)
        stated = f"Capacity is {what} ({truth})"
        lines.append((f"{stated}: ", merged(beside, ports)) if beside else (f"{stated}.", ()))
    return [*lines, *_uncertain_parts(uncertain, ports), (OTHERS_EXACT, ())]


def known_numbers(certainties: Mapping[str, Certainty], ports: Ports = _NO_PORTS) -> list[str]:
    """Return which of some numbers are not exact and why, or that all are."""
    uncertain = {name: known for name, known in certainties.items() if not known.is_exact}
    if not uncertain:
        return [ALL_EXACT]
    others = [] if len(uncertain) == len(certainties) else [OTHERS_EXACT]
    parts = _uncertain_parts(uncertain, ports)
    return [*(f"{stated}{'; '.join(reasons)}." for stated, reasons in parts), *others]


def _uncertain_parts(
    uncertain: Mapping[str, Certainty], ports: Ports = _NO_PORTS
) -> Iterator[tuple[str, Sequence[str]]]:
    for kind in _WHAT:
        names = [name for name, known in uncertain.items() if known.kind is kind]
        if names:
            known = [uncertain[name] for name in names]
            reasons = merged(together(*known).reasons, ports)
            yield _subject(kind, names, _stated(known)), reasons


def numbers_known(answer: Answer) -> dict[str, Certainty]:
    """Return how every number in tables is known, by its name."""
    known = {one.name: one.now.known for one in answer.requirements}
    if answer.has_quality_requirements:
        known[QUALITY] = answer.quality.known
    known |= {one.name: one.known for one in answer.measures}
    known["loads"] = together(*(resource.known for resource in answer.resources))
    known |= {one.name: one.known for one in answer.elastic}
    return known | {f"saturation({each.name})": each.saturation_known for each in answer.resources}


_MOST_NAMED = 6
_GROUP_NAMES = {"loads": "utilization"}


_ARTICLE = "the "


def _called(name: str) -> str:
    """Return a name between backticks; words stay as they are."""
    return name if name.startswith(_ARTICLE) else f"`{name}`"


def _subject(kind: CertaintyKind, names: Sequence[str], stated: str) -> str:
    one, several = _WHAT[kind]
    is_or_are = f"are {several}" if len(names) > 1 else f"is {one}"
    subject = first_words([_GROUP_NAMES.get(name, _called(name)) for name in names], _MOST_NAMED)
    if subject.startswith(_ARTICLE):
        subject = f"{_ARTICLE.capitalize()}{subject.removeprefix(_ARTICLE)}"
    return f"{subject} {is_or_are} ({_TRUE_VALUE_TEXTS[kind]}{stated}): "


def _stated(known: Sequence[Certainty]) -> str:
    """Return what errors are stated of numbers; empty where one of them states none.

    >>> _stated([Certainty(error=0.05), Certainty(error=0.2)])
    ', model error ±20 %'
    """
    errors = [one.error for one in known if one.error is not None]
    if not errors or len(errors) < len(known) or max(errors) > MOST_STATED:
        return ""
    return phrase("truth.error", error=percent(max(errors)))


def because(reasons: Sequence[str], ports: Ports = _NO_PORTS) -> str:
    """Return reasons as the end of a sentence, empty where there are none."""
    return f": {'; '.join(merged(reasons, ports))}" if reasons else ""


_NAMES = re.compile(r"`[^`]+`(?:(?:, `[^`]+`)* and `[^`]+`)?")


def merged(reasons: Sequence[str], ports: Ports = _NO_PORTS) -> tuple[str, ...]:
    """Return reasons that say the same of several names as one; of many `ports` by their switch.

    >>> merged(["no wait at `a`", "no wait at `b` and `c`"])
    ('no wait at `a`, `b` and `c`',)
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for reason in reasons:
        parts = tuple(_NAMES.split(reason))
        found = _NAMES.findall(reason)
        is_one_list = len(found) == 1
        names = re.findall(r"`([^`]+)`", reason) if is_one_list else []
        alike.setdefault(parts if is_one_list else (reason,), []).extend(names)
    return tuple(
        _all_of(list(dict.fromkeys(names)), ports).join(parts) if names else parts[0]
        for parts, names in alike.items()
    )


def by_switch(names: Sequence[str], ports: Ports, mark: str = "") -> list[str]:
    """Return names in `mark`s; the ports of a switch are counted where there are many of them."""
    counts = Counter(ports[name] for name in names if name in ports)
    as_one = uniform_switches(counts)
    labels: dict[str, None] = {}
    for name in names:
        link = ports.get(name)
        if link not in as_one:
            labels[f"{mark}{name}{mark}"] = None
        else:
            labels[f"{counts[link]} ports of {mark}{link}{mark}"] = None
    return list(labels)


def uniform_switches(counts: Mapping[str, int]) -> frozenset[str]:
    """Return the switches whose ports are listed as one, of all with so many listed ports."""
    few = sum(count for count in counts.values() if count <= MOST_PORTS)
    most = MOST_PORTS if few <= MOST_PORTS_IN_ALL else 1
    return frozenset(link for link, count in counts.items() if count > most)


def _all_of(names: Sequence[str], ports: Ports) -> str:
    *first, last = by_switch(names, ports, "`")
    return f"{', '.join(first)} and {last}" if first else last


# -- claims ------------------------------------------------------------------------------


def claims_known_line(known: Iterable[Certainty]) -> str:
    """Return what the marks before predictions mean; empty where none has one."""
    kinds = [each.kind for each in known if not each.is_exact]
    parts = [
        f"{count} {several if count > 1 else one.removeprefix('an ').removeprefix('a ')} "
        f"({MARKS[kind].strip()})"
        for kind, (one, several) in _WHAT.items()
        if (count := kinds.count(kind))
    ]
    return (
        f"Not exact: {', '.join(parts)}; use `--format json` to see the reasons." if parts else ""
    )
