"""Requests added up: for each way from a route to a call, what it took and how often."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct, field

from qps.compiler.measurement.traces.call_graph import Operation
from qps.compiler.measurement.traces.elapsed_spreads import TimeWindows
from qps.compiler.measurement.traces.trace_tree import TracedRequest

MOST_OPERATIONS = 200
"""Of one service; what comes after these counts as one."""
OTHER = "other operations"
MOST_PATHS = 50_000
_MOST_PATTERNS = 500
_MOST_COMPARED = 64
_MOST_SAMPLED = 20_000
_LEAST_OVERLAP = 0.5


class Mean(Struct, kw_only=True):
    """A mean that is being taken."""

    total: float = 0.0
    weight: float = 0.0
    squares: float = 0.0

    def add(self, value: float, weight: float) -> None:
        """Count a value."""
        self.total += value * weight
        self.weight += weight
        self.squares += value * value * weight

    @property
    def value(self) -> float | None:
        """The mean, None of nothing."""
        return self.total / self.weight if self.weight else None

    @property
    def variance(self) -> float:
        """How much single values vary, 0 of nothing."""
        if not self.weight:
            return 0.0
        return max(0.0, self.squares / self.weight - (self.total / self.weight) ** 2)


class CallTally(Struct, kw_only=True):
    """What is known of calls on one way from a route."""

    key: Operation
    is_peer: bool = False
    count: float = 0.0
    raw: int = 0
    callers: float = 0.0
    errors: float = 0.0
    retries: float = 0.0
    squares: float = 0.0
    duration: Mean = field(default_factory=Mean)
    own: Mean = field(default_factory=Mean)
    network: Mean = field(default_factory=Mean)
    place: Mean = field(default_factory=Mean)
    sent: Mean = field(default_factory=Mean)
    returned: Mean = field(default_factory=Mean)
    below: dict[Operation, CallTally] = field(default_factory=dict)
    patterns: Counter[frozenset[Operation]] = field(default_factory=Counter)
    both: Counter[tuple[Operation, Operation]] = field(default_factory=Counter)
    overlapping: Counter[tuple[Operation, Operation]] = field(default_factory=Counter)


class RouteTally(Struct, kw_only=True):
    """What is known of a route: its calls, what started it, and a sample of its times."""

    tally: CallTally
    messages: Counter[Operation] = field(default_factory=Counter)
    times: list[tuple[float, float]] = field(default_factory=list)
    timed: int = 0


class ServiceTally(Struct, kw_only=True):
    """What is known of a service."""

    requests: float = 0.0
    own: Mean = field(default_factory=Mean)
    instances: set[str] = field(default_factory=set)
    operations: set[str] = field(default_factory=set)
    is_peer: bool = True


class Tallies:
    """All routes and services; requests are added one by one."""

    def __init__(self) -> None:
        self.routes: dict[Operation, RouteTally] = {}
        self.services: dict[str, ServiceTally] = {}
        self.elapsed: dict[Operation, TimeWindows] = {}
        self.paths = 0
        self.merged = 0
        self.lost = 0
        self._random = random.Random(1)  # noqa: S311 - a sample, the same each time

    def add(self, request: TracedRequest, cause: Operation | None = None) -> None:
        """Count a request of a route, all its calls, and what it starts."""
        key = self._key(request)
        route = self.routes.get(key)
        if route is None:
            route = self.routes[key] = RouteTally(tally=self._tally(key))
        if cause is not None:
            route.messages[cause] += request.weight  # type: ignore[assignment]
        self._sample(route, request)
        route.tally.callers += request.weight
        todo = [(route.tally, request, True)]
        while todo:
            tally, one, is_counted = todo.pop()
            self._count(tally, one)
            started = [call for call in one.calls if not call.is_synchronous]
            for message in started:
                self.add(message, key)
            todo += self._calls(tally, one) if is_counted else []

    def _tally(self, key: Operation) -> CallTally:
        self.paths += 1
        return CallTally(key=key)

    def _key(self, request: TracedRequest) -> Operation:
        """Return the operation of a request; names that go on without end are one."""
        service = self.services.setdefault(request.service, ServiceTally())
        operation = request.operation
        if operation not in service.operations:
            if len(service.operations) >= MOST_OPERATIONS:
                self.merged += 1
                return request.service, OTHER
            service.operations.add(operation)
        return request.service, operation

    def _sample(self, route: RouteTally, request: TracedRequest) -> None:
        """Keep a random sample of times, as many as fit."""
        route.timed += 1
        value = (request.served / 1e9, request.weight)
        if len(route.times) < _MOST_SAMPLED:
            route.times.append(value)
        elif (place := self._random.randrange(route.timed)) < _MOST_SAMPLED:
            route.times[place] = value

    def _count(self, tally: CallTally, request: TracedRequest) -> None:
        weight = request.weight
        tally.count += weight
        tally.raw += 1
        tally.errors += weight * request.is_error
        tally.is_peer = request.is_peer
        service = self.services[request.service]
        service.requests += weight
        service.is_peer &= request.is_peer
        if request.instance:
            service.instances.add(request.instance)
        if request.served > 0:
            tally.duration.add(request.served / 1e9, weight)
            own = max(0, request.own) / 1e9
            tally.own.add(own, weight)
            service.own.add(own, weight)
            if request.has_client and request.end - request.start >= request.served:
                network = (request.end - request.start - request.served) / 1e9
                tally.network.add(network, weight)
                own += network
            windows = self.elapsed.get(tally.key)
            if windows is None:
                windows = self.elapsed[tally.key] = TimeWindows()
            windows.add(request.start, own, weight)
        if request.sent >= 0:
            tally.sent.add(request.sent, weight)
        if request.returned >= 0:
            tally.returned.add(request.returned, weight)

    def _calls(
        self, tally: CallTally, request: TracedRequest
    ) -> list[tuple[CallTally, TracedRequest, bool]]:
        """Count which calls a request makes, in which order; return them with their tallies."""
        waited = [call for call in request.calls if call.is_synchronous]
        found: list[tuple[CallTally, TracedRequest, bool]] = []
        keys = [self._key(call) for call in waited]
        for place, (key, call) in enumerate(zip(keys, waited, strict=True)):
            below = tally.below.get(key)
            if below is None:
                if self.paths >= MOST_PATHS:
                    self.lost += 1
                    continue
                below = tally.below[key] = self._tally(key)
            below.place.add(float(place), request.weight)
            found.append((below, call, True))
        times = Counter(keys)
        made = frozenset(times)
        for key in made:
            if key in tally.below:
                tally.below[key].callers += request.weight
                tally.below[key].squares += request.weight * times[key] ** 2
        if made in tally.patterns or len(tally.patterns) < _MOST_PATTERNS:
            tally.patterns[made] += request.weight  # type: ignore[assignment]
        self._count_retries(tally, keys, waited, request.weight)
        _count_overlaps(tally, keys[:_MOST_COMPARED], waited[:_MOST_COMPARED])
        return found

    @staticmethod
    def _count_retries(
        tally: CallTally, keys: Sequence[Operation], calls: Sequence[TracedRequest], weight: float
    ) -> None:
        """Count calls that follow one of the same operation that failed, before any other."""
        for (key, call), (next_key, following) in pairwise(zip(keys, calls, strict=True)):
            is_same = key == next_key and key in tally.below
            if is_same and call.is_error and following.start >= call.end:
                tally.below[key].retries += weight


def _count_overlaps(
    tally: CallTally, keys: Sequence[Operation], calls: Sequence[TracedRequest]
) -> None:
    """Count which calls ran at the same time: for more than half of the shorter one."""
    both: set[tuple[Operation, Operation]] = set()
    overlapping: set[tuple[Operation, Operation]] = set()
    for place, (key, call) in enumerate(zip(keys, calls, strict=True)):
        for other_key, other in zip(keys[place + 1 :], calls[place + 1 :], strict=True):
            pair = (key, other_key) if key <= other_key else (other_key, key)
            both.add(pair)
            shorter = min(call.end - call.start, other.end - other.start)
            common = min(call.end, other.end) - max(call.start, other.start)
            if common > 0 and common > _LEAST_OVERLAP * shorter:
                overlapping.add(pair)
    tally.both.update(both)
    tally.overlapping.update(overlapping)
