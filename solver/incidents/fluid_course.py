"""The course of an incident as a fluid: amounts of requests flow through stations, step by step.

Where a load is above the capacity, randomness matters little beside the mean (Newell, Applications
of Queueing Theory, 1982, chapter 2). Each station serves first come, first served, as fast as it
can, also what its clients have given up. Each amount of requests keeps the time at which it was
sent: it is answered in time, or sent again, or lost. So a system may stay overloaded by its own
retries (Bronson et al., Metastable Failures in Distributed Systems, HotOS 2021).
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from qps.solver.incidents.course_steps import MOST_STEPS, calm_of, is_stuck, step_of
from qps.solver.incidents.course_summary import StepRecord, summarized
from qps.solver.incidents.filling_cache import FillingCache, fetched
from qps.solver.incidents.flow_layout import DONE, FlowLayout, Parcel, flow_layout
from qps.solver.incidents.fluid_clients import FluidClients
from qps.solver.incidents.fluid_scaling import FluidScaling
from qps.solver.incidents.incident_system import (
    FluidCourse,
    IncidentSystem,
    StreamOutcome,
    StreamTally,
)
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
_GROWING_WINDOWS = 2
"""For so many windows in a row, a backlog grows that is not cleared any more."""
_STEADY = 1e-3
"""The change of a hit rate in a window below which it does not change."""


def fluid_course(
    system: IncidentSystem, step: float | None = None, until: float = inf
) -> FluidCourse:
    """Return the course of an incident until it is over, or is known to stay.

    If it is not over `until` some time, that is not looked for any more.
    """
    import numpy as np  # noqa: PLC0415 - of incidents alone

    layout, step = flow_layout(system), step or step_of(system)
    shape = (MOST_STEPS + 1, len(layout.keys))
    caches = {one.name: FillingCache.of(one) for one in system.caches}
    counts = [StreamTally() for _ in system.streams]
    flow = _Flow(
        system=system,
        layout=layout,
        step=step,
        sent=np.zeros(shape),
        done=np.zeros(shape),
        served=np.zeros(shape),
        refetches=refetches(system, layout, step),
        queues=[deque() for _ in system.stations],
        waiting=[0.0] * len(system.stations),
        usual=[system.usual_capacity(one) for one in system.stations],
        errors=[0.0] * len(system.stations),
        caches=caches,
        scaling=FluidScaling.of(system),
        clients=FluidClients(
            layout=layout,
            step=step,
            caches=caches,
            counts=counts,
            tokens=[0.0] * len(system.streams),
        ),
        counts=counts,
    )
    return flow.run(until)


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
    queues: list[deque[Parcel]]
    waiting: list[float]
    """The work that waits at each station."""
    usual: list[float]
    """The work that each station does in a second before the incident."""
    errors: list[float]
    """The part of the requests that come to each station now that is answered with an error."""
    caches: dict[str, FillingCache]
    scaling: FluidScaling
    clients: FluidClients
    counts: list[StreamTally]
    slowed: SlowedService | None = None
    flushed: set[int] = field(default_factory=set)
    records: list[StepRecord] = field(default_factory=list)
    troubled: int = -1
    """The last step in which something waited or was lost."""
    retried_until: int = -1
    """The last step in which something is sent again that was answered with an error."""

    # -- until when --------------------------------------------------------------------------

    def run(self, until: float) -> FluidCourse:
        """Follow the flow until it is over, or is known to stay."""
        window = max(1, round(calm_of(self.system) / self.step))
        seconds = window * self.step
        before: tuple[float, ...] = ()
        growing = 0
        rates = {name: one.rate for name, one in self.caches.items()}
        for number in range(MOST_STEPS):
            self._advance(number)
            now = (number + 1) * self.step
            if now <= self.system.end + self.step:
                continue
            if self._is_calm(number, now):
                return self._course((self._last_trouble + 1) * self.step)
            if now > until and self._last_trouble >= number - 1:
                return self._course(now, is_extrapolated=True)
            if number % window == 0:
                steady = self.scaling.is_at_rest(now) and all(
                    abs(one.rate - rates[name]) < _STEADY for name, one in self.caches.items()
                )
                backlogs = self.records[-1].backlogs
                growing = growing + 1 if steady and is_stuck(before, backlogs, seconds) else 0
                if growing >= _GROWING_WINDOWS:
                    return self._course(inf)
                before = backlogs
                rates = {name: one.rate for name, one in self.caches.items()}
        # Too long to be followed to its end: the backlog goes on as in the last window.
        earlier = max(self.records[-1 - window].backlogs)
        slope = (earlier - self._backlog()) / seconds
        end = MOST_STEPS * self.step
        cleared = end + self._backlog() / slope if slope > 0 else inf
        return self._course(cleared, is_extrapolated=True)

    def _backlog(self) -> float:
        return max(self.records[-1].backlogs)

    @property
    def _last_trouble(self) -> int:
        return max(self.troubled, self.retried_until)

    def _is_calm(self, number: int, now: float) -> bool:
        calm = (number - self._last_trouble) * self.step
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
        self.errors = [self.system.error_share(one.node, now) for one in self.system.stations]
        self._send(number, now)
        used = self._serve(number, now)
        self.records[-1].failed += self._time_out(number)
        self.scaling.end_step(now + self.step, self.step)
        if self.records[-1].failed > 0:
            self.troubled = number
        self.records[-1].utilizations = used

    def _send(self, number: int, now: float) -> None:
        """Send the requests of a step: first attempts, and retries that are due."""
        import numpy as np  # noqa: PLC0415 - of incidents alone

        amounts = self.clients.due.pop(number, None)
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
                self.clients.missed.setdefault(place, []).append(1 - hits)
            self.counts[place].sent += many
            offered += many
            self.clients.earn(place, stream.retry, rate, many)
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
            if self.errors[place] >= 1:
                self._empty(number, place)
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
                    self._move(number, target, passed, served.origin, before=place)
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

    def _move(
        self, number: int, target: int, parcel: Parcel, origin: int, before: int | None = None
    ) -> None:
        """Move requests to a station, or answer them."""
        if target == DONE:
            self._answer(number, origin, parcel.amounts)
            return
        stations = self.system.stations
        is_there = before is not None and stations[before].node == stations[target].node
        if self.errors[target] > 0 and not is_there:
            failed = self.errors[target] * parcel.amounts
            self._fail(number, origin, failed)
            parcel.amounts = parcel.amounts - failed
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
            own = self.layout.owned(place)
            answered = amounts[own]
            if not answered.any():
                continue
            record.wait = max(record.wait, waited)
            self.served[origin, own] += answered
            if stream.cache is not None:
                missed = self.clients.missed[place][origin]
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
                counts.late += max(0.0, many - soon)
                self.troubled = number if many > soon else self.troubled
            if self.slowed is not None:
                response += self.slowed.longer(timeout - response, own)
            if response > counts.worst + self.step / 2:
                counts.worst, counts.worst_at = response, (number + 1) * self.step

    def _within(self, left: float, own: slice) -> Amounts | float:
        """Return which part of requests is answered if so much time is left, by keys."""
        return float(left >= 0) if self.slowed is None else self.slowed.within(left, own)

    def _time_out(self, number: int) -> float:
        """Have clients send again what was not answered in time; return how much they give up."""
        lost = 0.0
        for place, stream in enumerate(self.system.streams):
            if stream.retry is None:
                continue
            origin = number - self.clients.patience(stream.retry)
            if origin < 0:
                continue
            own = self.layout.owned(place)
            failed = self.sent[origin, own] - self.done[origin, own]
            failed[failed < _EMPTY * stream.rate * self.step] = 0.0
            if failed.any():
                lost += self.clients.unanswered(place, number, origin, failed)
        return lost

    # -- errors ------------------------------------------------------------------------------

    def _fail(self, number: int, origin: int, amounts: Amounts) -> None:
        """Answer requests with an error: their clients, if they still wait, act at once."""
        for place, stream in enumerate(self.system.streams):
            own = self.layout.owned(place)
            failed = amounts[own]
            if not failed.any() or number - origin > self.clients.patience(stream.retry):
                continue
            self.done[origin, own] += failed
            self.records[-1].failed += self.clients.unanswered(place, number, origin, failed)
            self.retried_until = max(number, self.clients.last_due)

    def _empty(self, number: int, place: int) -> None:
        """Answer all that waits at a station with an error."""
        for parcel in self.queues[place]:
            self._fail(number, parcel.origin, parcel.amounts)
        self.queues[place].clear()
        self.waiting[place] = 0.0

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
            else (self.clients.lost_from + 1) * self.step,
            counted_until=len(self.records) * self.step,
            is_extrapolated=is_extrapolated,
        )
