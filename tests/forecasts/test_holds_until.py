"""Until when a forecast is supported: against formulas by hand, and draws of our own."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from helpers.specs import checked
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.graph_cache import GraphCache
from qps.compiler.pipeline import check_file, load
from qps.solver.calendar import month_search as search
from qps.solver.calendar.calendar_answer import CalendarAnswer, CalendarVerdict
from qps.solver.calendar.calendar_month import months_of
from qps.solver.configured_answer import configured_answer
from qps.solver.spec_difference import spec_difference
from qps.solver.uncertainty.interval_result import Sampling

SHOP = """
users N in 1..100_000
calendar date in 2026-12..2030-12
param apps = 4
param growth = 6 %
param clicks = 0.1 request/s
forecast N = 10_000 * (1 + growth)^date
machine vm { cpu 8 core }
component render { cpu 12 ms/request }
topology { node app = vm * apps }
stream page for each user { traffic clicks; at app { render } }
target cpu 80 %
"""
"""Capacity: 80 % of 32 cores by 1.2 ms/s per user, 21,333 users."""


def _answer(text: str, *settings: str, samples: int = 10_000) -> CalendarAnswer:
    spec = checked(text)
    configuration = spec.configuration((), settings)
    found = configured_answer(spec, configuration, settings, sampling=Sampling(samples=samples))
    assert found.answer.calendar is not None
    return found.answer.calendar


def _until(found: CalendarAnswer) -> str | None:
    return None if found.until is None else found.until.iso


def _last_month(growth: str, capacity: int) -> int:
    """Return the last month of compound growth from 10,000 users that a capacity supports."""
    users, month = Fraction(10_000), 0
    while users * (1 + Fraction(growth)) <= capacity:
        users, month = users * (1 + Fraction(growth)), month + 1
    return month


@pytest.mark.parametrize("growth", ["0.03", "0.06", "0.1", "0.5"])
def test_compound_growth_holds_up_to_the_month_worked_out_by_fractions(growth: str) -> None:
    found = _answer(SHOP, f"growth = {float(growth) * 100:g} %")
    last = found.months[_last_month(growth, 21_333)].date
    assert (found.verdict, found.until) == (CalendarVerdict.EXCEEDED, last)
    assert found.limited_by == "app.cpu.utilization"
    assert found.confidence is None
    failing = found.failing
    assert failing is not None
    assert failing.expected > 21_333 == failing.capacity


@pytest.mark.parametrize(
    ("settings", "verdict", "until"),
    [
        (["growth = 1 %"], CalendarVerdict.HOLDS, "2030-12"),
        (["clicks = 1 request/s"], CalendarVerdict.NEVER, None),
        (["clicks = 0.0001 request/s"], CalendarVerdict.RANGE, "2030-03"),
        (["growth = -1 %", "clicks = 0.3 request/s"], CalendarVerdict.NEVER, None),
    ],
)
def test_a_calendar_can_hold_to_its_end_or_never(
    settings: list[str], verdict: CalendarVerdict, until: str | None
) -> None:
    found = _answer(SHOP, *settings)
    assert (found.verdict, _until(found)) == (verdict, until)


def test_a_purchase_on_a_date_moves_the_end_but_not_a_gap_before_it() -> None:
    bought = SHOP.replace("apps = 4", "apps = if date >= DAY then 8 else 4")
    in_time = _answer(bought.replace("DAY", "2027-12"))
    assert in_time.months[11].capacity == 21_333
    assert in_time.months[12].capacity == 42_666
    assert in_time.until == in_time.months[_last_month("0.06", 42_666)].date
    late = _answer(bought.replace("DAY", "2028-09"))  # from 2028-02 on there are too few until then
    assert _until(late) == "2028-01"
    assert [month.date.iso for month in late.months if not month.holds][:8] == [
        "2028-02", "2028-03", "2028-04", "2028-05", "2028-06", "2028-07", "2028-08", "2029-01"
    ]  # fmt: skip


STEP = SHOP.replace("param apps = 4", "param apps = if date >= 2027-06 then 4 else 3")


def test_months_that_differ_in_numbers_share_a_load_graph() -> None:
    spec = checked(STEP)
    calendar = spec.model.calendar
    assert calendar is not None
    months = months_of(spec.model, calendar, spec.configuration((), ()))
    assert len({month.key for month in months}) == 2
    assert spec.model.derived(GraphCache).added == 1


def test_a_mode_with_a_date_of_its_own_has_what_is_there_on_that_date() -> None:
    text = STEP.replace("if date >= 2027-06 then 4", "if date >= 2028-01 then 1")
    found = _answer(text + "mode usual {}\nmode early { date = 2 }\n")
    assert found.months[2].capacity == 16_000
    assert {month.capacity for month in found.months[13:]} == {21_333 // 4}
    found = _answer(text + "mode late { date = 20 }\nmode usual {}\n")
    assert {month.capacity for month in found.months} == {21_333 // 4}


def test_demand_that_changes_each_month_is_found_by_bisection_as_by_hand() -> None:
    text = SHOP.replace("clicks = 0.1 request/s", "clicks = 0.1 request/s * 1.02^date")
    found = _answer(text)
    load = [1.02**n * ceil(10_000 * 1.06**n - 1e-6) * 1.2e-3 / 32 for n in range(49)]
    assert len({month.capacity for month in found.months}) > 2
    assert found.until == found.months[max(n for n in range(49) if load[n] <= 0.8)].date
    assert [month.holds for month in found.months] == [one <= 0.8 for one in load]


def test_a_peak_in_november_ends_it_although_later_months_hold() -> None:
    text = SHOP.replace(
        "clicks = 0.1 request/s",
        "clicks = if date == 2027-11 then 0.3 request/s else 0.05 request/s",
    )
    found = _answer(text)
    assert _until(found) == "2027-10"
    assert found.months[12].holds


def test_few_load_graphs_and_bisection_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = SHOP.replace("apps = 4", "apps = if date >= 2028-09 then 8 else 4")
    usual = _answer(text)
    monkeypatch.setattr(search, "_FEW", 0)
    found = _answer(text)
    assert (found.until, found.ends) == (usual.until, usual.ends)
    assert [month.holds for month in found.months] == [month.holds for month in usual.months]


def test_uncertain_growth_and_demand_have_the_probabilities_of_our_own_draws() -> None:
    text = SHOP.replace("growth = 6 %", "growth = 6 % +- 1 %")
    text = text.replace("cpu 12 ms/request", "cpu 12 ms/request +- 10 %")
    found = _answer(text)
    draws = np.random.default_rng(5)
    rate = draws.normal(0.06, 0.01 / 1.959964, 400_000)
    cost = draws.normal(1.0, 0.1 / 1.959964, 400_000)
    capacity = 0.8 * 32 / (1.2e-3 * cost)
    held = [float(np.mean(10_000 * (1 + rate) ** n <= capacity)) for n in range(49)]
    for month, probability in zip(found.months, held, strict=True):
        if month.probability is not None:
            assert month.probability == pytest.approx(probability, abs=0.01)
    for level, end in (
        (0.95, found.until),
        (0.95, found.interval and found.interval[0]),
        (0.05, found.interval and found.interval[1]),
    ):
        number = next(n for n in range(49) if found.months[n].date == end)
        assert held[number] > level - 0.01
        assert held[number + 1] < level + 0.01


@pytest.mark.parametrize("spread", ["", " +- 1 %"])
def test_months_between_the_points_of_a_table_lie_on_lines(spread: str, tmp_path: Path) -> None:
    found = _of_table("date,mid\n2026-12,10000\n2027-12,22000\n2030-12,58000\n", tmp_path, spread)
    assert [found.months[n].expected for n in (0, 1, 6, 12, 24)] == [
        10_000, 11_000, 16_000, 22_000, 34_000
    ]  # fmt: skip
    assert _until(found) == "2027-11"


def test_a_table_with_an_interval_has_the_probabilities_of_two_halves_of_a_normal_one(
    tmp_path: Path,
) -> None:
    rows = "date,low,mid,high\n2026-12,9000,10000,12000\n2030-12,45000,58000,70000\n"
    found = _of_table(rows, tmp_path)
    scores = np.random.default_rng(3).normal(size=400_000) / 1.6448536
    for month in found.months:
        up, down = month.most - month.expected, month.expected - month.least
        users = month.expected + np.where(scores > 0, scores * up, scores * down)
        assert month.probability == pytest.approx(float(np.mean(users <= 21_333)), abs=0.01)
    assert found.confidence == 0.95
    assert found.interval == (found.until, found.interval and found.interval[1])


def _of_table(rows: str, folder: Path, spread: str = "") -> CalendarAnswer:
    (folder / "plan.csv").write_text(rows)
    text = SHOP.replace("forecast N = 10_000 * (1 + growth)^date", 'forecast N "plan.csv"')
    text = text.replace("clicks = 0.1 request/s", f"clicks = 0.1 request/s{spread}")
    (folder / "shop.qps").write_text(text)
    spec = load(folder / "shop.qps")
    found = configured_answer(spec, spec.configuration(), sampling=Sampling())
    assert found.answer.calendar is not None
    return found.answer.calendar


def test_a_forecast_without_a_number_is_refused() -> None:
    text = SHOP.replace("10_000 * (1 + growth)^date", "10_000 - 1_000 * date")
    with pytest.raises(QpsError, match="the forecast for 2027-11 is -1,000 users"):
        _answer(text)
    endless = SHOP.replace("10_000 * (1 + growth)^date", "10_000 * 10^(date^3)")
    with pytest.raises(QpsError, match="no number of users for 2027-07: it is too large"):
        _answer(endless)


def test_the_calendar_of_a_table_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("date,mid\n2026-12,100\n2027-12,300\n")
    spec = tmp_path / "plan.qps"
    spec.write_text(
        'users N in 1..900\ncalendar date in 2026-12..2027-12\nforecast N "plan.csv"\n'
        "machine box { cpu 1 core }\ncomponent work { cpu 1 ms/request }\n"
        "topology { node host = box }\n"
        "stream flow { traffic N * 1 request/s; at host { work } }\n"
    )
    assert not check_file(spec).diagnostics


def test_model_errors_lower_the_date_as_they_lower_the_headline() -> None:
    text = SHOP.replace("cpu 8 core }", "cpu 8 core, queueing mg1 cv 2 }").replace(
        "target cpu 80 %", "require { page.p99 <= 150 ms }"
    )
    spec = checked(text)
    found = configured_answer(spec, spec.configuration(), sampling=Sampling()).answer
    assert found.reliable is not None
    assert found.calendar is not None
    last = [m for m in found.calendar.months if m.expected <= (found.reliable.capacity or 0)][-1]
    assert found.calendar.until == last.date


def test_a_number_of_the_forecast_alone_leaves_the_capacity_as_it_is() -> None:
    text = SHOP.replace("growth = 6 %", "growth = 6 % +- 1 %").replace("80 %", "70 %")
    text = text.replace("0.1 request/s", "0.0875 request/s").replace("12 ms", "10 ms")
    spec = checked(text)  # 70 % of 32 cores is just 25,600 users: floats may say one fewer
    found = configured_answer(spec, spec.configuration(), sampling=Sampling()).answer
    assert found.capacity == 25_600
    assert found.reliable is not None
    assert found.reliable.capacity == 25_600
    assert found.uncertainty is not None
    assert {one.probability for one in found.uncertainty.requirements} <= {1.0}


@pytest.mark.parametrize("spread", ["", " +- 10 %"])
def test_a_difference_has_the_months_of_each_side_alone(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sides are solved once: for the difference, and not again for its months."""
    clicks = "param clicks = 0.1 request/s"
    old = SHOP.replace(clicks, clicks + spread)
    new = old.replace("12 ms/request", "11 ms/request")
    alone = [_answer(text) for text in (old, new)]
    with monkeypatch.context() as patched:
        patched.setattr(search, "reliable_solution", None)
        found = spec_difference(checked(old), checked(new))
    assert [one.calendar for one in found.answers] == alone
    # An old side that takes over samples of the new one has others by itself.
    other = old.replace("12 ms/request", "12 ms/request +- 10 %")
    found = spec_difference(checked(other), checked(new))
    assert [one.calendar for one in found.answers] == [_answer(other), alone[1]]
