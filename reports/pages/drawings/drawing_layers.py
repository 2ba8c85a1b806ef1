"""Where the boxes and lines of a drawing of the system stand, on a picture of some width.

Side by side where there is room, else in rows from above, as wide as the picture; lines run in the
gaps between boxes and never behind them. Boxes are alike, so that nothing moves when values do.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec import Struct, to_builtins

from qps.reports.pages.drawings.drawing_topology import DrawingTopology

WIDTHS = (360, 640, 960)
"""A phone, half a screen, and a column of text: a page takes the widest for which it has room."""

HEIGHT = 80
"""Of a box: its name, its machine, its fullest resource, and the time that is spent there."""

_WIDEST, _GAP, _ROW_GAP, _TOP = 176, 20, 26, 8
_ROOM, _LITTLE_ROOM = 158, 118
"""How wide a box is with its gap; on a picture for a phone there is little room."""

_MOST_BELOW = 4
_NARROWEST_COLUMNS, _COLUMN_GAP = 176, 44
"""Beside each other, lines go straight from box to box: that takes room."""


class DrawingLayout(Struct, frozen=True, kw_only=True):
    """A drawing: for each place the left upper corner of its box, for each join a line.

    A line is corners, from the first that is joined to the second.
    """

    width: int
    height: int
    box: int
    corners: tuple[tuple[int, int], ...]
    lines: tuple[tuple[tuple[int, int], ...], ...]


class _Box(Struct, frozen=True, kw_only=True):
    """A box in a row; `band` are the rows that go on from one to the next.

    `gutter` is where a line passes it at its left, `top` and `bottom` are those of the band.
    """

    x: float
    y: float
    width: float
    band: int
    row: int
    place: int
    gutter: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def above(self) -> float:
        return self.y - _ROW_GAP / 2

    @property
    def below(self) -> float:
        return self.y + HEIGHT + _ROW_GAP / 2


def drawing_of(topology: DrawingTopology) -> dict[str, Any]:
    """Return where places stand and what joins them, for each width, as plain values."""
    widths = WIDTHS if topology.places else ()
    return {
        "places": [[place.name, place.kind] for place in topology.places],
        "joins": to_builtins(topology.joins),
        "high": HEIGHT,
        "layouts": to_builtins([laid_out(topology, width) for width in widths]),
    }


def laid_out(topology: DrawingTopology, width: int) -> DrawingLayout:
    """Return where everything stands on a picture of a width."""
    columns = max(place.column for place in topology.places) + 1
    rows = max(place.row for place in topology.places) + 1
    is_beside = columns * _NARROWEST_COLUMNS <= width and rows <= _MOST_BELOW
    boxes = _in_columns(topology, width / columns) if is_beside else _in_bands(topology, width)
    straight = _straight if is_beside else _around
    found = [boxes[place.name] for place in topology.places]
    return DrawingLayout(
        width=width,
        height=round(max(box.y for box in found) + HEIGHT + _ROW_GAP / 2),
        box=round(found[0].width),
        corners=tuple((round(box.x), round(box.y)) for box in found),
        lines=tuple(
            tuple((round(x), round(y)) for x, y in straight(boxes[one], boxes[other]))
            for one, other in topology.joins
        ),
    )


def _in_columns(topology: DrawingTopology, step: float) -> dict[str, _Box]:
    """Return boxes in columns: what is joined stands in neighboring ones."""
    width = min(_WIDEST, step - _COLUMN_GAP) // 1  # whole, so that lines end at rounded boxes
    return {
        place.name: _Box(
            x=((place.column + 0.5) * step - width / 2) // 1,
            y=place.row * (HEIGHT + _ROW_GAP) + _TOP,
            width=width,
            band=place.column,
            row=place.row,
            place=0,
            gutter=0,
            top=0,
            bottom=0,
        )
        for place in topology.places
    }


def _in_bands(topology: DrawingTopology, width: int) -> dict[str, _Box]:
    """Return boxes in rows: each layer a band of some, and layers of one box a band together."""
    per_row = width // (_ROOM if width > WIDTHS[0] else _LITTLE_ROOM)
    step = width / per_row
    box = min(_WIDEST, step - _GAP) // 1
    boxes: dict[str, _Box] = {}
    top = float(_TOP)
    for band, names in enumerate(_bands(topology)):
        rows = [names[at : at + per_row] for at in range(0, len(names), per_row)]
        bottom = top + len(rows) * (HEIGHT + _ROW_GAP)
        inset = (width - len(rows[0]) * step) / 2
        for row, inside in enumerate(rows):
            for place, name in enumerate(inside):
                left = inset + place * step
                boxes[name] = _Box(
                    x=(left + (step - box) / 2) // 1,
                    y=top + row * (HEIGHT + _ROW_GAP),
                    width=box,
                    band=band,
                    row=row,
                    place=place,
                    gutter=max(3.0, left),
                    top=top - _ROW_GAP / 2,
                    bottom=bottom - _ROW_GAP / 2,
                )
        top = bottom
    return boxes


def _bands(topology: DrawingTopology) -> list[list[str]]:
    columns: dict[int, list[str]] = {}
    for place in topology.places:
        columns.setdefault(place.column, []).append(place.name)
    found: list[list[str]] = []
    was_alone = False
    for column in sorted(columns):
        is_alone = len(columns[column]) == 1
        if is_alone and was_alone:
            found[-1] += columns[column]
        else:
            found.append(columns[column])
        was_alone = is_alone
    return found


def _straight(one: _Box, other: _Box) -> list[tuple[float, float]]:
    """Return a line from side to side of boxes that stand next to each other."""
    half = HEIGHT / 2
    if one.band == other.band:
        upper, lower = sorted((one, other), key=lambda box: box.y)
        ends = [(upper.middle, upper.y + HEIGHT), (lower.middle, lower.y)]
        return ends if upper is one else ends[::-1]
    left, right = sorted((one, other), key=lambda box: box.x)
    ends = [(left.x + left.width, left.y + half), (right.x, right.y + half)]
    return ends if left is one else ends[::-1]


def _around(one: _Box, other: _Box) -> list[tuple[float, float]]:
    """Return a line from one box to another, beside those that stand between them."""
    upper, lower = sorted((one, other), key=lambda box: (box.y, box.x))
    corners = _in_row(upper, lower) if upper.y == lower.y else _downwards(upper, lower)
    distinct = [corners[0], *(here for last, here in pairwise(corners) if here != last)]
    return distinct if upper is one else distinct[::-1]


def _in_row(left: _Box, right: _Box) -> list[tuple[float, float]]:
    if right.place == left.place + 1:
        half = left.y + HEIGHT / 2
        return [(left.x + left.width, half), (right.x, half)]
    ends = [(box.middle, box.y + HEIGHT) for box in (left, right)]
    return [ends[0], (left.middle, left.below), (right.middle, left.below), ends[1]]


def _downwards(upper: _Box, lower: _Box) -> list[tuple[float, float]]:
    corners = [(upper.middle, upper.y + HEIGHT), (upper.middle, upper.below)]
    if upper.band != lower.band and upper.below < upper.bottom:
        corners += [(upper.gutter, upper.below), (upper.gutter, upper.bottom)]
    if lower.above > corners[-1][1]:
        corners += [(lower.gutter, corners[-1][1]), (lower.gutter, lower.above)]
    return [*corners, (lower.middle, lower.above), (lower.middle, lower.y)]
