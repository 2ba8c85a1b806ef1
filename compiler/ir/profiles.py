"""How loads change over a day or a week: profiles, and the moments that differ by them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span


class ProfilePeriod(Struct, frozen=True):
    """A time of a cycle, from its first minute up to its `end`, in which a profile is a value."""

    start: int
    end: int
    value: Fraction
    span: Span


class Profile(Struct, frozen=True, kw_only=True):
    """A number that changes over a day or a week: the parameter `name` is its value at a moment.

    The `periods` cover the `cycle`, in order, without gaps.
    """

    name: str
    cycle: int
    periods: tuple[ProfilePeriod, ...]
    span: Span


class Moment(Struct, frozen=True, kw_only=True):
    """A time from which all profiles have the same values until the next moment."""

    start: int
    end: int
    values: tuple[tuple[str, Fraction], ...]


def moments_of(profiles: Sequence[Profile]) -> tuple[Moment, ...]:
    """Return the moments of the longest cycle of some profiles, in order."""
    cycle = cycle_of(profiles)
    bounds = {cycle}
    for profile in profiles:
        for first in range(0, cycle, profile.cycle):
            bounds |= {first + one.start for one in profile.periods}
    places = [0] * len(profiles)
    found: list[Moment] = []
    ordered = sorted(bounds)
    for start, end in pairwise(ordered):
        values = []
        for number, profile in enumerate(profiles):
            within = start % profile.cycle
            if within == 0:
                places[number] = 0
            while profile.periods[places[number]].end <= within:
                places[number] += 1
            values.append((profile.name, profile.periods[places[number]].value))
        now = tuple(values)
        if found and found[-1].values == now:
            found[-1] = replace(found[-1], end=end)
        else:
            found.append(Moment(start=start, end=end, values=now))
    return tuple(found)


def cycle_of(profiles: Sequence[Profile]) -> int:
    """Return the longest cycle of some profiles."""
    return max(profile.cycle for profile in profiles)
