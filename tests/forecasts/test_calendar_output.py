"""What commands print of a forecast: `solve`, `test`, `diff`, `matrix`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.cli import main

SHOP = """
users shoppers in 1..100_000
calendar date in 2026-12..2030-12
param apps = 4
param growth = 6 %
forecast shoppers = 10_000 * (1 + growth)^date
machine vm { cpu 8 core }
component render { cpu 12 ms/request }
topology { node app = vm * apps }
stream page for each user { traffic 0.1 request/s; at app { render } }
target cpu 80 %
expect plan { holds_until >= 2027-11; holds_until >= 2028-06 with apps = 6; source model }
expect late { holds_until >= 2029-01; source model }
matrix dates { date in [2026-12, 2027-06]; select capacity }
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.qps"
    file.write_text(SHOP)
    return file


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    main(list(arguments))
    return " ".join(capsys.readouterr().out.split())


def test_solve_prints_the_last_month_and_what_limits_then(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys, "solve", str(shop))
    assert (
        "Holds until January 2028; in February 2028, 22,610 shoppers are expected, "
        "above the capacity of 21,333 (app CPU)"
    ) in printed


def test_all_has_the_months(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = _printed(capsys, "solve", str(shop), "--all")
    assert "2028-01 21,330 21,333 yes 2028-02 22,610 21,333 no" in printed


def test_json_has_dates_in_iso_form(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["solve", str(shop), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["calendar"]
    months = found.pop("months")
    assert found == {
        "parameter": "date",
        "verdict": "exceeded",
        "holds_until": "2028-01",
        "fails_in": "2028-02",
        "limited_by": "app.cpu.utilization",
        "confidence": None,
        "interval": None,
        "known": {"kind": "exact", "reasons": []},
    }
    assert len(months) == 49
    assert months[14] == {
        "date": "2028-02",
        "expected": 22610,
        "least": 22610,
        "most": 22610,
        "capacity": 21333,
        "supported": False,
        "probability": None,
        "limited_by": "app.cpu.utilization",
    }


def test_a_spec_without_a_forecast_has_no_such_key(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = ("forecast", "expect", "matrix", "param growth")
    shop.write_text("\n".join(s for s in SHOP.splitlines() if not s.startswith(others)))
    capsys.readouterr()
    main(["solve", str(shop), "--format", "json"])
    assert "calendar" not in json.loads(capsys.readouterr().out)


def test_a_claim_about_the_date_passes_or_fails_in_words(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys, "test", str(shop))
    assert "FAIL late holds_until >= 2029-01 January 2028" in printed
    assert "pass plan[2] holds_until >= 2028-06 with apps = 6 July 2028" in printed


def test_diff_says_by_how_many_months_the_end_moves(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.qps"
    other.write_text(SHOP.replace("growth = 6 %", "growth = 5 %"))
    printed = _printed(capsys, "diff", str(shop), str(other))
    assert "Holds until January 2028 -> March 2028 (2 months later)" in printed
    printed = _printed(capsys, "diff", str(other), str(shop))
    assert "Holds until March 2028 -> January 2028 (2 months earlier)" in printed


def test_a_matrix_over_dates_has_them_as_dates(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys, "matrix", str(shop))
    assert "2026-12 21,333" in printed
    assert "2027-06 21,333" in printed


def test_a_setting_can_be_a_date(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop.write_text(SHOP.replace("apps = 4", "apps = if date >= 2027-06 then 6 else 4"))
    printed = _printed(capsys, "solve", str(shop), "--set", "date=2027-11")
    assert "Capacity 32,000 shoppers" in printed


def test_an_earlier_date_is_worse(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.qps"
    other.write_text(SHOP.replace("growth = 6 %", "growth = 5 %"))
    assert main(["diff", str(shop), str(other), "--no-claims", "--fail-on", "worse"]) == 0
    assert main(["diff", str(other), str(shop), "--no-claims", "--fail-on", "worse"]) == 1
    printed = " ".join(capsys.readouterr().err.split())
    assert "the forecast is supported until 2028-01 (was 2028-03): --fail-on 'worse'" in printed


def test_a_date_says_what_the_capacity_does_not_cover(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error of a p99 over calls is not known: it makes capacity and date optimistic."""
    shop.write_text(
        """
        users readers in 1..50_000
        calendar date in 2027-01..2029-12
        param growth = 4 % +- 1 %
        forecast readers = 2_000 * (1 + growth)^date
        machine web_vm { cpu 4 core, queueing mmc }
        machine db_vm { cpu 8 core, queueing mmc }
        component page { cpu 10 ms/request +- 5 % }
        component query { cpu 3 ms/request }
        network lan { switched; rate 10 Gbit/s }
        topology { node web = web_vm * 3; node db = db_vm; link wire = lan between web, db }
        stream article for each user {
          traffic 0.2 request/s, 2 kB/request
          at web { page; call db, sends 200 byte/request, returns 2 kB/request { query } }
        }
        require { article.p99 <= 70 ms }
        """
    )
    printed = _printed(capsys, "solve", str(shop), "--no-advice")
    assert "readers in 95 % of samples (≤: an upper bound) Holds until ≤ " in printed
    assert "in 95 % of samples (90 % interval" in printed.partition("Holds until")[2]
    capsys.readouterr()
    main(["solve", str(shop), "--no-advice", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["calendar"]["known"]["kind"] == "upper bound"


def test_each_change_has_the_date_that_it_has_when_it_is_set(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def solved(*settings: str) -> dict[str, object]:
        capsys.readouterr()
        main(["solve", str(shop), "--format", "json", *settings])
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    changes = solved()["best_changes"]
    assert isinstance(changes, list)
    dates = {one["setting"]: one["holds_until"] for one in changes}
    assert len(dates) >= 2
    for setting, date in dates.items():
        calendar = solved("--set", setting, "--no-advice")["calendar"]
        assert isinstance(calendar, dict)
        assert calendar["holds_until"] == date
    assert "until December 2028" in _printed(capsys, "solve", str(shop))


def test_changes_have_no_date_without_a_forecast(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(
        line
        for line in SHOP.splitlines()
        if not line.startswith(("calendar", "forecast", "expect", "matrix"))
    )
    shop.write_text(text)
    capsys.readouterr()
    main(["solve", str(shop), "--format", "json"])
    changes = json.loads(capsys.readouterr().out)["best_changes"]
    assert changes
    assert not any("holds_until" in one for one in changes)
