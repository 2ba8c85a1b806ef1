"""Requests, one by one with their times, gathered into stretches of time: a run for each."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, inf

from msgspec import Struct, field

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import Fields, LoadRun
from qps.compiler.measurement.observations.observed_runs import (
    MOST_STRETCHES,
    moment,
    too_many_stretches,
)

MOST_SAMPLES = 20_000_000
_PERCENTILES = (50, 90, 95, 99)
_ONE_BEYOND = 100
"""A percentile is reported where a sample lies beyond it: the 99th of a hundred on."""
_LATE, _EARLY = 1e18, -1e18

_MINUTE = 60.0
"""How long stretches are, in s, where all of a file is requested, and the shortest pause."""
_PAUSE = 10.0
"""Times as long as samples of a run lie apart on average is what lies between two runs."""
_MOST_PAUSES = 20
"""What stands still more often than that is one run of users who think for long."""


class Stretch(Struct, kw_only=True):
    """What was done in a stretch of time, in ms since 1970; `elapsed` are times in ms.

    `failed` of these came to nothing, `lost` ones did so without any time that is known. Of
    `untimed` ones, which are among neither, nobody has written how long they took. `nested`
    more are sums of others, and are not among them.
    """

    elapsed: array[float] = field(default_factory=lambda: array("d"))
    received: float = 0.0
    failed: float = 0.0
    lost: int = 0
    untimed: int = 0
    nested: int = 0
    users: float = 0.0
    first: float = _LATE
    last: float = _EARLY

    def add(self, other: Stretch) -> None:
        """Take what was done in another stretch of the same run."""
        self.elapsed.extend(other.elapsed)
        self.received += other.received
        self.failed += other.failed
        self.lost += other.lost
        self.untimed += other.untimed
        self.nested += other.nested
        self.users = max(self.users, other.users)
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)


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
            f"`{shortened(file)}` is shorter than one window of {window:g} s",
            f"use a shorter `--window`{otherwise}",
        )
    return range(first + 1, last)


class Stretches:
    """Stretches of `window` s, or one of each run; `file` is whose they are.

    `grain` is of what length moments are known, in ms: a run takes no less.
    """

    def __init__(self, file: str, window: float | None, fields: Fields | None = None) -> None:
        self.has_bytes = False
        self.grain = 0.0
        self.fields = fields or {}
        self._file = file
        self._window = window
        self._found: dict[int, Stretch] = {}

    def at(self, moment: float) -> Stretch:
        """Return the stretch that a moment (ms since 1970) lies in."""
        place = floor(moment / (1000 * (self._window or _MINUTE)))
        found = self._found.get(place)
        if found is None:
            if len(self._found) >= MOST_STRETCHES:
                raise too_many_stretches(self._file)
            found = self._found[place] = Stretch()
        found.first = min(found.first, moment)
        found.last = max(found.last, moment)
        return found

    @property
    def is_empty(self) -> bool:
        """Whether no sample is in any of them."""
        return not any(one.elapsed or one.untimed for one in self._found.values())

    def runs(self, hint: str) -> tuple[list[LoadRun], list[str]]:
        """Return a run for each whole stretch, and notes; DataError, with a hint, without any.

        The first and the last stretch of each run of the file are cut, and left out. Without a
        window each run takes from its first to its last moment.
        """
        if self.is_empty:
            raise DataError(f"`{shortened(self._file)}` contains no samples", hint)
        parts, notes = self._parts()
        if self._window is not None:
            return self._whole(parts, self._window), notes
        runs = []
        for places in parts:
            whole = Stretch()
            for place in places:
                whole.add(self._found.pop(place))
            seconds = max(whole.last - whole.first, self.grain) / 1000
            if seconds <= 0:
                raise DataError(
                    f"`{shortened(self._file)}`: all samples have the same time",
                    "measure for longer",
                )
            runs.append(self._run(whole, whole.first / 1000, seconds, is_whole=True))
        return runs, notes

    def _parts(self) -> tuple[list[list[int]], list[str]]:
        """Return which stretches are of which run: nothing was done for long in between."""
        places = sorted(self._found)
        begins, pauses = [0], list[str]()
        for at in self._pauses(places):
            begins.append(at)
            before, after = self._found[places[at - 1]].last, self._found[places[at]].first
            pauses.append(f"{_long((after - before) / 1000)} before {moment(after / 1000)}")
        file = shortened(self._file)
        if len(pauses) > _MOST_PAUSES:
            still = (
                f"warning: `{file}` pauses {len(pauses)} times for more than a minute: rates are "
                "averages over the whole file; `--window` writes a row for each window"
            )
            return [places], [still]
        parts = [places[start:end] for start, end in pairwise([*begins, len(places)])]
        warning = f"warning: `{file}` contains {len(parts)} runs: no activity for "
        return parts, [warning + ", ".join(pauses)] if pauses else []

    def _pauses(self, places: Sequence[int]) -> Iterator[int]:
        """Yield which places begin after a pause that is long beside how samples lie apart."""
        found = [self._found[place] for place in places]
        begins = [one.first for one in found]
        for i in reversed(range(len(begins) - 1)):  # what ends later may have begun before
            begins[i] = min(begins[i], begins[i + 1])
        gaps = {i: begins[i] - found[i - 1].last for i in range(1, len(found))}
        least = 1000 * max(_MINUTE, self._window or 0.0)
        long = [i for i, gap in gaps.items() if gap >= least]
        ends = [0, *long, len(found)]
        apart = [_spacing(found[start:end]) for start, end in pairwise(ends)]
        for i, (before, after) in zip(long, pairwise(apart), strict=True):
            if gaps[i] >= _PAUSE * min(before, after):
                yield i

    def _whole(self, parts: Sequence[Sequence[int]], window: float) -> list[LoadRun]:
        idle = Stretch()
        longest = max(parts, key=lambda part: part[-1] - part[0])
        places = [
            place
            for part in parts
            if part is longest or part[-1] - part[0] > 1
            for place in whole_stretches(part, window, self._file, ", or omit it for a single run")
        ]
        return [
            self._run(self._found.get(place, idle), place * window, window, is_whole=False)
            for place in places
        ]

    def _run(self, stretch: Stretch, start: float, seconds: float, *, is_whole: bool) -> LoadRun:
        ordered = sorted(stretch.elapsed)
        count = len(ordered)
        sent = count + stretch.lost + stretch.untimed
        known = [p for p in _PERCENTILES if count * (100 - p) >= _ONE_BEYOND]
        latencies = {f"p{p}": ordered[ceil(count * p / 100) - 1] / 1000 for p in known}
        if count:
            latencies |= {"mean": sum(ordered) / count / 1000, "longest": ordered[-1] / 1000}
        return LoadRun(
            file=self._file,
            start=start,
            done=(count + stretch.untimed) / seconds,
            nested=stretch.nested / seconds,
            received=stretch.received / seconds if self.has_bytes else None,
            users=stretch.users or None,
            failed=(stretch.failed + stretch.lost) / sent if sent else None,
            latencies=latencies,
            fields=self.fields,
            is_whole=is_whole,
        )


def _spacing(stretches: Sequence[Stretch]) -> float:
    """Return how far samples lie apart on average, in ms; infinite for a single one."""
    count = sum(len(one.elapsed) + one.lost + one.untimed for one in stretches)
    return (stretches[-1].last - stretches[0].first) / (count - 1) if count > 1 else inf


def _long(seconds: float) -> str:
    """Return a time in words.

    >>> _long(695_223.6), _long(300)
    ('8.0 days', '5.0 minutes')
    """
    for size, word in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:.1f} {word}"
    return f"{seconds:.0f} s"
