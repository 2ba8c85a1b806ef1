"""A finite room: who finds it full is lost, and the others wait (M/M/c/K).

What is lost of all that is offered is computed before loads are, as the rest loads what follows; so
the law is of what was offered. For other service than exponential the places to wait count as so
many more or fewer (MacGregor Smith 2003), 2/(2 + (s^2 - 1) sqrt(load)) times, and the wait as what
it is without an end.
"""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.disciplines.multiple_servers import ratio_to_exponential
from qps.compiler.lower.queues.offered_load import OfferedLoad
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    formula,
    maximum,
    minimum,
    number,
    square_root,
)


class FiniteRoom(DisciplineLaw, frozen=True):
    """Servers with so many places, those that are served among them."""

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - all wait alike
        """Return the mean wait of who gets in."""
        offered = _offered(queue)
        waits = apply("room_wait", offered.servers, _places(offered), offered.traffic)
        return waits * self._longer(queue, offered) * offered.service

    @staticmethod
    def _longer(queue: Queue, offered: OfferedLoad) -> Formula:
        """Return how often as long as for exponential services they wait where nothing is lost."""
        if offered.servers is not ONE and queue.variation is not ONE:
            longer = ratio_to_exponential(queue)
        else:
            longer = ONE if offered.spread is ONE else (1 + offered.spread) / 2
        if offered.arrivals is ONE:
            return longer
        return longer * (offered.arrivals + offered.spread) / (1 + offered.spread)

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:  # noqa: ARG002 - all wait alike
        """Return the quantile of wait and service less the mean service."""
        offered, known = _offered(queue), formula(level)
        times = apply("room_quantile", offered.servers, _places(offered), offered.traffic, known)
        is_plain = queue.variation is ONE and offered.arrivals is ONE
        if is_plain and queue.is_modeled_as_uniform:
            return offered.service * (times - 1)
        if _is_fixed(queue):
            return self.waiting_quantile(queue, level)
        longer = self._longer(queue, offered)
        # Scaled are waits: what is left of a service that takes less than the mean is not longer.
        later, sooner = maximum(ZERO, times - 1), minimum(ZERO, times - 1)
        return offered.service * (longer * later + minimum(ONE, longer) * sooner)

    def waiting_quantile(self, queue: Queue, level: Fraction | Formula) -> Formula:
        """Return the quantile of the wait of who gets in."""
        offered = _offered(queue)
        waits = self._longer(queue, offered) * _wait_quantile(offered, formula(level))
        return offered.service * (
            minimum(waits, _longest_wait(offered)) if _is_fixed(queue) else waits
        )

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002 - none does
        """Return that what gets in leaves less at random than all that comes."""
        return False

    def lost(self, queue: Queue, own: QueueVisit) -> Formula:  # noqa: ARG002 - what gets in is served
        """Return that nothing is beyond what can be done: that finds no room."""
        return ZERO

    def lost_of(self, offered: OfferedLoad) -> Formula:
        """Return which share finds no room."""
        return apply("room_loss", offered.servers, _places(offered), offered.traffic)

    def mean_known(self, queue: Queue) -> Certainty:
        """It is exact for equal exponential visits, one by one."""
        return together(known_by("m-m-c-k", queue.resource), _known(queue, "wait"))

    def loss_known(self, queue: Queue) -> Certainty:
        """It is exact where the mean is."""
        return together(known_by("blocking", queue.resource), _known(queue, "loss"))

    def quantiles_known(self, queue: Queue) -> Certainty:
        """They are exact where the mean is: a mixture of Erlang's laws."""
        if _known(queue, "wait").is_exact:
            return known_by("m-m-c-k", queue.resource)
        is_fixed = _is_fixed(queue) and _offered(queue).arrivals is ONE
        method = "finite-room-fixed-service" if is_fixed else "finite-room-percentiles"
        return known_by(method, queue.resource)


def _is_fixed(queue: Queue) -> bool:
    return queue.variation is ZERO and queue.is_modeled_as_uniform


def _wait_quantile(offered: OfferedLoad, level: Formula) -> Formula:
    """Return the quantile of the wait of who gets in, in mean service times.

    Whoever waits finds of those who wait what an item finds of one server, as fast as all of them,
    with as many places as there are to wait: so the wait is that one's response time, with the
    chance that the mean waits of both give.
    """
    places, servers = _places(offered), offered.servers
    line = maximum(_LEAST, places - servers), offered.traffic / servers
    late = servers * apply("room_wait", servers, places, offered.traffic)
    late = maximum(_RARE, late / (1 + apply("room_wait", ONE, *line)))
    among = maximum(ZERO, 1 - (1 - level) / late)
    return apply("room_quantile", ONE, *line, among) / servers


def _longest_wait(offered: OfferedLoad) -> Formula:
    """Return what nobody waits longer than, in service times: all are served for one each.

    Who takes the last place is the last of a row, of which in each service time as many go as there
    are servers.
    """
    assert offered.room is not None
    return apply("ceil", offered.room / offered.servers) - 1


_LEAST = number(Fraction(1, 50))
"""Of what neither comes nor is served unevenly a place counts as a hundred at most."""
_RARE = number(Fraction(1, 10**12))
"""Waits of fewer are in no quantile."""


def _offered(queue: Queue) -> OfferedLoad:
    assert queue.offered is not None
    return queue.offered


def _places(offered: OfferedLoad) -> Formula:
    """Return how many places exponential services need for as much."""
    capacity, servers = offered.room, offered.servers
    assert capacity is not None
    if offered.spread is ONE and offered.arrivals is ONE:
        return capacity
    served = ONE if servers is ONE else minimum(servers, capacity)
    busy = square_root(minimum(ONE, offered.traffic / served))
    uneven = offered.arrivals + offered.spread - 2
    return served + 2 * (capacity - served) / maximum(_LEAST, 2 + busy * uneven)


def _known(queue: Queue, case: str) -> Certainty:
    name, found = queue.resource, []
    if queue.has_batches:
        found.append(known_by("batch-at-a-room", name, case="room"))
    if queue.servers is not ONE and not queue.models_servers:
        found.append(known_by("one-fast-core", name, is_proven=False))
    if queue.variation is not ONE or not queue.is_modeled_as_uniform:
        is_measured = _is_fixed(queue)
        found.append(known_by("finite-room-two-moments", name, case=case, is_measured=is_measured))
    if _offered(queue).arrivals is not ONE:
        found.append(known_by("finite-room-arrivals", name))
    return together(*found)
