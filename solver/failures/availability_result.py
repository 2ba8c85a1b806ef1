"""How often all requirements are met for a number of users, if machines fail."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty


class PlaceUnavailability(Struct, frozen=True, kw_only=True):
    """A node or link that fails: the part of time that is lost if nothing else fails with it."""

    place: str
    count: int
    """Machines or links, those that have failed included."""
    unavailability: float
    """Part of time in which one of them is out of service."""
    lost: float
    survives: int
    """The largest number of failures at the same time after which all requirements are met."""


class Availability(Struct, frozen=True, kw_only=True):
    """The part of time in which all requirements are met for a population.

    It lies between `least` and `most`: the states that were not looked at have what is between.
    """

    population: int
    least: float
    most: float
    states: int
    """States that were looked at."""
    places: tuple[PlaceUnavailability, ...]
    known: Certainty

    @property
    def value(self) -> float:
        """The lower end: what was not looked at counts as failed."""
        return self.least
