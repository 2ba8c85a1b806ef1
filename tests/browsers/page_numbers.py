"""All that a page shows, as text with what it is of: tables by their heads, else where it stands.

It is gathered in the browser, with all that is folded open and every picture drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, convert

_HERE = Path(__file__).parent


class Cell(Struct, frozen=True):
    """A cell of a table: its text, the identifier behind that, and the lights beside it."""

    text: str
    name: str
    lights: tuple[str, ...] = ()


class ShownTable(Struct, frozen=True):
    """A table, with the place on the page that it stands in."""

    of: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class ShownText(Struct, frozen=True, rename={"as_": "as"}):
    """A text outside of tables, with the place that it stands in and the element that holds it."""

    of: str
    kind: str
    as_: str
    text: str


class Line(Struct, frozen=True):
    """A line of a picture, as it is drawn; None where it has no finite value."""

    of: str
    name: str
    at: tuple[float, ...]
    values: tuple[float | None, ...]


class Shown(Struct, frozen=True):
    """All that a page shows."""

    tables: tuple[ShownTable, ...]
    texts: tuple[ShownText, ...]
    lines: tuple[Line, ...]

    def table(self, of: str) -> ShownTable | None:
        """Return the first table in a place, if there is one."""
        return next((one for one in self.tables if one.of == of), None)

    def reported(self, of: str) -> list[str]:
        """Return all texts in a place."""
        return [one.text for one in self.texts if one.of == of]


def shown_on(page: Any) -> Shown:
    """Return all that an opened page shows, scripts or not."""
    return convert(page.evaluate(_script("shown_numbers")), Shown)


def cut_on(page: Any) -> list[str]:
    """Return what an opened page cuts off where nothing says so."""
    found: list[str] = page.evaluate(_script("cut_numbers"))
    return found


def _script(name: str) -> str:
    """Return a function of a file, without what is said of it."""
    text = (_HERE / f"{name}.js").read_text("utf-8")
    return text[text.index("() => {") :]
