"""Sentences in lines that a terminal is wide enough for; numbers stay with their units."""

from __future__ import annotations

import re
from textwrap import wrap

from qps.compiler.diagnostics.render import printable

_UNBREAKABLE = re.compile(
    r"(?<=\d)(?<![A-Za-z]\d)(?<![A-Za-z]\d\d) (?=\S)|(?<=[<>]=) (?=\d)|(?<=[~<>≤≥±→]) (?=\d)"
)
"""Blanks behind a number, not behind a word that ends in digits, such as `p99` or `db1`."""
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_NARROWEST = 20
"""Columns of text, at the least, behind what stands before it."""


def wrapped(text: str, width: int, first: str = "  ", others: str | None = None) -> list[str]:
    """Return a text in lines of a width, with what stands before the first and before the others.

    >>> wrapped("loaded 79.8 % of at most 80 %", 26)
    ['  loaded 79.8 % of at most', '  80 %']
    """
    others = first if others is None else others
    held = _UNBREAKABLE.sub(_NO_BREAK_SPACE, _BLANKS.sub(" ", printable(text)).strip(" "))
    lines = wrap(
        held,
        max(width, len(others) + _NARROWEST),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK_SPACE, " ") for line in lines]


def unbroken(text: str) -> str:
    """Return a text whose numbers stay with what is behind them, for a page that breaks lines."""
    return _UNBREAKABLE.sub(_NO_BREAK_SPACE, text)


def unbreakable(text: str) -> str:
    """Return a text that is not cut where it has blanks, such as what is to be pasted."""
    return text.replace(" ", _NO_BREAK_SPACE)


def with_plain_blanks(text: str) -> str:
    """Return the same with plain blanks, one where there are several."""
    return _BLANKS.sub(" ", text.replace(_NO_BREAK_SPACE, " "))
