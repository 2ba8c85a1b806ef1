"""Dates of a forecast on the command line: `--users 2028-06` and `--at 2028-06`."""

from __future__ import annotations

import json
from math import ceil
from pathlib import Path

import pytest

from qps.cli import main

SPEC = """
users shoppers in 1..500_000
calendar date in 2026-12..2029-12
forecast shoppers = 20_000 * 1.06^date
param apps = 4
param clicks = if date == 2027-11 then 0.15 request/s else 0.05 request/s
machine vm { cpu 8 core, queueing mmc }
component render { cpu 12 ms/request }
topology { node app = vm * apps }
stream page for each user { traffic clicks; at app { render } }
target cpu 80 %
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("shop.qps").write_text(SPEC)
    return "shop.qps"


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(list(arguments))
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("until", "month", "words"),
    [
        # Each month has more users than the one before, and November 2027 three times the load.
        ("2027-06", 6, "June 2027"),
        ("2027-11", 11, "November 2027"),
        ("2028-06", 11, "November 2027 (most demanding month until June 2028)"),
        ("2029-12", 36, "December 2029"),
    ],
)
def test_a_size_is_for_the_most_demanding_month_until_a_date(
    spec: str, capsys: pytest.CaptureFixture[str], until: str, month: int, words: str
) -> None:
    users = ceil(20_000 * 1.06**month)
    printed = " ".join(_printed(capsys, "solve", spec, "--users", until).split())
    assert printed.startswith(f"Sizing for {users:,} shoppers")
    assert f"shop.qps, {words} Result" in printed
    found = json.loads(_printed(capsys, "solve", spec, "--users", until, "--format", "json"))
    (cpu,) = found["resources"]
    load = users * (0.15 if month == 11 else 0.05)
    assert cpu["utilization"] == pytest.approx(load * 0.012 / 32, rel=1e-3)


def test_of_overloaded_months_the_most_loaded_one_demands_most(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where all months overload the system, waits are infinite in all, and users say too little."""
    text = SPEC.replace("param apps = 4", "param apps = 1") + "require { page.latency <= 50 ms }\n"
    Path(spec).write_text(text)
    printed = " ".join(_printed(capsys, "solve", spec, "--users", "2028-06").split())
    assert "November 2027 (most demanding month until June 2028)" in printed


def test_values_of_an_input_are_found_for_a_date(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """37,966 shoppers need 68.3 busy cores: at 80 % of 8 cores, 10.7 servers."""
    printed = _printed(capsys, "solve", spec, "--users", "2027-11", "--for", "apps")
    assert "apps for 37,966 shoppers" in printed
    assert ">= 11" in printed or "at least 11" in printed


def test_a_number_is_explained_at_a_month(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed = _printed(capsys, "explain", spec, "app.cpu.utilization", "--at", "2027-11")
    assert "37,966 shoppers" in printed
    assert "date=2027-11" in printed
    network = _printed(capsys, "explain", spec, "--network", "--at", "2027-11")
    assert "shoppers = 37,966" in network


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "shop.qps", "--users", "2037-06"], "June 2037 is outside the calendar"),
        (["explain", "shop.qps", "app.cpu", "--at", "2026-01"], "January 2026 is outside"),
        (
            ["explain", "shop.qps", "app.cpu", "--at", "20x"],
            "neither a number of users nor a month",
        ),
        *(
            (["explain", "shop.qps", "app.cpu", "--at", at], message)
            for at, message in (
                ("2027-13", "`2027-13` is not a date that exists"),
                ("2027-02-30", "`2027-02-30` is not a date that exists"),
                ("June 2027", "write the month of `June 2027` as `--at 2027-06`"),
                ("6/2027", "as `--at 2027-06`"),
                ("2027-W23", "as `--at 2027-06`"),
            )
        ),
    ],
)
def test_a_date_that_cannot_be_is_refused(
    spec: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) != 0
    assert message in capsys.readouterr().err


def test_a_date_needs_a_forecast(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.qps").write_text(
        "\n".join(line for line in SPEC.splitlines() if not line.startswith("forecast"))
    )
    assert main(["solve", "plain.qps", "--users", "2028-06"]) != 0
    assert "the spec has no forecast" in capsys.readouterr().err
