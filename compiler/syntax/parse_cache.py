"""Declarations that were read before, to be had again where the same text stands: for editors.

While one types, one declaration of a text changes and all others are moved at most. A part of a
text that was read without a mistake is kept as bytes, and made anew from them with other places:
that takes a tenth of the time that reading it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pickle import HIGHEST_PROTOCOL, Pickler, Unpickler
from typing import Any

from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast

MOST_PARTS = 4_000
"""Parts of texts that are kept; of more, those that were used longest ago are given up."""

Items = Sequence[str | ast.Declaration]
"""What a part of a text says: doc strings and declarations."""


class ParseCache:
    """Parts of texts with what they say; it is used by one thread at a time."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[int, bytes]] = {}

    def put(self, source: Source, start: int, end: int, items: Items) -> None:
        """Keep what a part of a text says, in which nothing is wrong."""
        written = BytesIO()
        _Writer(written).dump(items)
        self._parts[source.text[start:end]] = start, written.getvalue()
        while len(self._parts) > MOST_PARTS:
            del self._parts[next(iter(self._parts))]

    def get(self, source: Source, start: int, end: int) -> Items | None:
        """Return what a part of a text says, with its places there; None for one that is new."""
        text = source.text[start:end]
        found = self._parts.pop(text, None)
        if found is None:
            return None
        self._parts[text] = found
        read: Items = _Reader(found[1], source, start - found[0]).load()
        return read


class _Writer(Pickler):
    """Writes nodes of a tree; the source that they stand in is that of who reads them."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=HIGHEST_PROTOCOL)

    def persistent_id(self, value: object) -> str | None:
        """Return a mark for what is not written."""
        return "source" if type(value) is Source else None


class _Reader(Unpickler):
    """Reads nodes that `_Writer` wrote in this process, so far on in another source."""

    def __init__(self, written: bytes, source: Source, shift: int) -> None:
        super().__init__(BytesIO(written))
        self._source, self._shift = source, shift

    def persistent_load(self, _: object) -> Source:
        """Return what the only mark stands for."""
        return self._source

    def find_class(self, module: str, name: str) -> Any:
        """Return a type of node; places are made where they are now."""
        if name == Span.__name__ and module == Span.__module__:
            return self._moved()
        return super().find_class(module, name)

    def _moved(self) -> Callable[[Source, int, int], Span]:
        shift = self._shift
        if not shift:
            return Span
        return lambda source, start, end: Span(source, start + shift, end + shift)
