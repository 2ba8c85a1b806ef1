"""What every node of the tree has, and the names by which declarations are spoken of."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span


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


class Index(Written, frozen=True):
    """`for each region but ap`: one for each of these kinds, or for each pair of them."""

    kinds: Name
    but: tuple[Name, ...] = ()
    is_pair: bool = False


class Declaration(Written, frozen=True, kw_only=True):
    """What a file is made of; the doc string before it says what it is for."""

    doc: str | None = None


class Named(Declaration, frozen=True):
    """A declaration with a name."""

    name: Name


class Shared(Named, frozen=True):
    """A declaration whose name shares one space with those of other kinds."""
