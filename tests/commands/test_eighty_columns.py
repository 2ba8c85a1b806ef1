"""What commands print about every spec of the repository fits 80 columns where no terminal is.

Messages about a spec on standard error quote its lines and stand in one line each, as compilers
print them; they are not counted.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.nightly import nightly
from qps.cli import main
from qps.commands.arguments.command_table import COMMANDS
from qps.reports.text.layout.table import text_width

ROOT = Path(__file__).parents[2]
SPECS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").rglob("*.qps"))
OF_A_SPEC = [
    ["check", "SPEC"],
    ["solve", "SPEC"],
    ["solve", "SPEC", "--all"],
    ["solve", "SPEC", "--users", "30"],
    ["test", "SPEC", "--no-simulate"],
    ["explain", "--network", "SPEC"],
    ["simulate", "SPEC", "--time-limit", "1s", "--precision", "50 %"],
]


def too_wide(text: str) -> list[str]:
    """Return lines that do not fit, other than a path or an address that stands alone."""
    lines = (line for line in text.splitlines() if text_width(line) > 80)
    return [line for line in lines if " " in line.strip()]


def printed(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with suppress(SystemExit):  # what it prints is looked at, whatever it ends with
        main(command)
    return capsys.readouterr().out


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("command", OF_A_SPEC, ids=" ".join)
def test_a_spec(
    command: list[str],
    spec: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed([spec if word == "SPEC" else word for word in command] + ["-q"], capsys)
    assert too_wide(shown) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed([command, "--help"], capsys)
    assert f"usage: qps {command}" in shown
    assert too_wide(shown) == []


OF_A_SMALL_SPEC = [
    ["explain", "SPEC", "pages_of_the_shop.p99"],
    ["explain", "SPEC", "pages_of_the_shop.p99", "--all"],
    ["solve", "SPEC", "--users", "20_000"],
    ["solve", "SPEC", "--for", "visits_per_customer", "--users", "9_000"],
    ["diff", "SPEC", "OTHER"],
    ["explain", "QPS0609"],
    ["start"],
]
SMALL = """
users customers_of_the_shop in 1..100_000
param visits_per_customer = 0.1 request/s
machine application_server { cpu 4 core, queueing mmc }
component page_of_the_shop { cpu 8 ms/request }
topology { node application_servers = application_server * 2 }
stream pages_of_the_shop for each user {
  traffic visits_per_customer
  at application_servers { page_of_the_shop }
}
target cpu 75 %
require { pages_of_the_shop.p99 <= 100 ms }
"""


@pytest.mark.parametrize("command", OF_A_SMALL_SPEC, ids=" ".join)
def test_a_small_spec(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("shop.qps").write_text(SMALL, encoding="utf-8")
    Path("other.qps").write_text(SMALL.replace("8 ms", "9 ms"), encoding="utf-8")
    files = {"SPEC": "shop.qps", "OTHER": "other.qps"}
    shown = printed([files.get(word, word) for word in command], capsys)
    assert shown
    assert too_wide(shown) == []


FEATURES = """
users customers_of_the_shop in 1..200_000
calendar date in 2026-12..2029-12
param growth = 6 % +- 1 %
forecast customers_of_the_shop = 2_000 * (1 + growth)^date
profile visits_of_customers over week {
  08:00..22:00 = 0.6
  friday, saturday 18:00..21:00 = 1
  else = 0.1
}
profile nightly_reports over day { 01:00..04:00 = 1; else = 0 }
param service_demand_of_pages = 8 ms +- 10 %
param servers_of_the_shop = if date >= 2027-06 then 8 else 6
machine application_server {
  cpu 4 core, queueing mmc
  price 90 $/month
  fails every 90 day for 2 hour
}
machine database_server { cpu 16 core, queueing mmc; price 600 $; fails every 1 year for 4 hour }
topology {
  node shop_in_frankfurt     = application_server * servers_of_the_shop
  node database_in_frankfurt = database_server * 2
}
component page_of_the_shop { cpu service_demand_of_pages / 1 request }
component report_of_the_day { cpu 400 ms/request }
stream browsing_of_customers for each user {
  traffic 0.1 request/s * visits_of_customers
  at shop_in_frankfurt { page_of_the_shop }
}
stream reports_at_night in all {
  traffic 5 request/s * nightly_reports
  at database_in_frankfurt { report_of_the_day }
}
target cpu 70 %
require { browsing_of_customers.p99 <= 300 ms }
survive any one of shop_in_frankfurt, database_in_frankfurt
expect service_level {
  availability >= 99 %
  capacity >= 1_000
  source model "service level agreement with all customers of the shop in Frankfurt"
}
matrix servers {
  servers_of_the_shop in [6, 8]
  select capacity, limited_by, cost, shop_in_frankfurt.cpu.utilization
}
"""
WITH_FEATURES = [
    ["solve", "SPEC", "--samples", "1000"],
    *OF_A_SPEC[2:],
    ["solve", "SPEC", "--set", "customers_of_the_shop=40_000"],
    ["explain", "SPEC", "shop_in_frankfurt.cpu"],
    ["explain", "SPEC", "browsing_of_customers.p99"],
    ["diff", "CERTAIN", "OTHER"],
    ["matrix", "SPEC"],
]


@pytest.mark.parametrize(
    "command",
    [*WITH_FEATURES, pytest.param(["diff", "SPEC", "OTHER"], marks=nightly)],
    ids=" ".join,
)
def test_profiles_forecasts_and_failures(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("shop.qps").write_text(FEATURES, encoding="utf-8")
    Path("other.qps").write_text(FEATURES.replace("= 8 ms", "= 9 ms"), encoding="utf-8")
    certain = re.sub(r" \+- \d+ %", "", FEATURES)
    Path("certain.qps").write_text(certain, encoding="utf-8")
    files = {"SPEC": "shop.qps", "OTHER": "other.qps", "CERTAIN": "certain.qps"}
    shown = printed([*(files.get(word, word) for word in command), "-q"], capsys)
    assert shown
    assert too_wide(shown) == []


CHOICES = """
users N in 1..20_000
machine small { cpu 4 core, queueing mmc; price 90 $/month }
machine large_machine_of_the_shop { cpu 16 core, queueing mmc; price 300 $/month }
network lan { switched; rate 10 Gbit/s }
component answer { cpu 8 ms/request }
component query { cpu 4 ms/request }
topology {
  node web_servers = small * 2
  node database_servers = small * 2
  node caches_of_the_shop = small * 2
  link net = lan between web_servers, database_servers, caches_of_the_shop
}
stream pages for each user {
  traffic 0.1 request/s, 8 kB/request
  at web_servers { answer }; over net; at database_servers { query }; over net
  at caches_of_the_shop { query }
}
target cpu 75 %
require { pages.p99 <= 100 ms }
matrix machines {
  web_servers in [small * 1..3]
  database_servers in [small * 1..3]
  caches_of_the_shop in [small * 1..3, LARGE * 1..2]
  select capacity, limited_by, pages.p99, web_servers.cpu.utilization
}
choose shop { web_servers in [small * 1..9] }
"""


@pytest.mark.parametrize("large", ["large_machine_of_the_shop", "large"])
def test_choices_of_a_matrix_are_not_cut(
    large: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = CHOICES.replace("LARGE", large).replace("large_machine_of_the_shop", large)
    Path("shop.qps").write_text(text, encoding="utf-8")
    shown = printed(["matrix", "shop.qps", "-q"], capsys)
    assert too_wide(shown) == []
    assert "…" not in shown
    if large == "large":  # where there is room, in one line
        assert re.search(r"small \* 1 +small \* 1 +small \* 1", shown)


@pytest.mark.parametrize(
    "command", [["plan", "SPEC", "--users", "4000"], ["plan", "SPEC", "--budget", "900 $/month"]]
)
def test_plans(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = CHOICES.replace("LARGE", "large_machine_of_the_shop")
    Path("shop.qps").write_text(text, encoding="utf-8")
    shown = printed([{"SPEC": "shop.qps"}.get(word, word) for word in command] + ["-q"], capsys)
    assert "web_servers" in shown or "web servers" in shown
    assert too_wide(shown) == []


INCIDENTS = """
users customers_of_the_shop in 1..20_000
machine application_server { cpu 4 core, queueing mmc }
component page_of_the_shop { cpu 2 ms/request }
topology { node application_servers = application_server * 4 }
stream pages_of_the_shop for each user {
  traffic 0.1 request/s
  at application_servers { page_of_the_shop }
}
target cpu 75 %
incident three_of_four_servers_are_lost_at_noon { lose 3 of application_servers for 2 minute }
"""


@pytest.mark.parametrize("command", ["incident", "simulate"])
def test_incidents(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("shop.qps").write_text(INCIDENTS, encoding="utf-8")
    more = ["--over", "three_of_four_servers_are_lost_at_noon", "--runs", "1", "--time-limit", "1s"]
    options = more if command == "simulate" else []
    shown = printed([command, "shop.qps", "--at", "12_000", *options, "-q"], capsys)
    assert "lost" in shown
    assert too_wide(shown) == []
