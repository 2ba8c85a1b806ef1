"""Lines that tools print: each has a label, and behind it what is read."""

from __future__ import annotations

import re
from itertools import groupby, islice

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError

NUMBER = r"\d{1,18}(?:\.\d{1,18})?"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_LONGEST_SHOWN = 60
_MOST_BLANK = 100
"""Blank lines one after the other, more than any tool prints."""


def plain_text(text: str) -> str:
    """Return a text without the escapes that color it on a terminal, and without empty pages.

    Patterns that begin with blanks would take a time quadratic in the number of blank lines.
    """
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    if plain.count("\n") <= _MOST_BLANK:
        return plain
    return "".join(
        line
        for is_blank, lines in groupby(plain.splitlines(keepends=True), key=str.isspace)
        for line in islice(lines, _MOST_BLANK if is_blank else None)
    )


class RunText(Struct, frozen=True, kw_only=True):
    """What a tool prints of a run: a `text` of a `file`, from its `line` on."""

    file: str
    text: str
    line: int = 1

    def found(self, label: str, value: str) -> re.Match[str] | None:
        """Return the value behind a label, in the first line that begins with it.

        Both are regular expressions. None where no line does; DataError where one does and what
        stands there is no such value: a line that is not understood is never passed over.
        """
        line = re.search(rf"^[ \t]{{0,99}}(?:{label})(.*)$", self.text, re.MULTILINE)
        if line is None:
            return None
        behind = re.compile(value).match(line[line.lastindex or 0])
        if behind is None:
            raise self.not_understood(line)
        return behind

    def number(self, label: str, value: str = rf"\s*({NUMBER})") -> float | None:
        """Return the number behind a label: the first group of a value."""
        found = self.found(label, value)
        return None if found is None else float(found[1])

    def not_understood(self, line: re.Match[str]) -> DataError:
        """Return the error for a line that holds something else than it should."""
        number = self.line + self.text.count("\n", 0, line.start())
        shown = line[0].strip()[:_LONGEST_SHOWN]
        return DataError(
            f"`{shortened(self.file)}`, line {number}: `{shown}` is not recognized",
            "do not edit the output of the tool; if it is from another version, remove the line",
        )


def half_digit(number: str) -> float:
    """Return by how much a number may be off as it is written: half of its last digit.

    >>> half_digit("0.04"), half_digit("12")
    (0.005, 0.5)
    """
    return 0.5 * 10.0 ** -len(number.partition(".")[2])
