"""A line of `queueing` that says how something waits, and not what."""

from __future__ import annotations

import re

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.grammar.words import TOKEN_CHOICES

_CHARACTERS_BEFORE = 200
_OF_NOTHING = (
    rf"(?:\A|[\n;])[ \t]*queueing\s+(?:[^;\n]*,\s*)?({'|'.join(DISCIPLINES)})(?:\s+cv)?\s*\Z"
)


_LAW = rf"\b(?:{'|'.join(DISCIPLINES)})(?:\s+cv\s+[\w.]+)?\s*\Z"
_EFFECTS = TOKEN_CHOICES["EFFECT"]


def queueing_help(before: str, word: str, behind: str) -> str | None:
    """Return how to fix what is said of arrivals, or of how they wait; None where it is not."""
    law = re.match(r"\s*(cv|room|speeds)\b", behind)
    if word == "," and law and re.search(_LAW, before):
        return instead(",", "", words=f"remove the comma before `{law[1]}`")
    if re.search(r"\bqueueing\b[^;\n]*\bquota\s*\Z", before) and re.match(r"on\b|\d", word):
        return "state the period, then the cores of the host: `quota per 100 ms on 8 core`"
    if word in ("", "}", ",", ";") and re.search(r"\bquota\s+per\b[^;\n}]*\Z", before):
        return "add the cores of the host: `quota per 100 ms on 8 core`"
    if word == "cv" and re.search(r",\s*arrivals\s*\Z", before):
        return "put `arrivals cv 3` on a separate line"
    if word[:1].isdigit() and re.search(r"\bspeeds\s*\Z", before):
        return "list the speeds in brackets: `speeds [1, 1.9, 2.7]`"
    if word == "]" and re.search(r"\bspeeds\s*\[\s*\Z", before):
        return "list the speed with one item, two items, and so on: `speeds [1, 1.9, 2.7]`"
    return None


def effect_help(declaration: str, word: str, previous: str) -> str | None:
    """Return where an effect belongs that stands in a stream; None where there is none."""
    effect = previous if word[:1].isdigit() else word
    if effect not in _EFFECTS or not declaration.startswith("stream"):
        return None
    return f"put it into a component and use that as a step: `component c {{ {effect} … }}`"


def discipline_of_nothing(source: Source, start: int, at: int) -> Span | None:
    """Return the discipline that ends a text where the name of what waits should stand."""
    start = max(start, at - _CHARACTERS_BEFORE)
    found = re.search(_OF_NOTHING, source.text[start:at])
    return None if found is None else Span(source, start + found.start(1), start + found.end(1))


def report_nothing_waits(discipline: Span, sink: Sink) -> None:
    """Say that a way of waiting lacks the name of what is waited for."""
    word = discipline.text
    traits = DISCIPLINES[word].traits
    others = traits.on_one_server or word
    variation = " cv 1.2" if traits.variation is None else ""
    period = " per 100 ms on 8 core" if "per" in traits.takes else ""
    sink.report(
        codes.SYNTAX,
        discipline,
        f"the resource of queueing `{word}` is missing",
        hint=f"write `queueing cpu {word}{period}{variation}` for every `cpu`, or `queueing link "
        f"{others}{variation}` for every link",
    )
