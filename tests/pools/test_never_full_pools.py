"""Pools that nobody ever fills: all is as it is without them, and known as well."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind

_SPEC = """
unit thread
unit slot
users N in {users}
machine desk {{ cpu 1 core, queueing mm1 }}
machine web  {{ cpu 2 core, queueing mmc; threads {places} thread }}
machine base {{ cpu 1 core, queueing ps; slots {slots} slot }}
network wire {{ propagation 1 ms }}
component work {{ cpu 20 ms/request }}
component more {{ cpu 50 ms/request }}
topology {{
  node d = desk; node a = web * {machines}; node b = base
  link l = wire between all
}}
{streams}
"""
_ALONE = "at a { take threads; work; give threads }"
_TOWER = """at d { work
  call a { take threads; work
    call b { take slots; more; call d { work }; give slots }
    give threads } }"""
_TWICE = """at a { take threads; work; call b { more }; give threads; call d { work }
  take threads; work; call d { work }; give threads }"""
_TAKES_TWO = "at a { take threads 2 thread; work; call b { more }; give threads }"
_OPEN = "stream other in all { traffic 5 request/s; at a { work } }"


def _closed(way: str, name: str = "job", think: str = "300 ms") -> str:
    return f"stream {name} for each user {{ traffic 1 request, think {think}; {way} }}"


def _graph(
    *streams: str, users: str = "1..8", places: object = 9, slots: object = 9, machines: int = 1
) -> LoadGraph:
    return lowered(
        _SPEC.format(
            users=users, places=places, slots=slots, machines=machines, streams="\n".join(streams)
        )
    )


def _without(way: str) -> str:
    return re.sub(r"(take|give) [^;}]*(?=[;}\n])", "", way).replace("{ ;", "{").replace("; ;", ";")


SHAPES = {
    "alone": ([_closed(_ALONE), _OPEN], 1),
    "replicas": ([_closed(_ALONE), _OPEN], 3),
    "tower": ([_closed(_TOWER)], 1),
    "tower of replicas": ([_closed(_TOWER)], 2),
    "mixed visits": ([_closed(_TWICE)], 1),
    "several classes": ([_closed(_ALONE, "one"), _closed(_TOWER, "two", "1 s")], 1),
}


def _numbers(graph: LoadGraph) -> dict[str, tuple[float, object]]:
    """Return all that is told of streams and of what does work, with how it is known."""
    found: dict[str, tuple[float, object]] = {}
    at = graph.at(graph.high)
    for name, one in graph.streams.items():
        found[f"{name}.latency"] = at.number(one.mean_latency), one.latency_certainty
        found[f"{name}.rate"] = at.number(one.rate), one.rate_known
        found[f"{name}.p90"] = at.number(one.latency_quantile(Fraction(9, 10))), None
    for name, resource in graph.resources.items():
        if name.endswith(".cpu"):
            found[name] = at.number(resource.load), resource.known
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_pool_that_nobody_fills_changes_nothing(shape: str) -> None:
    streams, machines = SHAPES[shape]
    places = 8 * sum(one.startswith("stream") and "each user" in one for one in streams)
    held = _graph(*streams, places=places, slots=places, machines=machines)
    plain = _numbers(_graph(*map(_without, streams), machines=machines))
    assert _numbers(held).keys() == plain.keys()
    for name, (value, known) in _numbers(held).items():
        assert (value, known) == (pytest.approx(plain[name][0], rel=1e-9), plain[name][1]), name
    fewer = _numbers(_graph(*streams, places=places - 1, slots=places, machines=machines))
    assert fewer["d.cpu" if "tower" in shape else "a.cpu"][1] != plain["a.cpu"][1]


@pytest.mark.parametrize(("places", "slots"), [(8, 8), (3, 3), (20, 9), (3, 2)])
def test_who_holds_a_place_of_an_outer_pool_fills_no_larger_one(places: int, slots: int) -> None:
    graph = _graph(_closed(_TOWER), places=places, slots=slots)
    text = " ".join(graph.streams["job"].latency_certainty.reasons)
    assert ("a.threads" in text) is (places < 8)
    assert ("b.slots" in text) is (slots < min(places, 8))


def test_what_is_held_is_what_comes_times_how_long_it_is_held() -> None:
    """Little's law: of eight users those hold a place who do not think."""
    graph = _graph(_closed(_ALONE), _OPEN)
    at, job = graph.at(8), graph.streams["job"]
    held = 8 - 0.3 * 8 * at.number(job.rate)
    threads = graph.resources["a.threads"]
    assert at.number(threads.load) == pytest.approx(held / 9, rel=1e-9)
    assert threads.known.kind is CertaintyKind.EXACT


@pytest.mark.parametrize(
    ("streams", "changes"),
    [
        ([_closed(_TAKES_TWO)], {"places": 15}),
        ([_closed(_ALONE), _closed(_ALONE, "too")], {"places": 15}),
        ([_closed(_TOWER)], {"places": 3}),
    ],
)
def test_a_pool_that_may_be_full_is_known_no_better(
    streams: list[str], changes: dict[str, object]
) -> None:
    graph = _graph(*streams, **changes)
    assert graph.streams["job"].latency_certainty.kind is CertaintyKind.APPROXIMATION
