"""The head of an output and the facts below it: a title with its file at the right, labels before.

Labels start in column 3 and what they name in column 16, in the output of every command.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.diagnostics.visible_text import one_line
from qps.reports.text.layout.table import text_width
from qps.reports.text.layout.wrapping import wrapped

COLUMNS = 80
"""How wide an output is that no terminal shows."""
_INDENT = "  "
_LABEL = 12
"""Columns of a label, with one blank behind; longer ones widen the column for all."""
VALUE_COLUMN = len(_INDENT) + _LABEL + 1
"""Columns before the value of a fact."""


class Fact(Struct, frozen=True):
    """A fact under its label: about what it is, if it begins with that, and what it says.

    `hint` is what to type so that there is more to say, with what joins it to the text: a page
    shows it apart, and paper leaves it out.
    """

    label: str
    text: str
    name: str = ""
    hint: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The label with the whole text, as a terminal prints it."""
        name = f"{self.name}: " if self.name and self.text else self.name
        return self.label, f"{name}{self.text}{self.hint}"


def title_lines(title: str, place: str, width: int = COLUMNS) -> list[str]:
    """Return a title with the file at the right; one that is too long, in several lines.

    >>> title_lines("Sizing", "site.qps", 24)
    ['Sizing          site.qps']
    >>> title_lines("Sizing for 20,000 users", "site.qps", 24)
    ['Sizing for 20,000 users', '                site.qps']
    """
    lines = wrapped(title, width, "")
    shown = one_line(place)
    if not shown:
        return lines
    if lines and text_width(lines[-1]) + 2 + text_width(shown) <= width:
        return [*lines[:-1], _right(shown, width, lines[-1])]
    if text_width(shown) <= width:
        return [*lines, _right(shown, width)]
    return [*lines, *wrapped(place, width, _INDENT)]


def _right(text: str, width: int, before: str = "") -> str:
    return before + " " * (width - text_width(before) - text_width(text)) + text


def fact_lines(facts: Sequence[tuple[str, str]], width: int = COLUMNS) -> list[list[str]]:
    """Return facts behind their labels, each in lines of a width.

    >>> fact_lines([("Capacity", "7,462 users"), ("", "optimistic")])
    [['  Capacity     7,462 users'], ['               optimistic']]
    """
    shown = [fact for fact in facts if fact[1]]
    column = max([_LABEL, *(text_width(label) for label, _ in shown)])
    margin = _INDENT + " " * (column + 1)
    return [wrapped(text, width, f"{_INDENT}{label:{column}} ", margin) for label, text in shown]


def facts_text(facts: Sequence[tuple[str, str]], width: int = COLUMNS) -> str:
    """Return the same as one text, without those that have no value."""
    return "".join(f"{line}\n" for lines in fact_lines(facts, width) for line in lines)


def notes_text(notes: Sequence[str], width: int = COLUMNS) -> str:
    """Return sentences as an output ends with them, each in lines of a width."""
    return "".join(f"{line}\n" for note in notes for line in wrapped(note, width, _INDENT, _INDENT))


def warnings_text(warnings: Sequence[str], width: int = COLUMNS) -> str:
    r"""Return warnings, each in lines of a width of which the first stands out.

    >>> warnings_text(["the machine was busy"], 26)
    '  warning: the machine was\n    busy\n'
    """
    return "".join(
        f"{line}\n"
        for one in warnings
        for line in wrapped(f"warning: {one}", width, _INDENT, 2 * _INDENT)
    )
