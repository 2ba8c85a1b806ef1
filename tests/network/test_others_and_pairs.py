"""What goes to k others, and streams of each pair: counted one by one, and written by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE, checked, latency, load, lowered
from matrices.test_matrices import disagreements
from oracles.plain_model import plain_model
from qps.solver.what_if.inverse import solve_for

few = settings(max_examples=examples(15), deadline=None)

HEAD = (
    PRELUDE
    + """
param k = 2 in 0..9
group room of 4 users
component go { cpu 1 ms/packet }
topology { node peer = box * %s
 node client = box * N
 link net = ports between peer
 link home = ports between client }
"""
)


def _copied(whom: str, machines: int = 6) -> str:
    return (HEAD % machines) + (
        "stream flow in all { traffic N * 1 packet/s, 125 byte/packet\n"
        f" at peer {{ work; go to {whom} }}\n at peer {{ work }} }}\n"
    )


def _by_hand(receivers: int, machines: int = 6) -> str:
    """The leader's part is a stream, and each replica one of its own, to one other."""
    leader = "stream lead in all { traffic N * 1 packet/s, 125 byte/packet; at peer { work } }\n"
    each = (
        "stream copy{i} in all {{ traffic N * 1 packet/s, 125 byte/packet\n"
        " at peer {{ go to one peer }}\n at peer {{ work }} }}\n"
    )
    copies = "".join(each.format(i=i) for i in range(receivers))
    return (HEAD % machines) + leader + copies


@given(st.integers(0, 5), st.integers(1, 100))
@few
def test_each_replica_is_a_stream_written_by_hand(receivers: int, population: int) -> None:
    text = _copied(f"{receivers} others")
    copied, by_hand = lowered(text), lowered(_by_hand(receivers))
    names = ["peer.cpu", "net.peer.out", "net.peer.in"] if receivers else ["peer.cpu"]
    for name in names:
        assert load(copied, name, population) == load(by_hand, name, population)
    assert load(copied, "peer.cpu", population) == Fraction(
        population * (10 + receivers * (1 + 10)), 6 * 1000
    )
    plain = plain_model(checked(text).model, checked(text).configuration(), population)
    assert plain.loads["peer.cpu"] == load(copied, "peer.cpu", population)


def test_all_others_are_so_many() -> None:
    some, every = lowered(_copied("5 others")), lowered(_copied("others"))
    for name in ("peer.cpu", "net.peer.out", "net.peer.in"):
        assert load(some, name, 9) == load(every, name, 9)
    assert latency(some, "flow", 9) == latency(every, "flow", 9)


def test_by_multicast_one_copy_leaves() -> None:
    graph = lowered(_copied("3 others by multicast"))
    assert load(graph, "net.peer.out", 12) == Fraction(12 * 1000, 6 * 10**6)
    assert load(graph, "net.peer.in", 12) == 3 * load(graph, "net.peer.out", 12)


def _gossip(steps: str, whose: str = "each client") -> str:
    return (HEAD % 6) + (
        f"stream flow for {whose} {{ traffic 1 packet/s, 125 byte/packet\n"
        f" at client {{ {steps} }}\n at client {{ work }} }}\n"
    )


@pytest.mark.parametrize(("population", "others"), [(1, 0), (2, 1), (3, 2), (4, 3), (50, 3)])
def test_where_there_are_fewer_all_of_them_get_it(population: int, others: int) -> None:
    graph = lowered(_gossip("go to 3 others"))
    assert load(graph, "client.cpu", population) == Fraction(others * 11, 1000)
    room = lowered(_gossip("go to 2 others in room"))
    assert load(room, "client.cpu", population) == Fraction(min(2, others) * 11, 1000)


def test_the_number_is_one_to_ask_for_and_an_axis() -> None:
    text = _copied("k others") + "require { peer.cpu.load <= 50 % }\n"
    spec = checked(text)
    found = solve_for(spec.model, spec.configuration(), "k", 100)
    # 100 (10 + 11 k) ms a second of 3,000 ms that 6 machines have: k is 1.8 at most.
    assert [(one.low, one.high) for one in found.intervals] == [(0, 1)]
    axes = "matrix m { k in [0, 1, 2, 5, 6, 9]; at N = 20 }\n"
    assert not disagreements(text + axes)


# -- each pair ------------------------------------------------------------------------------


def _pairs(whose: str, steps: str = "at peer { go }\n at peer { work }", machines: int = 5) -> str:
    return (HEAD % machines) + (
        f"stream flow for each {whose} {{ traffic 1 packet/s, 125 byte/packet\n {steps} }}\n"
    )


@given(st.integers(2, 7))
@few
def test_a_mesh_is_what_counting_each_pair_gives(machines: int) -> None:
    ordered = lowered(_pairs("ordered pair of peer", machines=machines))
    busy = [0] * machines
    for sender, receiver in permutations(range(machines), 2):
        busy[sender] += 1
        busy[receiver] += 10
    assert set(busy) == {load(ordered, "peer.cpu", 1) * 1000}
    plain = lowered(_pairs("pair of peer", machines=machines))
    pairs = len(list(combinations(range(machines), 2)))
    assert load(plain, "peer.cpu", 1) == Fraction(pairs * 11, machines * 1000)
    assert load(ordered, "net.peer.out", 1) == load(ordered, "net.peer.in", 1)
    assert load(ordered, "net.peer.out", 1) == Fraction((machines - 1) * 1000, 10**6)


def test_a_mesh_loads_as_one_that_is_copied_to_others() -> None:
    text = _pairs("ordered pair of client", "at client { go }\n at client { work }")
    mesh, copied = lowered(text), lowered(_gossip("go to others"))
    for population in (1, 2, 17, 100):
        for name in ("client.cpu", "home.client.out", "home.client.in"):
            assert load(mesh, name, population) == load(copied, name, population)
    assert latency(mesh, "flow", 17) < latency(copied, "flow", 17)  # nobody's copies come together
    spec = checked(text)
    plain = plain_model(spec.model, spec.configuration(), 17)
    assert plain.loads["client.cpu"] == load(mesh, "client.cpu", 17)


def test_pairs_of_a_group_stay_within_it() -> None:
    text = _pairs("ordered pair in each room", "at client { go }\n at client { work }")
    mesh, copied = lowered(text), lowered(_gossip("go to others in room"))
    for population in (1, 2, 17, 100):
        for name in ("client.cpu", "home.client.out"):
            assert load(mesh, name, population) == load(copied, name, population)


def test_a_call_within_a_pair_asks_the_other_one() -> None:
    graph = lowered(_pairs("pair of peer", "at peer { call peer { work } }"))
    assert load(graph, "peer.cpu", 1) == Fraction(10 * 10, 5 * 1000)
    assert load(graph, "net.peer.out", 1) == Fraction(2 * 10 * 1000, 5 * 10**6)


def test_there_and_back_crosses_the_link_twice() -> None:
    graph = lowered(_pairs("pair of peer", "at peer { }\n at peer { }\n at peer { }"))
    assert load(graph, "net.peer.in", 1) == Fraction(2 * 10 * 1000, 5 * 10**6)


# -- others that are called -----------------------------------------------------------------


def _called(steps: str) -> str:
    return (HEAD % 6) + (
        "stream flow in all { traffic N * 1 packet/s, 125 byte/packet\n"
        f" at peer {{ work; {steps} }} }}\n"
    )


@given(st.integers(0, 5))
@few
def test_others_that_are_called_bear_what_copies_do(others: int) -> None:
    """There and back: each call crosses the ports of both, and is waited for once."""
    graph = lowered(_called(f"call {others} others {{ work }}"))
    assert load(graph, "peer.cpu", 9) == Fraction(9 * 10 * (1 + others), 6 * 1000)
    if others:
        assert load(graph, "net.peer.out", 9) == Fraction(9 * 2 * others * 1000, 6 * 10**6)
        assert latency(graph, "flow", 9) == latency(
            lowered(_called("call 1 others { work }")), "flow", 9
        )


def test_parameters_say_how_many_are_called() -> None:
    by_name, stated = _called("call k others { work }"), _called("call 4 others { work }")
    for name in ("peer.cpu", "net.peer.in"):
        assert load(lowered(by_name, "k = 4"), name, 9) == load(lowered(stated), name, 9)
    assert load(lowered(by_name, "k = 0"), "peer.cpu", 9) == Fraction(9 * 10, 6 * 1000)
    axes = "require { peer.cpu.load <= 50 % }\nmatrix m { k in [0, 1, 2, 5, 6]; at N = 20 }\n"
    assert not disagreements(by_name + axes)
