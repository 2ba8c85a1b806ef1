"""How to mend what a diagnostic is about, as edits of the text that a program can make.

A hint says it in words. Where what is to be written is known to the letter, the hint is a `Hint`,
which holds it, too; `Sink.report` makes a `Mend` of each, with places in the text. An editor offers
each mend by its title and makes its edits; one mend is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Self

from msgspec import Struct

from qps.compiler.diagnostics.source import Span


class Edit(Struct, frozen=True):
    """What is to stand instead of a stretch of a text; of an empty one, before what follows it."""

    span: Span
    text: str


class Mend(Struct, frozen=True):
    """Edits that belong together, and what to call them: ``write `lan` ``."""

    title: str
    edits: tuple[Edit, ...]


class Rewording(Struct, frozen=True):
    """A word that becomes another one: `at` a place, else where the diagnostic points at it.

    The word is empty where the other one is put in, the other one where the word is taken out.
    """

    word: str
    instead: str
    at: Span | None = None


class Hint(str):
    """A hint in words, and each of the rewordings that would follow it."""

    __slots__ = ("rewordings",)
    rewordings: tuple[Rewording, ...]

    def __new__(cls, text: str, *rewordings: Rewording) -> Self:
        """Make a hint of its text, and of one rewording or several to choose from."""
        hint = super().__new__(cls, text)
        hint.rewordings = rewordings
        return hint


def instead(word: str, *others: str, at: Span | None = None, told: str = "") -> Hint:
    """Return the hint to write one of some words instead of another one.

    >>> instead("per", "/"), instead("KB", "kB", "KiB").rewordings[1].instead
    ('write `/`', 'KiB')
    """
    text = told or "write " + " or ".join(f"`{other}`" for other in others)
    return Hint(text, *(Rewording(word, other, at) for other in others))


def taken_out(span: Span, told: str) -> Hint:
    """Return a hint by which a stretch of a text, such as a declaration, is taken out."""
    return Hint(told, Rewording(span.text, "", span))


def put_before(span: Span, text: str, told: str) -> Hint:
    """Return a hint by which a text is put in right behind what stands before a place."""
    start = len(span.source.text[: span.start].rstrip(" \t"))
    return Hint(told, Rewording("", text, Span(span.source, start, start)))


def mends_of(hints: Iterable[str], span: Span | None) -> tuple[Mend, ...]:
    """Return what hints of a diagnostic tell as edits, where the place of each is clear."""
    found = (
        _mend(one, span) for hint in hints if isinstance(hint, Hint) for one in hint.rewordings
    )
    return tuple(mend for mend in found if mend is not None)


def _mend(one: Rewording, span: Span | None) -> Mend | None:
    at = one.at or _place(one.word, span)
    if at is None or at.text != one.word or one.word == one.instead:
        return None
    shown = " ".join(one.instead.split())
    title = f"write `{shown}`" if shown else "take it out"
    return Mend(title, (Edit(at, one.instead),))


def _place(word: str, span: Span | None) -> Span | None:
    """Return where a word stands in what a diagnostic points at: once, or as its last part."""
    if span is None or not word:
        return None
    found = list(_places(word, span.text))
    if len(found) != 1 and not span.text.endswith(word):
        return None
    start = span.start + (found[0] if len(found) == 1 else len(span.text) - len(word))
    return Span(span.source, start, start + len(word))


def _places(word: str, text: str) -> Iterator[int]:
    for match in re.finditer(re.escape(word), text):
        before, behind = (
            text[match.start() - 1 : match.start()],
            text[match.end() : match.end() + 1],
        )
        if not (_joins(before, word[0]) or _joins(word[-1], behind)):
            yield match.start()


def _joins(one: str, other: str) -> bool:
    """Return whether two letters side by side are of one word."""
    return bool(re.fullmatch(r"\w\w", one + other))


def mended(mend: Mend, text: str) -> str:
    """Return a text with the edits of a mend made, all of which stand in it."""
    for edit in sorted(mend.edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text
