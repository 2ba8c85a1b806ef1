"""What is told of operands that come in groups: the last ones may be told again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Number = TypeVar("Number")


def place_of(place: int, operands: int, repeats: int) -> int:
    """Return which of the first operands tells of one: of the last `repeats` come more groups."""
    return place if place < operands else operands - repeats + (place - operands) % repeats


def placed(places: Sequence[int], operands: int, repeats: int, count: int) -> tuple[int, ...]:
    """Return the places of so many operands of which some of the first ones tell."""
    if not places:
        return ()
    return tuple(at for at in range(count) if place_of(at, operands, repeats) in places)


def repeated(each: Sequence[Number], repeats: int, count: int) -> tuple[Number, ...]:
    """Return what is told of each of so many operands, from what is told of the first ones."""
    if not repeats:
        return tuple(each)
    return tuple(each[place_of(place, len(each), repeats)] for place in range(count))
