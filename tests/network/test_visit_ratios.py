"""Visit ratios: the loads that flow balance makes of a network, counted by hand."""

from __future__ import annotations

import pytest

from helpers.networks_by_hand import DECLARATIONS
from helpers.specs import lowered

_TWO = "node a = box; node b = box; link l = free between a, b"
_LOSSY = "node a = box; node b = box; link l = wire between a, b"
_BITS = "traffic 1 request/s, 100 byte/request"

CASES: list[tuple[str, str, dict[str, float]]] = [
    ("node a = box", "at a { work }", {"a.cpu": 0.1}),
    ("node a = box * 2", "at a { work }", {"a.cpu": 0.05}),
    ("node a = many", "at a { work * 3 }", {"a.cpu": 0.15}),
    ("node a = box", "at a { some; work }", {"a.cpu": 0.098}),
    ("node a = box", "at a { work; fewer; work }", {"a.cpu": 0.15}),
    ("node a = box", "at a { bursts; work }", {"a.cpu": 0.05}),
    ("node a = box", "at a { work; mixes; work }", {"a.cpu": 0.1 + 9 * 0.001 + 0.01}),
    ("node a = box", "at a { both; heap }", {"a.cpu": 0.2, "a.memory": 0.01}),
    ("node a = many", "at a { reads }", {"a.disk": 1.0}),
    ("node a = many", "at a { alone }", {"a.cpu": 0.05, "a.cpu.alone": 0.1}),
    (_TWO, "at a { call b * 20 % { work }; work }", {"b.cpu": 0.02, "a.cpu": 0.1}),
    (_TWO, "at a { call b * 3 { work; work } }", {"b.cpu": 0.6}),
    (_LOSSY, "at a { }; over l; at b { work }", {"b.cpu": 0.099, "l": 10 * 800 / 1e6}),
    (_LOSSY, "at a { }; over l; at b { repairs; work }", {"b.cpu": 0.1 * (1 - 0.01 * 0.2)}),
    (
        _LOSSY,
        "at a { call b * 20 % { work }; work }",
        {"b.cpu": 0.02 * 0.99, "a.cpu": 0.1 * (0.8 + 0.2 * 0.99**2)},
    ),
    (
        f"{_TWO}; node d = many * 2; link m = free between a, d",
        "at a { together { call b { some }; call d { fewer_left } }; work }",
        {"a.cpu": 0.1 * 0.98 * 0.9},
    ),
    (
        "node a = box; node d = plain * N; link l = ports between a, d",
        "at a { work to 3 others in ten by unicast }; over l; at d { work }",
        {"a.cpu": 10 * 3 * 0.01, "l.a.out": 30 * 800 / 1e6, "d.cpu": 3 * 0.01 / 2},
    ),
]


@pytest.mark.parametrize(("topology", "way", "expected"), CASES, ids=[one[1] for one in CASES])
def test_loads_are_those_counted_by_hand(
    topology: str, way: str, expected: dict[str, float]
) -> None:
    """Of ten users with a request of 100 byte a second each."""
    traffic = _BITS if "over" in way or "wire" in topology else "traffic 1 request/s"
    stream = f"stream s for each user {{ {traffic}; {way} }}"
    own = "component fewer_left { drop 10 % }\ngroup ten of 10 users"
    graph = lowered(f"{DECLARATIONS}\n{own}\ntopology {{ {topology} }}\n{stream}\n")
    found = {name: graph.at(10).number(graph.resources[name].load) for name in expected}
    assert found == pytest.approx(expected)


def test_what_idles_loads_nothing_twice() -> None:
    stream = "stream s for each user { traffic 1 request/s; at a { both } }"
    own = "machine idler { cpu 2 core, idle 10 %, queueing mmc }"
    graph = lowered(f"{DECLARATIONS}\n{own}\ntopology {{ node a = idler }}\n{stream}\n")
    parts = graph.resources["a.cpu"].parts
    values = {by: graph.at(10).number(load) for by, load in parts.items()}
    assert values == pytest.approx({"both": (0.1 + 0.1) / 2, "idle": 0.1})


def test_rates_are_those_of_one_copy() -> None:
    stream = "stream s for each user { traffic 2 request/s; at a { work } }"
    graph = lowered(f"{DECLARATIONS}\ntopology {{ node a = box * 4 }}\n{stream}\n")
    point, visit = graph.at(20), graph.streams["s"].latency[0].visit
    assert visit is not None
    assert (point.number(visit.flows), point.number(visit.rate)) == (5, 10)
