"""Tables of text, for a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from msgspec import Struct

from qps.compiler.diagnostics.render import printable

_WIDEST_CELL = 70
_NARROWEST_CELL = 8
"""A text that is cut to a width keeps so much."""


class Table(Struct, frozen=True):
    """Headings and rows; `right` holds the columns that are set to the right.

    Those that are `firm` are cut after all others, where there is no room.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    firm: frozenset[int] = frozenset()

    def as_text(self, indent: str = "  ", width: int | None = None) -> str:
        """Return the table in columns of blanks, its texts cut to a width where one is given."""
        lines = [self.headings, *self.rows]
        cells = [[_shortened(cell) for cell in line] for line in lines]
        widths = [max(text_width(line[i]) for line in cells) for i in range(len(self.headings))]
        if width is not None:
            widths = self._fitting(widths, width - len(indent))
            cells = [
                [_cut(cell, most) for cell, most in zip(c, widths, strict=True)] for c in cells
            ]
        shown = []
        for line in cells:
            padded = [self._padded(cell, i, widths[i]) for i, cell in enumerate(line)]
            shown.append((indent + "  ".join(padded)).rstrip())
        return "\n".join(shown) + "\n"

    def as_markdown(self) -> str:
        """Return the table in Markdown."""
        rule = ["---:" if i in self.right else "---" for i in range(len(self.headings))]
        lines = [self.headings, tuple(rule), *self.rows]
        return "".join(f"| {' | '.join(map(escaped, line))} |\n" for line in lines)

    def _fitting(self, widths: list[int], width: int) -> list[int]:
        """Return narrower columns: the widest text first; numbers are never cut."""
        widths = list(widths)
        texts = [i for i in range(len(widths)) if i not in self.right]
        while sum(widths) + 2 * (len(widths) - 1) > width:
            loose = [i for i in texts if i not in self.firm and widths[i] > _NARROWEST_CELL]
            widest = max(loose or texts, key=lambda i: widths[i], default=None)
            if widest is None or widths[widest] <= _NARROWEST_CELL:
                break
            widths[widest] -= 1
        return widths

    def _padded(self, cell: str, column: int, width: int) -> str:
        blanks = " " * (width - text_width(cell))
        return blanks + cell if column in self.right else cell + blanks


def _shortened(cell: str) -> str:
    inwards = cell[: len(cell) - len(cell.lstrip(" "))]  # a row may stand within another one
    cell = inwards + " ".join(printable(cell).split())
    return cell if len(cell) <= _WIDEST_CELL else cell[: _WIDEST_CELL - 1] + "…"


def _cut(cell: str, most: int) -> str:
    """Return a cell within so many columns."""
    if text_width(cell) <= most:
        return cell
    while text_width(cell) > most - 1:
        cell = cell[:-1]
    return cell.rstrip() + "…"


def text_width(cell: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in cell)


def escaped(cell: str) -> str:
    """Return a text that Markdown shows as it stands."""
    return "".join(_SPECIAL.get(character, character) for character in printable(cell))


_SPECIAL = {character: "\\" + character for character in "\\|*_`[]~"} | {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    "\n": " ",
    # Nobody is called, and nothing linked, by what stands in a spec: a blank of no width between.
    "@": "@\u200b",
    "#": "#\u200b",
}


def escaped_html(text: str) -> str:
    """Return a text that HTML within Markdown shows as it stands."""
    return "".join(_IN_HTML.get(character, character) for character in printable(text))


_IN_HTML = {one: f"&#{ord(one)};" for one in '\\|*_`[]~"'} | {
    one: _SPECIAL[one] for one in "<>&@#\n"
}


def joined(parts: Sequence[str]) -> str:
    """Return paragraphs with an empty line between them."""
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part.strip())
