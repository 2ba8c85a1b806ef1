"""Edits of a text: what takes the place of stretches of it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from qps.compiler.diagnostics.source import Span


class TextEdit(Struct, frozen=True):
    """What stands in the place of a part of a text; nothing where it is removed."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """Return a text with edits made, which do not overlap; those of one place in their order.

    >>> edited("a; b; c", [TextEdit(3, 4, "x"), TextEdit(0, 3, "")])
    'x; c'
    """
    in_order = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for one in in_order[::-1]:
        text = text[: one.start] + one.text + text[one.end :]
    return text


def replacement(span: Span, text: str) -> TextEdit:
    """Return the edit that writes a text in the place of a span."""
    return TextEdit(span.start, span.end, text)
