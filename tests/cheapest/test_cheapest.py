"""The cheapest configuration, against a matrix of all configurations, each solved by itself."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qps
from cheapest.random_systems import CERTAIN, KINDS, System
from qps.cli import main
from qps.compiler.configure.configuration import base_configuration
from qps.engine.expressions.formulas import apply, symbol
from qps.solver.cheapest.design_space import design_space
from qps.solver.cheapest.fewer_options import with_fewer_options
from qps.solver.cheapest.option_values import PartRequirement, PartValues, SearchProblem
from qps.solver.cheapest.plan_answer import Planner
from qps.solver.cheapest.separable_parts import SeparableParts
from qps.solver.search.box_arrays import BoxArrays

_USERS = (1000, 3000, 9000)
_SLOW = ("classes", "shared", "closed", "pool")
"""Kinds of systems of which matrices take long to compile."""


@cache
def _rows(seed: int, kind: str, tiers: int) -> tuple[qps.Model, list[dict[str, Any]]]:
    model = qps.loads(System(seed, kind, tiers).text())
    return model, model.matrix("rows").to_arrow().to_pylist()


def _cheapest_rows(rows: list[dict[str, Any]], users: int) -> list[float]:
    """Return the costs of the two cheapest rows, or of as many as support so many."""
    return sorted(row["running_cost"] for row in rows if (row["capacity"] or 0) >= users)[:2]


def _agree(seed: int, kind: str, tiers: int) -> int:
    """Compare plans with all rows; return how many populations some configuration supports."""
    model, rows = _rows(seed, kind, tiers)
    supported = 0
    choices = model.spec.model.choices[0]
    planner = Planner(model.spec.model, base_configuration(model.spec.model), choices)
    for users in _USERS:
        costs = _cheapest_rows(rows, users)
        search = planner.search(users)
        assert search.is_complete
        if search.found is None:
            assert not costs
            continue
        supported += 1
        found = planner.planned(search.found, users)
        second = planner.runner_up(users, search.found)
        both = [found.cost] if second is None else [found.cost, second.cost]
        assert both == pytest.approx(costs, rel=1e-9)
        assert found.capacity is not None
        assert found.capacity >= users
    return supported


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.nightly] if kind in _SLOW else []) for kind in KINDS],
)
def test_the_cheapest_of_all_rows_is_found(kind: str) -> None:
    """Of shared machines, pools, percentiles, modes, failures, closed users, options, networks."""
    assert _agree(0, kind, 2)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(1, 4))
def test_the_cheapest_of_all_rows_is_found_in_larger_systems(kind: str, seed: int) -> None:
    """The same of three tiers."""
    _agree(seed, kind, 3)


def _agrees_with_certainty(seed: int, kind: str, tiers: int) -> int:
    """Compare plans with every configuration, solved by itself with its certainties."""
    model = qps.loads(System(seed, kind, tiers).text()).spec.model
    planner = Planner(model, base_configuration(model), model.choices[0])
    every = [
        planner.planned(chosen, _USERS[0])
        for chosen in product(*(range(len(axis.options)) for axis in planner.space.axes))
    ]
    supported = 0
    for users in (*_USERS, 20_000):
        costs = [one.cost for one in every if (one.capacity or 0) >= users]
        search = planner.search(users)
        assert search.is_complete
        assert (search.found is not None) == bool(costs)
        if search.found is not None:
            supported += 1
            assert planner.planned(search.found, users).cost == min(costs)
    return supported


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.nightly), 1])
def test_the_cheapest_is_found_that_holds_with_a_certainty(seed: int) -> None:
    """Of uncertain demands, with 95 %; and with 60 % of demands that are mostly below the mode."""
    assert _agrees_with_certainty(seed, "certain", 2)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", CERTAIN)
@pytest.mark.parametrize("seed", range(2, 5))
def test_the_cheapest_is_found_that_holds_with_a_certainty_in_larger_systems(
    kind: str, seed: int
) -> None:
    """The same of three tiers, of percentiles and of modes."""
    _agrees_with_certainty(seed, kind, 3 if kind == "certain" else 2)


def test_limits_with_a_certainty_have_a_price(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit that is a fifth wider saves what the plan of a spec with that limit costs less."""
    text = SMALL.replace("1..100_000", "2_999..3_000").replace(
        "8 ms/request }", "8 ms/request +- 20 % }"
    )
    text += "choose { web in [vm * 1..9]; spare in [vm * 4] }\n"
    text += "require { page.latency <= LIMIT with 90 % certainty }\n"
    narrow, wide = (
        qps.loads(text.replace("LIMIT", limit)).plan(3_000) for limit in ("10 ms", "12 ms")
    )
    (found,) = narrow.relaxed_requirements
    assert narrow.cheapest is not None
    assert wide.cheapest is not None
    assert found.requirement == "page.latency <= 10 ms with 90 % certainty"
    assert found.relaxed == pytest.approx(0.012)
    assert found.saves > 0
    assert found.saves == pytest.approx(narrow.cheapest.cost - wide.cheapest.cost)
    file = tmp_path / "plan.qps"
    file.write_text(text.replace("LIMIT", "10 ms"), encoding="utf-8")
    main(["plan", str(file), "--users", "3000"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "Relaxed page latency 10 ms → 12 ms with 90 % certainty saves" in printed


def test_nominal_inputs_leave_nothing_out_that_holds_with_a_certainty() -> None:
    """A demand is 8 ms at most and mostly less: one machine supports what it does not at 8 ms."""
    text = SMALL.replace(
        "cpu 8 ms/request }", "cpu triangular(2 ms/request, 8 ms/request, 8.01 ms/request) }"
    )
    text = text.replace(
        "topology", "require { web.cpu.utilization <= 80 % with 50 % certainty }\ntopology", 1
    )
    text += "target web.cpu 100 %\nchoose { web in [vm * 1..4]; spare in [vm * 4] }"
    found = qps.loads(text).plan(2_100).cheapest
    assert found is not None
    assert found.choices["web"] == "vm * 1"


def test_the_reliable_capacity_is_that_of_the_solution() -> None:
    """Samples count in a plan as `qps solve` counts them."""
    text = SMALL.replace("8 ms/request }", "8 ms/request +- 20 % }")
    model = qps.loads(text + "choose { web in [vm * 1..4]; spare in [vm * 4] }")
    found = model.plan(400).cheapest
    assert found is not None
    assert found.reliable_capacity is not None
    assert found.reliable_capacity.confidence == 0.95
    assert found.reliable_capacity.capacity < found.capacity
    assert found.reliable_capacity == model.solve(set=found.choices).reliable_capacity


def test_a_space_of_many_combinations_is_searched_by_bounds() -> None:
    """Eight tiers with 93 options each have 5.6e15 combinations; the fewest cannot be met."""
    text = System(3, tiers=8, most=45).text()
    model = qps.loads(text.partition("matrix rows")[0])
    choices = model.spec.model.choices[0]
    planner = Planner(model.spec.model, base_configuration(model.spec.model), choices)
    assert planner.space.size > 10**15
    search = planner.search(20_000)
    assert search.is_complete
    assert search.found
    assert search.tried < 100
    best = planner.planned(search.found, 20_000)
    # Nothing next to it that is cheaper supports them: each machine fewer, by a plain solution.
    chosen = search.found
    for at in range(len(chosen)):
        if chosen[at] > 0:
            fewer = (*chosen[:at], chosen[at] - 1, *chosen[at + 1 :])
            neighbor = planner.planned(fewer, 20_000)
            is_cheaper = neighbor.cost < best.cost
            assert not (is_cheaper and (neighbor.capacity or 0) >= 20_000)


def test_the_cost_falls_where_a_requirement_is_relaxed_and_never_rises_for_fewer_users() -> None:
    """Laws of a plan: relaxed limits save money, and fewer users cost no more."""
    found = _rows(0, "plain", 2)[0].plan(3000)
    assert found.cheapest is not None
    for one in found.relaxed_requirements:
        assert one.saves > 0
        assert one.configuration.cost == pytest.approx(found.cheapest.cost - one.saves)
    costs = [one.configuration.cost for one in found.front if one.configuration]
    assert costs == sorted(costs)


def test_no_configuration_is_reported_with_the_one_that_supports_most() -> None:
    """Where none supports the population, the plan says which one comes nearest."""
    model, rows = _rows(0, "plain", 2)
    found = model.plan(900_000)
    assert found.cheapest is None
    assert found.proven
    assert found.most is not None
    assert found.most.capacity == max(row["capacity"] or 0 for row in rows)


def test_machines_that_differ_in_numbers_share_a_structure() -> None:
    """Three types of machines and their counts are numbers; another medium is a structure."""
    spec = qps.loads(System(0, "networks", 2).text()).spec.model
    space = design_space(spec, base_configuration(spec), spec.choices[0].axes)
    assert space.structure_count == 1
    names = {"machines of tier0", "tier0.cpu.cores", "tier0.price"}
    assert names <= space.number_names


def test_parts_of_one_choice_are_separated() -> None:
    """x y + x^2 + 3 z is a function of three parts: x and x^2 are not one part with y or z."""
    x, y, z = map(symbol, "xyz")
    separable = SeparableParts(axis_of={x: 0, y: 1, z: 2})
    formula = x * y + x**2 + 3 * z
    found = separable.separated(formula)
    assert {one.axis for one in separable.parts.values()} == {0, 1, 2}
    assert found.symbols == {one.symbol for one in separable.parts.values()}
    values = {x: Fraction(3), y: Fraction(5), z: Fraction(7)}
    own = {one.symbol: _value(one.part, values) for one in separable.parts.values()}
    assert _value(found, own) == _value(formula, values) == 3 * 5 + 9 + 21


def _value(formula: Any, values: dict[Any, Any]) -> float:
    symbols = [one for one in values if one in formula.symbols]
    from qps.engine.evaluators.row_bounds import Bounds

    ends = [Bounds(np.array([float(values[s])]), np.array([float(values[s])])) for s in symbols]
    found = BoxArrays(formula, *symbols).bounds(*ends)
    return round(float(found.low[0] + found.high[0]) / 2, 9)


def test_a_sum_over_two_choices_is_one_part_of_each() -> None:
    """Terms of one choice are joined, so that their bounds are those of the whole."""
    x, y = symbol("x"), symbol("y")
    separable = SeparableParts(axis_of={x: 0, y: 1})
    separable.separated(x + apply("sqrt", x) + y)
    assert len(separable.parts) == 2


BUDGET = """
choose {{ tier0 in [m0 * 1..9]; tier1 in [m0 * 1..9] }}
expect budget {{
  lowest_running_cost <= {limit} $/month with N = 3_000
  source model "a budget"
}}
"""


def _claims(limit: float) -> list[Any]:
    text = System(0, tiers=2).text().partition("choose")[0] + BUDGET.format(limit=limit)
    return [*qps.loads(text).test()]


def test_a_budget_is_claimed() -> None:
    """A claim about the lowest cost passes at that cost, and fails below it."""
    text = System(0, tiers=2).text().partition("choose")[0] + BUDGET.format(limit=1)
    best = qps.loads(text).plan(3000).cheapest
    assert best is not None
    cost = best.cost * 365.25 * 86400 / 12
    outcomes = [[one.holds for one in _claims(limit)] for limit in (cost + 1, cost - 1)]
    assert outcomes == [[True], [False]]


SMALL = """
users N in 1..100_000
machine vm { cpu 2 core, queueing mmc; price 60 $/month }
component serve { cpu 8 ms/request }
topology { node web = vm * 2; node spare = vm * 1 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
stream night for each user { traffic 0.1 request/s; at spare { serve } }
"""


def test_ranges_from_zero_machines_are_searched() -> None:
    """No machines at all have no load graph; five of them do: 5 * 2 cores * 1,250 users a core."""
    text = SMALL + "choose { web in [vm * 0..5]; spare in [vm * 5] }"
    found = qps.loads(text).plan(11_000).cheapest
    assert found is not None
    assert found.choices["web"] == "vm * 5"


def test_machines_that_fail_are_paid_for() -> None:
    """Of six machines one may fail: the cost is that of six, in the plan and in the solution."""
    text = SMALL + "survive any one of web\ntarget cpu 100 %\n"
    model = qps.loads(text + "choose { web in [vm * 1..9]; spare in [vm * 9] }")
    found = model.plan(11_000).cheapest
    assert found is not None
    assert found.choices["web"] == "vm * 6"
    monthly = 365.25 * 86400 / 12
    assert found.cost * monthly == pytest.approx((6 + 9) * 60)
    solved = model.solve(set={"web": "vm * 6", "spare": "vm * 9"})
    assert solved.cost[0].total * monthly == pytest.approx((6 + 9) * 60)


def test_one_machine_that_may_fail_is_not_tried() -> None:
    """Of one machine none is left: two are the fewest, of each of nine places."""
    nodes = "; ".join(f"node web{at} = vm * 2" for at in range(9))
    visits = "; ".join(f"at web{at} {{ serve }}" for at in range(9))
    axes = "; ".join(f"web{at} in [vm * 1..9]" for at in range(9))
    names = ", ".join(f"web{at}" for at in range(9))
    text = f"""
users N in 1..100_000
machine vm {{ cpu 2 core, queueing mmc; price 60 $/month }}
network lan {{ switched; rate 10 Gbit/s; queueing none }}
component serve {{ cpu 1 ms/request }}
topology {{ {nodes}; link net = lan between all }}
stream page for each user {{ traffic 0.1 request/s, 1 kB/request; {visits} }}
survive any one of {names}
choose {{ {axes} }}
"""
    spec = qps.loads(text).spec.model
    planner = Planner(spec, base_configuration(spec), spec.choices[0])
    found = planner.search(100)
    assert found.found == (1,) * 9
    assert found.tried == 1


def test_costs_have_their_unit_where_the_first_option_has_no_machines() -> None:
    """Of no machines nothing is paid: the unit of costs is that of the structure."""
    text = SMALL.replace("node spare = vm * 1", "node spare = phone").replace(
        "topology", "machine phone { cpu 64 core }\ntopology", 1
    )
    found = qps.loads(text + "choose { web in [vm * 0..5] }").plan(5_000)
    assert found.unit == "$/s"


def test_bounds_without_ends_prefer_no_option() -> None:
    """Two options of which nothing is known but their costs: neither is left out for the other."""
    cost, unknown = symbol("cost"), symbol("unknown")
    known = PartValues(axis=0, symbol=cost, low=np.array([1.0, 2.0]), high=np.array([1.0, 2.0]))
    endless = np.array([np.inf, np.inf])
    problem = SearchProblem(
        options=(np.array([0, 1]),),
        parts=(known, PartValues(axis=0, symbol=unknown, low=-endless, high=endless)),
        requirements=(PartRequirement(name="unknown", over=unknown, strict=False),),
        cost=cost,
    )
    found = with_fewer_options(problem, {0})
    assert found is not None
    assert found.options[0].tolist() == [0, 1]
