"""Which items come back to a queue after they were served there, how often, and how soon.

So do calls to one server that are made one after the other. Of optional calls each outcome is a
kind of items, with its own number of passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.disciplines.feedback import Gap, Passes, feedback_queue
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.expressions.symbolic_numbers import Assuming
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart, TimeSpent
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, NetworkTraffic
from qps.engine.expressions.formulas import ONE, ZERO, Formula, total

_MOST_PASSES = 8
_MOST_OUTCOMES = 32

_Outcome = tuple[Formula, tuple[int, ...]]
"""An outcome of calls: its chance, and the stages that are passed then, in order."""


class _UnknownPassesError(Exception):
    """Raised if the successive visits of items are unknown, or too many."""


def with_feedback(
    queues: Mapping[str, Queue], traffic: NetworkTraffic, numbers: Assuming
) -> dict[str, Queue]:
    """Return queues of which those have another law to which items come back.

    Where all services are alike and exponential it is as for random arrivals (Jackson 1957).
    """
    found = {
        name: replace(queue, most_visits=_most_visits(queue, traffic))
        for name, queue in queues.items()
    }
    for name, queue in queues.items():
        if not _may_come_back(queue, traffic):
            continue
        try:
            kinds = [
                kind
                for of in dict.fromkeys(visit.of[0] for visit in queue.visits)
                for kind in _kinds_of(traffic.classes[of], queue, queues, numbers)
            ]
        except _UnknownPassesError:
            continue
        if any(len(kind.visits) > 1 for kind in kinds):
            found[name] = replace(queue, law=feedback_queue(queue, kinds))
    return found


def _most_visits(queue: Queue, traffic: NetworkTraffic) -> int | None:
    """Return how many visits an item makes at most, None where one may be made again and again."""
    if _is_repeated(queue, traffic):
        return None
    if all(queue.resource not in visit.after for visit in queue.visits):
        return 1  # of several an item makes one
    return max(Counter(visit.of[0] for visit in queue.visits).values(), default=1)


def _may_come_back(queue: Queue, traffic: NetworkTraffic) -> bool:
    visits = queue.visits
    if type(queue.law) is not OneServer or queue.servers is not ONE:
        return False
    if _most_visits(queue, traffic) == 1:
        return False
    is_random = queue.variation is ONE and queue.is_modeled_as_uniform
    return not is_random and queue.background is ZERO and all(map(_is_plain, visits))


def _is_repeated(queue: Queue, traffic: NetworkTraffic) -> bool:
    """Return whether a visit stands in calls that may be made more than once."""
    parts = (traffic.classes[visit.of[0]].latency[visit.of[1]] for visit in queue.visits)
    return any(_is_again(call) for part in parts for call in part.calls)


def _is_again(call: CallFactor) -> bool:
    return not call.is_share and call.fork is None and call.fan_out is None


def _is_plain(visit: QueueVisit) -> bool:
    """Return whether a visit is one of open traffic that comes at random, item by item."""
    return not (
        visit.is_uneven
        or visit.is_bursty
        or visit.meets
        or visit.is_retransmitted
        or visit.is_varied
        or visit.batch is not ONE
        or visit.variation is not None
        or visit.most is not None
        or visit.joined is not None
        or visit.place.count is not ONE
        or any(visit.threads)
    )


def _kinds_of(
    one: ClassTraffic, queue: Queue, queues: Mapping[str, Queue], numbers: Assuming
) -> Iterator[Passes]:
    """Yield the items of a class by what they do at a queue; raise if that is unknown."""
    own = {visit.of[1]: visit for visit in queue.visits if visit.of[0] == one.name}
    is_waiting = {at for at, part in enumerate(one.latency) if part.spent is TimeSpent.WAIT}
    if one.closed is not None or one.losses or is_waiting - one.visits.keys():
        raise _UnknownPassesError
    first = min(own)
    indices = list(_indices(one, own, queue.resource))
    between = _Between(one=one, own=own, resource=queue.resource, queues=queues, numbers=numbers)
    outcomes = _Outcomes(one=one, numbers=numbers).of(indices, 0)
    visit = own[first]
    rate = visit.rate / one.latency[first].reached
    for chance, passed in outcomes:
        visits = tuple(at for at in passed if at in own)
        if len(visits) > _MOST_PASSES:
            raise _UnknownPassesError
        if visits:
            yield Passes(
                rate=rate * chance,
                visits=tuple((one.name, at) for at in visits),
                services=tuple(own[at].service for at in visits),
                gaps=tuple(between.of(passed)),
            )


def _indices(one: ClassTraffic, own: Mapping[int, QueueVisit], resource: str) -> range:
    """Return the stages from the first visit to the last, and all of calls made again with one.

    What is done in a visit comes behind the wait.
    """
    last = max(own)
    served = [spent.stage for spent in one.spent if spent.on == (resource,)]
    ends = max((stage for stage in served if stage > last), default=last)
    again = {call.number for at in own for call in one.latency[at].calls if _is_again(call)}
    with_them = [
        at
        for at, part in enumerate(one.latency)
        if any(call.number in again for call in part.calls)
    ]
    return range(min([*with_them, *own]), max([*with_them, ends]) + 1)


class _Between(Struct, frozen=True, kw_only=True):
    """What an item of one class does between its `own` visits of a resource."""

    one: ClassTraffic
    own: Mapping[int, QueueVisit]
    resource: str
    queues: Mapping[str, Queue]
    numbers: Assuming

    def of(self, passed: Sequence[int]) -> Iterator[Gap]:
        """Yield the times between its passes, from the end of each to the next."""
        at = [k for k, index in enumerate(passed) if index in self.own]
        served = {spent.stage for spent in self.one.spent if spent.on == (self.resource,)}
        for begins, ends in pairwise(at):
            times = [
                self._time(index) for index in passed[begins + 1 : ends] if index not in served
            ]
            yield Gap(total(one.fixed for one in times), total(one.random for one in times))

    def _time(self, index: int) -> Gap:
        part = self.one.latency[index]
        if part.spent is TimeSpent.WAIT:
            visit = self.one.visits[index]
            queue = self.queues.get(visit.resource)
            if queue is None:  # of a pool, for which the wait follows from these times
                raise _UnknownPassesError
            return Gap(random=queue.wait(visit))
        if self.numbers.structure_of(part.value, _is_nothing):
            return Gap()
        time = part.per_visit
        return Gap(time) if part.spent is TimeSpent.DELAY else Gap(random=time)


def _is_nothing(value: Formula, _: Mapping[Formula, object]) -> bool:
    return value is ZERO


class _Outcomes(Struct, frozen=True, kw_only=True):
    """What an item of one class may pass of some stages, in order."""

    one: ClassTraffic
    numbers: Assuming

    def of(self, indices: Sequence[int], depth: int) -> list[_Outcome]:
        """Return all outcomes of what stands in so many calls."""
        found: list[_Outcome] = [(ONE, ())]
        for is_call, group in groupby(indices, key=lambda at: len(self._calls(at)) > depth):
            inside = list(group)
            if not is_call:
                found = [(chance, (*passed, *inside)) for chance, passed in found]
                continue
            for _, same in groupby(inside, key=lambda at: _choice(self._calls(at)[depth])):
                found = _together(found, self._of_choice(list(same), depth))
        return found

    def _calls(self, at: int) -> tuple[CallFactor, ...]:
        part: LatencyPart = self.one.latency[at]
        if any(call.fork is not None for call in part.calls):
            raise _UnknownPassesError
        return part.calls

    def _of_choice(self, indices: Sequence[int], depth: int) -> list[_Outcome]:
        """Return the outcomes of a call, or of alternatives, none of them included."""
        found: list[_Outcome] = []
        chances: list[Formula] = []
        for _, group in groupby(indices, key=lambda at: self._calls(at)[depth].number):
            inside = list(group)
            call = self._calls(inside[0])[depth]
            outcomes = self.of(inside, depth + 1)
            if call.times is ONE:
                return outcomes
            if not call.is_share:
                return self._repeated(outcomes, call)
            chances.append(call.times)
            found += [(call.times * chance, passed) for chance, passed in outcomes]
        left = 1 - total(chances)
        return found if left is ZERO else [*found, (left, ())]

    def _repeated(self, outcomes: list[_Outcome], call: CallFactor) -> list[_Outcome]:
        times = self.numbers.structure_of(call.times, _number)
        if times is None or times > _MOST_PASSES:
            raise _UnknownPassesError
        found: list[_Outcome] = [(ONE, ())]
        for _ in range(floor(times)):
            found = _together(found, outcomes)
        if times.denominator == 1:
            return found
        more = call.times - floor(times)  # some make it once more
        once = [(more * chance, passed) for chance, passed in outcomes]
        return _together(found, [*once, (1 - more, ())])


def _choice(call: CallFactor) -> tuple[bool, int]:
    return (False, call.number) if call.choice is None else (True, call.choice)


def _number(times: Formula, _: Mapping[Formula, object]) -> Fraction | None:
    return times.value if isinstance(times.value, Fraction) else None


def _together(outcomes: list[_Outcome], others: list[_Outcome]) -> list[_Outcome]:
    if len(outcomes) * len(others) > _MOST_OUTCOMES:
        raise _UnknownPassesError
    return [
        (chance * other, (*passed, *more)) for chance, passed in outcomes for other, more in others
    ]
