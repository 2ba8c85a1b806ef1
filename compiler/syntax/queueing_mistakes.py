"""A line of `queueing` that says how something waits, and not what."""

from __future__ import annotations

import re

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source, Span

DISCIPLINES = ("none", "mm1", "md1", "mg1", "mmc", "mgc", "ps", "priority", "loss", "periodic")
_LOOKED_BACK = 200
_OF_NOTHING = re.compile(
    rf"(?:\A|[\n;])[ \t]*queueing\s+(?:[^;\n]*,\s*)?({'|'.join(DISCIPLINES)})(?:\s+cv)?\s*\Z"
)


def discipline_of_nothing(source: Source, start: int, at: int) -> Span | None:
    """Return the discipline that ends a text where the name of what waits should stand."""
    start = max(start, at - _LOOKED_BACK)
    found = _OF_NOTHING.search(source.text[start:at])
    return None if found is None else Span(source, start + found.start(1), start + found.end(1))


def report_nothing_waits(discipline: Span, sink: Sink) -> None:
    """Say that a way of waiting lacks the name of what is waited for."""
    word = discipline.text
    others = {"mmc": "md1", "loss": "md1", "mgc": "mg1"}.get(word, word)
    variation = " cv 1.2" if word in ("mg1", "mgc") else ""
    sink.report(
        codes.SYNTAX,
        discipline,
        f"`{word}` says how, but not what is waited for",
        hint=f"name it: `queueing cpu {word}{variation}` for every `cpu`, "
        f"`queueing link {others}{variation}` for every link, or one place of them",
    )
