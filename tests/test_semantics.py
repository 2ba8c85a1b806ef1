"""The meaning of every construct: the shortest spec that shows it, and the load it must give."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import PRELUDE, at, checked, latency, load, lowered

ONE = "topology { node host = box }\n"
MANY = "topology { node host = box * N\n link lan = wire between host }\n"
TWO = "topology { node web = box * 2\n node user = box * N\n link net = %s between web, user }\n"

# name, spec behind the prelude, resource, population, load worked by hand
CASES = [
    # 5 packet/s at 10 ms: 50 ms of each second
    ("per_packet", ONE + "stream flow { source 5 packet/s; at host { work } }", "host.cpu", 1, "0.05"),
    # 8000 byte/s at 1 us
    ("per_byte", ONE + "stream flow { source 8000 byte/s; at host { each_byte } }", "host.cpu", 1, "0.008"),
    # 8000 byte/s in packets of 1000 byte are 8 packet/s
    ("size", ONE + "stream flow { source 8000 byte/s in 1000 byte/packet; at host { work } }", "host.cpu", 1, "0.08"),
    ("repeat", ONE + "stream flow { source 5 packet/s; at host { work * 3 } }", "host.cpu", 1, "0.15"),
    ("repeat_by_users", ONE + "stream flow { source 5 packet/s; at host { work * (N - 1) } }", "host.cpu", 4, "0.15"),
    # one flow for each of N machines: each machine holds one
    ("one_flow_a_machine", MANY + "stream flow { source 5 packet/s; at host { work } }", "host.cpu", 7, "0.05"),
    # N flows on two servers
    ("flows_shared", TWO % "wire" + "stream flow for each user { source 1 packet/s, 1 byte/packet; at web { work } }", "web.cpu", 6, "0.03"),
    ("keep", ONE + "component half { keep 50 % }\nstream flow { source 5 packet/s; at host { half; work } }", "host.cpu", 1, "0.025"),
    ("cost_before_keep", ONE + "component half { cpu 10 ms/packet; keep 50 % }\nstream flow { source 5 packet/s; at host { half; work } }", "host.cpu", 1, "0.075"),
    ("active", MANY + "component talk { active 1/N }\nstream flow { source 5 packet/s; at host { talk; work } }", "host.cpu", 5, "0.01"),
    # 1000 byte/s become 250 byte/s; the packet is the first item, its count stays
    ("emit_share_bytes", ONE + "component zip { emit 25 % }\nstream flow { source 1000 byte/s in 100 byte/packet; at host { zip; each_byte } }", "host.cpu", 1, "0.00025"),
    ("emit_share_packets", ONE + "component zip { emit 25 % }\nstream flow { source 1000 byte/s in 100 byte/packet; at host { zip; work } }", "host.cpu", 1, "0.1"),
    # 10 frame/s of 1000 byte in packets of 100 byte: the frame is first, packets follow the bytes
    ("emit_cuts_packets", ONE + "component zip { emit 25 % }\nstream flow { source 10 frame/s, 1000 byte/frame, 100 byte/packet; at host { zip; work } }", "host.cpu", 1, "0.25"),
    ("emit_size", ONE + "component zip { emit 50 byte/frame }\nstream flow { source 10 frame/s, 1000 byte/frame; at host { zip; each_byte } }", "host.cpu", 1, "0.0005"),
    ("emit_other_size", ONE + "component cut { emit 50 byte/packet }\nstream flow { source 10 frame/s, 1000 byte/frame, 100 byte/packet; at host { cut; work } }", "host.cpu", 1, "2"),
    # N - 1 flows arrive at each: N - 2 merges, then one flow
    ("merge_many", MANY + "component mix { cpu 10 ms/packet; merge }\ncomponent go { }\nstream flow { source 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix } }", "host.cpu", 5, "0.03"),
    ("merge_then_one", MANY + "component mix { merge }\ncomponent go { }\nstream flow { source 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix; work } }", "host.cpu", 5, "0.01"),
    ("merge_of_one", MANY + "component mix { cpu 10 ms/packet; merge }\nstream flow { source 1 packet/s; at host { mix } }", "host.cpu", 5, "0"),
    ("merge_below_one", MANY + "component talk { active 1/N }\ncomponent mix { cpu 10 ms/packet; merge }\nstream flow { source 1 packet/s; at host { talk; mix; work } }", "host.cpu", 5, "0.002"),
    ("unicast_charges_copies", MANY + "stream flow { source 1 packet/s, 1 byte/packet; at host { work to others by unicast }\n over lan\n at host { } }", "host.cpu", 5, "0.04"),
    ("multicast_charges_one", MANY + "stream flow { source 1 packet/s, 1 byte/packet; at host { work to others by multicast }\n over lan\n at host { } }", "host.cpu", 5, "0.01"),
    ("all_receive", TWO % "wire" + "stream flow { source 1 packet/s, 1 byte/packet; at web { work to all user by unicast }\n over net\n at user { } }", "web.cpu", 5, "0.05"),
    ("one_receives", TWO % "wire" + "stream flow { source 1 packet/s, 1 byte/packet; at user { work to one web }\n over net\n at web { work } }", "web.cpu", 6, "0.03"),
    # 5 * 4 copies of 8 bit/s on 1 Mbit/s
    ("shared_unicast", MANY + "stream flow { source 1 byte/s; at host { each_byte to others }\n over lan\n at host { } }", "lan", 5, "0.00016"),
    ("shared_multicast", MANY + "stream flow { source 1 byte/s; at host { each_byte to others by multicast }\n over lan\n at host { } }", "lan", 5, "0.00004"),
    # two servers send 6 flows: 3 a port; each user gets one
    ("switched_out", TWO % "ports" + "stream flow for each user { source 125 byte/s; at web { }\n at user { } }", "net.web.out", 6, "0.003"),
    ("switched_in", TWO % "ports" + "stream flow for each user { source 125 byte/s; at web { }\n at user { } }", "net.user.in", 6, "0.001"),
    ("switched_multicast_in", TWO % "ports" + "stream flow { source 125 byte/s; at web { each_byte to all user by multicast }\n at user { } }", "net.user.in", 6, "0.002"),
    ("switched_multicast_out", TWO % "ports" + "stream flow { source 125 byte/s; at web { each_byte to all user by multicast }\n at user { } }", "net.web.out", 6, "0.001"),
    ("duplex_forth", TWO % "pair" + "stream flow { source 125 byte/s; at user { }\n at web { } }", "net.back", 6, "0.006"),
    ("duplex_back", TWO % "pair" + "stream flow for each user { source 125 byte/s; at web { }\n at user { } }", "net.forth", 6, "0.006"),
    ("replicated_link", TWO % "wire * 3" + "stream flow for each user { source 125 byte/s; at web { }\n at user { } }", "net", 6, "0.002"),
    ("header", "network head { rate 1 Mbit/s; header 25 byte/packet }\n" + TWO % "head" + "stream flow for each user { source 1 packet/s, 100 byte/packet; at web { }\n at user { } }", "net", 6, "0.006"),
    ("cap", "network few { rate 1 Mbit/s; cap 60 packet/s }\n" + TWO % "few" + "stream flow for each user { source 1 packet/s, 100 byte/packet; at web { }\n at user { } }", "net.packets", 6, "0.1"),
    ("link_loss_thins", "network bad { rate 1 Mbit/s; loss 20 % }\n" + TWO % "bad" + "stream flow for each user { source 5 packet/s, 1 byte/packet; at web { }\n at user { work } }", "user.cpu", 6, "0.04"),
    ("condition_off", "option a = off\n" + ONE + "stream flow { source 5 packet/s; at host { work if not a; work if a } }", "host.cpu", 1, "0.05"),
    ("condition_and_or", "option a = x or y or z\nparam p = 3\n" + ONE + "stream flow { source 5 packet/s; at host { work if a == x and p > 2; work if a != x or p < 2 } }", "host.cpu", 1, "0.05"),
    ("choice_in_a_value", "option a = on\n" + ONE + "stream flow { source (if a then 5 else 7) * 1 packet/s; at host { work } }", "host.cpu", 1, "0.05"),
    ("parameter_of_another", "param a = 2\nparam b = a * 2.5 packet/s\n" + ONE + "stream flow { source b; at host { work } }", "host.cpu", 1, "0.05"),
    ("let_and_func", "let a = 2 packet/s\nfunc f(x: packet/s, y) = x * y\n" + ONE + "stream flow { source f(a, 2.5); at host { work } }", "host.cpu", 1, "0.05"),
    ("component_formal", "component paid(share) { cpu 10 ms/packet * share }\n" + ONE + "stream flow { source 5 packet/s; at host { paid(50 %) } }", "host.cpu", 1, "0.025"),
    ("cores", "machine quad { cpu 4 core }\ntopology { node host = quad }\nstream flow { source 100 packet/s; at host { work } }", "host.cpu", 1, "0.25"),
    ("idle", "machine lazy { cpu 1 core, idle 8 % }\ntopology { node host = lazy }\nstream flow { source 5 packet/s; at host { work } }", "host.cpu", 1, "0.13"),
    ("single_thread", "machine quad { cpu 4 core }\ncomponent one { cpu 10 ms/packet single_thread }\ntopology { node host = quad }\nstream flow { source 50 packet/s; at host { one } }", "host.cpu.one", 1, "0.5"),
    ("single_thread_whole", "machine quad { cpu 4 core }\ncomponent one { cpu 10 ms/packet single_thread }\ntopology { node host = quad }\nstream flow { source 50 packet/s; at host { one } }", "host.cpu", 1, "0.125"),
    ("disk", "machine store { disk 1 MB/s }\ncomponent read { disk 1 byte/byte }\ntopology { node host = store }\nstream flow { source 1000 byte/s; at host { read } }", "host.disk", 1, "0.001"),
    ("operations", "machine store { disk 100 request/s }\ncomponent read { disk 2 request/packet }\ntopology { node host = store }\nstream flow { source 5 packet/s; at host { read } }", "host.disk", 1, "0.1"),
    # 12 flows on two machines hold 6 * 2 MB of 48 MB
    ("memory", "machine ram { memory 48 MB }\ncomponent hold { memory 2 MB }\ntopology { node host = ram * 2\n node user = box * N }\nstream flow for each user { source 5 packet/s; at host { hold } }", "host.memory", 12, "0.25"),
    ("constant_cost", "component guard { cpu 3 % }\n" + ONE + "stream flow { source 5 packet/s; at host { guard } }", "host.cpu", 1, "0.03"),
    ("scaled", "component x { cpu 10 ms/packet measured on rated }\ntopology { node host = twice }\nstream flow { source 5 packet/s; at host { x } }", "host.cpu", 1, "0.025"),
    ("very_machine_wins", "component x { cpu 10 ms/packet measured on rated\n cpu 1 ms/packet measured on twice }\ntopology { node host = twice }\nstream flow { source 5 packet/s; at host { x } }", "host.cpu", 1, "0.005"),
    ("first_is_scaled", "machine thrice { cpu 30 score }\ncomponent x { cpu 10 ms/packet measured on twice\n cpu 1 ms/packet measured on rated }\ntopology { node host = thrice }\nstream flow { source 3 packet/s; at host { x } }", "host.cpu", 1, "0.02"),
    ("default_machine", "costs measured on rated\ncomponent x { cpu 10 ms/packet }\ntopology { node host = twice }\nstream flow { source 5 packet/s; at host { x } }", "host.cpu", 1, "0.025"),
    ("other_rating", "unit audio of rating\nmachine a { cpu 10 score; rating 1 audio }\nmachine b { cpu 10 score; rating 4 audio }\ncomponent x { cpu 10 ms/packet measured on a scaled by audio }\ntopology { node host = b }\nstream flow { source 4 packet/s; at host { x } }", "host.cpu", 1, "0.01"),
    ("own_unit", "unit update\ncomponent x { cpu 10 ms/update }\n" + ONE + "stream flow { source 5 update/s; at host { x } }", "host.cpu", 1, "0.05"),
    ("derived_unit", "unit dozen = 12 packet\ncomponent x { cpu 120 ms/dozen }\n" + ONE + "stream flow { source 5 packet/s; at host { x } }", "host.cpu", 1, "0.05"),
    ("items_of_items", ONE + "stream flow { source 5 frame/s, 3 packet/frame; at host { work } }", "host.cpu", 1, "0.15"),
    ("streams_add_up", ONE + "stream flow { source 5 packet/s; at host { work } }\nstream more { source 1 packet/s; at host { work } }", "host.cpu", 1, "0.06"),
    ("population_as_source", ONE + "stream flow { source N * 1 packet/s; at host { work } }", "host.cpu", 9, "0.09"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "resource", "population", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
def test_load(spec: str, resource: str, population: int, expected: str) -> None:
    graph = lowered(PRELUDE + spec)
    assert load(graph, resource, population) == Fraction(expected)


def test_a_route_over_several_links_loads_each() -> None:
    graph = lowered(
        PRELUDE
        + "topology { node web = box\n node user = box * N\n link trunk = wire between web\n"
        "link edge = wire * 6 between trunk, user }\n"
        "stream flow for each user { source 125 byte/s; at web { }\n at user { } }"
    )
    assert load(graph, "trunk", 12) == Fraction("0.012")
    assert load(graph, "edge", 12) == Fraction("0.002")


def test_latency_adds_up_its_stages() -> None:
    graph = lowered(
        PRELUDE + "network slow { rate 1 Mbit/s; propagation 3 ms }\n"
        "component wait { delay 20 ms }\n"
        + TWO
        % "slow"
        + "stream flow { source 1000 byte/s in 125 byte/packet; at user { wait; work }\n"
        " at web { work * 2 } }"
    )
    # 125 ms to fill a packet, 20 fixed, 10 and 20 for work, 1 on the link, 3 to get there
    assert latency(graph, "flow", 5) == Fraction("0.179")


def test_the_last_copy_waits_for_the_others() -> None:
    graph = lowered(
        PRELUDE
        + MANY
        + "stream flow { source 1 packet/s, 125 byte/packet; at host { work to others }\n"
        " over lan\n at host { } }"
    )
    assert latency(graph, "flow", 5) == Fraction("0.041")


def test_loss_joins_transmission_and_saturation() -> None:
    graph = lowered(
        PRELUDE
        + "network bad { rate 1 Mbit/s; loss 10 % }\n"
        + TWO % "bad"
        + "stream flow for each user { source 125_000 byte/s; at web { }\n at user { } }"
    )
    # twice the capacity at N = 2: half is lost, and a tenth of the rest
    assert at(graph, graph.streams["flow"].loss, 2) == Fraction("0.55")
    assert at(graph, graph.streams["flow"].loss, 1) == Fraction("0.1")


def test_settings_change_the_model() -> None:
    text = (
        PRELUDE
        + "param pace = 5 packet/s in 1..50 packet/s\noption extra = off\n"
        + "costs measured on rated\ncomponent x { cpu 10 ms/packet }\n"
        + "topology { node host = rated }\n"
        + "stream flow { source pace; at host { x; x if extra } }\n"
        + "scenario fast { host = twice; pace = 10 packet/s }"
    )
    assert load(lowered(text, "pace = 10 packet/s"), "host.cpu", 1) == Fraction("0.1")
    assert load(lowered(text, "extra = on"), "host.cpu", 1) == Fraction("0.1")
    assert load(lowered(text, "host = twice"), "host.cpu", 1) == Fraction("0.025")
    spec = checked(text)
    settled = spec.configuration("fast", ["pace=20 packet/s"])
    assert settled.nodes["host"].machine == "twice"
    assert settled.values_from["pace"].text == "20 packet/s"


def test_doc_strings_are_kept() -> None:
    model = checked(
        '"""The whole."""\n' + PRELUDE + '"""A number."""\nparam p = 3\n' + ONE
        + "stream flow { source 5 packet/s; at host { work } }"
    ).model  # fmt: skip
    assert model.doc == "The whole."
    assert model.parameters[0].doc == "A number."


def test_a_factor_makes_a_processor_faster_and_core_makes_several() -> None:
    text = (
        PRELUDE + "machine eight_fold { cpu 8 * 10 score }\nmachine eight_cores "
        "{ cpu 8 core * 10 score }\ncomponent x { cpu 8 ms/packet measured on rated }\n"
        "topology { node host = eight_fold }\nstream flow { source 5 packet/s; at host { x } }"
    )
    assert load(lowered(text), "host.cpu", 1) == Fraction("0.005")
    assert latency(lowered(text), "flow", 1) == Fraction("0.001")
    assert load(lowered(text, "host = eight_cores"), "host.cpu", 1) == Fraction("0.005")
    assert latency(lowered(text, "host = eight_cores"), "flow", 1) == Fraction("0.008")
