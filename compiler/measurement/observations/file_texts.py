"""The text and the lines of a file that a tool has written, and how it is to be read."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.observed_runs import MOST_TEXT
from qps.compiler.measurement.observations.time_arguments import LEAST_STRETCH, window_of

_LONGEST_LINE = 100_000


class FileReading(Struct, frozen=True, kw_only=True):
    """How files are read: what is done (`item`), and a row for each `window`, as text.

    Without a window a row is a whole run, or what the source says. `interface` is the one whose
    packets count, None for all but `lo`, `process` the name of processes that count. Of a table,
    `column` names what columns are that have no usual heading (`Throughput=request/s`), and
    `decimal` is its decimal sign. `offset` is by how much a machine's clock is ahead of the
    generator's, as text.
    """

    item: str = "request"
    window: str | None = None
    interface: str | None = None
    process: str | None = None
    column: tuple[str, ...] = ()
    decimal: str | None = None
    offset: str | None = None

    @property
    def stretch(self) -> float | None:
        """The window in s; DataError where it is none."""
        return None if self.window is None else float(window_of(self.window, LEAST_STRETCH))


@contextmanager
def lines_of(path: Path) -> Iterator[Iterator[str]]:
    """Give the lines of a file one by one, however long it is."""
    try:
        encoding = encoding_of(first_bytes(path, len(BOM_UTF16_LE)))
        with path.open(encoding=encoding, errors="replace", newline="") as file:
            yield iter(partial(file.readline, _LONGEST_LINE), "")
    except OSError as error:
        raise unreadable(path, error) from error


def first_bytes(path: Path, count: int) -> bytes:
    """Return how a file begins; nothing of a pipe, which is read once."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise unreadable(path, error) from error


def encoding_of(start: bytes) -> str:
    """Return what a text is written in by its first bytes: UTF-16 has a mark.

    Windows writes it: PowerShell behind `>`, and spreadsheets.
    """
    return "utf-16" if start[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"


def first_line(path: Path) -> str:
    """Return how a file begins; nothing of a pipe, which is read once."""
    if not path.is_file():
        return ""
    with lines_of(path) as lines:
        return next(lines, "")


def text_of(path: Path) -> str:
    """Return the text of a file that a tool prints."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(content) > MOST_TEXT:
        raise DataError(
            f"`{path}` is larger than {MOST_TEXT // 10**6} MB", "keep only the summary at its end"
        )
    return content.decode(encoding_of(content), errors="replace").replace("\r\n", "\n")


def unreadable(path: Path, error: OSError) -> DataError:
    """Return that a file cannot be read."""
    reason = error.strerror or str(error)
    return DataError(f"`{path}` cannot be read: {reason}", "check the path and its permissions")
