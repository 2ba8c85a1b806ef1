"""What commands print fits a terminal of 80 columns, whatever names and reasons a spec has."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.cli import main
from qps.reports.text.table import text_width

SPEC = '''"""A web shop with a cache and a queue: how many customers can it support at once?"""
users customers in 1..100_000
param requests_of_a_customer = 0.1 request/s +- 20 % source "access log of 12 March"
machine application_server { cpu 4 core, queueing mmc; price 0.8 $/hour }
machine laptop { }
network uplink_of_the_office { switched; rate 1 Gbit/s }
component answer_with_a_page { cpu 8 ms/request + 0.5 us/kB }
topology {
  node frontend_servers = application_server * 2
  node browser_of_a_customer = laptop * customers
  link wide_area_network = uplink_of_the_office between frontend_servers, browser_of_a_customer
}
stream pages_of_the_catalog for each browser_of_a_customer {
  traffic requests_of_a_customer, 80 kB/request
  at frontend_servers { answer_with_a_page }
  over wide_area_network
  at browser_of_a_customer { }
}
require {
  quantile(pages_of_the_catalog.latency, 99 %) <= 100 ms
  frontend_servers.cpu.load <= 75 %
}
expect the_launch_plan_of_march {
  largest_acceptable >= 5_000 with requests_of_a_customer = 0.1 request/s; source model
}
expect load_of_a_quiet_day {
  frontend_servers.cpu.load ~ 10 % within 1 % with customers = 995; source "log"
}
matrix of_all_sizes {
  frontend_servers in [application_server * 1, application_server * 2]
  requests_of_a_customer in [0.1 request/s, 0.2 request/s]
}
'''
COMMANDS = [
    ["solve", "shop.qps"],
    ["solve", "shop.qps", "--users", "20000"],
    ["solve", "shop.qps", "--for", "frontend_servers.cpu.cores", "--users", "20000"],
    ["explain", "shop.qps", "frontend_servers.cpu"],
    ["explain", "shop.qps", "quantile(pages_of_the_catalog.latency, 99 %)"],
    ["simulate", "shop.qps", "--at", "100", "--seconds", "0.1", "--precision", "50 %"],
    ["test", "shop.qps"],
    ["diff", "shop.qps", "larger.qps"],
    ["matrix", "shop.qps"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:3:2]))
def test_eighty_columns_hold(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("shop.qps").write_text(SPEC, encoding="utf-8")
    Path("larger.qps").write_text(SPEC.replace("cpu 4 core", "cpu 8 core"), encoding="utf-8")
    main([*command, "-q"])
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert [line for line in lines if text_width(line) > 80] == []
