"""Unlike machines of one tier: every pair of numbers, and a sum by hand."""

from __future__ import annotations

from itertools import product

import pytest

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


FROM_NONE = MIXED.replace("old * 1..6", "old * 0..5").replace("new * 1..4", "new * 0..3")
FROM_NONE = FROM_NONE.replace("  exclude count(web_old) + count(web_new) < 4\n", "")
TIMES = FROM_NONE.replace(
    "one of { to_new: call web_new { serve }; else: call web_old { serve } }",
    "call web_new * to_new { serve }; call web_old * (1 - to_new) { serve }",
)
MONTH = 365.25 * 86_400 / 12


@pytest.mark.parametrize(
    "text",
    [
        FROM_NONE,
        TIMES,
        FROM_NONE + "survive any one of web_old, web_new",
        FROM_NONE + "survive any one of 3 zones with web_old, web_new",
    ],
    ids=["probability", "times", "machines fail", "zones fail"],
)
def test_machines_of_one_type_alone_receive_all_requests(text: str) -> None:
    """Of each pair that `solve` accepts the cheapest is found, with no machines of a type, too."""
    model = qps.loads(text)
    able: list[tuple[float, int]] = []
    alone = 0
    for old, new in product(range(6), range(4)):
        try:
            solved = model.solve(set={"web_old": f"old * {old}", "web_new": f"new * {new}"})
        except qps.QpsError:
            assert old + new <= 2
            continue
        alone += not (old and new)
        cost = solved.cost[0].total * MONTH
        assert cost == pytest.approx(300 + 40 * old + 300 * new)
        able.append((cost, solved.capacity or 0))
    assert alone >= 4
    found = set()
    for users in (500, 2_000, 9_000, 25_000, 35_000):
        best = min((cost for cost, capacity in able if capacity >= users), default=None)
        planned = model.plan(users)
        assert planned.proven
        assert (planned.cheapest is None) == (best is None)
        if planned.cheapest is not None:
            assert planned.cheapest.cost * MONTH == pytest.approx(best)
            found |= {label[-1] for label in planned.cheapest.choices.values()}
    assert "0" in found


def test_machines_that_nothing_can_go_without_support_nobody() -> None:
    """Of a constant share, requests come to a node without machines: that is refused."""
    text = FROM_NONE.replace("to_new: call", "50 %: call")
    with pytest.raises(qps.QpsError, match="must be a whole number above zero"):
        qps.loads(text).solve(set={"web_new": "new * 0"})
    cheapest = qps.loads(text).plan(500).cheapest
    assert cheapest is not None
    assert cheapest.choices == {"web_old": "old * 1", "web_new": "new * 1"}


def test_failed_machines_are_paid_for_where_as_many_are_left() -> None:
    """Of three machines in three zones two are left, and of four as well: four cost more."""
    text = SAME_LEFT + "survive any one of 3 zones with web"
    model = qps.loads(text)
    costs = [model.solve(set={"web": f"vm * {n}"}).cost[0].total * MONTH for n in (3, 4)]
    assert costs == pytest.approx([180, 240])


SAME_LEFT = """
users N in 1..100_000
machine vm { cpu 2 core, queueing mmc; price 60 $/month }
component serve { cpu 8 ms/request }
topology { node web = vm * 3 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
target cpu 70 %
"""
