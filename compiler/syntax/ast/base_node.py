"""What every node of the tree has, and the names by which declarations are spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from qps.compiler.diagnostics.source import Span

_PART = re.compile(r"[^\s.]+")


class Written(Struct, frozen=True):
    """A node, and where it stands."""

    span: Span


class Name(Written, frozen=True):
    """A name, with its parts where it has dots."""

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name as it is written."""
        return ".".join(self.parts)

    @property
    def written_parts(self) -> tuple[Name, ...]:
        """What the text has between the dots of a name, each a name with a span of its own.

        They are as many as `parts` where the name is written out. One that stands for each of
        some kinds has more parts than its text: `web.cpu.load`, of `web.us.cpu.load`.
        """
        start = self.span.start
        return tuple(
            Name(Span(self.span.source, start + one.start(), start + one.end()), (one[0],))
            for one in _PART.finditer(self.span.text)
        )

    def before(self, count: int) -> Name:
        """Return the first so many parts as a name, with their span where they are written out."""
        return self._cut(0, count)

    def behind(self, count: int) -> Name:
        """Return all but the first so many parts, with their span where they are written out."""
        return self._cut(count, len(self.parts))

    def _cut(self, start: int, end: int) -> Name:
        parts, written = self.parts[start:end], self.written_parts
        if tuple(part.text for part in written) != self.parts:
            return Name(self.span, parts)
        return Name(written[start].span.to(written[end - 1].span), parts)


class Index(Written, frozen=True):
    """`for each region but ap`: one for each of these kinds, or for each pair of them."""

    kinds: Name
    but: tuple[Name, ...] = ()
    is_pair: bool = False


class Declaration(Written, frozen=True, kw_only=True):
    """What a file is made of; the doc string before it says what it is for.

    Each kind states here what else depends on it, so nothing else lists the kinds.
    """

    is_of_system: ClassVar[bool] = False
    """A file with one is a system, which is used as an instance."""
    needs_solution: ClassVar[bool] = False
    """A file with one has something to solve; others only declare what specs use."""
    is_of_main_file: ClassVar[bool] = False
    """It is checked only if its file is the spec itself."""
    each_of: ClassVar[str] = ""
    """The field whose parts are repeated for each kind, where they name what each kind has."""

    doc: str | None = None


class Presentation(Struct, frozen=True, kw_only=True):
    """How messages and editors show the name of a declaration.

    Messages call it by its `noun`; `symbol` is the kind that editors look for, its keyword if
    that is empty. `symbol_kind` is a SymbolKind of the language server protocol (in an outline),
    `completion_kind` a CompletionItemKind (beside a completion) if that has none of this name,
    `color` a type of semantic tokens, and `tag` the kind of a definition in tree-sitter,
    empty for none.
    """

    noun: str
    symbol_kind: str
    color: str
    symbol: str = ""
    completion_kind: str = ""
    tag: str = ""


class Named(Declaration, frozen=True):
    """A declaration with a name; each kind of these has a `presentation`."""

    presentation: ClassVar[Presentation]

    name: Name


class Shared(Named, frozen=True):
    """A declaration whose name shares one space with those of other kinds."""


def declaration_kinds(of: type[Declaration] = Declaration) -> Iterator[type[Declaration]]:
    """Yield the kinds of declarations."""
    for kind in of.__subclasses__():
        yield kind
        yield from declaration_kinds(kind)


def named_kinds() -> Iterator[type[Named]]:
    """Yield the kinds of declarations that have a name and a presentation."""
    for kind in declaration_kinds(Named):
        if issubclass(kind, Named) and "presentation" in vars(kind):
            yield kind
