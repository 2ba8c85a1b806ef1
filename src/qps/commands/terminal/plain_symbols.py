"""Symbols in ASCII, for terminals and files whose encoding lacks them: `<=` for `≤`."""

from __future__ import annotations

import re

_PLAIN = {
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "±": "+-",
    "–": "-",
    "−": "-",
    "·": "*",
    "×": "x",
    "µ": "u",
    "→": "->",
    "…": "...",
    "∞": "infinite",
    "█": "#",
    "░": ".",
    "“": '"',
    "”": '"',
    "’": "'",
}
_RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_AS_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PARTS = re.compile(r" {2,}|[^ ]+| ")


def spelled_in(text: str, encoding: str) -> str:
    """Return a text with symbols that an encoding lacks in ASCII; columns stay where they were.

    >>> spelled_in("at ≤ 75 %   yes", "ascii"), spelled_in("≤ 75 %", "utf-8")
    ('at <= 75 %  yes', '≤ 75 %')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_spelled(line, encoding) for line in text.splitlines(keepends=True))
    return text


def _spelled(line: str, encoding: str) -> str:
    """Return a line in which blanks between columns make up for symbols of several characters."""
    found, longer = "", 0
    for part in _PARTS.findall(line):
        if part.startswith("  "):
            fewer = min(longer, len(part) - 1)
            found, longer = found + part[fewer:], longer - fewer
            continue
        powers = _RAISED.sub(lambda found: f"^{found[0].translate(_AS_DIGITS)}", part)
        spelled = "".join(_symbol(one, encoding) for one in powers)
        found, longer = found + spelled, longer + len(spelled) - len(part)
    return found


def _symbol(one: str, encoding: str) -> str:
    try:
        one.encode(encoding)
    except UnicodeEncodeError:
        return _PLAIN.get(one, one)
    return one
