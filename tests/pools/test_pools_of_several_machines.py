"""Pools of several machines: each machine has places of its own, which no other one can use."""

from __future__ import annotations

import qps

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
  at a {{ forward; call b over over_wire {{ take threads; work; give threads }} }}
}}
"""


def test_places_of_several_machines_are_not_held_exactly() -> None:
    """One place a machine is held for the service alone; five are modeled as if they were shared.

    So the utilization of the pool is an approximation: 27 % is predicted of a pool, 21 % simulated.
    """
    one = qps.loads(SPEC.format(machines=1, rate=1)).known()["b.threads.utilization"]
    five = qps.loads(SPEC.format(machines=5, rate=5)).known()["b.threads.utilization"]
    assert one.is_exact
    assert not five.is_exact
