"""Steps that take of a pool and give back: by a condition or share, in calls, on each machine."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import checked, load, lowered
from pools.pool_specs import held, reported, spec
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.format import formatted

# -- the language --------------------------------------------------------------------------


def test_a_pool_of_another_machine_is_named_with_it() -> None:
    away = "at web { take db.slots; work; call db { query }; give db.slots }"
    here = "at web { take threads; work; call db { query }; give threads }"
    equal = {"web": (8, 5, 20), "db": (4, 8, 20)}
    one, other = lowered(spec(away, **equal)), lowered(spec(here, **equal))  # type: ignore[arg-type]
    assert held(one, "db.slots", 3000) == pytest.approx(held(other, "web.threads", 3000))
    assert reported(one, 3000) == pytest.approx(reported(other, 3000))


def test_a_call_that_some_make_holds_for_those() -> None:
    way = "at web { call db * 20 % { take slots; nap; give slots } }"
    graph = lowered(spec(way, nap=100))
    assert load(graph, "db.slots", 100) == Fraction(10 * 20, 100) * Fraction(1, 10) / 20


VARIED_HOLDS = """users N in 1..100
machine box {{ slots 1 connection }}
machine away {{ }}
component look {{ delay 2 ms }}
component seek {{ delay 100 ms }}
component log  {{ delay 300 ms }}
network wire {{ propagation 0 s }}
topology {{ node a = box; node db, disk = away; link net = wire between all }}
{streams}
"""
ONE_STREAM = (
    "stream page in all {{ traffic N * 1 request/s; at a {{ take slots; {steps}; give slots }} }}"
)
OTHER = "stream rare in all { traffic N * 0.25 request/s; at a { take slots; seek; give slots } }"


@pytest.mark.parametrize(
    ("steps", "times"),
    [
        ("look; call db * 20 % { seek }", {0.002: 0.8, 0.102: 0.2}),
        ("look; call db * 1.2 { seek }", {0.102: 0.8, 0.202: 0.2}),
        (
            "look; call db * 20 % { seek; call disk * 50 % { log } }",
            {0.002: 0.8, 0.102: 0.1, 0.402: 0.1},
        ),
        ("look; call db * 20 % { call disk * 2 { log } }", {0.002: 0.8, 0.602: 0.2}),
        ("look", {0.002: 0.8, 0.1: 0.2}),
        ("20 %: seek", {0: 0.8, 0.1: 0.2}),
        (
            "one of { 20 %: seek; 10 %: { look; log }; else: look }",
            {0.1: 0.2, 0.302: 0.1, 0.002: 0.7},
        ),
        (
            "look; 40 %: { look; one of { 50 %: call db { seek } } }",
            {0.002: 0.6, 0.004: 0.2, 0.104: 0.2},
        ),
    ],
)
def test_one_place_waits_by_the_second_moment_of_the_holding_time(
    steps: str, times: dict[float, float]
) -> None:
    """Pollaczek and Khinchine: a pool of one place is a queue with one server."""
    streams = ONE_STREAM.format(steps=steps) + (f"\n{OTHER}" if steps == "look" else "")
    graph = lowered(VARIED_HOLDS.format(streams=streams))
    users = 2
    rate = users * (1.25 if steps == "look" else 1)
    mean = sum(time * share for time, share in times.items())
    square = sum(time**2 * share for time, share in times.items())
    wait = rate * square / (2 * (1 - rate * mean))
    own = 0.002 if steps == "look" else mean
    assert reported(graph, users) == pytest.approx(own + wait, rel=1e-9)


@pytest.mark.parametrize(("places", "users"), [(1, 80), (8, 600), (55, 5000)])
def test_places_that_are_held_for_a_fixed_time_wait_as_for_cores(places: int, users: int) -> None:
    """A pool around a delay is a queue for as many servers of that time."""
    pool = lowered(spec("at web { take threads; nap; give threads }", web=(1, 0, places), nap=100))
    cores = lowered(spec("at web { work }", web=(places, 100, 1), queueing=", queueing mdc"))
    assert reported(pool, users) == pytest.approx(reported(cores, users), rel=1e-7)
    assert reported(pool, users) > 0.1004


def test_calls_together_hold_for_the_slowest() -> None:
    calls = "together { call db { nap }; call cache { nap; nap } }"
    way = f"at web {{ take threads; {calls}; give threads }}"
    text = spec(way, nap=100).replace("node db = base;", "node db = base; node cache = base;")
    graph = lowered(text.replace("between web, db", "between web, db, cache"))
    assert held(graph, "web.threads", 100) == pytest.approx(10 * 0.2 / 200)


def test_what_is_taken_on_a_condition_is_not_held_without_it() -> None:
    text = "option pooled = on or off\n" + spec(
        "at web { take threads if pooled == on; nap; give threads }", nap=100
    )
    assert load(lowered(text), "web.threads", 100) == Fraction(1, 200)
    assert "web.threads" not in lowered(text, "pooled=off").resources


def test_no_wait_is_counted_where_none_is_meant() -> None:
    text = spec("at web { take threads; nap; give threads }", web=(8, 5, 2), nap=100)
    none = text.replace("threads 2 thread", "threads 2 thread, queueing none")
    assert reported(lowered(text), 15) > 0.1 == reported(lowered(none), 15)
    assert load(lowered(none), "web.threads", 15) == load(lowered(text), "web.threads", 15)


def test_each_machine_has_a_pool_of_its_own() -> None:
    several = spec(nap=100, way="at web { take threads; nap; give threads }")
    graph = lowered(several.replace("node web = app", "node web = app * 4"))
    assert load(graph, "web.threads", 100) == Fraction(1, 4) / 200


def test_steps_of_pools_are_laid_out_as_others_and_their_words_are_free() -> None:
    text = spec().replace("{ take threads; work", "{\n  take   threads\n work")
    once = formatted(Source("spec.qps", text)).value
    assert once is not None
    assert "take threads\n" in once
    assert formatted(Source("spec.qps", once)).value == once
    free = "component take { cpu 1 ms/request }\ncomponent give { cpu 1 ms/request }\n"
    assert checked(
        "option a = on or off\n" + free + spec("at web { take; give; take if a == on; work }")
    )


LOSSY = """users N in 1..2000
unit thread
machine box { cpu 1 core, queueing %s; threads %d thread }
machine db { cpu 2 core, queueing %s }
network wire { propagation %s }
component look { %s }
component sift { drop %s }
component rest { %s }
topology { node n0 = box; node n1 = db; link l = wire between n0, n1 }
stream s for each user { traffic 1 request/s; at n0 { take threads; look; %s; give threads } }
"""
DELAYS = LOSSY % (
    "mm1", 4, "mmc", "0 s", "delay 1 ms", "60 %", "delay 20 ms", "sift; rest; call n1 { }",
)  # fmt: skip
QUEUES = LOSSY % (
    "mm1", 4, "mmc", "0 s", "cpu 3 ms/request", "50 %", "cpu 20 ms/request",
    "sift; call n1 { rest }",
)  # fmt: skip
NO_ROOM = LOSSY % (
    "loss", 2, "ps", "0.5 ms", "cpu 10 ms/request", "0 %", "cpu 10 ms/request",
    "call n1 * 50 % { rest }",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "users", "held", "latency"),
    [
        # by simulations that share nothing with ours: of 400,000 items, or of 3,000 s
        (DELAYS, 100, 0.2253, 0.02105),
        (DELAYS, 300, 0.6760, 0.02410),
        (DELAYS, 400, 0.9014, 0.04110),
        (QUEUES, 60, 0.2164, 0.02564),
        (QUEUES, 120, 0.5247, 0.03696),
        (QUEUES, 160, 0.7986, 0.07544),
        (NO_ROOM, 20, 0.1292, 0.01552),
        (NO_ROOM, 80, 0.3497, 0.01607),
        (NO_ROOM, 108, 0.4104, 0.01646),
        (NO_ROOM, 300, 0.5803, 0.01810),
        (NO_ROOM, 1000, 0.6692, 0.01986),
    ],
)
def test_what_is_lost_gives_back_what_it_holds(
    text: str, users: int, held: float, latency: float
) -> None:
    graph = lowered(text)
    assert float(load(graph, "n0.threads", users)) == pytest.approx(held, rel=0.1)
    mean = float(graph.at(users).number(graph.streams["s"].mean_latency))
    assert mean == pytest.approx(latency, rel=0.1)


_UNEVEN = """
users N in 1..2
unit thread
network wire {{ propagation 0 s }}
machine ma {{ cpu 64 core, queueing ps; threads 4 thread }}
machine mb {{ cpu 2 core, queueing {queueing} }}
component own {{ cpu 1 s/request }}
component query {{ cpu 1 s/request }}
topology {{ node a = ma; node b = mb; link l = wire between a, b }}
stream job in all {{
  traffic 1.65 request/s, 1 bit/request
  at a {{ take threads; own; call b {{ query }}; give threads }}
}}
"""


@pytest.mark.parametrize(
    ("queueing", "error", "played"),
    [("mmc", 0.25, 19.4), ("mgc cv 0.5", 0.25, None), ("mgc cv 2", 0.8, 83.0)],
)
def test_a_pool_held_for_very_uneven_services_is_known_less_well(
    queueing: str, error: float, played: float | None
) -> None:
    """Those who hold a place meet at the long services: the rest of the places stands empty."""
    graph = lowered(_UNEVEN.format(queueing=queueing))
    job = graph.streams["job"]
    assert job.latency_certainty.error == error
    if played is not None:
        assert graph.at(1).number(job.mean_latency) == pytest.approx(played, rel=error)
