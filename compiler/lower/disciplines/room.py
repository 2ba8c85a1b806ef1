"""A finite room: who finds it full is lost, and the others wait (M/M/c/K).

What is lost of all that is offered is settled before loads are, as the rest loads what follows; so
the law is of what was offered. For other service than exponential the places to wait count as so
many more or fewer (MacGregor Smith 2003), 2/(2 + (s^2 - 1) sqrt(load)) times, and the wait as what
it is without an end.
"""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.lower.disciplines.several_servers import beside_exponential
from qps.compiler.lower.offered import Offered
from qps.compiler.lower.queueing import Law, Queue, Visit
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, together
from qps.engine.formulas import (
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

_LOSS = (
    "compared with exact chains of gamma distributed service, predicted loss "
    "above 0.01 % was 0.93–1.8× up to a cv of 1, down to 0.56× at a cv of 3, "
    "waits 0.65–1.36×"
)
_WAIT_ERROR, _LOSS_ERROR = 0.36, 0.8
"""Of service times that are always the same."""
_ARRIVALS = (
    "with one to five servers, predicted loss above 5 % was 0.8–2× simulated "
    "up to a cv of 0.5, smaller loss up to 25×, at a cv of 2 and 3 down to 0.1×"
)


class Room(Law, frozen=True):
    """Servers with so many places, those that are served among them."""

    def wait(self, queue: Queue, own: Visit) -> Formula:  # noqa: ARG002 - all wait alike
        """Return the mean wait of who gets in."""
        offered = _offered(queue)
        waits = apply("room_wait", offered.servers, _places(offered), offered.traffic)
        return waits * self._longer(queue, offered) * offered.service

    @staticmethod
    def _longer(queue: Queue, offered: Offered) -> Formula:
        """Return how often as long as for exponential services they wait where nothing is lost."""
        if offered.servers is not ONE and queue.variation is not ONE:
            longer = beside_exponential(queue)
        else:
            longer = ONE if offered.spread is ONE else (1 + offered.spread) / 2
        if offered.arrivals is ONE:
            return longer
        return longer * (offered.arrivals + offered.spread) / (1 + offered.spread)

    def quantile(self, queue: Queue, own: Visit, level: Fraction | Formula) -> Formula:  # noqa: ARG002 - all wait alike
        """Return the quantile of wait and service less the mean service."""
        offered, known = _offered(queue), formula(level)
        times = apply("room_quantile", offered.servers, _places(offered), offered.traffic, known)
        is_plain = queue.variation is ONE and offered.arrivals is ONE
        if is_plain and queue.is_told_as_uniform:
            return offered.service * (times - 1)
        return self._longer(queue, offered) * offered.service * (times - 1)

    def keeps_randomness(self, queue: Queue) -> bool:  # noqa: ARG002 - none does
        """Return that what gets in leaves less at random than all that comes."""
        return False

    def lost(self, queue: Queue, own: Visit) -> Formula:  # noqa: ARG002 - what gets in is served
        """Return that nothing is beyond what can be done: that finds no room."""
        return ZERO

    def lost_of(self, offered: Offered) -> Formula:
        """Return which share finds no room."""
        return apply("room_loss", offered.servers, _places(offered), offered.traffic)

    def mean_known(self, queue: Queue) -> Certainty:
        """It is exact for equal exponential visits, one by one."""
        return _known(queue, _WAIT_ERROR)

    def loss_known(self, queue: Queue) -> Certainty:
        """It is exact where the mean is."""
        return _known(queue, _LOSS_ERROR)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """They are exact where the mean is: a mixture of Erlang's laws."""
        known = _known(queue, None)
        if known.is_exact:
            return EXACT
        return approximation(
            f"percentiles at `{queue.resource}` are scaled from exponential service by "
            "the mean wait of an unlimited queue"
        )


_LEAST = number(Fraction(1, 50))
"""Of what neither comes nor is served unevenly a place counts as a hundred at most."""


def _offered(queue: Queue) -> Offered:
    assert queue.offered is not None
    return queue.offered


def _places(offered: Offered) -> Formula:
    """Return how many places exponential services need for as much."""
    room, servers = offered.room, offered.servers
    assert room is not None
    if offered.spread is ONE and offered.arrivals is ONE:
        return room
    served = ONE if servers is ONE else minimum(servers, room)
    busy = square_root(minimum(ONE, offered.traffic / served))
    uneven = offered.arrivals + offered.spread - 2
    return served + 2 * (room - served) / maximum(_LEAST, 2 + busy * uneven)


def _known(queue: Queue, error: float | None) -> Certainty:
    name, found = queue.resource, []
    if queue.has_batches:
        found.append(
            approximation(
                f"copies that leave together are modeled as independent arrivals at `{name}`: "
                "they find it full more often"
            )
        )
    if queue.servers is not ONE and not queue.models_servers:
        found.append(approximation(f"the cores of `{name}` are modeled as one fast core"))
    if queue.variation is not ONE or not queue.is_told_as_uniform:
        found.append(
            approximation(
                (f"the finite queue of `{name}` uses two moments of the service times: {_LOSS}"),
                error=error if queue.variation is ZERO and queue.is_told_as_uniform else None,
            )
        )
    if _offered(queue).arrivals is not ONE:
        found.append(
            approximation(f"arrivals at the finite queue of `{name}` use two moments: {_ARRIVALS}")
        )
    return together(*found) if found else EXACT
