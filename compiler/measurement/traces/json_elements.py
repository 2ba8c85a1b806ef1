"""The parts of a JSON file that one asks for, one by one, however long the file is.

Only brackets and strings are looked at: the parts that are wanted are decoded by the caller.
Documents may stand one behind the other, as in JSON lines. At no time is more than a chunk and one
part in memory; what is nested deeper, or longer, than spans ever are is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError

Path = tuple[str, ...]
ITEM = "[]"
"""In a path, an item of a list."""
_CHUNK = 1 << 20
_LONGEST_STRING = 16 << 20
_LONGEST_PART = 64 << 20
_DEEPEST = 200

_TO_BRACKET = re.compile(
    rb'[^{}\[\]"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^{}\[\]"]*+)*+([{}\[\]])', re.DOTALL
)
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_WHOLE_DEPTH = 12


def _whole_part() -> re.Pattern[bytes]:
    """Return a pattern of brackets with all that is in them, nested a few levels deep."""
    plain = r'[^{}\[\]"]*+'
    text = ""
    for _ in range(_WHOLE_DEPTH):
        inner = f"(?:{_STRING}|{text})" if text else _STRING
        text = rf"[{{\[]{plain}(?:{inner}{plain})*+[}}\]]"
    return re.compile(text.encode(), re.DOTALL)


_WHOLE_PART = _whole_part()
"""Finds the end of nearly all parts at once; whether brackets fit is seen as a part is decoded."""
_KEY = re.compile(rb'"([^"\\]{0,200})"\s*+:\s*+[\[{]\Z')
_OPENING = frozenset(b"{[")
_PAIRS = {ord("}"): ord("{"), ord("]"): ord("[")}


class Readable(Protocol):
    """A file of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes, none at the end."""
        ...


class Part(Struct, frozen=True, kw_only=True, gc=False):
    """A part of a document: the keys that lead to it, and its text.

    An object that is not wanted is given as well when it ends, without text.
    """

    path: Path
    text: bytes = b""


class _Level(Struct, gc=False):
    bracket: int
    path: Path


class _Splitter:
    """How far the file is read."""

    def __init__(self, wants: Callable[[Path], bool], name: str) -> None:
        self.wants = wants
        self.name = name
        self.levels: list[_Level] = []
        self.part: list[bytes] = []
        self.part_depth = 0  # of the part that is being collected; 0 for none
        self.part_bytes = 0

    def bracket(self, segment: bytes, bracket: int) -> Part | None:
        """Take what stands up to a bracket, and the bracket; return the part that ends there."""
        if self.part_depth:
            self._collect(segment)
        if bracket in _OPENING:
            self._open(segment, bracket)
            return None
        if not self.levels or self.levels[-1].bracket != _PAIRS[bracket]:
            raise DataError(
                f"`{self.name}` is not valid JSON: a bracket closes that is not open",
                "export the traces again",
            )
        level = self.levels.pop()
        if not self.part_depth:
            return Part(path=level.path) if bracket == ord("}") else None
        if len(self.levels) >= self.part_depth:
            return None
        self.levels.append(level)
        return self.end(b"".join(self.part))

    @property
    def begins(self) -> bool:
        """Whether the last bracket opened a part that is wanted."""
        return len(self.part) == 1

    def end(self, text: bytes) -> Part:
        """Return the part that begins with the last bracket, whose text was found at once."""
        self.part, self.part_depth, self.part_bytes = [], 0, 0
        return Part(path=self.levels.pop().path, text=text)

    def _open(self, segment: bytes, bracket: int) -> None:
        if len(self.levels) >= _DEEPEST:
            raise DataError(
                f"`{self.name}` is nested more than {_DEEPEST} levels deep",
                "export the traces again; no trace format nests that deep",
            )
        above = self.levels[-1] if self.levels else None
        path = above.path if above else ()
        if not self.part_depth:
            if above is not None and above.bracket == ord("["):
                path = (*path, ITEM)
            elif above is not None:
                key = _KEY.search(segment)
                path = (*path, key[1].decode(errors="replace") if key else "")
            if bracket == ord("{") and self.wants(path):
                self.part_depth = len(self.levels) + 1
                self._collect(b"{")
        self.levels.append(_Level(bracket, path))

    def _collect(self, text: bytes) -> None:
        self.part.append(text)
        self.part_bytes += len(text)
        if self.part_bytes > _LONGEST_PART:
            raise DataError(
                f"`{self.name}` has a span or a resource larger than {_LONGEST_PART >> 20} MB",
                "export the traces without events and payloads",
            )


def parts_of(file: Readable, name: str, wants: Callable[[Path], bool]) -> Iterator[Part | None]:
    """Yield the objects for which `wants(path)` is true, and ends of others.

    None at the end says that the file ends in the middle of a document.
    """
    splitter = _Splitter(wants, name)
    rest = b""
    while chunk := file.read(_CHUNK):
        rest += chunk
        position = 0
        while found := _TO_BRACKET.match(rest, position):
            part = splitter.bracket(rest[position : found.end()], rest[found.end() - 1])
            position = found.end()
            if part is not None:
                yield part
            elif splitter.begins and (whole := _WHOLE_PART.match(rest, position - 1)):
                position = whole.end()
                yield splitter.end(whole[0])
        rest = rest[position:]
        if len(rest) > _LONGEST_STRING:
            raise DataError(
                f"`{name}` has a value longer than {_LONGEST_STRING >> 20} MB",
                "export the traces as JSON, without payloads",
            )
    if splitter.levels:
        yield None
