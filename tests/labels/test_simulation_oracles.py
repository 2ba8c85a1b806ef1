"""What is played has the truth that can be worked out by hand."""

from __future__ import annotations

import pytest

from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, Simulation, simulate
from qps.simulation.run_lengths import lengths_of
from simulated.judge import graph_of

_HEAD = "unit thread\nnetwork wire { propagation 0 s }\n"


def _play(spec: str, at: int) -> Simulation:
    effort = Effort(seconds=0, seed=1, workers=1, runs=8)
    return simulate(simulated_model(graph_of(_HEAD + spec), at), effort)


_ALONE = """
users N in 1..100
machine box { cpu 2 core }
component rest { cpu 40 ms/request }
topology { node b = box }
stream slow for each user { traffic 1 request, think 1 s; at b { rest } }
"""


def test_nobody_waits_for_what_states_no_queueing_until_it_is_full() -> None:
    (result,) = _play(_ALONE, 20).streams.values()
    assert result.mean is not None
    assert result.mean.mean == pytest.approx(0.04, rel=0.01)
    # 100 users ask for 96 a second, and two cores do 50.
    full = _play(_ALONE, 100)
    assert full.loads["b.cpu"].mean == pytest.approx(1, rel=1e-3)
    (result,) = full.streams.values()
    assert result.rate.mean * 100 == pytest.approx(50, rel=1e-3)
    # By Little's law: 100 = 50 (1 + R).
    assert result.mean is not None
    assert result.mean.mean == pytest.approx(1, rel=0.02)


_BEHIND_SHARED = """
users N in 1..100
machine web { cpu 4 core, queueing ps; threads 5 thread }
machine back { cpu 1 core }
component work { cpu 10 ms/request }
component rest { cpu 50 ms/request }
topology { node a = web; node b = back; link lan = wire between a, b }
stream slow for each user {
  traffic 1 request, think 1 s
  at a { take threads; work; call b { rest }; give threads }
}
stream quick for each user {
  traffic 1 request, think 1 s
  at a { take threads; work; give threads }
}
"""


def test_what_is_full_and_states_no_queueing_holds_up_all_who_share_a_pool() -> None:
    simulated = _play(_BEHIND_SHARED, 60)
    assert simulated.loads["b.cpu"].mean == pytest.approx(1, rel=1e-3)
    assert simulated.loads["a.threads"].mean == pytest.approx(1, rel=0.01)
    slow, quick = simulated.streams["slow"], simulated.streams["quick"]
    assert slow.rate.mean * 60 == pytest.approx(20, rel=1e-3)
    # Both wait for a place alike: 60 = 20 (1 + W + the rest of it), W about 1.8 s.
    assert quick.mean is not None
    assert 1.2 < quick.mean.mean < 1.9


_SIZES = """
users N in 1..2
kinds size { small 3; big 1 }
param long by size { small 0.5; big 2.5 }
machine box { cpu 1 core, queueing ps }
component work { cpu 100 ms/request * long }
topology { node b = box }
stream job in all { traffic 1 request, think 0.1 s; at b { work } }
"""


def test_who_waits_for_answers_sends_items_of_all_kinds() -> None:
    (result,) = _play(_SIZES, 1).streams.values()
    # A cycle takes 0.1 s to think and (3 * 0.5 + 2.5) / 4 of 0.1 s to be served.
    assert result.rate.mean == pytest.approx(5, rel=0.03)


_LOST_TOGETHER = """
users N in 1..2
machine web { threads 3 thread }
machine line { cpu 1 core, queueing loss }
machine back { cpu 1 core, queueing mm1 }
component talk { cpu 0.2 s/request }
component work { cpu 0.1 s/request }
topology { node a = web; node b = line; node c = back; link lan = wire between a, b, c }
stream job in all {
  traffic 2 request/s
  at a { take threads; together { call b { talk }; call c { work } }; give threads }
}
"""


def test_items_lost_in_a_parallel_call_release_what_they_hold() -> None:
    simulated = _play(_LOST_TOGETHER, 1)
    (job,) = simulated.streams.values()
    assert simulated.loads["a.threads"].mean < 0.5
    # One line that is offered 0.4 loses nearly 0.4 / 1.4; three places hardly keep anybody away.
    assert job.lost["any"].mean == pytest.approx(0.4 / 1.4, rel=0.05)


_UNEVEN_SERVICE = """
users N in 1..2
machine box { cpu 64 core, queueing mgc cv 3 }
component work { cpu 200 s/request }
topology { node a = box * 3 }
stream job in all { traffic 0.7 request/s; at a { work } }
"""


def test_services_that_vary_much_are_played_until_the_long_ones_have_ended() -> None:
    """The tail of a gamma law of cv 3 falls off by e in 9 means: 20 of these are ten hours."""
    least = lengths_of(simulated_model(graph_of(_HEAD + _UNEVEN_SERVICE), 1)).least
    assert least >= 20 * 9 * 200


_ROOM = """
users N in 1..2
machine box { cpu 64 core, queueing mmc room 84 }
component work { cpu 20 s/request }
topology { node a = box }
stream job in all { traffic 3.8 request/s, 1 bit/request; at a { work } }
"""


def test_a_full_room_forgets_within_a_few_services_though_more_comes_than_it_serves() -> None:
    """20 may wait, and 64 servers each take one step of that walk in a service: 2 services."""
    least = lengths_of(simulated_model(graph_of(_ROOM), 1)).least
    assert 20 * 20 <= least <= 20 * 2 * 20


_APART = """
users N in 1..2
unit thread
network wire { propagation 1 us }
machine slow { cpu 64 core, queueing mmc }
machine quick { cpu 1 core, queueing mm1 }
component long { cpu 500 s/request }
component short { cpu 0.1 s/request }
topology { node a = slow; node b = quick; link l = wire between a, b }
stream s0 in all { traffic 40 request, think 1 s, 1 bit/request; at b { short } }
stream s1 in all { traffic 0.05 request/s, 1 bit/request; at a { long }; at b { short } }
"""


def test_users_who_wait_do_not_wander_over_stations_that_they_never_come_to() -> None:
    """The long services are those of open traffic alone, and forgotten as such: 20 times over."""
    assert lengths_of(simulated_model(graph_of(_APART), 1)).least == pytest.approx(20 * 500)
