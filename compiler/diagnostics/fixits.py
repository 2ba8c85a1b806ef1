"""How to fix what a diagnostic is about, as edits of the text that a program can make.

A hint says it in words. Where what is to be written is known to the letter, the hint is a `Hint`,
which holds it, too; `Sink.report` makes a `Fix` of each, with places in the text. An editor offers
each fix by its title and makes its edits; one fix is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Self

from msgspec import Struct

from qps.compiler.diagnostics.source import Span


class Edit(Struct, frozen=True):
    """What is to stand instead of a stretch of a text; of an empty one, before what follows it."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
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


def instead(word: str, *others: str, at: Span | None = None, words: str = "") -> Hint:
    """Return the hint to write one of some words instead of another one.

    >>> instead("per", "/"), instead("KB", "kB", "KiB").rewordings[1].instead
    ('write `/`', 'KiB')
    """
    text = words or "write " + " or ".join(f"`{other}`" for other in others)
    return Hint(text, *(Rewording(word, other, at) for other in others))


def removal_hint(span: Span, text: str) -> Hint:
    """Return a hint by which a stretch of a text, such as a declaration, is taken out.

    What joined it to its neighbors goes with it: a comma, a `;`, the line that it had alone.
    """
    whole = _with_what_joins(span)
    return Hint(text, Rewording(whole.text, "", whole))


def single_statement_hint(span: Span, words: str = "remove one of them") -> Hint:
    """Return a hint by which what is stated again is taken out, with the word that it is said by.

    Where it is not clear what belongs to it, the hint says it in words alone.
    """
    text = span.source.text
    before = _SAID_BY.search(text, max(0, span.start - _CHARACTERS_BEFORE), span.start)
    behind = text[span.end :].lstrip(" \t")[:1]
    whole = span
    if before is not None and before[2]:
        if behind == ",":
            return Hint(words)
        whole = Span(span.source, before.start(2), span.end)
    is_clear = before is not None and behind in ("", *",;{}\n#")
    return removal_hint(whole, words) if is_clear else Hint(words)


def removal_with_word_hint(span: Span, words: str) -> Hint:
    """Return a hint by which a value is taken out with the word right before it: `for 1 s`."""
    text = span.source.text
    before = _ITS_WORD.search(text, max(0, span.start - _CHARACTERS_BEFORE), span.start)
    return removal_hint(
        span if before is None else Span(span.source, before.start(), span.end), words
    )


def renaming_hint(span: Span, text: str = "") -> Hint:
    """Return a hint to call something by its name and a `_`, which is a word of nobody."""
    word = span.text
    return instead(word, f"{word}_", at=span, words=text or f"rename it, for example to `{word}_`")


def numbering_hint(span: Span, text: str) -> Hint:
    """Return a hint to give what has the name of another one a number of its own."""
    used = set(re.findall(r"\w+", span.source.text))
    free = next(name for n in count(2) if (name := f"{span.text}_{n}") not in used)
    return instead(span.text, free, at=span, words=text)


def swapping_hint(first: Span, second: Span, text: str = "") -> Hint:
    """Return a hint by which two ends change places; a unit that holds for both stays last.

    `text` goes before what is to be written.
    """
    both = first.to(second)
    one, other = first.text, second.text
    number, unit = re.match(r"-?[\d_.]*", other), ""
    if number is not None and number[0] and re.fullmatch(r"-?[\d_.]+", one):
        other, unit = number[0], other[number.end() :]
    between = both.source.text[first.end : second.start]
    return instead(both.text, f"{other}{between}{one}{unit}", at=both, words=text)


def insertion_after_hint(span: Span, *texts: str, text: str) -> Hint:
    """Return a hint by which one of some texts is put in right behind a stretch of another one."""
    at = Span(span.source, span.end, span.end)
    return Hint(text, *(Rewording("", text, at) for text in texts))


def of_these(text: str, *hints: str) -> Hint:
    """Return a hint in other words, with what each of some hints would write to choose from."""
    return Hint(text, *(one for hint in hints if isinstance(hint, Hint) for one in hint.rewordings))


_SAID_BY = re.compile(r"(\A|[,;{\n])[ \t]*([a-z_]+[ \t]+)?\Z")
_ITS_WORD = re.compile(r"\w+\s+\Z")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_JOINED_BEFORE = re.compile(r",[ \t]*(?:#[^\n]*)?\n?[ \t]*\Z")
_JOINED_BEHIND = re.compile(r"[ \t]*[,;][ \t]*")
_SEPARATED_BEFORE = re.compile(r"[ \t]*;[ \t]*\Z")
_CHARACTERS_BEFORE = 200


def _with_what_joins(span: Span) -> Span:
    """Return a stretch with the comma, the `;`, or the rest of the line that it leaves alone."""
    text, start, end = span.source.text, span.start, span.end
    before = text[max(0, start - _CHARACTERS_BEFORE) : start]
    joined = _JOINED_BEFORE.search(before)
    if joined is not None and "#" not in joined[0]:
        return Span(span.source, start - len(joined[0]), end)
    behind = _JOINED_BEHIND.match(text, end)
    if behind is not None:
        return Span(span.source, start, behind.end())
    separated = _SEPARATED_BEFORE.search(before)
    if separated is not None:
        return Span(span.source, start - len(separated[0]), end)
    line = text.rfind("\n", 0, start) + 1
    rest = _REST.match(text, end)
    if rest is not None and not text[line:start].strip():
        return Span(span.source, _before_its_doc(text, line), rest.end())
    blanks = len(before) - len(before.rstrip(" \t"))
    return Span(span.source, start - blanks, end)


def insertion_before_hint(span: Span, text: str, words: str) -> Hint:
    """Return a hint by which a text is put in right behind what stands before a place."""
    start = len(span.source.text[: span.start].rstrip(" \t"))
    return Hint(words, Rewording("", text, Span(span.source, start, start)))


def _before_its_doc(text: str, line: int) -> int:
    """Return where the lines of something begin, those of its doc string among them."""
    closed = line - len('"""\n')
    if not text.startswith('"""\n', max(closed, 0)):
        return line
    opened = text.rfind('"""', 0, closed)
    return text.rfind("\n", 0, opened) + 1 if opened > 0 else line  # the first is of the file


def fixes_of(hints: Iterable[str], span: Span | None) -> tuple[Fix, ...]:
    """Return the hints of a diagnostic as edits, where the place of each is clear."""
    found = (
        _fix_of(one, span) for hint in hints if isinstance(hint, Hint) for one in hint.rewordings
    )
    return tuple(fix for fix in found if fix is not None)


def _fix_of(one: Rewording, span: Span | None) -> Fix | None:
    at = one.at or _place(one.word, span)
    if at is None or at.text != one.word or one.word == one.instead:
        return None
    shown = " ".join(one.instead.split())
    title = f"write `{shown}`" if shown else "remove it"
    return Fix(title, (Edit(at, one.instead),))


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
