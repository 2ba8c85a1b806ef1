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
from qps.compiler.lower.queues.stage_law import StageLaw
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

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service."""
        offered, known = _offered(queue), formula(level)
        if _is_exponential(queue):
            line = _line_of_as_many(offered, self.wait(queue, own) / offered.service)
            return offered.service * (apply("room_quantile", *line, known) - 1)
        if _is_fixed(queue):
            return self.waiting_quantile(queue, level)
        stage = self._stage(queue, own)
        return apply("stages_quantile", known, *stage.operands()) - stage.counted

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw | None:
        """Return the law of wait and service where it has no quantile of its own."""
        is_own = _is_exponential(queue) or _is_fixed(queue)
        return None if is_own else self._stage(queue, own)

    def _stage(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return the law of wait and service: a share waits, all are served as gamma distributed.

        Whoever waits finds of those who wait what an item finds of one server with as many places.
        That number of items varies as a geometric law where few wait, and where hardly a place is
        left, as the number of these does; each is waited for by itself.
        """
        offered = _offered(queue)
        line, late = _line(offered)
        waits = self.wait(queue, own)
        found = apply("room_wait", ONE, *line)
        left = maximum(ZERO, line[0] - 1 - found)
        of_few, of_full = found * (1 + found), left * (1 + left)
        between = maximum(_LEAST, of_few + of_full + square_root(of_few * of_full))
        varies = (offered.spread * (1 + found) + of_few * of_full / between) / (1 + found) ** 2
        # The law of what is left of a work: that of a gamma law with as much variation.
        thrice = 3 * (1 + maximum(_LEAST_VARIED, minimum(_MOST_VARIED, varies)))
        spread = (thrice - 4) / (8 - thrice)
        return StageLaw(
            waits=late,
            work=2 * waits / late / (1 + spread),
            spread=spread,
            service=own.service,
            variation=queue.variation**2,
            counted=own.service,
        )

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
        if _is_exponential(queue):
            return known_by("finite-room-as-many", queue.resource)
        is_fixed = _is_fixed(queue) and _offered(queue).arrivals is ONE
        method = "finite-room-fixed-service" if is_fixed else "finite-room-percentiles"
        return known_by(method, queue.resource)


def _is_fixed(queue: Queue) -> bool:
    return queue.variation is ZERO and queue.is_modeled_as_uniform


def _is_exponential(queue: Queue) -> bool:
    """Return whether services are alike and exponential, however items arrive."""
    return queue.variation is ONE and queue.is_modeled_as_uniform


def _line_of_as_many(offered: OfferedLoad, wait: Formula) -> tuple[Formula, Formula, Formula]:
    """Return servers, room and the traffic that arrives at random and waits as long there.

    Whoever gets in finds so many with the weights of a geometric law that ends where the room is
    full, nearly so however items arrive. Where some need one place more than others need, it is one
    of as many places as the room has.
    """
    servers, room = offered.servers, offered.room
    assert room is not None
    if offered.arrivals is ONE:
        return servers, _places(offered), offered.traffic
    most = _NEARLY_FULL * maximum(ZERO, room / servers - 1)
    return servers, room, apply("room_traffic", servers, room, minimum(most, wait))


def _line(offered: OfferedLoad) -> tuple[tuple[Formula, Formula], Formula]:
    """Return the places to wait with what is offered to these, and which share waits.

    Whoever waits finds of those who wait what an item finds of one server, as fast as all of them,
    with as many places as there are to wait: so the wait is that one's response time, with the
    chance that the mean waits of both give.
    """
    places, servers = _places(offered), offered.servers
    line = maximum(_LEAST, places - servers), offered.traffic / servers
    late = servers * apply("room_wait", servers, places, offered.traffic)
    return line, minimum(ONE, maximum(_RARE, late / (1 + apply("room_wait", ONE, *line))))


def _wait_quantile(offered: OfferedLoad, level: Formula) -> Formula:
    """Return the quantile of the wait of who gets in, in mean service times."""
    line, late = _line(offered)
    among = maximum(ZERO, 1 - (1 - level) / late)
    return apply("room_quantile", ONE, *line, among) / offered.servers


def _longest_wait(offered: OfferedLoad) -> Formula:
    """Return what nobody waits longer than, in service times: all are served for one each.

    Who takes the last place is the last of a row, of which in each service time as many go as there
    are servers.
    """
    assert offered.room is not None
    return apply("ceil", offered.room / offered.servers) - 1


_LEAST = number(Fraction(1, 50))
"""Of what neither comes nor is served unevenly a place counts as a hundred at most."""
_LEAST_VARIED, _MOST_VARIED = number(Fraction(1, 3)), number(Fraction(3, 2))
"""Of a wait: the law of what is left of a work varies no less, and hardly more."""
_NEARLY_FULL = number(Fraction(999, 1000))
"""Of the longest mean wait: nobody waits longer than where the room is always full."""
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
