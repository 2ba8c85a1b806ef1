"""The one way to the screen: all text that any command prints goes through here.

What specs, tables and file names hold comes from strangers: characters that drive a terminal are
replaced, in JSON they are escaped. A screen that is full or closed is no fault of a spec.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from qps.commands.terminal.plain_symbols import spelled_in
from qps.compiler.diagnostics.visible_text import escaped, printable


class OutputLostError(Exception):
    """Raised where what was printed did not arrive."""


class Screen:
    """A stream that shows texts as they are, but lets none of them drive a terminal.

    With `is_json`, what would is escaped, so that the value stays what it was.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self.unguarded = stream
        self.is_json = False
        self._name = name

    def write(self, text: str) -> int:
        """Write a text; OutputLostError where it cannot be."""
        self.write_styled(escaped(text) if self.is_json else printable(text))
        return len(text)

    def write_styled(self, text: str) -> None:
        """Write a text of our own making, with colors or moves of the cursor in it."""
        encoding = getattr(self.unguarded, "encoding", None) or "utf-8"
        shown = spelled_in(text, encoding).encode(encoding, "backslashreplace").decode(encoding)
        try:
            self.unguarded.write(shown)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._lost(error) from error

    def flush(self) -> None:
        """Send on what was written; OutputLostError where it cannot be."""
        try:
            self.unguarded.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._lost(error) from error

    def speak_to_programs(self) -> None:
        """Write UTF-8, and ends of lines as they are, whatever the terminals of this system want.

        People who look at it at a terminal see what that shows.
        """
        if isinstance(self.unguarded, TextIOWrapper) and not self.unguarded.isatty():
            self.unguarded.reconfigure(encoding="utf-8", newline="\n")

    def isatty(self) -> bool:
        """Return whether people look at it."""
        return self.unguarded.isatty()

    def fileno(self) -> int:
        """Return the number of the open file."""
        return self.unguarded.fileno()

    @property
    def encoding(self) -> str:
        """How characters become bytes."""
        return self.unguarded.encoding

    def _lost(self, error: OSError) -> OutputLostError:
        return OutputLostError(f"cannot write to {self._name}: {error.strerror or error}")


@contextmanager
def screens() -> Iterator[Screen]:
    """Let all output go through screens meanwhile, and give that of standard output."""
    before = sys.stdout, sys.stderr
    # Closed ones (`>&-`) are None: nobody hears of a mistake without the one, so it may be lost.
    out = Screen(sys.stdout, "standard output") if sys.stdout is not None else None
    error = Screen(sys.stderr if sys.stderr is not None else _nowhere(), "standard error")
    sys.stdout, sys.stderr = out, error
    try:
        if out is None:
            raise OutputLostError("standard output is closed")
        with _flushed_at_exit(out):
            yield out
        out.flush()
        error.flush()
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def _flushed_at_exit(out: Screen) -> Iterator[None]:
    """Send on what `--help` and `--version` print: they leave at once, and may not lose it."""
    try:
        yield
    except SystemExit:
        out.flush()
        raise


def abandon_output(lost: OutputLostError) -> None:
    """Tell in one line that output was lost, as far as possible, and drop what is left."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is sys.stderr and stream is not None:
                stream.write(f"qps: {lost}\n")
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _drop(stream)


def style(stream: TextIO, text: str) -> None:
    """Write a text of our own making, with colors or moves of the cursor in it."""
    if isinstance(stream, Screen):
        stream.write_styled(text)
    else:
        stream.write(text)


def _drop(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere: Python writes it when it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
