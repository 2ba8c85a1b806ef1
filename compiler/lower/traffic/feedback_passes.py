"""Which items come back to a queue as soon as they are served there, and how often.

So do calls to one server that are made one after the other, with nothing in between that takes
time. Of optional calls each outcome is a kind of items, with its own number of passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.disciplines.feedback import Passes, feedback_queue
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.expressions.symbolic_numbers import Assuming
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import Visit
from qps.compiler.lower.response_time.response_stages import CallFactor, LatencyPart, TimeSpent
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, Traffic
from qps.engine.expressions.formulas import ONE, ZERO, Formula, total

_MOST_PASSES = 8
_MOST_OUTCOMES = 32

_Outcome = tuple[Formula, tuple[int, ...]]
"""An outcome of calls: its chance, and the stages that are passed then, in order."""


class _UnknownPassesError(Exception):
    """Raised if the successive visits of items are unknown, or too many."""


def with_feedback(
    queues: Mapping[str, Queue], traffic: Traffic, numbers: Assuming
) -> dict[str, Queue]:
    """Return queues of which those have another law to which items come back at once.

    Where all services are alike and exponential it is as for random arrivals (Jackson 1957).
    """
    found = dict(queues)
    for name, queue in queues.items():
        if not _may_come_back(queue, traffic):
            continue
        try:
            kinds = [
                kind
                for of in dict.fromkeys(visit.of[0] for visit in queue.visits)
                for kind in _kinds_of(traffic.classes[of], queue, numbers)
            ]
        except _UnknownPassesError:
            continue
        if any(len(kind.visits) > 1 for kind in kinds):
            found[name] = replace(queue, law=feedback_queue(queue.law, kinds, queue.variation))
    return found


def _may_come_back(queue: Queue, traffic: Traffic) -> bool:
    visits = queue.visits
    if type(queue.law) is not OneServer or queue.servers is not ONE:
        return False
    if len(visits) == len({visit.of[0] for visit in visits}) and not _is_repeated(queue, traffic):
        return False
    is_random = queue.variation is ONE and queue.is_modeled_as_uniform
    return not is_random and queue.background is ZERO and all(map(_is_plain, visits))


def _is_repeated(queue: Queue, traffic: Traffic) -> bool:
    """Return whether a visit stands in calls that may be made more than once."""
    parts = (traffic.classes[visit.of[0]].latency[visit.of[1]] for visit in queue.visits)
    return any(not call.is_share for part in parts for call in part.calls)


def _is_plain(visit: Visit) -> bool:
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


def _kinds_of(one: ClassTraffic, queue: Queue, numbers: Assuming) -> Iterator[Passes]:
    """Yield the items of a class by what they do at a queue; raise if that is unknown."""
    own = {visit.of[1]: visit for visit in queue.visits if visit.of[0] == one.name}
    is_waiting = {at for at, part in enumerate(one.latency) if part.spent is TimeSpent.WAIT}
    if one.closed is not None or one.losses or is_waiting - one.visits.keys():
        raise _UnknownPassesError
    first, last = min(own), _end(one, max(own), queue.resource)
    indices = list(range(first, last + 1))
    outcomes = _Outcomes(one=one, numbers=numbers).of(indices, 0)
    visit = own[first]
    rate = visit.rate / one.latency[first].reached
    for chance, passed in outcomes:
        _check(passed, own, one, queue.resource, numbers)
        visits = tuple(at for at in passed if at in own)
        if len(visits) > _MOST_PASSES:
            raise _UnknownPassesError
        if visits:
            yield Passes(
                rate=rate * chance,
                visits=tuple((one.name, at) for at in visits),
                services=tuple(own[at].service for at in visits),
            )


def _end(one: ClassTraffic, last: int, resource: str) -> int:
    """Return the last stage of a visit: what is done in it comes behind the wait."""
    served = [spent.stage for spent in one.spent if spent.on == (resource,)]
    return max((stage for stage in served if stage > last), default=last)


def _check(
    passed: Sequence[int],
    own: Mapping[int, Visit],
    one: ClassTraffic,
    resource: str,
    numbers: Assuming,
) -> None:
    """Raise where anything but the visits takes a time between the first and the last of them."""
    at = [k for k, index in enumerate(passed) if index in own]
    served = {spent.stage for spent in one.spent if spent.on == (resource,)}
    for index in passed[at[0] : at[-1]] if at else ():
        if index not in own and index not in served:
            part = one.latency[index]
            if part.spent is TimeSpent.WAIT or not numbers.of_what_stays(part.value, _is_nothing):
                raise _UnknownPassesError


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
        return [*found, (1 - total(chances), ())]

    def _repeated(self, outcomes: list[_Outcome], call: CallFactor) -> list[_Outcome]:
        times = self.numbers.of_what_stays(call.times, _whole)
        if times is None or times > _MOST_PASSES:
            raise _UnknownPassesError
        found: list[_Outcome] = [(ONE, ())]
        for _ in range(times):
            found = _together(found, outcomes)
        return found


def _choice(call: CallFactor) -> tuple[bool, int]:
    return (False, call.number) if call.choice is None else (True, call.choice)


def _whole(times: Formula, _: Mapping[Formula, object]) -> int | None:
    value = times.value
    is_whole = isinstance(value, Fraction) and value.denominator == 1
    return int(value) if is_whole else None  # type: ignore[arg-type]


def _together(outcomes: list[_Outcome], others: list[_Outcome]) -> list[_Outcome]:
    if len(outcomes) * len(others) > _MOST_OUTCOMES:
        raise _UnknownPassesError
    return [
        (chance * other, (*passed, *more)) for chance, passed in outcomes for other, more in others
    ]
