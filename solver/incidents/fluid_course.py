"""The course of an incident as a fluid: amounts of requests flow through stations, step by step.

Where a load is above the capacity, randomness matters little beside the mean (Newell, Applications
of Queueing Theory, 1982, chapter 2). Each station serves first come, first served, as fast as it
can, also what its clients have given up. Each amount of requests keeps the time at which it was
sent: it is answered in time, or sent again, or lost. So a system may stay overloaded by its own
retries (Bronson et al., Metastable Failures in Distributed Systems, HotOS 2021).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from qps.solver.incidents.course_steps import MOST_STEPS, calm_of, step_of, tried_for
from qps.solver.incidents.course_summary import StepRecord, summarized
from qps.solver.incidents.filling_cache import FillingCache, fetched, sent_again
from qps.solver.incidents.flow_layout import DONE, FlowLayout, Parcel, flow_layout
from qps.solver.incidents.fluid_scaling import FluidScaling
from qps.solver.incidents.incident_system import FluidCourse, IncidentSystem, StreamOutcome
from qps.solver.incidents.refetched_items import ENTRY, Refetch, refetches, with_items
from qps.solver.incidents.slowed_service import SlowedService, slowed_service

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Amounts = NDArray[np.float64]
else:
    Amounts = Any

_EMPTY = 1e-9
"""Part of what a station does in a step: less is no backlog."""
_BUDGET_SECONDS = 10.0
"""For so long a budget of retries can be saved."""
_GROWING_WINDOWS = 2
"""For so many windows in a row, a backlog grows that is not cleared any more."""
_STEADY = 1e-3
"""The change of a backlog or a hit rate in a window below which it does not change."""


def fluid_course(
    system: IncidentSystem, step: float | None = None, until: float = inf
) -> FluidCourse:
    """Return the course of an incident until it is over, or is known to stay.

    If it is not over `until` some time, that is not looked for any more.
    """
    import numpy as np  # noqa: PLC0415 - of incidents alone

    layout, step = flow_layout(system), step or step_of(system)
    shape = (MOST_STEPS + 1, len(layout.keys))
    flow = _Flow(
        system=system,
        layout=layout,
        step=step,
        sent=np.zeros(shape),
        done=np.zeros(shape),
        served=np.zeros(shape),
        refetches=refetches(system, layout, step),
        due={},
        queues=[deque() for _ in system.stations],
        waiting=[0.0] * len(system.stations),
        usual=[system.usual_capacity(one) for one in system.stations],
        caches={one.name: FillingCache.of(one) for one in system.caches},
        scaling=FluidScaling.of(system),
        tokens=[0.0] * len(system.streams),
        counts=[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0] for _ in system.streams],
    )
    return flow.run(until)


def is_stuck(before: Sequence[float], after: Sequence[float]) -> bool:
    """Return whether the largest backlog has not become less, and no other one either.

    As long as one becomes less, its work may be what another one grows by.
    """
    if max(before, default=0.0) <= 0 or max(before) * (1 - _STEADY) > max(after):
        return False
    return all(now >= then * (1 - _STEADY) for then, now in zip(before, after, strict=True))


_SENT, _RETRIES, _LOST, _LATE, _WORST, _WORST_AT = range(6)


class _Flow(Struct, kw_only=True):
    """The state of the flow; `sent` and `done` have a row for each step, a column for each key."""

    system: IncidentSystem
    layout: FlowLayout
    step: float
    sent: Amounts
    done: Amounts
    served: Amounts
    """What was answered, also to clients that had given up."""
    refetches: dict[int, tuple[Refetch, ...]]
    due: dict[int, Amounts]
    queues: list[deque[Parcel]]
    waiting: list[float]
    """The work that waits at each station."""
    usual: list[float]
    """The work that each station does in a second before the incident."""
    caches: dict[str, FillingCache]
    scaling: FluidScaling
    tokens: list[float]
    counts: list[list[float]]
    slowed: SlowedService | None = None
    missed: dict[int, list[float]] = field(default_factory=dict)
    flushed: set[int] = field(default_factory=set)
    records: list[StepRecord] = field(default_factory=list)
    troubled: int = -1
    """The last step in which something waited or was lost."""
    lost_from: int = -1
    """The last step in which requests were sent first that are lost."""

    # -- until when --------------------------------------------------------------------------

    def run(self, until: float) -> FluidCourse:
        """Follow the flow until it is over, or is known to stay."""
        window = max(1, round(calm_of(self.system) / self.step))
        before: tuple[float, ...] = ()
        growing = 0
        rates = {name: one.rate for name, one in self.caches.items()}
        for number in range(MOST_STEPS):
            self._advance(number)
            now = (number + 1) * self.step
            if now <= self.system.end + self.step:
                continue
            if self._is_calm(number, now):
                return self._course((self.troubled + 1) * self.step)
            if now > until and self.troubled >= number - 1:
                return self._course(now, is_extrapolated=True)
            if number % window == 0:
                steady = self.scaling.is_at_rest(now) and all(
                    abs(one.rate - rates[name]) < _STEADY for name, one in self.caches.items()
                )
                backlogs = self.records[-1].backlogs
                growing = growing + 1 if steady and is_stuck(before, backlogs) else 0
                if growing >= _GROWING_WINDOWS:
                    return self._course(inf)
                before = backlogs
                rates = {name: one.rate for name, one in self.caches.items()}
        # Too long to be followed to its end: the backlog goes on as in the last window.
        slope = (
            (max(before, default=0.0) - self._backlog())
            / (MOST_STEPS % window or window)
            / self.step
        )
        end = MOST_STEPS * self.step
        cleared = end + self._backlog() / slope if slope > 0 else inf
        return self._course(cleared, is_extrapolated=True)

    def _backlog(self) -> float:
        return max(self.records[-1].backlogs)

    def _is_calm(self, number: int, now: float) -> bool:
        calm = (number - self.troubled) * self.step
        return calm > calm_of(self.system) and self.scaling.is_at_rest(now)

    # -- a step ------------------------------------------------------------------------------

    def _advance(self, number: int) -> None:
        now = number * self.step
        for place, flush in enumerate(self.system.flushes):
            if flush.at <= now and place not in self.flushed:
                self.flushed.add(place)
                self.caches[flush.cache].flush()
        self.scaling.start_step(now)
        self.slowed = slowed_service(self.system, self.layout, now)
        self._send(number, now)
        used = self._serve(number, now)
        failed = self._time_out(number)
        self.scaling.end_step(now + self.step, self.step)
        if failed > 0:
            self.troubled = number
        self.records[-1].failed = failed
        self.records[-1].utilizations = used

    def _send(self, number: int, now: float) -> None:
        """Send the requests of a step: first attempts, and retries that are due."""
        import numpy as np  # noqa: PLC0415 - of incidents alone

        amounts = self.due.pop(number, None)
        retries = 0.0 if amounts is None else float(amounts.sum())
        if amounts is None:
            amounts = np.zeros(len(self.layout.keys))
        offered = 0.0
        for place, stream in enumerate(self.system.streams):
            rate = stream.rate * self.system.traffic_factor(stream.name, now)
            many = rate * self.step
            hits = self.caches[stream.cache].rate if stream.cache is not None else 0.0
            shares = [max(0.0, one.share + one.per_hit * hits) for one in stream.routes]
            amounts[self.layout.of_stream[place][0]] = [many * one for one in shares]
            if stream.cache is not None:
                self.missed.setdefault(place, []).append(1 - hits)
            counts = self.counts[place]
            counts[_SENT] += many
            offered += many
            if stream.retry is not None and stream.retry.budget is not None:
                earned = stream.retry.budget * many
                most = stream.retry.budget * rate * _BUDGET_SECONDS
                self.tokens[place] = min(self.tokens[place] + earned, max(most, earned))
        if ENTRY in self.refetches:
            again = self.refetches[ENTRY]
            amounts = with_items(again, number, amounts, self.sent, self.served)
        self.sent[number] = amounts
        self.records.append(
            StepRecord(
                offered=offered,
                retries=retries,
                machines=self.scaling.ready,
                hit_rates=tuple(one.rate for one in self.caches.values()),
                loads=[0.0] * len(self.queues),
            )
        )
        for target, mask in self.layout.entry:
            self._move(number, target, Parcel(number, amounts * mask, 0.0), number)

    def _serve(self, number: int, now: float) -> tuple[float, ...]:
        """Serve at each station what it can in a step; return the utilizations."""
        used, capacities = [0.0] * len(self.queues), [0.0] * len(self.queues)
        for place in self.layout.order:
            station, queue = self.system.stations[place], self.queues[place]
            left = capacity = self._capacity(place, now) * self.step
            capacities[place] = capacity / self.step / self.usual[place]
            while queue and left > 0:
                parcel = queue[0]
                if parcel.work <= left:
                    queue.popleft()
                    served = parcel
                else:
                    part = left / parcel.work
                    served = Parcel(parcel.origin, parcel.amounts * part, left)
                    parcel.amounts = parcel.amounts - served.amounts
                    parcel.work -= left
                left -= served.work
                self.waiting[place] -= served.work
                gone = served.amounts
                if place in self.refetches:
                    again = self.refetches[place]
                    gone = with_items(again, served.origin, gone, self.sent, self.served)
                    self.sent[served.origin] += gone - served.amounts
                for target, mask in self.layout.after[place]:
                    passed = Parcel(served.origin, gone * mask, 0.0)
                    self._move(number, target, passed, served.origin)
            if not queue:
                self.waiting[place] = 0.0
            elif self.waiting[place] > _EMPTY * station.servers * self.step:
                self.troubled = number
            used[place] = (capacity - left) / capacity if capacity > 0 else 0.0
            self.scaling.observe(place, used[place])
        record = self.records[-1]
        record.capacities = tuple(capacities)
        record.loads = [
            load / self.step / usual for load, usual in zip(record.loads, self.usual, strict=True)
        ]
        record.backlogs = tuple(
            work / station.servers
            for work, station in zip(self.waiting, self.system.stations, strict=True)
        )
        return tuple(used)

    def _capacity(self, place: int, now: float) -> float:
        """Return how much work a station does in a second."""
        station = self.system.stations[place]
        capacity = station.servers * (1 - station.background)
        capacity *= self.system.capacity_factor(station.node, now)
        return capacity * self.scaling.part_of(station.node)

    def _move(self, number: int, target: int, parcel: Parcel, origin: int) -> None:
        """Move requests to a station, or answer them."""
        if target == DONE:
            self._answer(number, origin, parcel.amounts)
            return
        work = float(self.layout.works[target] @ parcel.amounts)
        if work <= 0:
            return
        queue = self.queues[target]
        self.waiting[target] += work
        self.records[-1].loads[target] += work
        if queue and queue[-1].origin == origin:
            queue[-1].amounts = queue[-1].amounts + parcel.amounts
            queue[-1].work += work
        else:
            parcel.work = work
            queue.append(parcel)

    def _answer(self, number: int, origin: int, amounts: Amounts) -> None:
        """Answer requests: in time, late, or after their clients have given up."""
        if not amounts.any():
            return
        waited = (number - origin) * self.step
        record = self.records[-1]
        for place, stream in enumerate(self.system.streams):
            slices = self.layout.of_stream[place]
            own = slice(slices[0].start, slices[-1].stop)
            answered = amounts[own]
            if not answered.any():
                continue
            record.wait = max(record.wait, waited)
            self.served[origin, own] += answered
            if stream.cache is not None:
                missed = self.missed[place][origin]
                self.caches[stream.cache].fill(fetched(stream, missed, answered))
            response, all_of_them = waited + stream.latency, answered
            timeout = inf if stream.retry is None else stream.retry.timeout
            if timeout < inf:
                answered = all_of_them * self._within(timeout - response, own)
            self.done[origin, own] += answered
            many = float(answered.sum())
            if many <= 0:
                continue
            record.answered += many
            counts = self.counts[place]
            if stream.limit is not None:
                soon = float((all_of_them * self._within(stream.limit - response, own)).sum())
                counts[_LATE] += max(0.0, many - soon)
                self.troubled = number if many > soon else self.troubled
            if self.slowed is not None:
                response += self.slowed.longer(timeout - response, own)
            if response > counts[_WORST] + self.step / 2:
                counts[_WORST], counts[_WORST_AT] = response, (number + 1) * self.step

    def _within(self, left: float, own: slice) -> Amounts | float:
        """Return which part of requests is answered if so much time is left, by keys."""
        return float(left >= 0) if self.slowed is None else self.slowed.within(left, own)

    def _time_out(self, number: int) -> float:
        """Have clients send again what was not answered in time; return how much they give up."""
        import numpy as np  # noqa: PLC0415 - of incidents alone

        lost = 0.0
        for place, stream in enumerate(self.system.streams):
            retry = stream.retry
            if retry is None:
                continue
            origin = number - max(1, round(retry.timeout / self.step))
            if origin < 0:
                continue
            slices = self.layout.of_stream[place]
            own = slice(slices[0].start, slices[-1].stop)
            failed = self.sent[origin, own] - self.done[origin, own]
            failed[failed < _EMPTY * stream.rate * self.step] = 0.0
            if not failed.any():
                continue
            width = slices[0].stop - slices[0].start
            again = float(failed[:-width].sum()) if retry.retries else 0.0
            part = 1.0
            if retry.budget is not None and again > 0:
                part = min(1.0, self.tokens[place] / again)
                self.tokens[place] -= part * again
            gone = float(failed.sum()) - part * again
            if gone > _EMPTY * stream.rate * self.step:
                first = origin - round(tried_for(retry) / self.step) if part == 1 else origin
                self.lost_from = max(self.lost_from, first)
            for attempt in range(len(slices) - 1):
                many = part * failed[attempt * width : (attempt + 1) * width]
                if not many.any():
                    continue
                wait = retry.backoff * 2**attempt
                at = number + max(1, round(wait / self.step))
                if at not in self.due:
                    self.due[at] = np.zeros(len(self.layout.keys))
                if stream.cache is not None:
                    missed = self.missed[place][origin]
                    many = sent_again(stream, missed, self.caches[stream.cache].rate, many)
                self.due[at][slices[attempt + 1]] += many
            self.counts[place][_RETRIES] += part * again
            self.counts[place][_LOST] += gone
            lost += gone
        return lost

    # -- what became of it -------------------------------------------------------------------

    def _course(self, cleared_at: float, *, is_extrapolated: bool = False) -> FluidCourse:
        pairs = zip(self.system.streams, self.counts, strict=True)
        streams = tuple(StreamOutcome.of(stream.name, counts) for stream, counts in pairs)
        return FluidCourse(
            step=self.step,
            points=summarized(self.records, self.step),
            streams=streams,
            cleared_at=cleared_at,
            in_time_at=inf
            if cleared_at == inf or is_extrapolated
            else (self.lost_from + 1) * self.step,
            is_extrapolated=is_extrapolated,
        )
