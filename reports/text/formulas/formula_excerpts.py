"""Formulas cut to what a person reads: what stands deepest in brackets is left out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

READABLE = 480
"""Characters of a formula that a person reads: six lines of a terminal."""
_SHORT = 16
"""Characters in brackets that are no longer than what says that something is left out."""
_LEFT_OUT = "…"


def shortened(text: str, most: int = READABLE) -> str:
    """Return a formula as deep as it has room in so many characters.

    >>> shortened("N*max(1, erlang_c(web.cores, 2*N*a.cpu/(1 - hit))) + a.cpu", 40)
    'N*max(1, erlang_c(…)) + a.cpu'
    """
    if len(text) <= most:
        return text
    ends = _ends(text)
    found = _to_depth(text, 0, ends)
    for depth in count(1):
        deeper = _to_depth(text, depth, ends)
        if len(deeper) > most:
            break
        found = deeper
    return found if len(found) <= most else _first_terms(found, most)


def _to_depth(text: str, depth: int, ends: Mapping[int, int]) -> str:
    """Return a text without what stands in more brackets than that, but for what is short."""
    found: list[str] = []
    at = level = 0
    while at < len(text):
        end = ends.get(at)
        if end is not None and level >= depth and end - at > _SHORT:
            found.append(f"({_LEFT_OUT})")
            at = end + 1
            continue
        level += (text[at] == "(") - (text[at] == ")")
        found.append(text[at])
        at += 1
    return "".join(found)


def _first_terms(text: str, most: int) -> str:
    """Return a text up to a blank that stands in no brackets."""
    level = last = 0
    for at, character in enumerate(text[: most - 1]):
        level += (character == "(") - (character == ")")
        if character == " " and level == 0:
            last = at
    return f"{text[:last]} {_LEFT_OUT}".lstrip()


def _ends(text: str) -> dict[int, int]:
    """Return where brackets end, by where they open."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for at, character in enumerate(text):
        if character == "(":
            opened.append(at)
        elif character == ")" and opened:
            found[opened.pop()] = at
    return found
