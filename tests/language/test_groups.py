"""Groups of users: rooms, who sends in them, who receives how much, what is mixed by the room."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from helpers.breakdowns import explain
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, latency, load, lowered
from matrices.test_matrices import disagreements
from oracles.plain_model import plain_model
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_file
from qps.compiler.syntax.parse import parse
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.solver.answers.graph_solution import solve
from qps.solver.what_if.advice import advise
from qps.solver.what_if.inverse import solve_for

law = settings(max_examples=examples(60), deadline=None)

HEAD = (
    PRELUDE
    + """
group room of 4 users
component go { cpu 10 ms/packet }
component mix { cpu 10 ms/packet; merge }
component talk { active 1/4 }
topology { node sfu = box
 node client = box * N
 link wan = ports between client, sfu }
"""
)


def _stream(steps: str, each: str = " for each client", after: str = "work") -> str:
    return HEAD + (
        f"stream flow{each} {{ traffic 1 packet/s, 125 byte/packet; at client {{ }}\n"
        f" at sfu {{ {steps} }}\n at client {{ {after} }} }}\n"
    )


# what the server does, whose stream, population, load of the server, of a client, of its port out
# 1 packet/s at 10 ms is 1 %; 1000 bit/s on 1 Mbit/s are 0.1 %
CASES = [
    # 12 users in rooms of 4: each flow goes to 3
    ("others", "go to others in room", " for each client", 12, "0.36", "0.03", "0.036"),
    ("all", "go to all in room", " for each client", 12, "0.48", "0.04", "0.048"),
    ("multicast", "go to others in room by multicast", " for each client", 12, "0.12", "0.03", "0.012"),
    # the room is only as full as it can be
    ("few_users", "go to others in room", " for each client", 3, "0.06", "0.02", "0.006"),
    ("all_of_few", "go to all in room", " for each client", 3, "0.09", "0.03", "0.009"),
    ("alone", "go to others in room", " for each client", 1, "0", "0", "0"),
    ("just_full", "go to others in room", " for each client", 4, "0.12", "0.03", "0.012"),
    # 2 speak in each of 3 rooms: 6 flows to 3 receivers each; a client gets 18/12
    ("speakers", "go to others in room", " for 2 in each room", 12, "0.18", "0.015", "0.018"),
    ("one_each", "go to all in room", " for each room", 12, "0.12", "0.01", "0.012"),
    ("speakers_of_few", "go to others in room", " for 2 in each room", 1, "0", "0", "0"),
    ("two_of_three", "go to others in room", " for 2 in each room", 3, "0.04", "2/150", "0.004"),
    ("part_of_a_room", "go to others in room", " for 2 in each room", 6, "0.09", "0.015", "0.009"),
    ("nobody_speaks", "go to others in room", " for 0 in each room", 12, "0", "0", "0"),
    # last-n: each of 4 senders' members gets 2 of the 3 others
    ("last_two", "go to others in room at most 2", " for each client", 12, "0.24", "0.02", "0.024"),
    ("last_many", "go to others in room at most 9", " for each client", 12, "0.36", "0.03", "0.036"),
    # 3 send: they get min(1, 2), the listener min(1, 3): 4 deliveries in each of 3 rooms
    ("last_one_of_three", "go to others in room at most 1", " for 3 in each room", 12, "0.12", "0.01", "0.012"),
    # 3 send: they get 2 each, the listener 2: 8 in a room
    ("last_two_of_three", "go to others in room at most 2", " for 3 in each room", 12, "0.24", "0.02", "0.024"),
    # 2 send: they get 1 each, the 2 listeners 1: 4 in a room
    ("last_one_of_two", "go to others in room at most 1", " for 2 in each room", 12, "0.12", "0.01", "0.012"),
    ("last_of_none", "go to others in room at most 1", " for 0 in each room", 12, "0", "0", "0"),
    # a quarter is active: one flow in each room goes to 3
    ("active", "talk; go to others in room", " for each client", 12, "0.09", "0.0075", "0.009"),
    ("active_last", "talk; go to others in room at most 1", " for each client", 12, "0.09", "0.0075", "0.009"),
    # 4 flows of each of 3 rooms: 3 are merged into the fourth; one goes to all 4
    ("mix", "mix in room; go to all in room", " for each client", 12, "0.21", "0.01", "0.012"),
    ("mix_one", "mix in room; go to all in room", " for each room", 12, "0.12", "0.01", "0.012"),
    ("mix_few", "mix in room; go to all in room", " for each client", 2, "0.03", "0.01", "0.002"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "each", "population", "server", "client", "port"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
def test_loads_are_those_worked_by_hand(
    steps: str, each: str, population: int, server: str, client: str, port: str
) -> None:
    text = _stream(steps, each)
    graph = lowered(text)
    assert load(graph, "sfu.cpu", population) == Fraction(server)
    assert load(graph, "client.cpu", population) == Fraction(client)
    assert load(graph, "wan.sfu.out", population) == Fraction(port)
    spec = checked(text)
    plain = plain_model(spec.model, spec.configuration(), population)
    assert plain.loads["sfu.cpu"] == Fraction(server)


def test_what_waits_for_its_room_waits_for_no_other() -> None:
    graph = lowered(_stream("work; mix in room; go to all in room", after=""))
    # Work on 4 flows, 3 merges, 4 copies, two hops of 1 ms.
    assert latency(graph, "flow", 12) == Fraction(4 + 3 + 4, 100) + Fraction(2, 1000)


def test_in_a_mesh_of_rooms_each_sends_to_its_own() -> None:
    text = PRELUDE + (
        "group room of 5 users\ncomponent go { }\ntopology { node peer = box * N\n link home = ports between peer }\n"
        "stream flow for each peer { traffic 125 byte/s; at peer { go to others in room }\n at peer { } }\n"
    )
    assert load(lowered(text), "home.peer.out", 100) == Fraction(4, 1000)
    assert load(lowered(text), "home.peer.in", 3) == Fraction(2, 1000)


def test_one_room_of_all_users_is_send_to_others() -> None:
    text = _stream("go to others in room").replace("of 4 users", "of N users")
    assert load(lowered(text), "sfu.cpu", 33) == Fraction(33 * 32, 100)


def test_the_1056_streams_of_33_people() -> None:
    """33 * 32 * 515 kbit/s (modern.md, "What the specs must therefore make easy")."""
    text = PRELUDE + (
        "group room of 33 users\nnetwork gigabit { switched; rate 1 Gbit/s }\ncomponent go { }\n"
        "topology { node sfu = box\n node client = box * N\n link wan = gigabit between client, sfu }\n"
        "stream video for each client { traffic 515 kbit/s; at client { }\n at sfu { go to others in room }\n at client { } }\n"
    )
    assert load(lowered(text), "wan.sfu.out", 33) * 10**9 == 1056 * 515_000


@given(st.integers(1, 9), st.integers(0, 9), st.integers(1, 9))
@settings(max_examples=examples(80), deadline=None)
def test_last_n_delivers_what_counting_delivers(members: int, sending: int, most: int) -> None:
    """Every member, one by one, gets at most `most` of the senders other than itself."""
    sending = min(sending, members)
    text = _stream(f"go to others in room at most {most}", f" for {sending} in each room")
    graph = lowered(text.replace("of 4 users", f"of {members} users"))
    senders = range(sending)
    delivered = sum(
        min(most, sum(sender != member for sender in senders)) for member in range(members)
    )
    rooms = 10
    packets = load(graph, "client.cpu", rooms * members) * rooms * members * 100
    assert packets == delivered * rooms


@law
@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 12))
def test_at_most_grows_up_to_all_others(population: int, members: int, most: int) -> None:
    text = _stream("go to others in room at most %d").replace("of 4 users", f"of {members} users")
    loads = [load(lowered(text % n), "sfu.cpu", population) for n in (most, most + 1, 60)]
    assert loads == sorted(loads)
    everything = _stream("go to others in room").replace("of 4 users", f"of {members} users")
    assert loads[-1] == load(lowered(everything), "sfu.cpu", population)


def test_counts_of_groups_are_values() -> None:
    text = HEAD + (
        "measure rooms = count(room)\nmeasure people = members(room)\n"
        "stream flow for members(room) in each room { traffic 1 packet/s; at sfu { work * members(room) } }\n"
    )
    graph = lowered(text)
    assert at(graph, graph.measures["rooms"].value, 10) == Fraction(10, 4)
    assert at(graph, graph.measures["people"].value, 3) == 3
    assert load(graph, "sfu.cpu", 10) == Fraction(4 * 10, 100)


def test_groups_of_groups() -> None:
    text = HEAD.replace("topology", "group wing of 3 * members(room) users\ntopology", 1) + (
        "measure wings = count(wing)\nstream flow for each wing { traffic 1 packet/s; at sfu { work } }\n"
    )
    graph = lowered(text)
    assert at(graph, graph.measures["wings"].value, 24) == 2
    assert load(graph, "sfu.cpu", 24) == Fraction(2, 100)


def test_a_shard_carries_its_own_districts() -> None:
    text = PRELUDE + (
        "group district of 50 users\ncomponent go { cpu 10 us/packet }\n"
        "topology { node shard = box * ceil(count(district) / 20)\n node player = box * N\n link net = ports between shard, player }\n"
        "stream state for each player { traffic 20 packet/s, 100 byte/packet; at shard { go to others in district }\n at player { } }\n"
    ).replace("1..100", "1..10000")
    graph = lowered(text)
    assert load(graph, "shard.cpu", 1000) == Fraction(1000 * 20 * 49, 100_000)
    # One more player, one more shard: half the players each.
    assert load(graph, "shard.cpu", 2000) == load(graph, "shard.cpu", 1000)
    assert load(graph, "shard.cpu", 1001) < load(graph, "shard.cpu", 1000) * Fraction(51, 100)


LAYERS = (
    PRELUDE.replace("1..100", "2..5000")
    + """
kinds layer { high 20 %; middle 30 %; low 50 % }
param layer_size by layer { high 10 kB/frame; middle 2 kB/frame; low 500 byte/frame }
group room of 10 users
machine fast { cpu 8 core }
network gigabit { switched; rate 1 Gbit/s }
component choose { emit layer_size / sum(layer_size) }
component go { cpu 10 us/packet }
topology { node sfu = fast
 node client = box * N
 link wan = gigabit between client, sfu }
stream video for each client {
  traffic 30 frame/s, sum(layer_size), 1 kB/packet
  at client { }
  at sfu { choose; go to others in room at most 4 }
  at client { }
}
require { video.latency <= 100 ms }
"""
)


def test_simulcast_sends_all_layers_up_and_one_down() -> None:
    graph = lowered(LAYERS)
    up, down = 12_500, Fraction(20 * 10_000 + 30 * 2000 + 50 * 500, 100)
    assert load(graph, "wan.sfu.in", 100) * 10**9 == 100 * 30 * up * 8
    assert load(graph, "wan.sfu.out", 100) * 10**9 == 100 * 4 * 30 * down * 8
    assert load(graph, "sfu.cpu", 100) == 100 * 4 * 30 * (down / 1000) * Fraction(1, 100_000) / 8
    video = graph.streams["video"]
    assert at(graph, video.rate, 100) == 30
    assert at(graph, video.throughput, 100) == 30 * down * 8
    # A frame of all layers up, one of the average layer down, and the copies one after the other.
    hops = (up + down) * 8 / Fraction(10**9)
    assert latency(graph, "video", 100) == hops + 4 * down / 1000 * Fraction(1, 100_000)


def test_simulcast_by_case_and_by_share() -> None:
    spec = checked(LAYERS)
    largest = lower(spec.model, spec.configuration(None, ["layer_size.high = 20 kB/frame"]))
    assert load(largest, "wan.sfu.in", 100) * 10**9 == 100 * 30 * 22_500 * 8
    solution = solve(lowered(LAYERS))
    assert solution.limited_by == "wan.sfu.in.utilization"  # 12.5 kB up, 4 times 2.85 kB down
    helping = advise(spec.model, spec.configuration(), solution)
    assert helping, "a change of the bottleneck helps"


def test_sum_adds_the_kinds_up_in_the_case_in_force() -> None:
    text = PRELUDE + (
        "kinds film { I 1; P 3 }\nparam size by film { I { average 4 ms/packet; largest 6 ms/packet }; P 1 ms/packet }\n"
        "component show { cpu sum(size) }\ntopology { node host = box }\nstream flow { traffic 10 packet/s; at host { show } }\n"
    )
    assert load(lowered(text), "host.cpu", 1) == Fraction(5, 100)
    assert load(lowered(text, "case = largest"), "host.cpu", 1) == Fraction(7, 100)


def test_rooms_can_be_requested() -> None:
    text = "param k = 4 in 1..50\n" + _stream("go to others in room at most 3").replace(
        "of 4 users", "of k users"
    )
    spec = checked(text)
    assert load(lowered(text, "k = 2"), "sfu.cpu", 10) == Fraction(10, 100)
    found = solve_for(spec.model, spec.configuration(), "k", 40)
    # 40 users, each to k - 1 others or 3: 100 copies at most, so rooms of 3.
    assert [(one.low, one.high) for one in found.intervals] == [(1, 3)]


def test_explain_lists_members_and_groups() -> None:
    graph = lowered(_stream("go to others in room"))
    text = explanation_text(explain(graph, "room", 12))
    assert "min(room.size, N)" in text
    assert "Number of groups N/members(room)\n" in text
    assert "Groups at N = 12 3\n" in text
    assert "members(room)" in explanation_text(explain(graph, "sfu.cpu", 12))


def test_the_documentation_of_a_group_is_what_it_is_called() -> None:
    graph = lowered(_stream("work").replace("group room", '"""A classroom."""\ngroup room'))
    assert explain(graph, "room", 12).what == "A classroom."


@pytest.mark.parametrize(
    "text",
    [
        "group room of 12 users",
        "group room of k * 2 users",
        "stream s for each room { }",
        "stream s for k - 1 in each room { }",
        "stream s { at a { f to others in room } }",
        "stream s { at a { f * 2 to others in ws.room at most k + 1 by cast if zip } }",
        "stream s { at a { f(3) in room to all in room by unicast } }",
    ],
)
def test_the_grammar_takes(text: str) -> None:
    assert parse(Source("x.qps", text)).diagnostics == ()


@pytest.mark.parametrize(
    "text",
    [
        "group room of users",
        "group of 12 users",
        "group room of 12",
        "stream s for 2 each room { }",
        "stream s { at a { f to others at most 4 } }",
        "stream s { at a { f to all in room at most 4 } }",
    ],
)
def test_the_grammar_refuses(text: str) -> None:
    assert parse(Source("x.qps", text)).diagnostics != ()


def test_a_group_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "school.qps").write_text("param k = 4\ngroup room of k users\n")
    main = tmp_path / "main.qps"
    text = _stream("go to others in school.room").replace("group room of 4 users", "")
    main.write_text('use "school.qps" as school\n' + text)
    spec = check_file(main).value
    assert spec is not None
    graph = lower(spec.model, spec.configuration())
    assert load(graph, "sfu.cpu", 12) == Fraction("0.36")


def test_every_pair_of_a_room_is_joined_once() -> None:
    graph = lowered(_stream("go to others in room"))
    pairs = len(list(combinations(range(4), 2)))
    assert load(graph, "sfu.cpu", 4) * 100 == 2 * pairs


def test_matrices_refuse_the_flows_that_a_setting_would() -> None:
    text = _stream("go to others in room", " for senders in each room")
    text = text.replace("group room of 4 users", "group room of size users") + (
        "param senders = 1 in 0..9\nparam size = 4 in 1..9\n"
        "matrix m { senders in [0, 1, 3, 5]; size in [2, 4, 8] }\n"
    )
    assert disagreements(text, count=12) == []
    refused = [row for row in qps.loads(text).matrix().to_arrow().to_pylist() if row["reason"]]
    assert [(row["senders"], row["size"]) for row in refused] == [(3, 2), (5, 2), (5, 4)]
    assert refused[0]["reason"] == "`flow` has 3 flows in each `room`, which has 2 users"
