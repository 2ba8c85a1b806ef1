"""What commands print fits a terminal of 80 columns, whatever names and reasons a spec has."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from helpers.measured.measured_runs import MEASURED, ROW, STEP
from qps.cli import main
from qps.commands.arguments.command_table import COMMANDS as ALL_COMMANDS
from qps.compiler.measurement.campaigns.campaign_axes import CampaignAxis
from qps.compiler.measurement.campaigns.row_doubts import Doubt
from qps.compiler.measurement.campaigns.run_results import FailedRun
from qps.reports.text.layout.table import text_width
from qps.reports.text.measurements.measurement_text import measured_text, step_text
from traces.written_traces import Work, as_text, otlp, spans_of

RUNS = "day,cpu in %,request/s,byte/s\n" + "".join(
    f"2026-11-{1 + n % 9:02},{5 + n * 1.1 + n * n % 7},{100 * n},{8000 * n + 900 * (n % 5)}\n"
    for n in range(1, 80)
)
TRACE = "sequence,arrival_ms\n" + "".join(f"{n},{160 * n + n * n % 23}\n" for n in range(200))
SPEC = '''"""A web shop with a cache and a queue: how many customers can it support at once?"""
users customers in 1..100_000
param requests_of_a_customer = 0.1 request/s +- 20 % source "access log of 12 March"
machine application_server { cpu 4 core, queueing mmc; price 0.8 $/hour }
machine laptop { }
network uplink_of_the_office { switched; rate 1 Gbit/s }
component answer_with_a_page { cpu 8 ms/request + 0.5 us/kB measured on application_server }
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
choose machines_of_the_frontend {
  frontend_servers in [application_server * 1..9]
}
matrix of_all_sizes {
  frontend_servers in [application_server * 1, application_server * 2]
  requests_of_a_customer in [0.1 request/s, 0.2 request/s]
}
'''
LONG_NAME = "runs_of_a_whole_week_on_the_large_application_server.csv"
LONG_CLIENTS = "throughput_of_the_server.csv"
CLIENTS = "clients,request/s\n1,95\n2,180\n4,340\n8,590\n16,880\n32,1010\n"
FITTED = """users readers_of_the_catalog in 1..10_000
component answer_with_a_page_of_the_catalog { cpu fit "runs_m.csv" measured on application_server }
machine application_server { cpu 4 core, idle fit "runs_m.csv", queueing mmc }
topology { node frontend_servers = application_server }
stream pages for each user {
  traffic 1 request/s
  at frontend_servers { answer_with_a_page_of_the_catalog }
}
"""


def measured_runs(cost: int) -> str:
    rows = (f"{10 * n},{5 + n * cost / 4 + n % 3 / 9:.3f},4\n" for n in range(10, 61, 5))
    return f"request/s,cpu in %,cores\n{''.join(rows)}"


LOG = """A commit of the catalog team that says in one line all of what it is about and why"""
COMMANDS = [
    ["solve", "shop.qps"],
    ["solve", "shop.qps", "--all"],
    ["solve", "shop.qps", "--users", "20000"],
    ["solve", "shop.qps", "--for", "frontend_servers.cpu.cores", "--users", "20000"],
    ["explain", "shop.qps", "frontend_servers.cpu"],
    ["explain", "shop.qps", "quantile(pages_of_the_catalog.latency, 99 %)"],
    ["explain", "--network", "shop.qps"],
    ["explain", "QPS0609"],
    ["simulate", "shop.qps", "--at", "100", "--seconds", "0.1", "--precision", "50 %"],
    ["test", "shop.qps"],
    ["test", "shop.qps", "--observed", "runs.csv"],
    ["diff", "shop.qps", "larger.qps"],
    ["ci", "--base", "HEAD~1"],
    ["history", "shop.qps"],
    ["matrix", "shop.qps"],
    ["plan", "shop.qps", "--users", "900"],
    ["fit", "runs.csv", "--cores", "4"],
    ["fit", LONG_NAME, "--cores", "4"],
    ["fit", "runs_m.csv", "--to", "more.csv"],
    ["fit", LONG_CLIENTS, "--by", "clients"],
    ["observe", "more.csv", "-q", "-o", "new.csv", "--into", "fitted.qps"],
    ["trace", "trace.csv", "trace.csv", "trace.csv", "--period", "160ms"],
]
WITHOUT_TABLES = {
    "report": "writes a page",
    "serve": "shows a page",
    "metrics": "prints metrics",
    "incident": "is tested in `tests/incidents`",
    "measure": "runs programs: see `test_what_was_measured`",
    "check": "prints diagnostics",
    "review": "prints Markdown",
    "fmt": "prints specs",
    "start": "prints commands",
    "new": "prints a spec",
    "lsp": "talks to editors",
    "completion": "prints a script",
}


def test_every_command_is_here() -> None:
    assert {command for command, *_ in COMMANDS} | set(WITHOUT_TABLES) == set(ALL_COMMANDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of a spec in two versions, with runs and a trace beside it."""
    made = tmp_path_factory.mktemp("shop")
    larger = SPEC.replace("cpu 4 core", "cpu 8 core")
    files = {"shop.qps": SPEC, "larger.qps": larger, "runs.csv": RUNS, "trace.csv": TRACE}
    files |= {LONG_NAME: RUNS, LONG_CLIENTS: CLIENTS, "fitted.qps": FITTED}
    files |= {"runs_m.csv": measured_runs(4), "more.csv": measured_runs(5)}
    for name, text in (files | {"shop.qps": larger}).items():
        (made / name).write_text(text, encoding="utf-8")
    git = partial(subprocess.run, check=True, cwd=made, capture_output=True)
    who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
    git(["git", "init", "-q", "-b", "main"])
    for text in (larger, SPEC):
        (made / "shop.qps").write_text(text, encoding="utf-8")
        git(["git", "add", "-A"])
        git(["git", *who, "commit", "-q", "-m", LOG])
    return made


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if text_width(line) > 80]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_eighty_columns_hold(
    command: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    main([*command, *["-q"] * (command[0] not in ("fit", "trace") and command[1][:3] != "QPS")])
    shown = capsys.readouterr().out
    assert shown
    assert too_wide(shown) == []


def traces(count: int) -> str:
    read = Work(service="database of all orders", operation="SELECT", own=5.0 * count)
    order = Work(service="checkout-of-orders", operation="POST /orders/{id}", calls=(read,) * count)
    return as_text(otlp(spans_of([order] * 200, every=100.0 * count)))


def service_graph(count: int) -> str:
    labels = {"client": "users", "server": "checkout-of-orders-with-a-long-name"}
    name = "traces_service_graph_request_total"
    values = [[1_700_000_000 + 30 * n, str(3000.0 * n * count)] for n in range(60)]
    found = [{"metric": {"__name__": name, **labels}, "values": values}]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": found}})


def manifest(count: int) -> str:
    metadata = {"name": "checkout-of-orders-with-a-long-name-of-a-team"}
    limits = {"limits": {"cpu": f"{500 * count}m"}}
    template = {"spec": {"containers": [{"name": "c", "image": "x", "resources": limits}]}}
    spec = {"replicas": 3 * count, "template": template}
    found = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    return json.dumps(found)


@pytest.mark.parametrize(
    ("kind", "written"),
    [("traces", traces), ("service-graph", service_graph), ("manifests", manifest)],
)
def test_observations_that_drifted_fit(
    kind: str,
    written: Callable[[int], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    found = Path("found.json")
    found.write_text(written(1), encoding="utf-8")
    assert main(["observe", kind, "found.json", "-o", "system.qps"]) == 0
    found.write_text(written(2), encoding="utf-8")
    capsys.readouterr()
    main(["observe", kind, "found.json", "--into", "system.qps", "--dry-run"])
    shown, _, changes = capsys.readouterr().out.partition("\n--- system.qps")
    assert " drifted " in shown
    assert "…" not in shown
    assert changes
    assert too_wide(shown) == []


@pytest.mark.parametrize("spec", ["sfu", "iri", "turn_relay", "https_server"])
def test_claims_with_long_names_and_intervals_fit(
    spec: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    main(["test", str(Path(__file__).parents[2] / "specs" / f"{spec}.qps")])
    assert [line for line in capsys.readouterr().out.splitlines() if text_width(line) > 80] == []


def test_what_was_measured() -> None:
    axes = tuple(CampaignAxis(name=f"clients_{n}", values=("20",)) for n in range(3))
    row = replace(
        ROW, setting=("20",) * 3, loads={f"{one}_server in %": 0.5 for one in ("web", "db")}
    )
    view = replace(
        MEASURED,
        layout=replace(MEASURED.layout, axes=axes),
        rows=(row,),
        doubts=(Doubt("spread", (row.setting,), "repetitions lie far apart " * 9),),
        failures=(FailedRun(row.setting, 2, "the generator ended with status 1 " * 4),),
    )
    shown = measured_text(view)
    assert "Columns not shown: spread, generator, others." in shown
    assert too_wide(shown) == []
    component = "component step { cpu 1 ms/frame }\n"
    shown = step_text(STEP, component, "./filter --with-many-arguments {count} " * 4)
    assert shown.endswith(f"\n{component}")
    assert too_wide(shown) == []
