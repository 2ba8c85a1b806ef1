"""Prices of a plan: their dates, their currencies, and what they are paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

import qps
from qps.compiler.diagnostics.render import full

SHOP = """
users N in 1..100_000
use "prices.qps"
component serve { cpu 8 ms/request }
topology { node web = prices.one * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
choose { web in [prices.one * 1..40, prices.other * 1..40] }
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
