"""Properties of operands that come in groups: the last ones may repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def found_together(
    waits: int | None, repeats: int, count: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield where two shares stand, that of both, and the servers of the second.

    Of groups of so many operands as it `repeats`, from that in the place `waits` on: each begins
    with a share, has servers in its fifth place, and in its eighth, where these are none, the share
    of it and of the one before together.
    """
    if waits is not None:
        for place in range(waits + repeats, count, repeats):
            yield place - repeats, place, place + 7, place + 4
