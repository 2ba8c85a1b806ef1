"""Users and items of several kinds: what they ask for is counted kind by kind."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import at, checked, latency, load, lowered
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.answers.graph_solution import solve
from qps.solver.what_if.advice import advise
from qps.solver.what_if.inverse import solve_for

law = settings(max_examples=examples(40), deadline=None)

HEAD = """
users N in 10..5_000
machine pc { }
machine server { cpu 1 core }
network line { duplex; rate 1 Gbit/s }
topology { node web = server
 node user = pc * N
 link wan = line between web, user }
"""
LIGHT_AND_HEAVY = (
    HEAD
    + """
kinds usage of users { light 90 %; heavy 10 % }
param pace by usage { light 0.01 request/s; heavy 1 request/s }
param page by usage { light 10 kB/request; heavy 1000 kB/request }
param think by usage { light 100 s; heavy 1 s }
param work by usage { light 2 ms/request; heavy 40 ms/request }
component answer { cpu work }
"""
)
SENT = "stream pages for each user { traffic SOURCE; at web { answer }; over wan; at user { } }"

F = Fraction
LIGHT, HEAVY = F("0.9"), F("0.1")
EACH = 1000 * F(8, 10**9)
"""A thousand users, each with a byte a second on the line."""

# name, source of a stream, what is asked, at N = 1000, by hand
BY_HAND = [
    ("one_of_them", "pace, 80 kB/request", "wan.forth", EACH * (LIGHT / 100 + HEAVY) * 80_000),
    ("a_product", "pace, page", "wan.forth", EACH * (LIGHT / 100 * 10_000 + HEAVY * 1_000_000)),
    ("a_quotient", "(1 request) / think, 80 kB/request", "wan.forth", EACH * (LIGHT / 100 + HEAVY) * 80_000),
    ("both", "(1 request) / think, page", "wan.forth", EACH * (LIGHT / 100 * 10_000 + HEAVY * 1_000_000)),
    ("a_cost", "pace, page", "web.cpu", 1000 * (LIGHT / 100 * F("0.002") + HEAVY * F("0.04"))),
    ("rounded", "ceil(pace * 1.5 s / (1 request)) * (1 request/s), 80 kB/request", "wan.forth", EACH * (LIGHT * 1 + HEAVY * 2) * 80_000),
    ("at_most", "min(pace, 0.5 request/s), page", "wan.forth", EACH * (LIGHT / 100 * 10_000 + HEAVY / 2 * 1_000_000)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "resource", "expected"), [pytest.param(*case[1:], id=case[0]) for case in BY_HAND]
)
def test_users_are_counted_kind_by_kind(source: str, resource: str, expected: Fraction) -> None:
    graph = lowered(LIGHT_AND_HEAVY + SENT.replace("SOURCE", source))
    assert load(graph, resource, 1000) == expected


def test_items_are_counted_together_in_products_and_by_the_mean_in_quotients() -> None:
    film = LIGHT_AND_HEAVY.replace("kinds usage of users", "kinds usage")
    together = lowered(film + SENT.replace("SOURCE", "pace, page"))
    assert load(together, "wan.forth", 1000) == BY_HAND[1][3]
    # so many bytes in items of a mean size: 0.9*10 + 0.1*1000 kB
    divided = lowered(film + SENT.replace("SOURCE", "1 Mbit/s, page"))
    rate = Fraction(1_000_000) / (109_000 * 8)
    mean_work = Fraction("0.9") * Fraction("0.002") + Fraction("0.1") * Fraction("0.04")
    assert load(divided, "web.cpu", 1000) == 1000 * rate * mean_work


PARTS = """
users N in 10..5_000
machine pc {{ }}
machine server {{ cpu 2 core, queueing mg1 cv 0.5 }}
network line {{ duplex; rate 1 Gbit/s; queueing md1 }}
component lesser {{ cpu {first} us/request }}
component greater {{ cpu {second} us/request }}
topology {{ node web = server
 node light = pc * (N * {share} / 100)
 node heavy = pc * (N * (100 - {share}) / 100)
 link wan = line between web, light, heavy }}
stream one for each light {{ traffic {pace} request/s, {page} byte/request; at web {{ lesser }}; over wan; at light {{ }} }}
stream two for each heavy {{ traffic {often} request/s, {large} byte/request; at web {{ greater }}; over wan; at heavy {{ }} }}
"""
MIXED = """
users N in 10..5_000
machine pc {{ }}
machine server {{ cpu 2 core, queueing mg1 cv 0.5 }}
network line {{ duplex; rate 1 Gbit/s; queueing md1 }}
kinds usage of users {{ light {share} %; heavy {rest} % }}
param pace by usage {{ light {pace} request/s; heavy {often} request/s }}
param page by usage {{ light {page} byte/request; heavy {large} byte/request }}
param work by usage {{ light {first} us/request; heavy {second} us/request }}
component answer {{ cpu work }}
topology {{ node web = server
 node user = pc * N
 link wan = line between web, user }}
stream all for each user {{ traffic pace, page; at web {{ answer }}; over wan; at user {{ }} }}
"""


@law
@given(
    share=st.integers(1, 99),
    pace=st.integers(1, 9), often=st.integers(1, 9),
    page=st.integers(100, 9000), large=st.integers(100, 9000),
    first=st.integers(1, 50), second=st.integers(1, 50),
)  # fmt: skip
def test_a_mix_is_several_populations_with_a_share_each(**numbers: int) -> None:
    apart = lowered(PARTS.format(**numbers))
    mixed = lowered(MIXED.format(rest=100 - numbers["share"], **numbers))
    for name in ("web.cpu", "wan.forth"):
        assert load(mixed, name, 1000) == load(apart, name, 1000)

    def wait(graph, stream, resource):  # type: ignore[no-untyped-def]
        text = f"waiting for {resource}"
        part = next(p for p in graph.streams[stream].latency if p.stage == text)
        return at(graph, part.value, 1000)

    assert wait(mixed, "all", "web.cpu") == wait(apart, "one", "web.cpu")


ROOMS = HEAD + """
kinds usage of users { lecture 50 %; lesson 30 %; meeting 20 % }
param size by usage { lecture 200; lesson 25; meeting 10 }
param cameras by usage { lecture 1; lesson 5; meeting 10 }
group class of size users
component go { }
stream video for cameras in each class {
  traffic 0.32 Mbit/s, 1000 byte/packet
  at user { }
  over wan
  at web { go to others in class }
  over wan
  at user { }
}
measure rooms = count(class)
"""  # fmt: skip


def test_rooms_of_several_kinds_share_one_server() -> None:
    graph = lowered(ROOMS)
    up = Fraction("0.5") / 200 * 1 + Fraction("0.3") / 25 * 5 + Fraction("0.2") / 10 * 10
    down = (
        Fraction("0.5") / 200 * 1 * 199
        + Fraction("0.3") / 25 * 5 * 24
        + Fraction("0.2") / 10 * 10 * 9
    )
    rooms = Fraction("0.5") / 200 + Fraction("0.3") / 25 + Fraction("0.2") / 10
    assert load(graph, "wan.back", 1000) == 1000 * up * Fraction("0.32e6") / 10**9
    assert load(graph, "wan.forth", 1000) == 1000 * down * Fraction("0.32e6") / 10**9
    assert at(graph, graph.measures["rooms"].value, 1000) == 1000 * rooms


def test_what_must_be_whole_must_be_so_for_each_kind() -> None:
    outcome = check_source(Source("spec.qps", ROOMS.replace("lesson 25", "lesson 25.5")))
    (found,) = outcome.diagnostics
    assert found.message == "the size of `class` must be a whole number above zero"
    assert "`usage.lesson`" in found.primary.message  # type: ignore[union-attr]
    many = check_source(
        Source("spec.qps", ROOMS.replace("meeting 10 }\ngroup", "meeting 11 }\ngroup"))
    )
    (found,) = many.diagnostics
    assert found.message == "`video` has 11 flows in each `class`, which has 10 users"


def test_one_kind_can_be_set_and_requested() -> None:
    spec = checked(LIGHT_AND_HEAVY + SENT.replace("SOURCE", "pace, page"))
    graph = lowered(
        LIGHT_AND_HEAVY + SENT.replace("SOURCE", "pace, page"), "pace.heavy=2 request/s"
    )
    expected = 1000 * (Fraction("0.00009") * 10**6 + Fraction("0.1") * 2 * 10**6) * 8 / 10**9
    assert load(graph, "wan.forth", 1000) == expected
    all_alike = lowered(LIGHT_AND_HEAVY + SENT.replace("SOURCE", "pace, page"), "pace=1 request/s")
    assert load(all_alike, "wan.forth", 1000) == 1000 * Fraction(109_000 * 8, 10**9)
    (interval,) = solve_for(spec.model, spec.configuration(), "pace.heavy", 200).intervals
    # 200 users: 20 heavy ones at 40 ms of one core each time, or at 8 Mbit
    light = 200 * 0.9 * 0.01
    most = min((1 - light * 0.002) / (20 * 0.04), (10**9 - light * 80_000) / (20 * 8e6))
    assert float(interval.high) == pytest.approx(most)


def test_less_of_all_kinds_is_advice() -> None:
    spec = checked(LIGHT_AND_HEAVY + SENT.replace("SOURCE", "pace, page"))
    configuration = spec.configuration()
    solution = solve(lowered(LIGHT_AND_HEAVY + SENT.replace("SOURCE", "pace, page")))
    assert solution.capacity == int(1 / (0.9 * 0.01 * 0.002 + 0.1 * 0.04))
    changes = [one.change for one in advise(spec.model, configuration, solution)]
    assert "10 % less pace" in changes


def test_the_latency_of_a_mix_is_the_mean_over_its_requests() -> None:
    """Of a hundred users, ten ask a hundred times as often: they make 1,000 of 1,090 requests."""
    graph = lowered(LIGHT_AND_HEAVY + SENT.replace("SOURCE", "pace, page"))
    light, heavy = F(90, 1090), F(1000, 1090)
    work = light * F("0.002") + heavy * F("0.04")
    line = (light * 10_000 + heavy * 1_000_000) * 8 / 10**9
    assert latency(graph, "pages", 1000) == work + line


REQUESTED = """
users N in 1..1000
kinds sort of users {{ light 75 %; heavy 25 % }}
param pace by sort {{ light {0} request/s; heavy {1} request/s }}
param cost by sort {{ light {2} ms/request; heavy {3} ms/request }}
param misses by sort {{ light {4}; heavy {5} }}
param gone by sort {{ light {6}; heavy {7} }}
machine m {{ cpu 1 core, queueing ps }}
machine db {{ cpu 1 core, queueing ps }}
network wire {{ propagation 1 ms }}
component w {{ cpu cost }}
component look {{ cpu 2 * cost }}
component shed {{ drop gone }}
topology {{ node a = m; node b = db; link l = wire between a, b }}
stream s for each user {{ traffic pace; at a {{ w; call b * misses {{ look }}; shed }} }}
"""
_shares = st.integers(0, 9).map(lambda tenths: F(tenths, 10))
_few = st.integers(1, 40)


@law
@given(
    st.tuples(_few, _few),
    st.tuples(_few, _few),
    st.tuples(_shares, _shares),
    st.tuples(_shares, _shares),
)
def test_what_a_mix_meets_is_reported_request_by_request(
    paces: tuple[int, int], costs: tuple[int, int], misses: tuple[F, F], gone: tuple[F, F]
) -> None:
    """Of processor sharing each kind waits by its own service: all is worked out for each kind.

    A mean latency is over the requests that come through, a loss over those that are sent, and a
    rate is that of a user.
    """
    numbers = [F(1, 1000) * pace for pace in paces], costs, misses, gone
    graph = lowered(REQUESTED.format(*(float(one) for both in numbers for one in both)))
    users = F(5)
    each = list(
        zip(
            (F("0.75"), F("0.25")),
            numbers[0],
            (F(cost, 1000) for cost in costs),
            misses,
            gone,
            strict=True,
        )
    )
    first = users * sum(share * pace * cost for share, pace, cost, _, _ in each)
    second = users * sum(share * pace * often * 2 * cost for share, pace, cost, often, _ in each)
    sent = sum(share * pace for share, pace, *_ in each)
    served = sum(share * pace * (1 - lost) for share, pace, _, _, lost in each)
    times = [
        cost / (1 - first) + often * (F(2, 1000) + 2 * cost / (1 - second))
        for _, _, cost, often, _ in each
    ]
    mean = (
        sum(
            share * pace * (1 - lost) * time
            for (share, pace, _, _, lost), time in zip(each, times, strict=True)
        )
        / served
    )
    assert latency(graph, "s", 5) == pytest.approx(float(mean), rel=1e-9)
    assert at(graph, graph.streams["s"].loss, 5) == pytest.approx(
        float(1 - served / sent), rel=1e-9, abs=1e-12
    )
    assert at(graph, graph.streams["s"].rate, 5) == pytest.approx(float(served), rel=1e-9)
