"""A file: its declarations."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.ast.written import Declaration


class Module(Struct, frozen=True, kw_only=True):
    """A file: its doc string and its declarations, in the order of the text.

    `failed_names` are the names of declarations that could not be parsed, `failed_kinds` the
    words that these start with, empty where that cannot be told.
    """

    source: Source
    doc: str | None
    declarations: tuple[Declaration, ...]
    failed_names: frozenset[str] = frozenset()
    failed_kinds: frozenset[str] = frozenset()
