"""What `qps metrics` writes: the values of the answer, in a text that Prometheus reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from documents.docs import ROOT
from qps.cli import main

SHOP = """
users N in 1..5000
machine box { cpu 4 core, queueing mmc }
machine pc { }
component work { cpu 8 ms/request }
network lan { switched; rate 1 Gbit/s }
topology { node web = box; node user = pc * N; link net = lan between web, user }
stream page for each user { traffic 0.1 request/s, 4 kB/request
 at web { work }
 over net
 at user { } }
measure pages = N * page.rate
require { page.latency <= 50 ms; page.rate >= 0.05 request/s; web.cpu.utilization <= 70 % }
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("shop.qps").write_text(SHOP, encoding="utf-8")
    return Path("shop.qps")


def metrics(capsys: pytest.CaptureFixture[str], *words: str) -> dict[tuple[str, str], float]:
    """Return the values that are printed, by metric and by what each is of."""
    assert main(["metrics", *words, "-q"]) == 0
    found = {}
    for family in openmetrics.text_string_to_metric_families(capsys.readouterr().out):
        assert family.type == "gauge"
        assert family.documentation.endswith(".")
        for sample in family.samples:
            names = ("resource", "requirement", "stream", "measure", "limited_by")
            of = next((sample.labels[name] for name in names if name in sample.labels), "")
            found[sample.name.removeprefix("qps_"), of] = sample.value
    return found


def test_values_are_those_of_the_answer(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = metrics(capsys, "shop.qps", "--at", "2000")
    assert found["capacity_users", ""] == found["reliable_capacity_users", ""] == 3500
    assert found["population_users", ""] == 2000
    assert found["limit_info", "web.cpu.utilization"] == 1
    # 2,000 users * 0.1 request/s * 8 ms on 4 cores
    assert found["resource_utilization_ratio", "web.cpu"] == pytest.approx(0.4)
    assert found["resource_limit_ratio", "web.cpu"] == 0.7
    assert found["resource_headroom_ratio", "web.cpu"] == pytest.approx(0.3)
    assert found["resource_saturation_users", "web.cpu"] == 5000
    assert found["resource_saturation_users", "net.user.in"] == inf
    assert found["stream_rate_per_second", "page"] == pytest.approx(200)
    assert found["stream_loss_ratio", "page"] == 0
    latency = found["stream_latency_seconds", "page"]
    assert 0.008 < latency < 0.009
    assert found["requirement", "page.latency"] == latency
    assert found["requirement_headroom_ratio", "page.latency"] == pytest.approx(1 - latency / 0.05)
    assert found["requirement_headroom_ratio", "page.rate"] == pytest.approx(1)
    assert found["requirement_supported_users", "web.cpu.utilization"] == 3500


def test_the_population_is_the_capacity_unless_named(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = metrics(capsys, "shop.qps")
    assert found["population_users", ""] == 3500
    assert found["resource_headroom_ratio", "web.cpu"] == pytest.approx(0)
    found = metrics(capsys, "shop.qps", "--set", "web.cpu.cores = 2")
    assert found["capacity_users", ""] == 1750


def test_no_capacity_is_zero_and_status_1(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop.write_text(SHOP.replace("50 ms", "1 ms"), encoding="utf-8")
    assert main(["metrics", "shop.qps", "-q"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [one.split()[-1] for one in lines if one.startswith("qps_capacity_users")] == ["0"]


def test_uncertain_inputs_have_a_reliable_capacity_with_its_confidence(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.write_text(SHOP.replace("8 ms/request", "8 ms/request +- 20 %"), encoding="utf-8")
    assert main(["metrics", "shop.qps", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [one for one in lines if one.startswith("qps_reliable_capacity_users")]
    assert 'confidence="0.95"' in line
    assert 2500 < float(line.split()[-1]) < 3500


HOSTILE = 'a "b" \\ c'


@pytest.mark.parametrize("read", [text_string_to_metric_families, None])
def test_hostile_names_stay_within_their_label(
    read: object, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{HOSTILE}.qps"
    Path(name).write_text(SHOP, encoding="utf-8")
    assert main(["metrics", name, "-q"]) == 0
    reader = text_string_to_metric_families if read else openmetrics.text_string_to_metric_families
    families = list(reader(capsys.readouterr().out))
    assert {sample.labels["spec"] for family in families for sample in family.samples} == {name}


@pytest.mark.parametrize("spec", ["voip_trunk.qps", "textbook/lqns/lqns_pyramid.qps"])
def test_metrics_of_specs_are_valid(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A closed workload, and one with losses, which has neither resources nor latencies."""
    found = metrics(capsys, str(ROOT / "specs" / spec))
    assert found["capacity_users", ""] > 0
    kinds = {name for name, _ in found}
    assert {"limit_info", "population_users", "stream_rate_per_second"} <= kinds


def _expressions(panels: Sequence[dict[str, Any]]) -> list[str]:
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_a_dashboard_queries_the_metrics_and_compares_what_is_measured(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = {
        "web.cpu": "rate(process_cpu_seconds_total[5m]) / 4",
        "page.rate": "sum(rate(requests_total[5m]))",
        "users": "sum(sessions)",
    }
    flags = [word for one in measured.items() for word in ("--measured", "=".join(one))]
    assert main(["metrics", "shop.qps", "--dashboard", "shop.json", *flags]) == 0
    out, notes = capsys.readouterr()
    assert "shop.json" in notes
    written = {f.name for f in openmetrics.text_string_to_metric_families(out)}
    dashboard = json.loads(Path("shop.json").read_text(encoding="utf-8"))
    queries = _expressions(dashboard["panels"])
    names = {q.partition("{")[0] for q in queries if q.startswith("qps_")}
    assert names <= written
    assert set(measured.values()) <= set(queries)
    predicted = 'qps_resource_utilization_ratio{spec="$spec",resource="web.cpu"}'
    assert f"scalar({measured['web.cpu']}) / {predicted} - 1" in queries
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    cells = [
        (x, y)
        for p in places
        for x in range(p["x"], p["x"] + p["w"])
        for y in range(p["y"], p["y"] + p["h"])
    ]
    assert len(cells) == len(set(cells)), "panels overlap"
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--measured", "web.cpu=up"], "requires `--dashboard`"),
        (["--dashboard", "d.json", "--measured", "web.cpu"], "has no query"),
        (["--dashboard", "d.json", "--measured", "wbe.cpu=up"], "did you mean `web.cpu`"),
        (["--dashboard", "d.json", "--measured", "a=b", "--measured", "a=c"], "given twice"),
        (["--at", "5001"], "outside the range 1 to 5,000"),
        (["-o", "shop.qps"], "would overwrite the input file"),
        (["--dashboard", "shop.qps"], "would overwrite the input file"),
        (["-o", "same", "--dashboard", "same"], "same file"),
    ],
)
def test_wrong_arguments_write_nothing(
    words: list[str], why: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metrics", "shop.qps", *words]) == 2
    assert why in capsys.readouterr().err
    assert [*Path().iterdir()] == [shop]
