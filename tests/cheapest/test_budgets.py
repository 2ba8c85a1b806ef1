"""Plans for a budget, against every configuration by itself, and what stands in the way of all."""

from __future__ import annotations

import random
from itertools import product

import pytest

import qps
from qps.compiler.configure.configuration import base_configuration
from qps.solver.cheapest.budget_plan import plan_within
from qps.solver.cheapest.plan_answer import plan
from qps.solver.cheapest.plan_result import Plan

MONTH = 365.25 * 86_400 / 12


class Shop:
    """Two tiers of machines of random prices and speeds, each with some options."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.prices = [draw.randint(40, 90), draw.randint(150, 300)]
        self.work = [round(draw.uniform(2, 9), 2) for _ in range(2)]
        self.limit = round(sum(self.work) * draw.uniform(1.3, 3), 2)
        self.options = [(kind, count) for kind in range(2) for count in (1, 2, 3, 5)]

    def text(self, limit: float | None = None) -> str:
        """Return the shop as a spec."""
        labels = ", ".join(f"m{kind} * {count}" for kind, count in self.options)
        return f"""
users N in 1..1_000_000
machine m0 {{ cpu 2 core, queueing mmc; price {self.prices[0]} $/month }}
machine m1 {{ cpu 8 core, queueing mmc; price {self.prices[1]} $/month }}
machine phone {{ }}
network lan {{ switched; rate 100 Gbit/s; queueing none }}
component work0 {{ cpu {self.work[0]} ms/request }}
component work1 {{ cpu {self.work[1]} ms/request }}
topology {{
  node a = m0 * 2
  node b = m0 * 2
  node client = phone * N
  link net = lan between all
}}
stream page for each client {{
  traffic 0.1 request/s, 1 kB/request
  at client {{ }}
  over net
  at a {{ work0 }}
  at b {{ work1 }}
}}
require {{ page.latency <= {limit or self.limit} ms }}
choose {{ a in [{labels}]; b in [{labels}] }}
"""

    def every(self) -> list[tuple[int, int]]:
        """Return the cost in $/month and the capacity of each configuration by itself."""
        model = qps.loads(self.text())
        found = []
        for one, other in product(self.options, repeat=2):
            choices = {"a": "m{} * {}".format(*one), "b": "m{} * {}".format(*other)}
            cost = sum(self.prices[kind] * count for kind, count in (one, other))
            found.append((cost, model.solve(set=choices).capacity or 0))
        return found


def _within(text: str, budget: str) -> Plan:
    model = qps.loads(text).spec.model
    return plan_within(model, base_configuration(model), model.choices[0], budget)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_no_configuration_within_a_budget_supports_more(seed: int) -> None:
    shop = Shop(seed)
    every = shop.every()
    costs = sorted({cost for cost, capacity in every if capacity})
    budgets = [
        costs[0],
        costs[0] + 1,
        costs[len(costs) // 2],
        costs[len(costs) // 2] - 1,
        costs[-1],
    ]
    for budget in budgets:
        most = max(capacity for cost, capacity in every if cost <= budget)
        least = min(cost for cost, capacity in every if capacity == most)
        found = _within(shop.text(), f"{budget} $/month")
        assert found.budget is not None
        assert found.budget.is_met
        assert found.budget.is_proven
        assert found.cheapest is not None
        assert (found.users, found.cheapest.capacity) == (most, most)
        assert found.cheapest.cost * MONTH == pytest.approx(least)
    nothing = _within(shop.text(), f"{costs[0] - 1} $/month")
    assert nothing.budget is not None
    assert not nothing.budget.is_met


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("500 $", "cannot be compared"),
        ("500 eur", "not an amount"),
        ("-5 $/month", "not an amount"),
        ("5 $/core", "not an amount"),
        ("", "not an amount"),
    ],
)
def test_what_is_no_budget_is_refused(budget: str, message: str) -> None:
    with pytest.raises(qps.QpsError, match=message):
        _within(Shop(1).text(), budget)


def test_a_cost_of_the_users_is_refused() -> None:
    """What is paid for phones rises with their number."""
    text = Shop(1).text().replace("machine phone { }", "machine phone { price 1 $/month }")
    with pytest.raises(qps.QpsError, match="depends on the number of users"):
        _within(text, "500 $/month")


def test_the_limit_is_named_that_stands_in_the_way_of_all() -> None:
    # without any queue a page takes the sum of its work
    shop = Shop(1)
    model = qps.loads(shop.text(limit=1)).spec.model
    found = plan(model, base_configuration(model), model.choices[0], 1_000)
    assert found.cheapest is None
    assert found.most is None
    (one,) = found.nearest
    assert one.requirement == "page.latency"
    least = sum(shop.work) / 1000
    assert least <= one.relaxed <= least * 1.02
    text = shop.text(limit=one.relaxed * 1000)
    assert _within(text, "100_000 $/month").cheapest is not None


def test_no_single_limit_stands_in_the_way_where_two_do() -> None:
    two = "page.latency <= 1 ms; a.cpu.utilization <= 0.000001 %"
    text = Shop(1).text(limit=1).replace("page.latency <= 1 ms", two)
    model = qps.loads(text).spec.model
    found = plan(model, base_configuration(model), model.choices[0], 1_000)
    assert found.cheapest is None
    assert found.nearest == ()


def test_the_same_cost_is_no_saving() -> None:
    """A latency that is minimized is rounded; the same configuration saves nothing."""
    text = Shop(1).text().replace("choose {", "choose { minimize page.latency; ")
    model = qps.loads(text).spec.model
    found = plan(model, base_configuration(model), model.choices[0], 1_000)
    assert found.cheapest is not None
    assert all(one.configuration.cost < found.cheapest.cost for one in found.requirement_prices)
    assert not any(
        one.configuration.choices == found.cheapest.choices for one in found.requirement_prices
    )
