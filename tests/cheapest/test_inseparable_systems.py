"""Plans of systems that are not separable, against every configuration, solved by itself.

Machines are shared, pools held, percentiles required, and in modes, failures and of uncertain
demands with 95 %: the price is that of the cheapest of all which `qps solve --set` says holds.
"""

from __future__ import annotations

from math import inf

import pytest

import qps
from cheapest.inseparable_systems import ALONE_AND_COMBINED, MONTH, System


def _capacity(model: qps.Model, system: System, chosen: tuple[str, ...], cost: float) -> int:
    """Return the capacity of a configuration by itself; zero where a failure leaves no machine."""
    choices = dict(zip(system.axes, chosen, strict=True))
    if any(choices[node].endswith("* 1") for node in system.failing):
        return 0
    solved = model.solve(set=choices)
    assert solved.cost[0].total * MONTH == pytest.approx(cost)
    return solved.capacity or 0


def _populations(capacities: list[int]) -> list[int]:
    """Return populations that few, half and most configurations support: exactly, or not quite."""
    able = sorted({one for one in capacities if one})
    ends = [able[len(able) * part // 8] for part in (1, 4, 7)]
    return sorted({*ends, ends[1] + 1, able[-1], able[-1] + 1})


def _agrees(system: System) -> None:
    model = qps.loads(system.text())
    costs = system.configurations()
    assert 50 <= len(costs) <= 300
    every = {chosen: _capacity(model, system, chosen, cost) for chosen, cost in costs.items()}
    least = set()
    for users in _populations(list(every.values())):
        holding = {chosen: costs[chosen] for chosen, most in every.items() if most >= users}
        found = model.plan(users)
        assert found.proven
        best = found.cheapest
        assert (best is not None) == bool(holding)
        if best is None:
            continue
        printed = tuple(best.choices[name] for name in system.axes)
        assert best.cost * MONTH == pytest.approx(min(holding.values()), rel=1e-9)
        assert holding[printed] == pytest.approx(min(holding.values()), rel=1e-9)
        assert best.capacity == every[printed]
        others = [cost for chosen, cost in holding.items() if chosen != printed]
        second = inf if found.runner_up is None else found.runner_up.cost * MONTH
        assert second == pytest.approx(min(others, default=inf), rel=1e-9)
        least.add(round(min(holding.values()), 2))
    assert len(least) > 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    "system", ALONE_AND_COMBINED, ids=lambda one: "-".join((*one.features, str(one.seed)))
)
def test_the_cheapest_is_that_of_every_configuration_by_itself(system: System) -> None:
    """The cost of the cheapest and of the next, what it supports, and none where none holds."""
    _agrees(system)


@pytest.mark.parametrize(("at", "users"), [(3, 1_500), (4, 1_000)])
def test_nothing_that_costs_less_holds_by_itself(at: int, users: int) -> None:
    """The cheapest holds, and each configuration that costs less supports fewer users."""
    system = ALONE_AND_COMBINED[at]
    model = qps.loads(system.text())
    best = model.plan(users).cheapest
    assert best is not None
    printed = tuple(best.choices[name] for name in system.axes)
    costs = system.configurations()
    assert best.cost * MONTH == pytest.approx(costs[printed], rel=1e-9)
    assert best.capacity is not None
    assert _capacity(model, system, printed, costs[printed]) == best.capacity >= users
    cheaper = {one: cost for one, cost in costs.items() if cost < costs[printed] - 0.005}
    assert cheaper
    assert all(_capacity(model, system, one, cost) < users for one, cost in cheaper.items())
