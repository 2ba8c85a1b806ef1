"""Pools of several machines: each machine has places of its own, which no other one can use."""

from __future__ import annotations

import pytest

import qps
from helpers.specs import lowered

SPEC = """
users N in 1..9
unit thread
network wire {{ propagation 1 us }}
machine front {{ cpu 8 core }}
machine back {{ cpu 1 core, queueing md1; threads 1 thread }}
component forward {{ cpu 1 ms/request }}
component work {{ cpu 200 ms/request }}
topology {{ node a = front; node b = back * {machines}; link over_wire = wire between a, b }}
stream s in all {{
  traffic {rate} request/s, 1 kB/request
  at a {{ forward; call b over over_wire * {times} {{ take threads; work; give threads }} }}
}}
"""


@pytest.mark.parametrize("machines", [1, 2, 5])
@pytest.mark.parametrize("times", [1, 1.5])
def test_one_place_for_each_machine_is_held_for_the_service_alone(
    machines: int, times: float
) -> None:
    """So the utilization of the pools is that of the processors, and as exact."""
    text = SPEC.format(machines=machines, times=times, rate=machines / times)
    assert qps.loads(text).known()["b.threads.utilization"].is_exact
    graph = lowered(text)
    for name in ("b.threads", "b.cpu"):
        assert graph.at(1).number(graph.resources[name].load) == pytest.approx(0.2)


DATABASE = """
users N in 1..2
unit thread
network wire {{ propagation 1 us }}
machine front {{ cpu {cores} core, queueing mmc; threads {places} thread }}
machine back {{ cpu 1 core, queueing mm1 }}
component work {{ cpu 100 ms/request }}
component query {{ cpu {query} s/request }}
topology {{ node a = front * {machines}; node b = back; link over_wire = wire between a, b }}
stream s in all {{
  traffic {rate} request/s, 1 kB/request
  at a {{ take threads; work; call b {{ query }}; give threads }}
}}
"""

PLAYED = {  # machines, places, cores: query in s, traffic; simulated utilization and latency in s
    (2, 1, 1): (0.04, 8.571, 0.632, 0.345),
    (2, 3, 1): (0.04, 12.0, 0.506, 0.340),
    (2, 3, 2): (0.02292, 24.0, 0.645, 0.243),
    (2, 10, 1): (0.04, 12.0, 0.198, 0.331),
    (2, 10, 2): (0.02292, 24.0, 0.244, 0.205),
    (5, 1, 2): (0.02567, 23.87, 0.703, 0.428),
    (5, 3, 1): (0.01833, 30.0, 0.455, 0.290),
    (5, 3, 2): (0.009167, 60.0, 0.559, 0.187),
    (5, 10, 1): (0.01833, 30.0, 0.174, 0.296),
    (5, 10, 2): (0.009167, 60.0, 0.215, 0.180),
}
"""`python tests/simulated`: utilizations within 1 to 2 %, latencies within 2 to 3 %."""


@pytest.mark.parametrize(("machines", "places", "cores"), PLAYED)
def test_pools_that_meet_at_a_database_are_near_simulated_ones(
    machines: int, places: int, cores: int
) -> None:
    """With all places as if of one machine, latencies were more than twice as long."""
    query, rate, utilization, latency = PLAYED[machines, places, cores]
    text = DATABASE.format(machines=machines, places=places, cores=cores, query=query, rate=rate)
    graph = lowered(text)
    at = graph.at(1)
    assert at.number(graph.resources["a.threads"].load) == pytest.approx(utilization, rel=0.04)
    assert at.number(graph.streams["s"].mean_latency) == pytest.approx(latency, rel=0.06)
