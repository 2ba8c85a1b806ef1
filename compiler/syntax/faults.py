"""A word that cannot stand where it stands, and what stands around it."""

from __future__ import annotations

import re

from msgspec import Struct

from qps.compiler.diagnostics.fixits import Hint, insertion_before_hint
from qps.compiler.diagnostics.source import Span

CHARACTERS_BEFORE = 200
CHARACTERS_AFTER = 60
RANGE_HINT = "write a range as `2..200`"


class Fault(Struct, frozen=True):
    """A word that cannot stand where it stands."""

    span: Span
    before: str  # the text of the declaration up to the word
    accepted: frozenset[str]
    opened: str  # the innermost bracket that is open, empty where none is

    @property
    def word(self) -> str:
        """The word itself."""
        return self.span.text

    @property
    def behind(self) -> str:
        """The text behind the word."""
        text = self.span.source.text
        return text[self.span.end : self.span.end + CHARACTERS_AFTER]

    @property
    def previous(self) -> str:
        """The word before this one, with the sign in front of it: `; merg`."""
        found = re.search(r"(?:[{;\n]\s*)?\w+\s*$", self.before[-CHARACTERS_BEFORE:])
        return found.group().strip() if found else ""

    def before_it(self, word: str) -> Span:
        """Return where a word stands that is the last one before this."""
        end = len(self.span.source.text[: self.span.start].rstrip())
        return Span(self.span.source, end - len(word), end)

    @property
    def with_blanks(self) -> Span:
        """Where the word stands, with the blanks around it."""
        text, span = self.span.source.text, self.span
        start = len(text[: span.start].rstrip(" \t"))
        rest = text[span.end : span.end + CHARACTERS_AFTER]
        return Span(span.source, start, span.end + len(rest) - len(rest.lstrip(" \t")))

    @property
    def after_a_comma(self) -> Hint:
        """The hint to put a comma before this word."""
        return insertion_before_hint(self.span, ",", "put a comma before it")
