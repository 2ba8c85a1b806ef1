"""How uneven what arrives at each queue is: flows of two moments through a network of queues.

Of a flow two numbers are kept, its rate and the square of the coefficient of variation of the times
between two of its items, c^2: 1 where they come at random. Flows are superposed, pass a queue, and
are split as in Whitt's queueing network analyzer (Bell System Technical Journal 62(9), 1983):

    together:  1 + w (sum p c^2 - 1),  w = 1/(1 + a (1 - load)^2 (v - 1)),  v = 1/sum p^2
    behind:    c^2 + load^2/sqrt(m) f (max(s^2, 0.2) - c^2),  s^2 of the service, m servers
    a share:   p c^2 + 1 - p

There a is 4 and f is 1, and what arrives at a queue is as uneven for all queues behind it. But one
that is nearly full feels what comes over a long time, one that is not what comes at once: after
Whitt and You (2018) each queue sees all that is before it by its own load. So the load in w is
its own, f is 2 - 3/2 of it, for what leaves a queue comes in clusters or in step while that is
busy, and a is 3/2: fitted to simulations (docs/traffic.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)
from qps.engine.expressions.substitution import Substitution

_LEAST_SERVICE = number(Fraction(1, 5))
_FORGOTTEN = number(Fraction(3, 2))
_SMOOTHING_RANGE, _FALLS = number(2), number(Fraction(3, 2))
_FARTHEST = 8
"""So many queues back is looked; what is before them comes as at random."""


class _Part(Struct, frozen=True):
    """What comes from one place: equal flows, `many` of them, of a `rate` together."""

    rate: Formula
    many: Formula
    variation: Formula


def with_arrivals(queues: Mapping[str, Queue], put_in: Substitution) -> dict[str, Queue]:
    """Return queues with how uneven what arrives at them is."""
    found = dict(queues)
    stated = any(queue.states_arrivals for queue in found.values())
    if not stated and all(queue.keeps_randomness for queue in found.values()):
        return found
    rings = _rings(queues)
    for name, queue in queues.items():
        law = queue.law
        if law.counts_arrivals or (law.counts_stated_arrivals and queue.states_arrivals):
            seen = _Upstream(queues, rings, queue, put_in)
            found[name] = replace(queue, arrivals=seen.arrivals(name))
    return found


def arriving(name: str, queues: Mapping[str, Queue]) -> Formula:
    """Return c^2 of what arrives at one of some queues, as all the queues before it let it go."""
    return _Upstream(queues, _rings(queues), queues[name], Substitution({})).arrivals(name)


def peakedness(name: str, queues: Mapping[str, Queue], service: Formula) -> Formula:
    """Return the peakedness of what arrives at one of some queues, for services of a mean time.

    It is the variance over the mean of how many would be served at once if there were servers for
    all. That of renewals with a traffic a and balanced means is (1 + a)/(1 + 2 a/(1 + c^2)), and
    those of flows together are weighed by their rates (Fredericks 1980).
    """
    seen = _Upstream(queues, _rings(queues), queues[name], Substitution({}))
    return _peakedness(list(seen.parts(name, 0)), service)


def peakedness_outside(visits: Sequence[QueueVisit], service: Formula) -> Formula:
    """Return the same as it leaves its sources."""
    return _peakedness(_outside(visits), service)


def _peakedness(parts: Sequence[_Part], service: Formula) -> Formula:
    if all(part.variation is ONE for part in parts):
        return ONE
    each = []
    for part in parts:
        traffic, uneven = part.rate / part.many * service, 1 + part.variation
        each.append(part.rate * (1 + traffic) * uneven / (uneven + 2 * traffic))
    return apply("mean", total(each), total(part.rate for part in parts))


def from_outside(visits: Sequence[QueueVisit], load: Formula) -> Formula:
    """Return c^2 of what arrives at a queue of a load as it leaves its sources."""
    return _together(_outside(visits), _forgotten(minimum(ONE, load)))


def _outside(visits: Sequence[QueueVisit]) -> list[_Part]:
    """Return what leaves its sources; what has passed another queue before counts as at random."""
    return [
        _sent(
            visit,
            ONE if visit.variation is None or visit.before is not None else visit.variation**2,
        )
        for visit in visits
    ]


def _sent(visit: QueueVisit, uneven: Formula) -> _Part:
    """Return what comes from its sources: of several places each has a share of every flow."""
    many, rate = visit.flows / visit.batch, visit.rate / visit.batch
    count = visit.place.count
    if not visit.is_spread or count is ONE or uneven is ONE:
        return _Part(rate, many, uneven)
    return _Part(rate, many * count, 1 + (uneven - 1) / count)


def _forgotten(load: Formula) -> Formula:
    return _FORGOTTEN * (1 - load) ** 2


def _together(parts: Sequence[_Part], forgotten: Formula) -> Formula:
    if all(part.variation is ONE for part in parts):
        return ONE
    if len(parts) == 1 and parts[0].many is ONE:
        return parts[0].variation
    rate = total(part.rate for part in parts)
    mixed = apply("mean", total(part.rate * part.variation for part in parts), rate)
    alike = total(part.rate**2 / part.many for part in parts)
    apart = maximum(ZERO, rate**2 - alike)  # nobody is less than one
    weight = apply("mean", alike, alike + forgotten * apart)
    return 1 + weight * (mixed - 1)


def _rings(queues: Mapping[str, Queue]) -> dict[str, set[str]]:
    """Return for each queue those before it that are behind it as well: streams come back."""
    before = {
        name: {v.before.resource for v in queue.visits if v.before is not None} & queues.keys()
        for name, queue in queues.items()
    }
    reached = {name: _reached(name, before) for name in queues}
    return {name: {one for one in found if name in reached[one]} for name, found in reached.items()}


def _reached(name: str, before: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(before[name])
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += before[one]
    return found


class _Upstream:
    """All that is before a queue, as this sees it."""

    def __init__(
        self,
        queues: Mapping[str, Queue],
        rings: Mapping[str, set[str]],
        queue: Queue,
        put_in: Substitution,
    ) -> None:
        self._queues = queues
        self._rings = rings
        self._put_in = put_in
        load = minimum(ONE, queue.load)
        self._weight = _forgotten(load)
        self._seen = _SMOOTHING_RANGE - _FALLS * load
        self._known: dict[str, Formula] = {}

    def arrivals(self, name: str, far: int = 0) -> Formula:
        """Return c^2 of all that arrives at one of the queues of a name."""
        if far == _FARTHEST:
            return ONE
        if name not in self._known:
            self._known[name] = _together(list(self.parts(name, far)), self._weight)
        return self._known[name]

    def parts(self, name: str, far: int) -> Iterator[_Part]:
        """Yield what arrives, by where it comes from; what comes back does so at random."""
        queue = self._queues[name]
        behind: dict[tuple[str, bool], list[QueueVisit]] = {}
        for visit in queue.visits:
            before = visit.before
            if before is None or before.resource not in self._queues:
                own = ZERO if queue.law.rests_on_periods else ONE
                uneven = own if visit.variation is None else visit.variation**2
                yield _sent(visit, uneven)
                continue
            is_same = before.place.name == visit.place.name
            behind.setdefault((before.resource, is_same), []).append(visit)
        for (place, is_same), visits in behind.items():
            rate = total(visit.rate / visit.batch for visit in visits)
            many = ONE
            if not is_same and visits[0].before is not None:
                many = self._put_in(visits[0].before.place.count)
            returns = place in self._rings[name]
            yield _Part(rate, many, ONE if returns else self._share(place, rate / many, far))

    def _share(self, name: str, rate: Formula, far: int) -> Formula:
        """Return c^2 of what of a queue's departures goes on to one place, at a rate."""
        left = self._left(name, far)
        if left is ONE:
            return ONE
        visits = self._queues[name].visits
        share = minimum(ONE, apply("mean", rate, total(visit.rate for visit in visits)))
        return left if share is ONE else 1 + share * (left - 1)

    def _left(self, name: str, far: int) -> Formula:
        """Return c^2 of what leaves a queue."""
        queue = self._queues[name]
        arrivals, service = self.arrivals(name, far + 1), queue.unevenness
        if arrivals is ONE and (service is ONE or queue.keeps_randomness):
            return ONE
        busy = minimum(ONE, queue.load) ** 2 * self._seen
        if queue.servers is not ONE and queue.models_servers:
            busy = busy / square_root(queue.servers)
        # The part that is kept may not be below nothing.
        return maximum(ZERO, arrivals + busy * (maximum(service, _LEAST_SERVICE) - arrivals))
