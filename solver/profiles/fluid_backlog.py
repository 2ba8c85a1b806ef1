"""Backlogs by a fluid model: work that arrives faster than it is done piles up, and is drained.

Where the load is above 1, randomness matters little beside the mean: the backlog grows with the
load beyond 1, and falls with the capacity that is left (Newell, Applications of Queueing Theory,
1982, chapter 2).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

_CYCLES = 3
"""Of so many, the last is as all later ones, unless the backlog grows for ever."""


class LoadPeriod(Struct, frozen=True):
    """From one time to another, in any unit, work arrives as a part of the capacity."""

    start: float
    end: float
    load: float


class FluidPeak(Struct, frozen=True, kw_only=True):
    """A backlog: when it starts, is the largest, and is cleared; None if it never is.

    `worst` is in the unit of time: as long as all of the capacity needs for it.
    """

    start: float
    worst_at: float
    worst: float
    cleared_at: float | None


def backlogs(periods: Sequence[LoadPeriod]) -> tuple[list[float], list[FluidPeak]]:
    """Return the backlog at the end of each period of a cycle, and its peaks.

    Cycles follow each other, and a peak that goes on in the next one ends there. If work arrives
    faster than it is done on average, there is one peak without an end.
    """
    cycle = periods[-1].end - periods[0].start
    growth = sum((one.load - 1) * (one.end - one.start) for one in periods)
    if growth > 0:  # what a first cycle comes to
        ends, largest = _ends(periods, 0.0), max(range(len(periods)), key=lambda i: periods[i].load)
        first = next(one for one in periods if one.load > 1)
        peak = FluidPeak(
            start=first.start, worst_at=periods[largest].end, worst=max(ends), cleared_at=None
        )
        return ends, [peak]
    waiting = 0.0
    for _ in range(_CYCLES - 1):
        waiting = _ends(periods, waiting)[-1]
    ends = _ends(periods, waiting)
    return ends, _peaks(periods, ends, waiting, cycle)


def backlog_course(
    periods: Sequence[LoadPeriod], ends: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    """Return when a backlog is how large, straight between these times, by its `ends`."""
    growth = sum((one.load - 1) * (one.end - one.start) for one in periods)
    waiting = 0.0 if growth > 0 else ends[-1]
    found = [(periods[0].start, waiting)]
    for one, end in zip(periods, ends, strict=True):
        if end == 0 and waiting > 0:
            found.append((min(one.end, one.start + waiting / (1 - one.load)), 0.0))
        if found[-1][0] < one.end:
            found.append((one.end, end))
        waiting = end
    return tuple(found)


def _ends(periods: Sequence[LoadPeriod], waiting: float) -> list[float]:
    found = []
    for one in periods:
        waiting = max(0.0, waiting + (one.load - 1) * (one.end - one.start))
        found.append(waiting)
    return found


def _peaks(
    periods: Sequence[LoadPeriod], ends: Sequence[float], waiting: float, cycle: float
) -> list[FluidPeak]:
    """Return the peaks that start in a cycle; one that is under way at its start does not."""
    found: list[FluidPeak] = []
    start = worst_at = worst = 0.0
    is_open, before = False, waiting
    twice = [(one, 0.0, end) for one, end in zip(periods, ends, strict=True)]
    twice += [(one, cycle, end) for one, end in zip(periods, ends, strict=True)]
    for one, shift, end in twice:
        if before == 0 and one.load > 1 and shift == 0:
            is_open, start, worst = True, one.start, 0.0
        if is_open and end > worst:
            worst, worst_at = end, one.end + shift
        if is_open and end == 0 and before > 0:
            cleared = one.start + shift + before / (1 - one.load)
            found.append(FluidPeak(start=start, worst_at=worst_at, worst=worst, cleared_at=cleared))
            is_open = False
        before = end
    return found
