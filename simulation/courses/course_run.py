"""One run of a course: requests one by one, on SimPy's clock, with the steps of the simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from math import inf, prod
from random import Random
from typing import Any

import simpy
from msgspec.structs import replace

from qps.simulation.courses.changing_servers import ChangingServers, ErrorAnswers
from qps.simulation.courses.course_input import ClientStream, CourseInput, CourseResult
from qps.simulation.courses.course_record import CourseRecord
from qps.simulation.courses.recently_used import RecentlyUsed, RequestedItems
from qps.simulation.courses.replica_controller import ReplicaController
from qps.simulation.items import Go, Item, StreamCounts
from qps.simulation.run_state import SimulationState, StreamHandlers
from qps.simulation.stations import NORMAL, Happening
from qps.simulation.step_chains import chained, prepare
from qps.solver.incidents.incident_system import CapacityLoss, RetryPolicy

_SAVED = 10.0
"""For so long a budget of retries is saved, in s."""
_JUST_BEFORE = 1e-6
"""Autoscalers look so many s before what happens at the same time: it is not measured yet."""


class Attempt(Item):
    """An attempt of a request: when that was sent first, for which item, and how often it was."""

    __slots__ = ("clients", "first", "is_answered", "is_hit", "item", "node", "number")

    def __init__(
        self,
        clients: _Clients,
        *,
        now: float,
        priority: float,
        first: float,
        item: int,
        number: int,
    ) -> None:
        super().__init__(now, priority)
        self.clients = clients
        self.first, self.item, self.number = first, item, number
        self.is_answered = self.is_hit = False
        self.node = ""


class CourseRun:
    """A run of a course. The same seed and number make the same run."""

    def __init__(self, course: CourseInput, seed: int, number: int) -> None:
        name = f"{seed}/{number}"
        self.course = course
        self.clock = simpy.Environment(-course.lead)
        self._random = Random(f"{name}/clients")  # noqa: S311 - no secret
        state = SimulationState(
            network=course.network,
            clock=self.clock,
            name=name,
            counts={name: StreamCounts() for name in (*course.network.flows, "")},
            busy=[0.0] * len(course.network.stations),
        )
        prepare(state)
        self._schedule = state.schedule
        self.scalers = [ReplicaController(one) for one in course.scalers]
        self._failed: Counter[str] = Counter()
        self.servers = [
            ChangingServers(
                self.clock, state.schedule, self._capacity(place), self._refusal_at(place)
            )
            for place in range(len(course.stations))
        ]
        state.shared = self.servers
        seeds = Random(f"{name}/items")  # noqa: S311
        self.requested = {
            one.name: RequestedItems(one.items, one.exponent, seeds.getrandbits(32))
            for one in course.caches
        }
        self.caches = {
            one.name: RecentlyUsed(one.size, self.requested[one.name], one.items)
            for one in course.caches
        }
        self.record = CourseRecord(course=course)
        self._is_over = False
        for place, stream in enumerate(course.streams):
            _Clients(self, state, place, stream).begin()
        self._plan()

    def play(self) -> CourseResult:
        """Play until it is over."""
        while not self._is_over and self.clock.peek() <= self.course.until:
            self.clock.step()
        return self.record.run()

    def at(self, time: float, what: Callable[[], None]) -> None:
        """Do something at a time; at once if that has passed."""
        delay = max(0.0, time - self.clock.now)
        self._schedule(Happening((lambda _: what(),), None), NORMAL, delay)

    # -- what happens ------------------------------------------------------------------------

    def _plan(self) -> None:
        course = self.course
        times = {one.start for one in course.capacity_changes}
        times |= {one.end for one in course.capacity_changes}
        for time in sorted(times):
            if time <= course.until:
                self.at(time, self._change_nodes)
        for flush in course.flushes:
            self.at(flush.at, self.caches[flush.cache].clear)
        for scaler in self.scalers:
            self.at(0.0, partial(self._forget, scaler))
            self.at(scaler.policy.sync - _JUST_BEFORE, partial(self._synchronize, scaler))
        self.at(-course.lead + course.width, self._observe)

    def _capacity(self, place: int) -> float:
        """Return how many servers a station has now."""
        station = self.course.stations[place]
        machines = station.copies
        for scaler in self.scalers:
            if scaler.policy.node == station.node:
                machines = scaler.ready
        capacity = station.servers * machines
        for change in self.course.capacity_changes:
            if change.node == station.node and self._is_now(change) and not change.is_slower:
                capacity *= change.factor
        return capacity

    def _speed(self, place: int) -> float:
        """Return how fast the servers of a station are now."""
        node = self.course.stations[place].node
        return prod(
            one.factor
            for one in self.course.capacity_changes
            if one.node == node and self._is_now(one) and one.is_slower
        )

    def _refusal_at(self, place: int) -> ErrorAnswers | None:
        """Return which requests a station answers with errors; None if it never does."""
        node = self.course.stations[place].node
        own = [
            one for one in self.course.capacity_changes if one.node == node and one.answers_errors
        ]
        if not own:
            return None

        def refuse(item: Item) -> bool:
            if not isinstance(item, Attempt):
                return False
            is_there, item.node = item.node == node, node
            works = prod(one.factor for one in own if self._is_now(one))
            if works == 1 or (is_there and works > 0) or self._random.random() < works:
                return False
            item.clients.fail(item)
            return True

        return refuse

    def _is_now(self, change: CapacityLoss) -> bool:
        return change.start <= self.clock.now < change.end

    def _change_nodes(self) -> None:
        for scaler in self.scalers:
            own = [one for one in self.course.capacity_changes if one.node == scaler.policy.node]
            failed = sum(one.machines for one in own if self._is_now(one))
            if failed != self._failed[scaler.policy.node]:
                self._failed[scaler.policy.node] = failed
                scaler.fail(failed)
        self._change_servers()

    def _change_servers(self) -> None:
        for place, one in enumerate(self.servers):
            one.change(self._capacity(place), self._speed(place))
            if self._capacity(place) == 0:
                one.refuse_waiting()

    def _observe(self) -> None:
        now, stations = self.clock.now, self.course.stations
        self._is_over = self.record.observe(
            now,
            tuple(
                servers.work / (one.servers * one.copies)
                for servers, one in zip(self.servers, stations, strict=True)
            ),
            tuple(one.ready for one in self.scalers),
            is_steady=all(one.ready == one.count for one in self.scalers),
        )
        self.at(now + self.course.width, self._observe)

    # -- autoscalers -------------------------------------------------------------------------

    def _look(self, scaler: ReplicaController) -> float:
        """Return which part of the busiest CPU was used since this was last read."""
        return max(
            servers.used() / (scaler.policy.sync * station.servers * max(1, scaler.ready))
            for servers, station in zip(self.servers, self.course.stations, strict=True)
            if station.node == scaler.policy.node and station.is_processor
        )

    def _forget(self, scaler: ReplicaController) -> None:
        """Begin to count how busy machines are."""
        self._look(scaler)

    def _synchronize(self, scaler: ReplicaController) -> None:
        def start(after: float, many: int) -> None:
            self.at(self.clock.now + after, partial(self._started, scaler, many))

        if scaler.decide(self.clock.now, self._look(scaler), start):
            self._change_servers()
        self.at(self.clock.now + scaler.policy.sync, partial(self._synchronize, scaler))

    def _started(self, scaler: ReplicaController, many: int) -> None:
        scaler.started(many)
        self._change_servers()


class _Clients:
    """Those who send the requests of a stream: at random, and again without an answer in time."""

    def __init__(
        self, run: CourseRun, state: SimulationState, place: int, stream: ClientStream
    ) -> None:
        self._run, self._place, self._stream = run, place, stream
        self._random = Random(f"{state.name}/{stream.name}/{place}")  # noqa: S311
        self._schedule, self._clock = state.schedule, state.clock
        handlers = StreamHandlers(stream.name)
        # All go the same way up to where the ways of hits and of misses part: there they look.
        pairs = enumerate(zip(stream.steps, stream.steps_of_hit, strict=False))
        alike = min(len(stream.steps), len(stream.steps_of_hit))
        alike = next((place for place, (one, other) in pairs if one != other), alike)
        self._of_miss: Go = chained(state, stream.steps[alike:], self._finish, handlers)
        self._of_hit: Go = chained(state, stream.steps_of_hit[alike:], self._finish, handlers)
        self._path: Go = chained(state, stream.steps[:alike], self._look_up, handlers)
        self._factors = [one for one in run.course.traffic_changes if one.stream == stream.name]
        self._fastest = stream.rate * max([1.0, *(one.factor for one in self._overlaid())])
        self._tokens = 0.0
        retry = stream.retry
        self._timeout = inf if retry is None else retry.timeout
        self._arrivals, self._timeouts = (self._arrive,), (self._time_out,)
        self._again = (self._send_again,)

    def begin(self) -> None:
        """Send the first request after a random time."""
        if self._fastest > 0:
            self._schedule(Happening(self._arrivals, None), NORMAL, self._gap())

    def _gap(self) -> float:
        return self._random.expovariate(self._fastest)

    def _overlaid(self) -> list[Any]:
        """Return the changes with the products of all factors at their starts."""
        return [replace(one, factor=self._factor(one.start)) for one in self._factors]

    def _factor(self, now: float) -> float:
        factor = 1.0
        for one in self._factors:
            if one.start <= now < one.end:
                factor *= one.factor
        return factor

    def _arrive(self, _: Any) -> None:
        self._schedule(Happening(self._arrivals, None), NORMAL, self._gap())
        stream, now = self._stream, self._clock.now
        rate = stream.rate * self._factor(now)
        if rate < self._fastest and self._random.random() * self._fastest >= rate:
            return
        retry = stream.retry
        if retry is not None and retry.budget is not None:
            most = max(1.0, retry.budget * rate * _SAVED)
            self._tokens = min(self._tokens + retry.budget, most)
        item = -1 if stream.cache is None else self._run.requested[stream.cache].next()
        self._run.record.offer(self._place, now)
        attempt = Attempt(self, now=now, priority=stream.priority, first=now, item=item, number=0)
        self._send(attempt)

    def _send_again(self, happening: Any) -> None:
        before: Attempt = happening.item
        now = self._clock.now
        self._run.record.retry(self._place, now)
        number = before.number + 1
        attempt = Attempt(
            self,
            now=now,
            priority=before.priority,
            first=before.first,
            item=before.item,
            number=number,
        )
        self._send(attempt)

    def _send(self, attempt: Attempt) -> None:
        if self._timeout < inf:
            self._schedule(Happening(self._timeouts, attempt), NORMAL, self._timeout)
        self._path(attempt)

    def _look_up(self, item: Item) -> None:
        """Look for the item of an attempt in the cache, and go on."""
        cache = self._stream.cache
        if cache is None or not isinstance(item, Attempt):
            self._of_miss(item)
            return
        item.is_hit = self._run.caches[cache].has(item.item)
        self._run.record.look_up(cache, is_hit=item.is_hit)
        (self._of_hit if item.is_hit else self._of_miss)(item)

    def _finish(self, item: Item) -> None:
        if not isinstance(item, Attempt):
            return  # a copy, which nobody waits for
        stream = self._stream
        if stream.cache is not None and not item.is_hit:
            self._run.caches[stream.cache].store(item.item)
        took = self._clock.now - item.created
        if took > self._timeout or item.is_dropped:
            return
        item.is_answered = True
        self._run.record.answer(self._place, item.first, self._clock.now, took, is_hit=item.is_hit)

    def _time_out(self, happening: Any) -> None:
        attempt: Attempt = happening.item
        if not attempt.is_answered:
            self._give_up(attempt)

    def fail(self, attempt: Attempt) -> None:
        """Answer an attempt with an error: it is sent again, or lost, if its client still waits."""
        if self._clock.now - attempt.created <= self._timeout:
            attempt.is_answered = True
            self._give_up(attempt)

    def _give_up(self, attempt: Attempt) -> None:
        retry = self._stream.retry
        if retry is None or not self._may_retry(attempt, retry):
            self._run.record.lose(self._place, attempt.first)
            return
        wait = retry.backoff * 2**attempt.number
        self._schedule(Happening(self._again, attempt), NORMAL, wait)

    def _may_retry(self, attempt: Attempt, retry: RetryPolicy) -> bool:
        """Return whether an attempt is sent again, and spend what its budget has for that."""
        if attempt.number >= retry.retries:
            return False
        if retry.budget is None:
            return True
        has_tokens = self._tokens >= 1
        self._tokens -= has_tokens
        return has_tokens
