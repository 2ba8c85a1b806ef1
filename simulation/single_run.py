"""One run: what is played, for as long as it takes, and what was counted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import simpy
from msgspec import Struct

from qps.compiler.lower.response_time.response_parts import LossKind
from qps.simulation.items import StationCounts, StreamCounts
from qps.simulation.run_lengths import memories_of
from qps.simulation.run_state import SimulationState
from qps.simulation.simulated_model import SimulatedNetwork, Station
from qps.simulation.step_chains import begin

LEVELS = (0.5, 0.95, 0.99, 0.999)
_CLUSTERS = 3
"""Who is late is late together with others, while a queue is long: so many times it was so."""
_BEYOND = 10
"""So many items must be later than a quantile, for it to be reported for one run."""


class CounterSnapshot(Struct, frozen=True, kw_only=True):
    """The counters of a run at a time."""

    time: float
    busy: tuple[float, ...]
    done: tuple[int, ...]
    sums: tuple[float, ...]
    lost: tuple[tuple[float, ...], ...]


class StreamRun(Struct, frozen=True, kw_only=True):
    """The results of one run for a stream; quantiles by their levels, where enough items came."""

    items: int
    mean: float
    quantiles: dict[float, float]
    lost: dict[str, float]
    """The share that is lost, by its kind; `any` for all of them."""
    rate: float
    """Items a second that arrive, of all flows."""
    waits: WaitRun
    later: dict[float, float]
    """The share of its items that takes longer than each time, in s."""


class WaitRun(Struct, frozen=True, kw_only=True):
    """The waits in one run, of a stream or at a station: so `many` wait at once on average.

    Of a stream that is known by its rate.
    """

    items: int
    mean: float
    many: float
    quantiles: dict[float, float]
    later: dict[float, float]
    """The share that waits longer than each time, in s."""


class RunResult(Struct, frozen=True, kw_only=True):
    """The result of one run behind the cut."""

    streams: dict[str, StreamRun]
    loads: dict[str, float]
    stations: dict[str, WaitRun]


Stopped = Callable[[], bool]
"""Says whether a run is to be broken off."""


class SimulationRun:
    """One run, which can be made longer. The same seed and number make the same run."""

    def __init__(
        self,
        *,
        network: SimulatedNetwork,
        seed: int,
        number: int,
        levels: Sequence[float],
        limits: Sequence[float] = (),
        observed: Collection[str] = (),
    ) -> None:
        self._network = network
        self._name = f"{seed}/{number}"
        self._levels = tuple(levels)
        self._memories = memories_of(network)
        self._counts = {name: StreamCounts() for name in (*network.flows, "")}
        self._limits = tuple(limits)
        self._observed = {
            at: StationCounts()
            for at, station in enumerate(network.stations)
            if station.name in observed
        }
        self._warm_up_waits: dict[int, int] = {}
        self._busy = [0.0] * len(network.stations)
        self._marks: list[CounterSnapshot] = []
        self._episodes = 0
        self._ended = 0.0
        self._warm_up_counts = [0] * len(self._counts)
        self._clock = simpy.Environment()
        if network.episode is None:
            self._begin()
            if network.lead > 0:
                self._clock.run(network.lead)
            self._forget()

    # -- time --------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin anew, with other phases; what is counted goes on."""
        self._clock = simpy.Environment()
        self._state = SimulationState(
            network=self._network,
            clock=self._clock,
            name=f"{self._name}/{self._episodes}",
            counts=self._counts,
            busy=self._busy,
            observed=self._observed,
        )
        begin(self._state)

    def advance(self, until: float, parts: int, stopped: Stopped) -> bool:
        """Play on to a time, in parts; False where it was broken off."""
        if self._network.episode is not None:
            return self._more_episodes(until, stopped)
        lead = self._network.lead
        begin, until = self._clock.now, until + lead
        for part in range(1, parts + 1):
            self._clock.run(begin + (until - begin) * part / parts)
            self._mark(self._clock.now - lead)
            if stopped():
                return False
        return True

    def _more_episodes(self, until: float, stopped: Stopped) -> bool:
        """Play episodes, each with phases of its own: a cycle never forgets them."""
        assert self._network.episode is not None
        warm, length = self._network.episode
        while self._ended < until:
            self._begin()
            self._clock.run(warm)
            self._forget()
            self._clock.run(warm + length)
            self._episodes += 1
            self._ended += length
            self._mark(self._ended)
            self._warm_up_counts = [len(count.ends) for count in self._counts.values()]
            self._warm_up_waits = {at: len(one.waits) for at, one in self._observed.items()}
            if stopped():
                return False
        return True

    def _forget(self) -> None:
        """Take the counters back to where the last episode ended."""
        last = self._marks[-1] if self._marks else self._nothing
        # What was begun before is done now, and counts.
        left = self._state.left()
        self._busy[:] = [busy + more for busy, more in zip(last.busy, left, strict=True)]
        for index, count in enumerate(self._counts.values()):
            before = self._warm_up_counts[index]
            del count.ends[before:], count.latency[before:], count.waits[before:]
            count.done, count.sum = last.done[index], last.sums[index]
            count.lost.update(zip(count.lost, last.lost[index], strict=True))
        for station, counts in self._observed.items():
            before = self._warm_up_waits.get(station, 0)
            del counts.begins[before:], counts.waits[before:]

    @property
    def _nothing(self) -> CounterSnapshot:
        """What is counted before anything happens."""
        count = len(self._counts)
        none = (0.0,) * len(LossKind)
        return CounterSnapshot(
            time=0.0,
            busy=(0.0,) * len(self._busy),
            done=(0,) * count,
            sums=(0.0,) * count,
            lost=(none,) * count,
        )

    def _mark(self, time: float) -> None:
        counts = self._counts.values()
        self._marks.append(
            CounterSnapshot(
                time=time,
                busy=tuple(
                    b - left for b, left in zip(self._busy, self._state.left(), strict=True)
                ),
                done=tuple(one.done for one in counts),
                sums=tuple(one.sum for one in counts),
                lost=tuple(tuple(one.lost.values()) for one in counts),
            )
        )

    # -- answers -----------------------------------------------------------------------------

    def series(self, parts: int) -> dict[str, list[float]]:
        """Return the mean latency of each stream in each of equal parts of the run."""
        times = [mark.time for mark in self._marks]
        equal = (times[-1] * part / parts * (1 - 1e-9) for part in range(1, parts + 1))
        chosen = [self._marks[bisect_left(times, time)] for time in equal]
        found: dict[str, list[float]] = {}
        for index, name in enumerate(self._counts):
            means, done, total = [], 0, 0.0
            for mark in chosen:
                more = mark.done[index] - done
                means.append((mark.sums[index] - total) / more if more else 0.0)
                done, total = mark.done[index], mark.sums[index]
            found[name] = means
        return found

    def result(self, cut: float) -> RunResult:
        """Return the result of the run behind a share of it."""
        last = self._marks[-1]
        first = self._nothing
        if cut > 0:
            first = next(mark for mark in self._marks if mark.time >= cut * last.time * (1 - 1e-9))
        length = last.time - first.time
        loads = {
            station.name: _utilization(station, (now - before) / (length * station.copies))
            for station, now, before in zip(
                self._network.stations, last.busy, first.busy, strict=True
            )
        }
        streams = {
            name: self._stream(name, index, count, first, last)
            for index, (name, count) in enumerate(self._counts.items())
            if name
        }
        return RunResult(streams=streams, loads=loads, stations=self._stations(first, last))

    def _stations(self, first: CounterSnapshot, last: CounterSnapshot) -> dict[str, WaitRun]:
        """Return the waits at the stations that are observed."""
        found = {}
        for at, counts in self._observed.items():
            begin = 0
            if counts.begins and not self._network.episode:
                counted = first.time + self._network.lead
                begin = int(np.searchsorted(np.frombuffer(counts.begins), counted))
            waits = np.frombuffer(counts.waits)[begin:] if counts.waits else np.empty(0)
            station = self._network.stations[at]
            rate = len(waits) / (last.time - first.time) / station.copies
            found[station.name] = self._waits(waits, rate, _BEYOND)
        return found

    def _waits(self, waits: Any, rate: float, beyond: float) -> WaitRun:
        mean = float(waits.mean()) if len(waits) else 0.0
        return WaitRun(
            items=len(waits),
            mean=mean,
            many=mean * rate,
            quantiles=_quantiles(waits, self._levels, beyond),
            later={limit: _later(waits, limit) for limit in self._limits},
        )

    def _stream(
        self,
        name: str,
        index: int,
        counts: StreamCounts,
        first: CounterSnapshot,
        last: CounterSnapshot,
    ) -> StreamRun:
        begin = 0
        if counts.ends and not self._network.episode:
            counted = first.time + self._network.lead
            begin = int(np.searchsorted(np.frombuffer(counts.ends), counted))
        times = np.frombuffer(counts.latency)[begin:] if counts.latency else np.empty(0)
        done = last.done[index] - first.done[index]
        lost = {
            kind: now - before
            for kind, now, before in zip(
                counts.lost, last.lost[index], first.lost[index], strict=True
            )
        }
        rate = done / (last.time - first.time)
        clustered = _CLUSTERS * self._memories.get(name, 0.0) * rate
        waits = np.frombuffer(counts.waits)[begin:] if counts.waits else np.empty(0)
        beyond = max(_BEYOND, clustered)
        return StreamRun(
            items=len(times),
            waits=self._waits(waits, rate, beyond),
            later={limit: _later(times, limit) for limit in self._limits},
            mean=float(times.mean()) if len(times) else 0.0,
            quantiles=_quantiles(times, self._levels, beyond),
            lost=_shares(lost, done),
            rate=rate,
        )


def _utilization(station: Station, busy: float) -> float:
    """Return the utilization of a station whose copies do so much work in a second, each.

    Speeds that fall do more work at their peak than at their last speed, which is 100 %.
    """
    utilization = busy / station.fastest
    return min(1.0, utilization) if station.speeds else utilization


def _later(times: Any, limit: float) -> float:
    return float((times > limit).mean()) if len(times) else 0.0


def _shares(lost: dict[str, float], done: int) -> dict[str, float]:
    """Return the shares lost, in all, and for each kind by itself, as stages that multiply."""
    together = sum(lost.values())
    came = done + together
    found = {"any": together / came if came else 0.0}
    for kind, value in lost.items():
        found[kind] = value / came if came else 0.0
    return found


def _quantiles(times: Any, levels: Sequence[float], beyond: float) -> dict[float, float]:
    count = len(times)
    resolved = [level for level in levels if count * (1 - level) >= beyond]
    at = [max(0, int(np.ceil(count * level - 1e-9)) - 1) for level in resolved]
    if not at:
        return {}
    placed = np.partition(times, at)
    return {level: float(placed[index]) for level, index in zip(resolved, at, strict=True)}
