"""Properties of operands that come in groups: the last ones may repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Number = TypeVar("Number")


def place_of(place: int, operands: int, repeats: int) -> int:
    """Return which of the first operands describes one: the last `repeats` come in more groups."""
    return place if place < operands else operands - repeats + (place - operands) % repeats


def placed(places: Sequence[int], operands: int, repeats: int, count: int) -> tuple[int, ...]:
    """Return the places of so many operands that some of the first ones describe."""
    if not places:
        return ()
    return tuple(at for at in range(count) if place_of(at, operands, repeats) in places)


def repeated(each: Sequence[Number], repeats: int, count: int) -> tuple[Number, ...]:
    """Return the properties of each of so many operands, from those of the first ones."""
    if not repeats:
        return tuple(each)
    return tuple(each[place_of(place, len(each), repeats)] for place in range(count))
