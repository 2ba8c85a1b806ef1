"""Series of a Prometheus as curves that grow: counters without their resets, rates added up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.compiler.measurement.observations.machines.saved_series import NAME, SavedSeries

_COUNTERS = ("_total", "_sum", "_count")


class GrowingSeries(Struct, frozen=True, kw_only=True):
    """What has come together at each of the times, from 0 on; `labels` are without the name.

    One that is `instant` has one value: what a counter had counted, since it is not known when.
    """

    name: str
    labels: Mapping[str, str]
    times: Sequence[float]
    sums: Sequence[float]
    is_instant: bool = False

    @property
    def total(self) -> float:
        """What came together in all of the time."""
        return self.sums[-1]

    def up_to(self, time: float) -> float:
        """Return what had come together at a time, between two values by a straight line."""
        place = bisect_right(self.times, time)
        if place == 0:
            return 0.0
        if place == len(self.times):
            return self.sums[-1]
        before, behind = self.times[place - 1], self.times[place]
        share = (time - before) / (behind - before)
        return self.sums[place - 1] + share * (self.sums[place] - self.sums[place - 1])


def growing_series(saved: SavedSeries) -> GrowingSeries:
    """Return a series as it grows: a counter that starts again goes on where it was.

    Without the name of a counter, values are rates, as `rate(…)` drops the name.
    """
    name = saved.metric.get(NAME, "")
    labels = {key: value for key, value in saved.metric.items() if key != NAME}
    points = sorted((time, value) for time, value in saved.numbers if value >= 0)
    is_counter = name.endswith(_COUNTERS)
    if len(points) == 1 and saved.is_instant:
        time, value = points[0]
        # A rate is taken as that of one second, of which no more is known.
        return GrowingSeries(
            name=name,
            labels=labels,
            times=[time - 1, time],
            sums=[0.0, value],
            is_instant=is_counter,
        )
    sums: list[float] = []
    for place, (time, value) in enumerate(points):
        if not place:
            sums.append(0.0)
            continue
        before, last = points[place - 1]
        if is_counter:
            grown = value - last if value >= last else value
        else:
            grown = value * (time - before)
        sums.append(sums[-1] + grown)
    return GrowingSeries(
        name=name,
        labels=labels,
        times=[time for time, _ in points] or [0.0],
        sums=sums or [0.0],
    )
