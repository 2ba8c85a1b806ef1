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
    """From one time to another, in any unit, work arrives as a part of the capacity then.

    The capacity may differ from period to period, such as with the number of machines.
    """

    start: float
    end: float
    load: float
    capacity: float = 1.0

    @property
    def growth(self) -> float:
        """How fast the work that waits grows."""
        return (self.load - 1) * self.capacity


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

    Backlogs are as long as the capacity needs for them that is there from then on. Cycles follow
    each other, and a peak that goes on in the next one ends there. If work arrives faster than it
    is done on average, there is one peak without an end.
    """
    cycle = periods[-1].end - periods[0].start
    waiting = _at_start(periods)
    works = _works(periods, waiting or 0.0)
    ends = _as_times(periods, works)
    if waiting is None:  # what a first cycle comes to
        largest = max(range(len(periods)), key=lambda i: periods[i].load)
        first = next(one for one in periods if one.load > 1)
        peak = FluidPeak(
            start=first.start, worst_at=periods[largest].end, worst=max(ends), cleared_at=None
        )
        return ends, [peak]
    return ends, _peaks(periods, works, ends, waiting, cycle)


def backlog_course(periods: Sequence[LoadPeriod]) -> tuple[tuple[float, float], ...]:
    """Return when a backlog is how large, straight between these times."""
    waiting = _at_start(periods) or 0.0
    found: list[tuple[float, float]] = []
    for one, end in zip(periods, _works(periods, waiting), strict=True):
        points = [(one.start, waiting / one.capacity), (one.end, end / one.capacity)]
        if end == 0 and waiting > 0:
            cleared = min(one.end, one.start - waiting / one.growth)
            points.insert(1, (cleared, 0.0))
        found += [point for point in points if point not in found[-1:]]
        waiting = end
    return tuple(found)


def _at_start(periods: Sequence[LoadPeriod]) -> float | None:
    """Return the work that waits at the start of every cycle; None if it is more in each."""
    if sum(one.growth * (one.end - one.start) for one in periods) > 0:
        return None
    waiting = 0.0
    for _ in range(_CYCLES - 1):
        waiting = _works(periods, waiting)[-1]
    return waiting


def _works(periods: Sequence[LoadPeriod], waiting: float) -> list[float]:
    """Return the work that waits at the end of each period."""
    found = []
    for one in periods:
        waiting = max(0.0, waiting + one.growth * (one.end - one.start))
        found.append(waiting)
    return found


def _as_times(periods: Sequence[LoadPeriod], works: Sequence[float]) -> list[float]:
    """Return for how long the work at the ends of periods keeps the capacity behind them busy."""
    behind = [*periods[1:], periods[0]]
    return [work / one.capacity for work, one in zip(works, behind, strict=True)]


def _peaks(
    periods: Sequence[LoadPeriod],
    works: Sequence[float],
    ends: Sequence[float],
    waiting: float,
    cycle: float,
) -> list[FluidPeak]:
    """Return the peaks that start in a cycle; one that is under way at its start does not."""
    found: list[FluidPeak] = []
    start = worst_at = worst = 0.0
    is_open, before = False, waiting
    once = list(zip(periods, works, ends, strict=True))
    twice = [(shift, *each) for shift in (0.0, cycle) for each in once]
    for shift, one, work, end in twice:
        if before == 0 and one.load > 1 and shift == 0:
            is_open, start, worst = True, one.start, 0.0
        if is_open and end > worst:
            worst, worst_at = end, one.end + shift
        if is_open and work == 0 and before > 0:
            cleared = one.start + shift - before / one.growth
            found.append(FluidPeak(start=start, worst_at=worst_at, worst=worst, cleared_at=cleared))
            is_open = False
        before = work
    return found
