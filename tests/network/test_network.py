"""The network of a spec as a value: each node of an itinerary from a text of three lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

import qps
from helpers.networks_by_hand import BY_HAND, DECLARATIONS
from helpers.specs import lowered
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.lowering import lower
from qps.compiler.network import itinerary as nodes
from qps.compiler.network.arrivals import ArrivalProcess
from qps.compiler.network.network import Network
from qps.compiler.network.passages import passages
from qps.compiler.network.spread import CopySelectionKind
from qps.compiler.network.stations_and_pools import StationKind
from qps.compiler.pipeline import check_file
from qps.engine.expressions.formulas import ONE, ZERO, Formula
from qps.reports.text.explanations.network_text import NetworkScreen, network_text
from qps.reports.text.explanations.network_view import network_view
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import text_width

ROOT = Path(__file__).resolve().parents[2]
_, *_BY_HAND = BY_HAND.read_text(encoding="utf-8").split("\n== ")

_HEAD = """
users N in 2..100
unit thread
machine box { cpu 2 core, queueing mmc; memory 1 GB; threads 4 thread }
machine plain { cpu 1 core; disk 10 MB/s, queueing none }
machine own { cpu 1 core }
network wire { shared; rate 1 Mbit/s; propagation 1 ms; loss 1 % }
network ports { switched; rate 1 Mbit/s; cap 1000 request/s }
component work { cpu 10 ms/request }
component heap { memory 1 MB }
component both { cpu 10 ms/request + 1 % }
component waits { delay 5 ms }
component some { drop 2 % }
component fewer { keep 50 % }
component bursts { active 50 % for 2 s }
component halves { emit 50 % }
component mixes { cpu 1 ms/request; merge }
"""
_STREAM = "stream s for each user {{ traffic 1 request/s, 100 byte/request; {way} }}"


def _network(way: str, topology: str = "node a = box * 2", head: str = _HEAD) -> Network:
    stream = _STREAM.format(way=way)
    return lowered(f"{head}topology {{ {topology} }}\n{stream}\n").network


def _nodes(network: Network) -> tuple[nodes.Node, ...]:
    return network.classes["s"].itinerary.nodes


def _numbers(*formulas: Formula) -> list[str]:
    return [str(one) for one in formulas]


def test_a_step_is_service_apart_from_how_often_it_is_taken() -> None:
    network = _network("at a { work * 2 }")
    here, served = _nodes(network)
    assert here == nodes.At("a", here.copies)
    assert isinstance(served, nodes.Serve)
    assert (served.station, served.by) == ("a.cpu", "work")
    assert _numbers(served.work, served.times.often) == ["work.cpu.request", "2"]
    station = network.stations["a.cpu"]
    assert station.kind is StationKind.PROCESSOR
    assert station.waits
    assert not station.is_unmodeled
    assert str(station.servers) == "a.cpu.cores"
    assert str(station.place.copies) == "2"
    assert station.variation is ONE


def test_what_a_flow_keeps_is_an_amount_and_no_work() -> None:
    here, stored, both = _nodes(_network("at a { heap * (N / 7); both }"))
    assert isinstance(here, nodes.At)
    assert isinstance(stored, nodes.Serve)
    assert isinstance(both, nodes.Serve)
    assert stored.work is ZERO
    assert str(stored.per_flow) == "heap.memory.share"
    assert both.work is not ZERO
    assert both.per_flow is not ZERO


def test_what_is_not_said_of_a_station_is_not_said() -> None:
    network = _network("at a { work }", "node a = plain")
    assert network.stations["a.cpu"].is_unmodeled
    assert not network.stations["a.cpu"].waits


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("waits", nodes.Delay),
        ("some", nodes.Lose),
        ("fewer", nodes.Thin),
        ("bursts", nodes.Thin),
        ("halves", nodes.Resize),
    ],
)
def test_an_effect_is_a_node(step: str, expected: type) -> None:
    assert isinstance(_nodes(_network(f"at a {{ {step} }}"))[-1], expected)


def test_bursts_say_for_how_long() -> None:
    [thin] = [one for one in _nodes(_network("at a { bursts }")) if isinstance(one, nodes.Thin)]
    assert thin.bursty
    assert str(thin.on_for) == "bursts.active.lasting"


def test_a_merge_has_what_is_done_for_each_of_the_flows() -> None:
    _, merged, mixing = _nodes(_network("at a { work; mixes }"))
    assert isinstance(merged, nodes.Merge)
    assert merged.by == "mixes"
    assert [type(one) for one in merged.body.nodes] == [nodes.Serve]
    assert isinstance(mixing, nodes.Serve)
    assert mixing.times.merged is not ONE


def test_calls_together_are_a_fork_and_those_in_them_a_tree() -> None:
    topology = "node a = box; node b = box; node c = box; link l = wire between a, b, c"
    way = "at a { together { call b { work; call c * 20 % { work } }; call c { work } } }"
    _, fork = _nodes(_network(way, topology))
    assert isinstance(fork, nodes.Fork)
    [[first], [second]] = [branch.nodes for branch in fork.branches]
    assert isinstance(first, nodes.Call)
    assert isinstance(second, nodes.Call)
    assert (first.node, second.node) == ("b", "c")
    [inner] = [one for one in first.body.nodes if isinstance(one, nodes.Call)]
    assert inner.times is not None
    assert str(inner.times.often) == "s.c.times"


def test_copies_say_to_whom_they_go() -> None:
    here, _, sent, *_ = _nodes(
        _network(
            "at a { work to all d by unicast }; over l; at d {}",
            "node a = box; node d = own * N; link l = wire between a, d",
        )
    )
    assert isinstance(here, nodes.At)
    assert isinstance(sent, nodes.Send)
    assert (sent.to, sent.target) == ("all", "d")


def test_a_link_is_crossed_by_bits_that_ports_carry_at_a_rate() -> None:
    topology = "node a = box; node b = box; link l = ports between a, b"
    network = _network("at a { work }; over l; at b { work }", topology)
    [cross] = [one for one in _nodes(network) if isinstance(one, nodes.Cross)]
    assert cross.every_copy
    assert [one.station for one in cross.ports] == ["l.a.out", "l.b.in"]
    assert [one.overlaps for one in cross.ports] == [True, False]
    assert cross.ports[0].cap is not None
    port, cap = network.stations["l.a.out"], network.stations["l.a.out.requests"]
    assert (port.kind, cap.kind) == (StationKind.PORT, StationKind.CAP)
    assert _numbers(port.rate or ZERO, cap.rate or ZERO) == ["l.rate", "l.cap"]
    assert port.place.name == "a"
    assert cap.place == port.place
    assert network.links["l"].ends == ("a", "b")


def test_holds_may_cross_and_are_taken_and_given() -> None:
    way = "at a { take threads; work; give threads }"
    _, take, at, _, give = _nodes(_network(way))
    assert isinstance(take, nodes.Take)
    assert isinstance(at, nodes.At)
    assert give == nodes.Give(take.hold)
    network = _network(way)
    pool = network.pools["a.threads"]
    assert str(pool.place.copies) == "2"
    assert network.stations["a.cpu"].spread.kind is CopySelectionKind.WITH_HOLD
    inside = [one for one in passages(network.classes["s"]) if one.holds]
    assert [one.stations for one in inside if one.stations] == [("a.cpu",)]


def test_each_holder_has_his_own_copy() -> None:
    stream = "stream s for each a { traffic 1 request/s; at a { work } }"
    network = lowered(f"{_HEAD}topology {{ node a = own * N }}\n{stream}\n").network
    assert network.stations["a.cpu"].spread.kind is CopySelectionKind.OWN
    assert network.classes["s"].holder.name == "a"


@pytest.mark.parametrize(
    ("traffic", "queueing", "process"),
    [
        ("1 request/s", "mm1", ArrivalProcess.POISSON),
        ("1 request/s", "periodic", ArrivalProcess.PERIODIC),
        ("1 request/s; arrivals cv 2", "mm1", ArrivalProcess.RENEWAL),
    ],
)
def test_how_items_arrive(traffic: str, queueing: str, process: ArrivalProcess) -> None:
    head = _HEAD.replace("plain { cpu 1 core;", f"plain {{ cpu 1 core, queueing {queueing};")
    stream = f"stream s for each user {{ traffic {traffic}; at a {{ work }} }}"
    network = lowered(f"{head}topology {{ node a = plain }}\n{stream}\n").network
    assert network.classes["s"].arrivals.process is process


def test_a_closed_class_has_a_population() -> None:
    stream = "stream s for each user { traffic 2 request, think 1 s; at a { work } }"
    network = lowered(f"{_HEAD}topology {{ node a = box }}\n{stream}\n").network
    one = network.classes["s"]
    assert one.is_closed
    assert one.population is one.flows * (one.amount or ONE)


def test_kinds_of_users_stay_kinds() -> None:
    graph = lower(*_default(ROOT / "tests" / "networks" / "k1_kinds_mean.qps"))
    [kinds] = graph.network.kinds
    assert kinds.of_users
    assert len(kinds.names) == len(kinds.shares) == 2


_BY_KIND = """
kinds sort of users { light 60 %; heavy 40 % }
param often by sort { light 1; heavy 3 }
param pause by sort { light 4 s; heavy 1 s }
topology { node a = box; node b = box; link lan = ports between a, b }
stream s for each user {
  traffic 1 request, 1 kB/request, think pause
  at a { call b * often { work } }
}
"""


def test_a_closed_class_is_one_for_each_kind_of_its_users() -> None:
    graph = lowered(_HEAD + _BY_KIND)
    light, heavy = graph.network.classes.values()
    assert (light.name, heavy.name) == ("s (light)", "s (heavy)")
    assert light.stream == heavy.stream == "s"
    assert graph.at(10).number(light.population or ZERO) == pytest.approx(6)
    assert graph.at(10).number(heavy.think or ZERO) == 1
    calls = [n for one in (light, heavy) for n in one.itinerary.nodes if isinstance(n, nodes.Call)]
    assert [graph.at(1).number(one.times.often) for one in calls if one.times] == [1, 3]
    assert "s (heavy): closed" in network_text(graph, "spec.qps")


def test_a_closed_class_is_one_where_no_number_of_it_rests_on_kinds() -> None:
    spec = _BY_KIND.replace("* often ", "").replace("think pause", "think 1 s")
    assert [*lowered(_HEAD + spec).network.classes] == ["s"]


def _default(path: Path) -> tuple[object, object]:
    spec = check_file(path).value
    assert spec is not None
    return spec.model, spec.configuration(None)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "specs").rglob("*.qps")), ids=lambda path: path.stem
)
def test_a_network_holds_all_that_is_loaded(path: Path) -> None:
    spec = check_file(path).value
    if spec is None or spec.program.is_module:
        pytest.skip("a module")
    graph = lower(spec.model, spec.configuration(None))
    network = graph.network
    assert {*network.stations, *network.pools} == graph.resources.keys()
    assert network.classes.keys() == graph.streams.keys()
    for one in network.classes.values():
        for passage in passages(one):
            assert graph.resources.keys() >= set(passage.stations)
    for users in (None, graph.high):
        shown = network_text(graph, path.name, users).splitlines()
        assert all(text_width(line) <= COLUMNS for line in shown), shown
    assert {one.name for one in network_view(graph, path.name).classes} == graph.streams.keys()


@pytest.mark.parametrize(
    "name", ["sfu", "applications/fifteen_services", "textbook/lqns/lqns_pyramid"]
)
def test_a_network_fits_a_screen(name: str, golden: Callable[[Path, str], None]) -> None:
    path = ROOT / "specs" / f"{name}.qps"
    text = network_text(lower(*_default(path)), f"specs/{name}.qps")
    assert len(text.splitlines()) <= 50
    golden(ROOT / "tests" / "goldens" / "networks" / f"{path.stem}.txt", text)


_BACK = """topology { node a = box; node b = box; node c = box; link l = free between a, b, c }
stream s for each user { traffic 1 request/s; at a { call b { work; call a { work } } } }
stream t for each user { traffic 1 request/s; at b { call c * 20 % { work } } }"""


def test_networkx_finds_cycles_of_calls_and_what_holds_a_network_together() -> None:
    graph = qps.loads(f"{DECLARATIONS}\n{_BACK}\n").network().graph()
    calls = [edge for edge in graph.edges(data=True) if edge[2]["kind"] == "call"]
    assert [(a, b, of["stream"]) for a, b, of in calls] == [
        ("a", "b", "s"),
        ("b", "a", "s"),
        ("b", "c", "t"),
    ]
    assert str(calls[-1][2]["times"]) == "t.c.times"
    [cycle] = nx.simple_cycles(nx.DiGraph(calls))
    assert sorted(cycle) == ["a", "b"]
    assert list(nx.articulation_points(nx.Graph(graph))) == ["b"]
    assert graph.nodes["a"]["stations"] == ["a.cpu"]


def test_hops_are_edges_and_answers_are_none() -> None:
    graph = qps.load(ROOT / "specs" / "applications" / "fifteen_services.qps").network().graph()
    hops = {(a, b) for a, b, kind in graph.edges(data="kind") if kind == "hop"}
    assert hops == {("client", "gateway"), ("gateway", "client")}
    calls = [edge for edge in graph.edges(data="kind") if edge[2] == "call"]
    assert not list(nx.simple_cycles(nx.DiGraph([(a, b) for a, b, _ in calls])))


def test_a_graph_without_networkx_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    network = _network("at a { work }")
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(QpsError) as refused:
        network.graph()
    assert "networkx" in refused.value.diagnostics[0].hints[0]


def test_explain_prints_the_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "site.qps"
    way = "topology { node a = box }\nstream s for each user { traffic 1 request/s; at a { work } }"
    spec.write_text(f"{DECLARATIONS}\n{way}\n", encoding="utf-8")
    assert main(["explain", "--network", str(spec), "--at", "7"]) == 0
    printed = capsys.readouterr().out
    assert "N = 7" in printed
    assert "s: open, 7 × 1 request/s, Poisson\n    a: cpu 10 ms\n" in printed
    assert main(["explain", "--network", str(spec), "--format", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["classes"][0]["flows"] == {"formula": "N", "value": None}
    assert value["classes"][0]["itinerary"][1]["type"] == "serve"
    assert main(["explain", "--network", str(spec), "a.cpu"]) == 2
    assert main(["explain", "--network", str(spec), "--at", "7000"]) == 2


@pytest.mark.parametrize("case", _BY_HAND, ids=lambda case: case.partition("\n")[0])
def test_a_text_means_the_network_that_was_written_by_hand(case: str) -> None:
    text, _, expected = case.partition("\n")[2].partition("\n--\n")
    graph = lowered(f"{DECLARATIONS}\n{text}\n")
    screen = NetworkScreen(graph)
    facts = [" | ".join(fact) for fact in list(screen.facts())[1:]]
    rows = [" | ".join(row) for table in screen.tables() for row in table.rows]
    classes = [
        line for name, head, way in screen.classes() for line in (f"{name}: {head}", f"  {way}")
    ]
    assert [*facts, *rows, *classes] == expected.strip().splitlines()
