"""Queues to which some come through a pool: what others find, against chains of all states."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from helpers.specs import lowered

_SPEC = """
unit thread
users N in 1..2
machine gate {{ threads {places} thread }}
machine server {{ cpu 1 core, queueing {queueing} }}
network wire {{ propagation 0 s }}
component work {{ cpu 1 s/request }}
topology {{ node a = gate; node b = server; link l = wire between a, b }}
stream direct in all {{ traffic {direct} request/s; at b {{ work }} }}
stream through in all {{
  traffic {through} request/s
  at a {{ take threads; call b {{ work }}; give threads }}
}}
"""


def chain(through: float, direct: float, places: int) -> tuple[float, float]:
    """Return how long others and those with a place are at an exponential server, in services.

    Of those who come through the pool there are n, at most so many places of them at the server,
    beside m others; all there are served alike.
    """
    most = int(60 / (1 - through - direct)) + 20
    n, m = np.arange(most)[:, None], np.arange(most)[None, :]
    held = np.minimum(n, places) + 0 * m
    there = np.maximum(held + m, 1)
    out_through, out_direct = held / there, m / there + 0 * n
    weights = np.ones((most, most)) / most**2
    for _ in range(20_000):
        came = np.zeros_like(weights)
        came[1:] += through * weights[:-1]
        came[:, 1:] += direct * weights[:, :-1]
        came[:-1] += (out_through * weights)[1:]
        came[:, :-1] += (out_direct * weights)[:, 1:]
        leaving = out_through + out_direct
        leaving = leaving + through * (n < most - 1) + direct * (m < most - 1)
        following = came / leaving
        following = (following + weights) / 2
        following /= following.sum()
        if np.abs(following - weights).sum() < 1e-12:
            break
        weights = following
    return float((m * weights).sum() / direct), float((held * weights).sum() / through)


def test_the_chain_is_that_of_one_queue_where_no_pool_is_ever_full() -> None:
    direct, through = chain(0.2, 0.2, 8)
    assert direct == pytest.approx(1 / 0.6, rel=1e-4)
    assert through == pytest.approx(1 / 0.6, rel=1e-4)


@pytest.mark.parametrize("queueing", ["mm1", "ps"])
@pytest.mark.parametrize(
    ("through", "direct", "places", "expected"),
    [  # what `chain` says, which takes up to half a minute
        (0.2, 0.2, 8, 1.666663),
        (0.5, 0.2, 1, 2.076125),
        (0.6, 0.2, 2, 2.946376),
        (0.3, 0.4, 2, 2.976172),
        (0.4, 0.3, 4, 3.161398),
        (0.1, 0.6, 1, 3.183434),
    ],
)
def test_others_wait_for_no_more_than_hold_a_place(
    through: float, direct: float, places: int, expected: float, queueing: str
) -> None:
    graph = lowered(_SPEC.format(places=places, through=through, direct=direct, queueing=queueing))
    stream = graph.streams["direct"]
    known = stream.latency_certainty
    assert known.error is not None
    assert known.error <= 0.25
    value = graph.at(1).number(stream.mean_latency)
    assert value == pytest.approx(expected, rel=0.06)
    # A bound of each law: no more than half are later than twice the mean.
    assert graph.at(1).number(stream.latency_quantile(F(1, 2))) <= 2 * value


def test_a_pool_that_is_never_full_changes_nothing_for_others() -> None:
    graph = lowered(_SPEC.format(places=400, through=0.5, direct=0.3, queueing="mm1"))
    value = graph.at(1).number(graph.streams["direct"].mean_latency)
    assert value == pytest.approx(1 / (1 - 0.8), rel=1e-6)


_REPLICAS = """
unit thread
users N in 1..2
machine gate {{ threads 2 thread }}
machine server {{ cpu 1 core, queueing mm1 }}
network wire {{ propagation 0 s }}
component work {{ cpu 1 s/request }}
topology {{ node a = gate * 2; node b = server * 2; link l = wire between a, b }}
stream through in all {{
  traffic {rate} request/s
  at a {{ take threads; call b {{ work }}; give threads }}
}}
"""


def test_as_many_machines_elsewhere_are_not_each_pools_own() -> None:
    """Four at two servers, each at either of them: 4 / (4 + 1) of both is let through."""
    graph = lowered(_REPLICAS.format(rate=1.59))
    assert graph.at(1).number(graph.resources["a.threads"].load) == pytest.approx(
        1.59 / 1.6, abs=0.02
    )
    full = lowered(_REPLICAS.format(rate=1.61))
    assert full.at(1).number(full.resources["a.threads"].load) > 1


_ROOM = """
unit thread
users N in 1..2
machine box {{ cpu 1 core, queueing {queueing}; threads {places} thread }}
component work {{ cpu 1 s/request }}
topology {{ node a = box * {copies} }}
stream job in all {{ traffic {rate} request/s; at a {{ take threads; work; give threads }} }}
"""


@pytest.mark.parametrize(
    ("queueing", "places", "copies", "loses"),
    [
        ("mm1 room 4", 2, 1, False),
        ("mm1 room 4", 4, 1, False),
        ("mm1 room 4", 4, 3, False),
        ("mm1 room 4", 5, 1, True),
        ("loss", 1, 1, False),
        ("loss", 2, 1, True),
    ],
)
def test_nobody_is_lost_where_a_pool_lets_in_no_more_than_there_is_room_for(
    queueing: str, places: int, copies: int, loses: bool
) -> None:
    graph = lowered(
        _ROOM.format(queueing=queueing, places=places, copies=copies, rate=0.7 * copies)
    )
    at = graph.at(1)
    assert (at.number(graph.streams["job"].loss) > 0) is loses
    if not loses:
        assert at.number(graph.resources["a.cpu"].load) == pytest.approx(0.7)


@pytest.mark.parametrize(("through", "is_exact"), [("0.3", True), ("N * 0.6", False)])
def test_what_a_pool_cannot_let_through_is_known_as_its_load_is(
    through: str, *, is_exact: bool
) -> None:
    text = _SPEC.format(queueing="ps", places=2, direct="0.1", through=through)
    stream = lowered(text).streams["through"]
    assert stream.lost_known.is_exact is is_exact
    assert stream.arriving_known.is_exact is is_exact


def test_arrivals_by_the_clock_wait_less_for_a_place() -> None:
    """Of one place held for an exponential time: D/M/1, that of the root of s = e^-(1-s)/load."""
    text = _SPEC.format(queueing="mmc", places=1, direct="0.00001", through="0.7")
    text = text.replace("cpu 1 core", "cpu 16 core")  # nobody waits there
    graph = lowered(text.replace("0.7 request/s\n", "0.7 request/s; arrivals cv 0\n"))
    root = 0.5
    for _ in range(200):
        root = float(np.exp(-(1 - root) / 0.7))
    latency = graph.at(1).number(graph.streams["through"].mean_latency)
    assert latency == pytest.approx(1 + root / (1 - root), rel=0.03)
