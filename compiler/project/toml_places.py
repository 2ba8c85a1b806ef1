"""Where the keys of a TOML text stand: the library that reads TOML returns values alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from qps.compiler.diagnostics.source import Source, Span

KeyPath: TypeAlias = tuple[str | int, ...]
"""The keys that lead to a value; of a list of tables their number, from 0."""

_HEADER = re.compile(r"[ \t]*(\[\[?)([^\[\]#\n]+)\]\]?")
_KEY = re.compile(r"[ \t]*([A-Za-z0-9_\-\"'. \t]+?)[ \t]*=[ \t]*([^\n]*?)[ \t]*(?:#[^\n]*)?$")


def places_in(source: Source) -> Mapping[KeyPath, Span]:
    """Return the place of each table and key that has a line of its own.

    A key that is written in the line of another (an inline table) is found by `place_of`.
    """
    found: dict[KeyPath, Span] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    start = 0
    for line in source.text.split("\n"):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = _keys(header[2])
            if header[1] == "[[":
                number = counts[table] = counts.get(table, -1) + 1
                table = (*table, number)
            found.setdefault(table, Span(source, start + header.start(1), start + header.end()))
        elif key is not None:
            way = (*table, *_keys(key[1]))
            found.setdefault(way, Span(source, start + key.start(1), start + key.end(2)))
        start += len(line) + 1
    return found


def place_of(path: KeyPath, places: Mapping[KeyPath, Span], source: Source) -> Span:
    """Return where a value stands: its own line, else that of what holds it."""
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return Span(source, 0, min(1, len(source.text)))


def _keys(text: str) -> KeyPath:
    return tuple(part.strip().strip("\"'") for part in text.split("."))
