"""Metrics of service graphs and CPU of pods become a spec, as traces do."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

import qps
from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.service_graphs.metric_graph import MetricSystem, metric_system
from qps.compiler.measurement.traces.call_graph import TracedCall
from qps.reports.text.systems.system_names import all_calls, calls_below
from traces import saved_metrics as saved

CPU = "container_cpu_usage_seconds_total"
CALLS = "traces_service_graph_request_total"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which files have short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _system(found: Sequence[saved.Series], *clients: str) -> MetricSystem:
    saved.save("metrics.json", found)
    return metric_system([Path("metrics.json")], clients)


def _ratios(root: TracedCall) -> dict[tuple[str, str], float]:
    return {
        (call.service, below.service): below.per_request
        for call in all_calls(root)
        for below in calls_below(call)
    }


EXPECTED = {
    edge: pytest.approx(r, rel=0.01) for edge, r in saved.RATIOS.items() if "user" not in edge
}


@pytest.mark.parametrize("write", [saved.tempo, saved.istio])
def test_calls_are_ratios_of_rates_and_costs_are_cpu_over_requests(
    write: object, here: Path
) -> None:
    assert callable(write)
    incoming = saved.requests()
    found = _system([*write(incoming), *saved.pods(incoming)])
    (route,) = found.graph.routes
    assert route.root.service == "front"
    assert _ratios(route.root) == EXPECTED
    assert route.root.count == pytest.approx(sum(incoming), rel=0.001)
    assert found.graph.seconds == saved.STEP * (saved.COUNT - 1)
    assert found.costs is not None
    for service, seconds in saved.COSTS.items():
        cost = found.costs.services[service]
        assert cost.seconds == pytest.approx(seconds, rel=0.05)
        assert abs(cost.seconds - seconds) <= 1.5 * cost.spread * cost.seconds
        assert cost.idle == pytest.approx(saved.IDLE[service], abs=0.003)
        assert cost.seconds < saved.SERVED[service]  # processor time is not elapsed time
    assert "redis" not in found.costs.services


def test_istio_counts_each_request_once_with_its_size_and_failures(here: Path) -> None:
    (route,) = _system(saved.istio(saved.requests())).graph.routes
    assert route.root.errors / route.root.count == pytest.approx(0.02)
    assert route.root.returned == pytest.approx(2000)
    cart = next(one for one in calls_below(route.root) if one.service == "cart")
    assert cart.duration == pytest.approx(0.008)
    assert cart.network == pytest.approx(0.001)
    assert cart.own == pytest.approx(0.008 - 1.5 * 0.002)


def test_the_spec_holds_what_the_metrics_say(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    incoming = saved.requests()
    saved.save("graph.json", saved.tempo(incoming))
    saved.save("pods.json", saved.pods(incoming))
    assert main(["observe", "service-graph", "graph.json", "pods.json", "-o", "shop.qps"]) == 0
    printed = capsys.readouterr().err
    assert "graph.json: 25 series of calls, 0 of CPU" in printed
    assert "shop.qps: 4 services, 1 kind of request" in printed
    text = Path("shop.qps").read_text(encoding="utf-8")
    assert "call cart * 60 % {" in text
    assert "call redis * 1.5 { redis_request }" in text
    assert 'param redis_cpu = between 0.1 and 10 ms/request source "assumed: not in the' in text
    assert main(["fmt", "--check", "shop.qps"]) == 0
    assert main(["test", "shop.qps"]) == 0
    assert (qps.load("shop.qps").solve().capacity or 0) > 0


def test_a_spec_is_brought_up_to_date(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    incoming = saved.requests()
    saved.save("graph.json", saved.tempo(incoming))
    observe = ["observe", "service-graph", "graph.json", "-q"]
    assert main([*observe, "-o", "shop.qps"]) == 0
    assert main([*observe, "--into", "shop.qps", "--dry-run"]) == 0
    saved.save("graph.json", saved.tempo([1.5 * one for one in incoming]))
    capsys.readouterr()
    assert main([*observe[:-1], "--into", "shop.qps"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 of ")
    assert "+50 %" in printed
    assert main(["test", "shop.qps"]) == 0


def test_counters_that_start_again_go_on(here: Path) -> None:
    sums = [float(10 * n) for n in range(60)]
    again = [*sums[:30], *(one - sums[30] for one in sums[30:])]
    labels = {"client": "user", "server": "front"}
    whole = _system([saved.series(labels, sums, CALLS)]).graph.requests
    assert _system([saved.series(labels, again, CALLS)]).graph.requests == pytest.approx(whole - 10)


def test_rates_give_what_counters_give(here: Path) -> None:
    incoming = saved.requests()
    rates = [
        saved.series(
            {"client": client, "server": server},
            [sums[0], *((b - a) / saved.STEP for a, b in itertools.pairwise(sums))],
        )
        for (client, server), sums in saved.counters(incoming).items()
    ]
    cpu = [
        saved.series(
            {"pod": f"{name}-0"},
            [0, *((b - a) / saved.STEP for a, b in itertools.pairwise(sums))],
        )
        for name in saved.COSTS
        for sums in [saved.used(incoming, name)]
    ]
    found = _system([*rates, *cpu])
    assert _ratios(found.graph.routes[0].root) == EXPECTED
    assert found.graph.requests == pytest.approx(sum(incoming), rel=0.001)
    assert found.costs is not None
    assert found.costs.services["front"].seconds == pytest.approx(0.004, rel=0.02)


def test_an_instant_query_gives_shares_and_asks_for_rates(here: Path) -> None:
    instant = [
        {
            "metric": {"__name__": CALLS, "client": client, "server": server},
            "value": [saved.START, str(sums[-1])],
        }
        for (client, server), sums in saved.counters(saved.requests()).items()
    ]
    saved.save("now.json", instant, "vector")
    found = metric_system([Path("now.json")])
    assert _ratios(found.graph.routes[0].root) == EXPECTED
    assert found.graph.seconds == 0
    assert main(["observe", "service-graph", "now.json", "-q", "-o", "shop.qps"]) == 0
    assert "QUESTION: how many front_requests requests" in Path("shop.qps").read_text()
    assert main(["check", "shop.qps"]) == 0


def test_containers_count_once_whoever_scrapes_them(here: Path) -> None:
    incoming = saved.requests()
    both = [
        {**one, "metric": {**one["metric"], "job": job}}
        for one in saved.pods(incoming)
        for job in ("cadvisor", "kubelet")
    ]
    found = _system([*saved.tempo(incoming), *both])
    assert found.costs is not None
    assert found.costs.services["front"].seconds == pytest.approx(0.004, rel=0.02)
    assert any("scraped twice" in note for note in found.costs.notes)


def test_cores_add_up_unless_their_total_is_there(here: Path) -> None:
    incoming = saved.requests()
    sums = saved.used(incoming, "front")
    pod = {"pod": "front-0", "container": "front"}
    half = [one / 2 for one in sums]
    for more in ([], [saved.series({**pod, "cpu": "total"}, sums, CPU)]):
        cores = [saved.series({**pod, "cpu": f"cpu0{n}"}, half, CPU) for n in range(2)]
        found = _system([*saved.tempo(incoming), *cores, *more])
        assert found.costs is not None
        assert found.costs.services["front"].seconds == pytest.approx(0.004, rel=0.02)


def test_steady_rates_give_a_ratio_and_a_warning(here: Path) -> None:
    incoming = saved.requests(swing=0.5)
    found = _system([*saved.tempo(incoming), *saved.pods(incoming)])
    assert found.costs is not None
    cart = found.costs.services["cart"]
    assert cart.idle == 0
    assert cart.seconds == pytest.approx(0.002 + 0.05 / 12, rel=0.02)
    assert any("warning: rates hardly vary" in note for note in found.costs.notes)


def _edges(*names: tuple[str, str], **labels: str) -> list[saved.Series]:
    counted = [float(10 * n) for n in range(20)]
    return [saved.series({"client": a, "server": b, **labels}, counted, CALLS) for a, b in names]


def test_circles_are_left_out_with_a_warning(here: Path) -> None:
    found = _system(_edges(("user", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")))
    assert _ratios(found.graph.routes[0].root).keys() == {("a", "b"), ("b", "c")}
    circles = [note for note in found.graph.notes if "lead back in a circle" in note]
    assert len(circles) == 2


def test_what_nobody_calls_is_outside(here: Path) -> None:
    found = _system(_edges(("generator", "a"), ("a", "b"), ("cron", "b")))
    assert [route.root.service for route in found.graph.routes] == ["a", "b"]
    assert any("outside the system" in note and "cron" in note for note in found.graph.notes)
    inner = _system(_edges(("user", "generator"), ("generator", "a"), ("a", "b")), "generator")
    assert [route.root.service for route in inner.graph.routes] == ["a"]


def test_messages_are_requests_that_nobody_waits_for(here: Path) -> None:
    calls = _edges(("user", "a"), ("a", "b"))
    sent = _edges(("b", "mailer"), connection_type="messaging_system")
    first, second = _system([*calls, *sent]).graph.routes
    assert first.root.service == "a"
    assert second.root.service == "mailer"
    assert second.is_message
    assert second.messages[0].count == pytest.approx(190)
    saved.save("metrics.json", [*calls, *sent])
    assert main(["observe", "service-graph", "metrics.json", "-q", "-o", "shop.qps"]) == 0
    assert main(["test", "shop.qps"]) == 0


def test_workloads_of_one_name_stay_apart_by_namespace(here: Path) -> None:
    counted = [float(10 * n) for n in range(20)]
    both = [
        saved.series(
            {
                "reporter": "destination",
                "source_workload": "unknown",
                "destination_workload": "web",
                "destination_workload_namespace": space,
            },
            counted,
            "istio_requests_total",
        )
        for space in ("shop", "blog")
    ]
    assert {one.name for one in _system(both).graph.services} == {"web.shop", "web.blog"}


def test_hostile_names_become_identifiers(here: Path) -> None:
    name = 'x" } machine evil { # \n https://u:secret@h/?token=abc'
    saved.save("metrics.json", _edges(("user", name), (name, "stream"), ("stream", "Ж")))
    assert main(["observe", "service-graph", "metrics.json", "-q", "-o", "shop.qps"]) == 0
    text = Path("shop.qps").read_text(encoding="utf-8")
    assert "secret" not in text
    assert "abc" not in text
    assert main(["check", "shop.qps"]) == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"status":"success","data":{"resultType":"matrix","result":[]}}', "no calls between"),
        ('{"status":"error","error":"parse error"}', "an error of Prometheus: parse error"),
        ('{"status":"success","data":{"resultType":"scalar","result":[]}}', "of type `scalar`"),
        ("[" * 100_000, "not a result of a range query"),
        ("time,cpu\n", "not a result of a range query"),
        ('[{"metric":{"client":"user","server":"a"},"values":[[1,"x"]]}]', "not a value"),
    ],
)
def test_what_is_no_service_graph_is_refused(text: str, reason: str, here: Path) -> None:
    Path("bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        metric_system([Path("bad.json")])


def test_cpu_without_a_range_is_refused(here: Path) -> None:
    saved.save("graph.json", saved.tempo(saved.requests()))
    one = {"metric": {"__name__": CPU, "pod": "front-0"}, "value": [saved.START, "12"]}
    saved.save("pods.json", [one], "vector")
    with pytest.raises(DataError, match="no rate"):
        metric_system([Path("graph.json"), Path("pods.json")])
