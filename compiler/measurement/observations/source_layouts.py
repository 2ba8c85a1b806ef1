"""What a tool is that `qps observe` reads: its layouts, their readers, and how it is recognized."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any

from msgspec import Struct


class ReaderOutput(Enum):
    """What a reader takes, and its output."""

    SUMMARY = "summary"
    """Of the text of a file and its name: runs, without times, and notes."""
    SAMPLES = "samples"
    """Of the lines of each file of one run, its name and a window in s or None: runs and notes."""
    TABLE = "table"
    """Of a path and a `FileReading`: a table."""


class FileLayout(Struct, frozen=True, kw_only=True):
    """A layout of files: its reader, a function of a module here such as `k6_points.k6_point_runs`.

    A file has it where the function `begins` says so of the first line; without one, any file has.
    """

    reader: str
    output: ReaderOutput
    begins: str = ""

    def is_of(self, first: str) -> bool:
        """Return whether a file with this first line has this layout."""
        return not self.begins or _function(self.begins)(first)

    def read(self, *arguments: Any) -> Any:
        """Return what the reader says."""
        return _function(self.reader)(*arguments)


class MeasurementTool(Struct, frozen=True, kw_only=True):
    """A tool: its name, what it writes, the layouts of that (the first that fits is read).

    It `takes` flags of `FLAGS`; without one, windows are as long as `window` says, or a row is a
    whole run. `hint` says how to have times, where a summary has none. `run_of` gives the name of
    the run that a file is of, where a run has several.

    A file is one of its where one of the `signs` is found in how it begins, or one of `magic` is
    what it begins with; `recognized_by` says so in words.
    """

    name: str
    files: str
    layouts: tuple[FileLayout, ...]
    takes: tuple[str, ...] = ("item",)
    window: str | None = None
    hint: str = ""
    run_of: str = ""
    signs: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    recognized_by: str = ""

    def is_of(self, start: bytes, head: str) -> bool:
        """Return whether a file that begins with these bytes, and this text, is one of its."""
        return (
            start.startswith(self.magic)
            if self.magic
            else any(re.search(sign, head, re.MULTILINE) for sign in self.signs)
        )

    def run(self, file: str) -> str | None:
        """Return the name of the run that a file is of; None where each is one by itself."""
        return _function(self.run_of)(file) if self.run_of else None


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(
        import_module(f"qps.compiler.measurement.observations.{module}"), function
    )
    return found
