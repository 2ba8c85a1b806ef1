"""What to add by when, against all plans: each configuration of each month, solved by itself."""

from __future__ import annotations

import json
from itertools import pairwise, product
from math import inf
from pathlib import Path
from typing import Any

import pytest

import qps
from cheapest.random_systems import System
from helpers.cases.plan_pages import GROWING
from qps.cli import main
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.solver.calendar.calendar_month import at_month
from qps.solver.calendar.purchase_plan import purchase_plan
from qps.solver.cheapest.plan_answer import Planner

_MONTH = 365.25 * 86_400 / 12
_USERS = [1_500, 2_200, 6_000, 3_000, 4_500, 5_000]
"""The third month is a peak: what is bought for it stays."""


def _spec(seed: int, *, changes: bool) -> qps.Model:
    text = System(seed, "plain", 2).text().partition("matrix rows")[0]
    peaks = "0"
    for at, users in enumerate(_USERS):
        peaks = f"if date == 2027-0{at + 1} then {users} else ({peaks})"
    text += f"\ncalendar date in 2027-01..2027-12\nforecast N = {peaks}\n"
    if changes:
        pace = "param pace = if date >= 2027-04 then 0.15 request/s else 0.1 request/s"
        text = text.replace("param pace = 0.1 request/s", pace)
    return qps.loads(text)


def _parts(labels: tuple[tuple[str, str], ...]) -> list[tuple[str, int]]:
    return [(kind, int(count)) for kind, count in (label.split(" * ") for _, label in labels)]


def _keeps(before: list[tuple[str, int]], after: list[tuple[str, int]]) -> bool:
    both = zip(before, after, strict=True)
    return all(one[0] == other[0] and one[1] <= other[1] for one, other in both)


def _least_total(model: qps.Model, months: int, *, changes: bool) -> float:
    """Return the cost of the cheapest of all plans, month after month.

    Unless the date `changes` more than users, capacities are the same in all months.
    """
    spec = model.spec.model
    assert spec.calendar is not None
    least: dict[tuple[Any, ...], float] = {}
    planners: dict[int, Planner] = {}
    for month, users in enumerate(_USERS[:months]):
        of_month = month if changes else 0
        if of_month not in planners:
            configuration = at_month(spec.calendar, base_configuration(spec), of_month)
            planners[of_month] = Planner(spec, configuration, spec.choices[0])
        planner = planners[of_month]
        found = {}
        for chosen in product(*(range(len(axis.options)) for axis in planner.space.axes)):
            one = planner.planned(chosen, users)
            if (one.capacity or 0) >= users:
                parts = _parts(one.choices)
                before = [total for own, total in least.items() if _keeps([*own], parts)]
                found[tuple(parts)] = one.cost * _MONTH + (min(before, default=inf) if month else 0)
        least = found
    return min(least.values(), default=inf)


@pytest.mark.parametrize(
    ("seed", "months", "changes"),
    [
        (0, 4, False),
        pytest.param(1, 6, True, marks=pytest.mark.nightly),
        *(pytest.param(seed, 6, False, marks=pytest.mark.nightly) for seed in range(2, 6)),
    ],
)
def test_no_plan_that_keeps_what_was_bought_is_cheaper(
    seed: int, months: int, *, changes: bool
) -> None:
    """Of all plans for some months of which the third is a peak, one costs least."""
    model = _spec(seed, changes=changes)
    spec = model.spec.model
    found = purchase_plan(
        spec, base_configuration(spec), spec.choices[0], CalendarDate(2027, months)
    )
    assert found.is_proven
    assert found.total == pytest.approx(_least_total(model, months, changes=changes), rel=1e-9)
    assert found.returnable <= found.total * (1 + 1e-9)
    steps = [_parts(step.choices) for step in found.steps]
    assert all(_keeps(one, other) for one, other in pairwise(steps))


def test_a_date_prints_what_to_add_by_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each machine supports 1,250 users: 2,000 * 1.2^n need 2, 2, 3, 3 and 4 machines."""
    spec = tmp_path / "site.qps"
    spec.write_text(GROWING, encoding="utf-8")
    main(["plan", str(spec), "--users", "2027-04"])
    text = " ".join(capsys.readouterr().out.split())
    assert "$840 until April 2027, if nothing is removed; no such plan is cheaper" in text
    assert "April 2027 4,148 $240/month web vm * 3 → vm * 4" in text
    page = tmp_path / "plan.html"
    main(["plan", str(spec), "--users", "2027-04", "--format", "json", "-o", str(page)])
    found = json.loads(capsys.readouterr().out)["purchases"]
    html = page.read_text(encoding="utf-8")
    assert "$840 until April 2027, if nothing is removed; no such plan is cheaper" in html
    assert html.index("February 2027") < html.index("web 3 × vm → 4 × vm")
    assert [step["date"] for step in found["steps"]] == ["2026-12", "2027-02", "2027-04"]
    assert [step["choices"]["web"] for step in found["steps"]] == ["vm * 2", "vm * 3", "vm * 4"]
    assert found["proven"]
    assert found["total"] == pytest.approx(14 * 60)
    assert found["total"] == pytest.approx(found["bound"])


def test_purchases_are_paid_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four machines for 60 $ each are 240 $ in all."""
    spec = tmp_path / "site.qps"
    spec.write_text(GROWING.replace("60 $/month", "60 $"), encoding="utf-8")
    main(["plan", str(spec), "--users", "2027-04", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["purchases"]
    assert found["total"] == pytest.approx(240)
    assert found["unit"] == "$"
    assert found["steps"][-1]["choices"] == {"web": "vm * 4"}
