"""Pools around what can never queue: M/M/c by an Erlang C of their own, and what is not that."""

from __future__ import annotations

from fractions import Fraction
from math import exp, factorial

import pytest

from helpers.specs import lowered
from oracles.pool_simulation import Step, simulated
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind

HEAD = """users N in 1..{most}
unit thread
param cores = {cores} core in 1..{cores} core
machine app {{ cpu 1 core; threads {places} thread; others {others} thread }}
machine base {{ cpu {cpu}, queueing {queueing} }}
network wire {{ propagation {far} ms }}
component query {{ cpu {service} ms/request }}
component nap {{ delay 5 ms }}
topology {{ node web = app; node db = base; link lan = wire between web, db }}
"""
_HELD = "take threads; call db { query }; give threads"
_OTHERS = "take others; call db { query }; give others"
LEVELS = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100))


def graph(*ways: str, arrivals: str = "", **numbers: object) -> LoadGraph:
    """Return a network of one stream for each of some ways, of 10 requests/s for each user."""
    distinct = {"most": 60, "places": 20, "others": 1, "service": 30, "far": 0, "cores": 64}
    distinct |= {"queueing": "mmc", "cpu": "cores"} | numbers
    streams = (
        f"stream s{at} for each user {{ traffic 10 request/s{arrivals}; at web {{ {way} }} }}\n"
        for at, way in enumerate(ways)
    )
    return lowered(HEAD.format(**distinct) + "".join(streams))


def erlang_c(places: int, offered: float) -> float:
    """Return the share that waits, by its definition."""
    waits = offered**places / factorial(places) * places / (places - offered)
    return waits / (sum(offered**n / factorial(n) for n in range(places)) + waits)


def later(seconds: float, places: int, rate: float, service: float) -> float:
    """Return the share that waits and is served for longer."""
    waits, ends, free = erlang_c(places, rate * service), 1 / service, places / service - rate
    apart = free - ends
    both = (free * exp(-ends * seconds) - ends * exp(-free * seconds)) / apart
    return (1 - waits) * exp(-ends * seconds) + waits * both


def is_exact(found: LoadGraph, stream: str = "s0") -> tuple[bool, bool, bool]:
    """Return whether the load of the pool, the mean and the p99 latency are exact."""
    known = found.streams[stream]
    return (
        found.resources["web.threads"].known.is_exact,
        known.latency_certainty.is_exact,
        known.quantile_certainty(LEVELS[-1]).is_exact,
    )


@pytest.mark.parametrize(
    ("places", "service", "cores", "users", "queueing"),
    [
        (20, 30, 64, 59, "mmc"),
        (20, 30, 20, 20, "mmc"),
        (8, 100, 8, 6, "mmc"),
        (50, 8, 64, 600, "mmc"),
        (2, 10, 2, 15, "mmc"),
        (1, 10, 1, 8, "mmc"),
        (1, 10, 1, 8, "mm1"),
        (5, 20, 5, 24, "mmc"),
        (20, 30, 64, 59, "ps"),
        (8, 100, 8, 6, "ps"),
        (1, 10, 1, 8, "ps"),
    ],
)
def test_a_pool_around_one_exponential_service_is_a_queue_with_as_many_servers(
    places: int, service: int, cores: int, users: int, queueing: str
) -> None:
    cpu = {"cpu": "1 core"} if queueing == "mm1" else {}
    found = graph(
        _HELD, places=places, service=service, cores=cores, most=users, queueing=queueing, **cpu
    )
    assert is_exact(found) == (True, True, True)
    rate, seconds, at = 10 * users, service / 1000, found.at(users)
    load = found.resources["web.threads"].load
    assert float(at.number(load)) == pytest.approx(rate * seconds / places, rel=1e-9)
    waits = erlang_c(places, rate * seconds) / (places / seconds - rate)
    mean = float(at.number(found.streams["s0"].mean_latency))
    assert mean == pytest.approx(waits + seconds, rel=1e-8)
    for level in LEVELS:
        value = float(at.number(found.streams["s0"].latency_quantile(level)))
        assert later(value, places, rate, seconds) == pytest.approx(float(1 - level), rel=1e-6)


def test_fixed_times_besides_the_pool_move_percentiles_by_as_much() -> None:
    plain, moved = graph(_HELD), graph(f"nap; {_HELD}; nap")
    assert is_exact(moved) == (True, True, True)
    for level in LEVELS:
        one, other = (
            float(g.at(59).number(g.streams["s0"].latency_quantile(level))) for g in (plain, moved)
        )
        assert other - one == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize(
    ("ways", "numbers"),
    [
        ([_HELD], {"cores": 19}),  # one server too few
        ([_HELD], {"cores": 19, "queueing": "ps"}),
        ([_HELD, "call db { query }"], {}),  # others come past the pool
        ([_HELD, _OTHERS], {"cores": 64, "others": 45}),  # places of both pools are too many
        (["take threads; together { call db { query }; call db { query } }; give threads"], {}),
        ([_HELD], {"queueing": "mm1", "cpu": "64 core"}),  # modeled as one fast server
    ],
)
def test_where_it_is_not_proven_that_nobody_waits_all_stays_approximate(
    ways: list[str], numbers: dict[str, object]
) -> None:
    found = graph(*ways, **numbers)
    assert is_exact(found) == (False, False, False)
    assert found.streams["s0"].latency_certainty.kind is not CertaintyKind.EXACT


def test_a_station_has_servers_for_the_places_of_all_pools_around_it() -> None:
    found = graph(_HELD, _OTHERS, cores=64, others=44)
    assert is_exact(found) == is_exact(found, "s1") == (True, True, True)
    assert found.resources["web.others"].known.is_exact
    assert float(found.at(40).number(found.streams["s1"].mean_latency)) == pytest.approx(
        erlang_c(44, 12) / (44 / 0.03 - 400) + 0.03, rel=1e-8
    )


@pytest.mark.parametrize(
    ("ways", "numbers"),
    [
        ([_HELD], {"arrivals": "; arrivals cv 2"}),
        ([f"{_HELD}; {_HELD}"], {"most": 30}),  # one comes twice
        ([_HELD.replace("take", "nap; take"), _HELD.replace("query", "query; nap")], {"most": 30}),
        (["take others; take threads; call db { query }; give threads; give others"], {"most": 3}),
    ],
)
def test_waits_are_approximate_where_holds_or_arrivals_are_not_those_of_erlang(
    ways: list[str], numbers: dict[str, object]
) -> None:
    found = graph(*ways, **numbers)  # type: ignore[arg-type]
    assert is_exact(found) == (True, False, False)


def test_a_pool_that_is_held_for_a_fixed_time_besides_has_the_error_that_was_measured() -> None:
    found = graph(_HELD, far=0.1)
    known = found.streams["s0"]
    assert found.resources["web.threads"].known.is_exact
    errors = [known.latency_certainty.error, known.quantile_certainty(LEVELS[-1]).error]
    assert all(error is not None and error <= 0.03 for error in errors)
    steps: list[Step] = [
        ("take", "threads", 0), ("wait", "", 0.0002), ("work", "db", 0.03), ("give", "threads", 0),
    ]  # fmt: skip
    played = simulated(500, steps, {"threads": 20, "db": 64}, 200_000)
    p99 = float(found.at(50).number(known.latency_quantile(LEVELS[-1])))
    assert p99 == pytest.approx(played.quantile(0.99), rel=0.03)


@pytest.mark.parametrize(("queueing", "largest"), [("mdc", 0.2), ("mgc cv 2", 0.4)])
def test_the_error_grows_with_how_unlike_exponential_holds_are(
    queueing: str, largest: float
) -> None:
    known = graph(_HELD, queueing=queueing).streams["s0"]
    error = known.quantile_certainty(LEVELS[-1]).error
    assert error is not None
    assert 0.05 < error <= largest
    far = graph(_HELD, queueing="mgc cv 3").streams["s0"].latency_certainty
    assert far.kind is CertaintyKind.APPROXIMATION
    assert "pool-wait" in far.methods
