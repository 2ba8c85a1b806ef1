"""Fewer points for the same lines: what lies on the straight way between two others is left out."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10

_EVERY = 6
"""So many points are never left out in a row: a reader wants values along the way."""

_TOLERANCE = 0.001
"""Of the height of the picture: nobody sees less."""


def visible_points(
    at: Sequence[float], lines: Sequence[Sequence[float]], logarithmic: frozenset[str]
) -> tuple[int, ...]:
    """Return which points to keep so that no line moves visibly.

    >>> visible_points([0, 1, 2, 3, 4], [[0, 1, 2, 7, 12]], frozenset())
    (0, 2, 4)
    """
    places = [log10(place) if "x" in logarithmic else place for place in at]
    drawn = [_drawn(values, is_logarithmic="y" in logarithmic) for values in lines]
    indices = {*range(0, len(at), _EVERY), len(at) - 1}
    for values in drawn:
        finite = [value for value in values if isfinite(value)]
        height = (max(finite) - min(finite)) if finite else 0.0
        indices |= _bends(places, values, _TOLERANCE * (height or 1.0))
    return tuple(sorted(indices))


def line_points(
    at: Sequence[float], values: Sequence[float], tolerance: float
) -> tuple[tuple[int, ...], ...]:
    """Return which points to keep so that a line moves by less; a run for each of its pieces.

    >>> line_points([0, 1, 2, 3, 4], [0, 1, 2, 2, float("nan")], 0.1)
    ((0, 2, 3),)
    """
    runs: list[list[int]] = [[]]
    for index, value in enumerate(values):
        if isfinite(value):
            runs[-1].append(index)
        elif runs[-1]:
            runs.append([])
    found = []
    for run in filter(None, runs):
        bends = _bends([at[i] for i in run], [values[i] for i in run], tolerance)
        found.append(tuple(run[k] for k in sorted({0, len(run) - 1} | bends)))
    return tuple(found)


def _drawn(values: Sequence[float], *, is_logarithmic: bool) -> list[float]:
    if not is_logarithmic:
        return list(values)
    return [log10(value) if value > 0 and isfinite(value) else float("nan") for value in values]


def _bends(at: Sequence[float], values: Sequence[float], tolerance: float) -> set[int]:
    """Return where a line bends (Ramer 1972, Douglas and Peucker 1973), and where it breaks."""
    indices: set[int] = set()
    waiting = [(0, len(at) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:  # noqa: PLR2004 - nothing in between
            continue
        worst, bend = tolerance, 0
        for index in range(first + 1, last):
            share = (at[index] - at[first]) / (at[last] - at[first])
            off = abs(values[first] + share * (values[last] - values[first]) - values[index])
            if not isfinite(off):  # a gap: keep what is on both sides of it
                worst, bend = float("inf"), (first + last) // 2
                break
            if off > worst:
                worst, bend = off, index
        if bend:
            indices.add(bend)
            waiting += [(first, bend), (bend, last)]
    return indices
