"""Tables of text, for a terminal and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap
from unicodedata import east_asian_width

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.reports.text.layout.wrapping import unbroken, with_plain_blanks

_WIDEST_CELL = 70
_NARROWEST_CELL = 8
"""Columns that a text keeps which is cut to a width."""
_SMALLEST_PIECE = 8
_NARROWEST_BROKEN = (14, 12)
"""Columns of a long text whose words are broken; the second if the first does not fit."""
_READABLE = 24
"""Columns of a long text below which other columns are left out rather than it made narrower."""


class _Cells(Struct, frozen=True):
    """What a table may be given by place."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    firm: frozenset[int] = frozenset()


class Table(_Cells, frozen=True, kw_only=True):
    """Headings and rows; `right` holds the columns that are set to the right.

    Where there is no room, texts are cut, those of `firm` columns after all others; those of `long`
    columns go on in further lines of the row instead.
    """

    long: frozenset[int] = frozenset()

    def as_text(self, indent: str = "  ", width: int | None = None) -> str:
        """Return the table in columns of blanks, its texts cut to a width where one is given."""
        lines = self.as_lines(indent, width)
        return "".join(f"{line}\n" for row in lines for line in row)

    def as_lines(self, indent: str = "  ", width: int | None = None) -> list[list[str]]:
        """Return the lines of the headings and of each row.

        Where there is no room, intervals are folded, and then headings of numbers.
        """
        cells = [
            [_in_one_line(cell) if i in self.long else _shortened(cell) for i, cell in enumerate(c)]
            for c in (self.headings, *self.rows)
        ]
        widths = [max(text_width(row[i]) for row in cells) for i in range(len(self.headings))]
        if width is not None:
            room = width - len(indent)
            if self.firm & self.long:
                widths = self._with_folded_headings(widths, cells, room)
            fitted = self._fitted(widths, cells, room)
            for piece in (None, _SMALLEST_PIECE):  # numbers stay whole
                if _fits(fitted, room):
                    break
                words = [
                    max(
                        text_width(word)
                        for row in cells
                        for word in _words(row[i], piece if row is cells[0] else None)
                    )
                    for i in range(len(widths))
                ]
                numbers = [i for i in range(len(widths)) if i in self.right]
                widths = self._narrowed(widths, words, room, numbers)
                fitted = self._fitted(widths, cells, room)
            widths = fitted
        return [self._row(row, widths, indent) for row in cells]

    def _with_folded_headings(
        self, widths: Sequence[int], cells: Sequence[Sequence[str]], room: int
    ) -> list[int]:
        """Return columns whose headings are folded where that leaves all cells whole."""
        headings, *rows = cells
        columns = sorted(self.right | self.firm)
        least = list(widths)
        for i in columns:
            words = _words(headings[i], _SMALLEST_PIECE if i in self.right | self.long else None)
            least[i] = max(map(text_width, (*words, *(row[i] for row in rows))))
        return self._narrowed(widths, least, room, columns)

    def _fitted(
        self, widths: Sequence[int], cells: Sequence[Sequence[str]], room: int
    ) -> list[int]:
        """Return columns whose texts are folded, and broken where that is not enough."""
        least = self._least(cells)
        found = self._narrowed(widths, least, room)
        for narrowest in _NARROWEST_BROKEN:
            broken = [min(most, narrowest) for most in least]
            found = self._narrowed(found, broken, room)
        # words that may be cut go on in a line of their own before any other is broken
        pieces = self._least(cells, _SMALLEST_PIECE)
        for broken in (pieces, [min(most, _NARROWEST_CELL) for most in pieces]):
            found = self._narrowed(found, broken, room)
        return found

    def _row(self, row: Sequence[str], widths: Sequence[int], indent: str) -> list[str]:
        """Return the lines of a row: a first one, and what did not fit into it."""
        cells = [
            _folded(cell, most) if i in self.long or i in self.right else [_cut(cell, most)]
            for i, (cell, most) in enumerate(zip(row, widths, strict=True))
        ]
        shown = []
        for parts in zip_longest(*cells, fillvalue=""):
            padded = [self._padded(cell, i, widths[i]) for i, cell in enumerate(parts)]
            shown.append((indent + "  ".join(padded)).rstrip())
        return shown

    def fitting(self, width: int, least_first: Sequence[int]) -> list[int]:
        """Return the columns for which there is room: those that matter least are left out first.

        Texts of `long` columns may go on in further lines for that, but not be cut.
        """
        shown = list(range(len(self.headings)))
        widths = [
            min(most, _READABLE) if i in self.long else most
            for i, most in enumerate(map(self._widest, shown))
        ]
        for column in least_first:
            if sum(widths[i] + 2 for i in shown) <= width:
                break
            shown.remove(column)
        return shown

    def with_columns(self, shown: Sequence[int]) -> Table:
        """Return the table with some of its columns."""
        places = {column: place for place, column in enumerate(shown)}
        right, firm, long = (
            frozenset(places[column] for column in columns if column in places)
            for columns in (self.right, self.firm, self.long)
        )
        rows = tuple(tuple(row[column] for column in shown) for row in self.rows)
        headings = tuple(self.headings[column] for column in shown)
        return Table(headings, rows, right, firm, long=long)

    def _widest(self, column: int) -> int:
        return max(text_width(_shortened(row[column])) for row in (self.headings, *self.rows))

    def as_markdown(self) -> str:
        """Return the table in Markdown."""
        rule = ["---:" if i in self.right else "---" for i in range(len(self.headings))]
        lines = [self.headings, tuple(rule), *self.rows]
        return "".join(f"| {' | '.join(map(escaped, line))} |\n" for line in lines)

    def _narrowed(
        self,
        widths: Sequence[int],
        least: Sequence[int],
        room: int,
        columns: Sequence[int] | None = None,
    ) -> list[int]:
        """Return narrower columns, by default texts: the widest first."""
        found = list(widths)
        if columns is None:
            columns = [i for i in range(len(found)) if i not in self.right or i in self.long]
        while not _fits(found, room):
            wide = [i for i in columns if found[i] > least[i]]
            loose = [i for i in wide if i not in self.firm]
            if not wide:
                break
            found[max(loose or wide, key=lambda i: found[i])] -= 1
        return found

    def _least(self, cells: Sequence[Sequence[str]], piece: int | None = None) -> list[int]:
        """Return how narrow each column may be: words of long columns stay whole.

        With a `piece`, names and intervals are cut into parts of that length or longer.
        """
        return [
            max(len(word) for row in cells for word in _words(row[i], piece))
            if i in self.long
            else _NARROWEST_CELL
            for i in range(len(self.headings))
        ]

    def _padded(self, cell: str, column: int, width: int) -> str:
        blanks = " " * (width - text_width(cell))
        return blanks + cell if column in self.right else cell + blanks


def _fits(widths: Sequence[int], room: int) -> bool:
    return sum(widths) + 2 * (len(widths) - 1) <= room


def _in_one_line(cell: str) -> str:
    inwards = cell[: len(cell) - len(cell.lstrip(" "))]  # a row may stand within another one
    return inwards + " ".join(printable(cell).split())


def _folded(cell: str, most: int) -> list[str]:
    """Return a cell in lines of a width."""
    if text_width(cell) <= most:
        return [cell]
    cell = " ".join(_pieces(word, most) for word in cell.split(" "))
    whole = unbroken(cell)  # numbers with their units, where there is room for them
    fits = max(map(text_width, whole.split(" "))) <= most
    lines = wrap(whole if fits else cell, most, break_on_hyphens=False)
    return [_cut(with_plain_blanks(line), most) for line in lines] or [""]


def _words(cell: str, piece: int | None) -> list[str]:
    """Return the words of a cell, numbers with their units, or those that may be cut in pieces."""
    if piece is None:
        return unbroken(cell).split(" ")
    return [part for word in cell.split(" ") for part in _pieces(word, piece).split(" ")]


def _pieces(word: str, most: int) -> str:
    """Return a name that is too long for a line in pieces that fit, with blanks between them.

    >>> _pieces("other_runs[2].cpu,", 12), _pieces("short", 12), _pieces("37,700–39,000", 12)
    ('other_runs [2].cpu,', 'short', '37,700– 39,000')
    """
    if text_width(word) <= most:
        return word
    pieces = [""]
    for part in _PART_OF_NAME.findall(word):
        if pieces[-1] and text_width(pieces[-1] + part) > most:
            pieces.append("")
        pieces[-1] += part
    return " ".join(pieces)


_PART_OF_NAME = re.compile(r"[^_.–(\[]*(?:[_–(]|\.(?!\d))|\[[^_.–(\[]*|[^_.–(\[]+|\.")
"""What a name is cut into: behind `_`, `.` and `(`, and before `[`; an interval behind its `–`."""


def _shortened(cell: str) -> str:
    cell = _in_one_line(cell)
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
