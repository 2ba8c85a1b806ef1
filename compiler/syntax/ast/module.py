"""A file: its declarations."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.ast.base_node import Declaration

D = TypeVar("D", bound=Declaration)


class Module(Struct, frozen=True, kw_only=True):
    """A file: its doc string and its declarations, in the order of the text.

    `failed_names` are the names of declarations that could not be parsed, `failed_kinds` the
    words that these start with, empty where that cannot be determined.
    """

    source: Source
    doc: str | None
    declarations: tuple[Declaration, ...]
    failed_names: frozenset[str] = frozenset()
    failed_kinds: frozenset[str] = frozenset()

    def every(self, kind: type[D]) -> list[D]:
        """Return the declarations of a kind."""
        return [declaration for declaration in self.declarations if isinstance(declaration, kind)]
