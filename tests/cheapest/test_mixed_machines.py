"""Unlike machines of one tier: every pair of numbers, and a sum by hand."""

from __future__ import annotations

from itertools import product

import qps
from qps.compiler.configure.configuration import base_configuration
from qps.solver.cheapest.plan_answer import Planner

MIXED = """
users N in 1..100_000
machine old { cpu 2 core, queueing mmc;  price 40 $/month }
machine new { cpu 16 core, queueing mmc; price 300 $/month }
network lan { switched; rate 10 Gbit/s; queueing none }
component serve { cpu 8 ms/request }
topology {
  node proxy = new; node web_old = old * 2; node web_new = new; link net = lan between all
}
let to_new = 16 * count(web_new) / (16 * count(web_new) + 2 * count(web_old))
stream page for each user {
  traffic 0.1 request/s, 10 kB/request
  at proxy { one of { to_new: call web_new { serve }; else: call web_old { serve } } }
}
require { page.latency <= 15 ms }
target cpu 70 %
choose {
  web_old in [old * 1..6]
  web_new in [new * 1..4]
  exclude count(web_old) + count(web_new) < 4
}
"""


def test_machines_of_two_types_share_the_requests() -> None:
    """What each node receives depends on both numbers: every pair is solved by itself."""
    spec = qps.loads(MIXED).spec.model
    planner = Planner(spec, base_configuration(spec), spec.choices[0])
    every = {pair: planner.planned(pair, 1) for pair in product(range(6), range(4))}
    costs = set()
    for users in (2_000, 15_000, 25_000, 40_000):
        able = [
            one.cost
            for (old, new), one in every.items()
            if (one.capacity or 0) >= users and old + new + 2 >= 4
        ]
        found = planner.search(users).found
        assert found is not None
        assert every[found].cost == min(able)
        costs.add(min(able))
    assert len(costs) > 2


CHAT = """
users N in 100..5_000_000
machine gateway { cpu 16 core; price 0.8 $/hour }
machine small   { cpu 2 core;  price 0.1 $/hour }
machine router  { }
network lan { switched; rate 100 Gbit/s; queueing none }
component hear    { cpu 20 us/message }
component deliver { cpu 8 us/message }
topology {
  node front = router; node edge = gateway * 30; node spare = small
  link net = lan between all
}
let to_edge = 16 * count(edge) / (16 * count(edge) + 2 * count(spare))
stream presence for each user {
  traffic 1 message / 30 s, 120 byte/message
  at front {
    one of {
      to_edge: call edge { hear; deliver * 199 }
      else: call spare { hear; deliver * 199 }
    }
  }
}
target cpu 70 %
choose { edge in [gateway * 1..16]; spare in [small * 1..8] }
"""


def test_a_fleet_of_unlike_machines_costs_less_than_one_of_a_single_type() -> None:
    """Rooms of 200: a phone needs (20 + 199 * 8) us / 30 s, and 2,520,000 of them 193.5 cores.

    12 gateways have 192, so that one small machine is added: 9.70 $/hour. 13 gateways cost 10.40.
    """
    found = qps.loads(CHAT).plan(2_520_000)
    assert found.cheapest is not None
    assert found.proven
    assert found.cheapest.choices == {"edge": "gateway * 12", "spare": "small * 1"}
    assert round(found.cheapest.cost * 365.25 * 86_400 / 12) == 7_086
