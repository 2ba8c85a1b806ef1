"""The share of requests that goes to each of two regions, chosen with the machines in each."""

from __future__ import annotations

from itertools import product

import pytest

import qps

TEXT = """
users N in 1..100_000
machine us_vm { cpu 2 core; price 60 $/month }
machine eu_vm { cpu 2 core; price 75 $/month }
machine router { }
network lan { switched; rate 100 Gbit/s; queueing none }
component serve { cpu 8 ms/request }
param to_eu = 50 % in 0..100 %
topology {
  node front = router; node us = us_vm * 2; node eu = eu_vm * 2
  link net = lan between all
}
stream page for each user {
  traffic 0.1 request/s, 1 byte/request
  at front { one of { to_eu: call eu { serve }; else: call us { serve } } }
}
target cpu 70 %
choose {
  us in [us_vm * 1..9]
  eu in [eu_vm * 1..5]
  to_eu in 20..80 % by 10 %
}
"""
MONTH = 365.25 * 86_400 / 12


@pytest.mark.parametrize("users", [1_000, 4_500, 9_000, 20_000])
def test_the_cheapest_share_and_machines_are_those_of_all_combinations(users: int) -> None:
    """A node with n machines of two cores keeps below 70 % of them: share * N * 0.8 ms / s."""
    able = [
        60 * us + 75 * eu
        for us, eu, tenths in product(range(1, 10), range(1, 6), range(2, 9))
        if 8 * users * tenths <= 14 * 10_000 * eu and 8 * users * (10 - tenths) <= 14 * 10_000 * us
    ]
    found = qps.loads(TEXT).plan(users).cheapest
    assert (found is None) == (not able)
    if found is not None:
        assert found.cost * MONTH == pytest.approx(min(able))
