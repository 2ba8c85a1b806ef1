"""Pools around queues that lose what finds no room there."""

from __future__ import annotations

import pytest

from helpers.specs import lowered

_SPEC = """
users N in 1..2
unit thread
machine server {{ cpu {cores} core, queueing {queueing} room {room}; threads {places} thread }}
component work {{ cpu {service} s/request }}
topology {{ node a = server }}
stream s in all {{ traffic 1 request/s, 1 bit/request; at a {{ {body} }} }}
"""
_HELD = "take threads; work; give threads"
_QUEUES = [
    (1, "mm1", 2, 0.8),
    (1, "mm1", 10, 0.95),
    (2, "mmc", 5, 1.6),
    (1, "mg1 cv 0.5", 5, 0.95),
]


@pytest.mark.parametrize(("cores", "queueing", "room", "service"), _QUEUES)
@pytest.mark.parametrize("more", [1, 2, 500])
def test_a_pool_of_more_places_than_there_is_room_is_never_waited_for(
    cores: int, queueing: str, room: int, service: float, more: int
) -> None:
    """It holds no more items than the queue does, so that it changes nothing.

    Latencies were up to 2.3 times as long, as if all who find no room waited for the pool.
    By Little's law each of what comes holds a place as long as it is there, those lost for no time.
    """
    numbers = {"cores": cores, "queueing": queueing, "room": room, "service": service}
    places = room + more
    with_pool = lowered(_SPEC.format(body=_HELD, places=places, **numbers))
    without = lowered(_SPEC.format(body="work", places=places, **numbers))
    point, other = with_pool.at(1), without.at(1)
    own, plain = with_pool.streams["s"], without.streams["s"]
    expected = other.number(plain.mean_latency)
    assert point.number(own.mean_latency) == pytest.approx(expected, rel=0.01)
    held = other.number(without.resources["a.cpu"].load) * cores / service * expected / places
    assert point.number(with_pool.resources["a.threads"].load) == pytest.approx(held, rel=0.01)


@pytest.mark.parametrize("places", [3, 8, 10])
def test_a_pool_of_fewer_places_than_there_is_room_is_waited_for(places: int) -> None:
    """Nobody is lost then: all wait as long as in a queue without an end, s/(1 - load)."""
    graph = lowered(
        _SPEC.format(cores=1, queueing="mm1", room=10, service=0.8, body=_HELD, places=places)
    )
    assert graph.at(1).number(graph.streams["s"].mean_latency) == pytest.approx(4, rel=0.01)
