"""Prices of a plan: their dates, their currencies, and what they are paid for."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import qps
from qps.cli import main
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.render import full
from qps.reports.pages.plan_choices import with_counts_first
from qps.solver.cheapest.plan_answer import plan as planned

SHOP = """
users N in 1..100_000
use "prices.qps"
component serve { cpu 8 ms/request }
topology { node web = prices.one * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
choose { web in [prices.one * 1..40, prices.other * 1..40] }
"""
PLAIN = """
users N in 1..100_000
machine vm { cpu 2 core; price 60 $/month }
component serve { cpu 8 ms/request }
topology { node web = vm * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
choose { web in [vm * 1..40] }
"""


def _plan(folder: Path, one: str, other: str, more: str = "") -> qps.Plan:
    machines = {"one": one, "other": other}
    table = [f"machine {name} {{ cpu 2 core; {price} }}" for name, price in machines.items()]
    (folder / "prices.qps").write_text("\n".join([more, *table]), encoding="utf-8")
    (folder / "shop.qps").write_text(SHOP, encoding="utf-8")
    return qps.load(folder / "shop.qps").plan(1_000)


def _error(folder: Path, one: str, other: str, more: str = "") -> str:
    with pytest.raises(qps.QpsError) as raised:
        _plan(folder, one, other, more)
    return " ".join(full(raised.value.diagnostics).split())


def test_a_plan_states_the_month_of_its_prices(tmp_path: Path) -> None:
    """Days of one month are alike; a machine whose price states none does not matter."""
    found = _plan(tmp_path, "price 2 $/hour in 2026-11-03", "price 1 $/hour in 2026-11-30")
    assert found.price_date == "2026-11"
    assert found.cheapest is not None
    assert found.cheapest.choices == {"web": "prices.other * 1"}
    assert _plan(tmp_path, "price 2 $/hour", "price 1 $/hour").price_date is None
    assert _plan(tmp_path, "price 2 $/hour", "price 1 $/hour in 2026-11").price_date == "2026-11"


def test_the_date_of_a_price_is_that_of_the_one_that_states_it(tmp_path: Path) -> None:
    """A new price without a date has none, whatever was stated of the old one."""
    member = "machine old { cpu 2 core; price 9 $/hour in 2024-02 }\n"
    (tmp_path / "prices.qps").write_text(
        f"{member}machine one = old with price 2 $/hour in 2026-11\n"
        "machine other = old with price 1 $/hour",
        encoding="utf-8",
    )
    (tmp_path / "shop.qps").write_text(SHOP, encoding="utf-8")
    assert qps.load(tmp_path / "shop.qps").plan(1_000).price_date == "2026-11"


def test_prices_of_several_months_are_refused(tmp_path: Path) -> None:
    """The error has both machines, their months and what to do."""
    error = _error(tmp_path, "price 2 $/hour in 2026-11", "price 1 $/hour in 2025-03-04")
    assert "the price of `prices.other` is of March 2025" in error
    assert "that of `prices.one` of November 2026" in error
    assert "prices.qps:3:" in error
    assert "look up both prices for the same month" in error


def test_prices_in_another_currency_are_refused_without_an_exchange_rate(tmp_path: Path) -> None:
    """With one, they are prices like others: once or for each time."""
    unit = 'unit eur\nparam exchange = 2 $/eur source "a bank, 2026-11-27"'
    for price in ("price 1 eur/hour", "price 1 eur"):
        error = _error(tmp_path, "price 3 $/hour", price, unit)
        assert "a price in `eur` cannot be added to prices in `$`" in error
        assert "param exchange = 1.08 $/eur" in error
    found = _plan(tmp_path, "price 3 $/hour", "price 1 eur/hour * exchange in 2026-11", unit)
    assert found.cheapest is not None
    assert found.cheapest.cost == pytest.approx(2 / 3600)


def test_purchases_and_running_costs_are_refused_without_a_period(tmp_path: Path) -> None:
    """The error names a machine of either kind."""
    error = _error(tmp_path, "price 3 $/hour", "price 3_000 $")
    assert (
        "the price of `prices.other` is paid once, that of `prices.one` is a running cost" in error
    )
    assert "prices.qps:3:" in error


def test_a_date_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """The thirteenth month."""
    assert "`2026-13` is not a date" in _error(tmp_path, "price 3 $ in 2026-13", "price 4 $")


def test_the_page_says_how_many_of_which_machine(tmp_path: Path) -> None:
    """The count first, as people say it, without the name of the file; and no path of this disk."""
    _plan(tmp_path, "price 2 $/hour", "price 1 $/hour")
    spec, page = tmp_path / "shop.qps", tmp_path / "plan.html"
    assert main(["plan", str(spec), "--users", "1_000", "-o", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "web 1 × other" in html
    assert "prices.o" not in html
    assert str(tmp_path) not in html
    assert "shop.qps" in html


def test_machines_of_the_same_name_keep_the_name_of_their_file() -> None:
    """Otherwise, nobody would know which one to buy; what is no number of machines stays."""
    model = qps.loads(PLAIN).spec.model
    found = planned(model, base_configuration(model), model.choices[0], 2_000)
    assert found.cheapest is not None
    assert found.runner_up is not None
    labels = (("a", "one.vm * 3"), ("b", "other.vm"), ("c", "one.big * 2"), ("d", "16 GB"))
    found = replace(
        found,
        cheapest=replace(found.cheapest, choices=labels),
        runner_up=replace(found.runner_up, choices=labels[:1]),
    )
    said = with_counts_first(found)
    assert said.cheapest is not None
    assert said.runner_up is not None
    assert said.cheapest.choices == (
        ("a", "3 × one.vm"),
        ("b", "other.vm"),
        ("c", "2 × big"),
        ("d", "16 GB"),
    )
    assert said.runner_up.choices == (("a", "3 × one.vm"),)
