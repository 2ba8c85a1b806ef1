"""Requests, one by one with their times, gathered into stretches of time: a run for each."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from math import ceil, floor

from msgspec import Struct, field

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened
from qps.observing.observed_runs import MOST_STRETCHES, LoadRun, too_many_stretches

MOST_SAMPLES = 20_000_000
_PERCENTILES = (50, 90, 95, 99)
_ONE_BEYOND = 100
"""A percentile is told where a sample lies beyond it: the 99th of a hundred on."""
_LATE, _EARLY = 1e18, -1e18


class Stretch(Struct, kw_only=True):
    """What was done in a stretch of time, in ms since 1970; `elapsed` are times in ms.

    `failed` of these came to nothing, `lost` ones did so without any time that is known.
    """

    elapsed: array[float] = field(default_factory=lambda: array("d"))
    received: float = 0.0
    failed: float = 0.0
    lost: int = 0
    users: float = 0.0
    first: float = _LATE
    last: float = _EARLY


def whole_stretches(
    places: Collection[int], window: float, file: str, otherwise: str = ""
) -> range:
    """Return all stretches but the first and the last, within which measuring began and ended.

    DataError where there are too many, or none; `otherwise` is what else would help then.
    """
    first, last = min(places), max(places)
    if last - first > MOST_STRETCHES:
        raise too_many_stretches(file)
    if last - first < 2:  # noqa: PLR2004 - none between the first and the last
        raise DataError(
            f"`{shortened(file)}` holds no whole stretch of {window:g} s",
            f"take a shorter one by `--window`{otherwise}",
        )
    return range(first + 1, last)


class Stretches:
    """Stretches of `window` s, or one of all; `file` is whose they are."""

    def __init__(self, file: str, window: float | None) -> None:
        self.has_bytes = False
        self._file = file
        self._window = window
        self._found: dict[int, Stretch] = {}

    def at(self, moment: float) -> Stretch:
        """Return the stretch that a moment (ms since 1970) lies in."""
        place = 0 if self._window is None else floor(moment / (1000 * self._window))
        found = self._found.get(place)
        if found is None:
            if len(self._found) >= MOST_STRETCHES:
                raise too_many_stretches(self._file)
            found = self._found[place] = Stretch()
        found.first = min(found.first, moment)
        found.last = max(found.last, moment)
        return found

    def runs(self, hint: str) -> list[LoadRun]:
        """Return a run for each whole stretch; DataError, with a hint, where there is none.

        The first and the last are cut, and left out. One for all takes from its first to its last
        moment.
        """
        if not any(one.elapsed for one in self._found.values()):
            raise DataError(f"`{shortened(self._file)}` holds no samples", hint)
        if self._window is not None:
            return self._whole(self._window)
        [stretch] = self._found.values()
        seconds = (stretch.last - stretch.first) / 1000
        if seconds <= 0:
            raise DataError(
                f"`{shortened(self._file)}`: all samples are of one moment", "measure for longer"
            )
        return [self._run(stretch, stretch.first / 1000, seconds)]

    def _whole(self, window: float) -> list[LoadRun]:
        places = whole_stretches(
            self._found, window, self._file, ", or all of it as one run without"
        )
        idle = Stretch()
        return [self._run(self._found.get(place, idle), place * window, window) for place in places]

    def _run(self, stretch: Stretch, start: float, seconds: float) -> LoadRun:
        ordered = sorted(stretch.elapsed)
        count = len(ordered)
        asked = count + stretch.lost
        known = [p for p in _PERCENTILES if count * (100 - p) >= _ONE_BEYOND]
        latencies = {f"p{p}": ordered[ceil(count * p / 100) - 1] / 1000 for p in known}
        if count:
            latencies |= {"mean": sum(ordered) / count / 1000, "longest": ordered[-1] / 1000}
        return LoadRun(
            file=self._file,
            start=start,
            done=count / seconds,
            received=stretch.received / seconds if self.has_bytes else None,
            users=stretch.users or None,
            failed=(stretch.failed + stretch.lost) / asked if asked else None,
            latencies=latencies,
        )
