"""How much is evaluated to size a spec with pools: bounds over boxes, and closed networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from helpers.formulas import exp, floor
from helpers.specs import checked
from qps.compiler.quantities.certainty import EXACT
from qps.engine.expressions.formulas import Formula, apply, maximum, minimum, number, symbol
from qps.engine.queueing_networks.pool_networks import network_of
from qps.engine.queueing_networks.product_form import waits_of
from qps.solver.search.bounds import BoundedFunction
from qps.solver.search.boxes import Budget
from qps.solver.search.sign_changes import Stretch, changes_of
from qps.solver.what_if import least_multiples
from qps.solver.what_if.boundaries import Boundaries, Excess, Failure, boundaries_of
from qps.solver.what_if.inverse import solve_for
from qps.solver.what_if.least_multiples import MOST, least_multiple
from qps.solver.what_if.sizing import size

ROOT = Path(__file__).parents[2]
X = symbol("x")


class Evaluations:
    """How often bounds of functions were evaluated, and how many closed networks were solved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bounds = 0
        for name in ("over", "at", "across_jumps"):
            monkeypatch.setattr(BoundedFunction, name, self._counted(name))
        network_of.cache_clear()
        waits_of.cache_clear()

    def _counted(self, name: str) -> Callable[..., object]:
        whole = getattr(BoundedFunction, name)

        def counted(*operands: object, **options: object) -> object:
            self.bounds += 1
            return whole(*operands, **options)

        return counted

    @property
    def networks(self) -> int:
        """How many closed networks were solved."""
        return network_of.cache_info().misses + waits_of.cache_info().misses


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> Evaluations:
    """Return what counts from here on."""
    return Evaluations(monkeypatch)


# A search that bounds do not decide takes 4,000 boxes a number, and a network or more for each.
@pytest.mark.parametrize(
    ("path", "users", "bounds", "networks"),
    [
        ("benchmarks/applications/pay.qps", 1500, 600, 2000),
        ("benchmarks/applications/tower.qps", 60, 200, 1200),
        ("specs/applications/shop.qps", 30_000, 800, 2000),
        ("specs/applications/llm.qps", 1500, 200, 400),
    ],
)
def test_sizes_take_few_evaluations(
    path: str, users: int, bounds: int, networks: int, evaluations: Evaluations
) -> None:
    spec = checked(ROOT.joinpath(path).read_text(encoding="utf-8"))
    assert size(spec.model, spec.configuration(), users).needed
    assert 0 < evaluations.bounds < bounds
    assert evaluations.networks < networks


PARTNER = """users clients in 1..2000
unit thread
param size = 50 thread in 1..500 thread
machine app_vm { cpu 4 core, queueing mmc; threads size }
component render  { cpu 5 ms/request }
component payment { delay 400 ms }
topology { node web = app_vm }
stream request in all {
  traffic clients * 1 request/s
  at web { take threads; render; 20 %: payment; give threads }
}
require { request.p95 <= 450 ms; web.threads.utilization <= 80 % }
"""


def test_what_takes_long_is_searched_where_all_else_holds(evaluations: Evaluations) -> None:
    """Of a percentile behind an overloaded pool bounds say nothing, in 4,000 boxes."""
    spec = checked(PARTNER)
    assert size(spec.model, spec.configuration(), 940).needed
    assert 0 < evaluations.bounds < 1000


@pytest.mark.parametrize("users", [500, 1500])
def test_a_size_of_a_pool_takes_few_evaluations(users: int, evaluations: Evaluations) -> None:
    spec = checked(ROOT.joinpath("benchmarks/applications/pay.qps").read_text(encoding="utf-8"))
    assert solve_for(spec.model, spec.configuration(), "pool", users).number.is_count
    assert 0 < evaluations.bounds < 1500
    assert 0 < evaluations.networks < 2000


def _excess(value: Formula) -> Excess:
    return Excess(failure=Failure("load", None), value=value, strict=False)


def test_nothing_below_what_fails_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[Stretch] = []

    def noted(excesses: Sequence[Excess], of: Formula, ends: Stretch, *, unit: str) -> Boundaries:
        searched.append(ends)
        return boundaries_of(excesses, of, ends, unit=unit)

    monkeypatch.setattr(least_multiples, "boundaries_of", noted)
    found = least_multiple([_excess(exp(Fraction(1, 5) - X) - 1)], X)
    assert found.times == Fraction(1, 5)
    assert found.seen == EXACT
    assert searched == [(1, MOST), (Fraction(1, 1000), 1)]


def test_what_bounds_do_not_decide_is_tried_at_once_where_it_jumps() -> None:
    """Bounds of a time within a pool are far wider than it moves, on both sides of a jump."""
    rest = (1, 1, 0, Fraction(3, 250), 8, 0, 1)
    network = (60, Fraction(1, 10), 1, Fraction(3, 1000), X, *rest)
    time = apply("nested_time", *(one if one is X else number(one) for one in (1, *network)))
    step = minimum(1, maximum(0, floor(3 - X) + 1))
    budget = Budget(4000)
    over = time * (1 - step / 5) - number(Fraction(1, 20))
    found = changes_of(over, X, (Fraction(1), Fraction(6)), budget, strict=False)
    assert budget.boxes == 4000
    assert (found.points, [one.stretch for one in found.trials]) == ((), [(1, 6)])


def test_what_fails_at_the_top_has_no_multiple(evaluations: Evaluations) -> None:
    over = maximum(number(Fraction(1, 2)), 2 - X)
    found = least_multiple([_excess(over)], X)
    assert (found.times, found.seen) == (None, EXACT)
    assert [one.value for one in found.below] == [over]
    assert evaluations.bounds < 10


@pytest.mark.parametrize("root", ["1/2000", "1/1000", "1/30", "1", "3/2", "40000"])
def test_the_least_multiple_is_found_in_each_part_of_its_range(root: str) -> None:
    least = Fraction(root)
    found = least_multiple([_excess(least - X), _excess(least / 3 - X)], X)
    assert found.times == least
    assert [one.value for one in found.below] == [least - X]
    beyond = least_multiple([_excess(X - X - 1)], X)
    assert (beyond.times, beyond.below) == (0, ())
    assert least_multiple([_excess(X - MOST / 2)], X).times is None


def test_boxes_without_jumps_are_not_bounded_across_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took as long as two more boxes, for each of them."""
    jumps = list[float]()
    whole = BoundedFunction.across_jumps

    def noted(self: BoundedFunction, low: float, high: float) -> tuple[float, float]:
        jumps.append(self.jumps())
        return whole(self, low, high)

    monkeypatch.setattr(BoundedFunction, "across_jumps", noted)
    over = floor(X / 50) / 10 + X * exp(-X / 40) - 8
    ends = Fraction(1), Fraction(900)
    found = changes_of(over, X, ends, Budget(), strict=False)
    assert len(found.points) >= 2
    assert jumps
    assert 0 not in jumps
