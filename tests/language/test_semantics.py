"""The meaning of every construct: the shortest spec that shows it, and the load it must give."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import PRELUDE, at, checked, latency, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError

ONE = "topology { node host = box }\n"

MANY = "topology { node host = box * N\n link lan = wire between host }\n"

TWO = "topology { node web = box * 2\n node user = box * N\n link net = %s between web, user }\n"

# name, spec behind the prelude, resource, population, load worked by hand
CASES = [
    # 5 packet/s at 10 ms: 50 ms of each second
    ("per_packet", ONE + "stream flow for each host { traffic 5 packet/s; at host { work } }", "host.cpu", 1, "0.05"),
    # 8000 byte/s at 1 us
    ("per_byte", ONE + "stream flow for each host { traffic 8000 byte/s; at host { each_byte } }", "host.cpu", 1, "0.008"),
    # 8000 byte/s in packets of 1000 byte are 8 packet/s
    ("size", ONE + "stream flow for each host { traffic 8000 byte/s, 1000 byte/packet; at host { work } }", "host.cpu", 1, "0.08"),
    ("repeat", ONE + "stream flow for each host { traffic 5 packet/s; at host { work * 3 } }", "host.cpu", 1, "0.15"),
    ("repeat_by_users", ONE + "stream flow for each host { traffic 5 packet/s; at host { work * (N - 1) } }", "host.cpu", 4, "0.15"),
    # one flow for each of N machines: each machine holds one
    ("one_flow_a_machine", MANY + "stream flow for each host { traffic 5 packet/s; at host { work } }", "host.cpu", 7, "0.05"),
    # N flows on two servers
    ("flows_shared", TWO % "wire" + "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { work } }", "web.cpu", 6, "0.03"),
    ("keep", ONE + "component half { keep 50 % }\nstream flow { traffic 5 packet/s; at host { half; work } }", "host.cpu", 1, "0.025"),
    ("cost_before_keep", ONE + "component half { cpu 10 ms/packet; keep 50 % }\nstream flow { traffic 5 packet/s; at host { half; work } }", "host.cpu", 1, "0.075"),
    ("active", MANY + "component talk { active 1/N }\nstream flow for each host { traffic 5 packet/s; at host { talk; work } }", "host.cpu", 5, "0.01"),
    # 1000 byte/s become 250 byte/s; the packet is the first item, its count stays
    ("emit_share_bytes", ONE + "component zip { emit 25 % }\nstream flow { traffic 1000 byte/s, 100 byte/packet; at host { zip; each_byte } }", "host.cpu", 1, "0.00025"),
    ("emit_share_packets", ONE + "component zip { emit 25 % }\nstream flow { traffic 1000 byte/s, 100 byte/packet; at host { zip; work } }", "host.cpu", 1, "0.1"),
    # 10 frame/s of 1000 byte in packets of 100 byte: the frame is first, packets follow the bytes
    ("emit_cuts_packets", ONE + "component zip { emit 25 % }\nstream flow { traffic 10 frame/s, 1000 byte/frame, 100 byte/packet; at host { zip; work } }", "host.cpu", 1, "0.25"),
    ("emit_size", ONE + "component zip { emit 50 byte/frame }\nstream flow { traffic 10 frame/s, 1000 byte/frame; at host { zip; each_byte } }", "host.cpu", 1, "0.0005"),
    ("emit_other_size", ONE + "component cut { emit 50 byte/packet }\nstream flow { traffic 10 frame/s, 1000 byte/frame, 100 byte/packet; at host { cut; work } }", "host.cpu", 1, "2"),
    # N - 1 flows arrive at each: N - 2 merges, then one flow
    ("merge_many", MANY + "component mix { cpu 10 ms/packet; merge }\ncomponent go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix } }", "host.cpu", 5, "0.03"),
    ("merge_then_one", MANY + "component mix { merge }\ncomponent go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix; work } }", "host.cpu", 5, "0.01"),
    ("merge_of_one", MANY + "component mix { cpu 10 ms/packet; merge }\nstream flow for each host { traffic 1 packet/s; at host { mix } }", "host.cpu", 5, "0"),
    ("merge_below_one", MANY + "component talk { active 1/N }\ncomponent mix { cpu 10 ms/packet; merge }\nstream flow for each host { traffic 1 packet/s; at host { talk; mix; work } }", "host.cpu", 5, "0.002"),
    ("unicast_charges_copies", MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work to others by unicast }\n over lan\n at host { } }", "host.cpu", 5, "0.04"),
    ("multicast_charges_one", MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work to others by multicast }\n over lan\n at host { } }", "host.cpu", 5, "0.01"),
    ("all_receive", TWO % "wire" + "stream flow for each web { traffic 1 packet/s, 1 byte/packet; at web { work to all user by unicast }\n over net\n at user { } }", "web.cpu", 5, "0.05"),
    ("one_receives", TWO % "wire" + "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at user { work to one web }\n over net\n at web { work } }", "web.cpu", 6, "0.03"),
    # 5 * 4 copies of 8 bit/s on 1 Mbit/s
    ("shared_unicast", MANY + "stream flow for each host { traffic 1 byte/s; at host { each_byte to others }\n over lan\n at host { } }", "lan", 5, "0.00016"),
    ("shared_multicast", MANY + "stream flow for each host { traffic 1 byte/s; at host { each_byte to others by multicast }\n over lan\n at host { } }", "lan", 5, "0.00004"),
    # two servers send 6 flows: 3 a port; each user gets one
    ("switched_out", TWO % "ports" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net.web.out", 6, "0.003"),
    ("switched_in", TWO % "ports" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net.user.in", 6, "0.001"),
    ("switched_multicast_in", TWO % "ports" + "stream flow for each web { traffic 125 byte/s; at web { each_byte to all user by multicast }\n at user { } }", "net.user.in", 6, "0.002"),
    ("switched_multicast_out", TWO % "ports" + "stream flow for each web { traffic 125 byte/s; at web { each_byte to all user by multicast }\n at user { } }", "net.web.out", 6, "0.001"),
    ("duplex_forth", TWO % "pair" + "stream flow for each user { traffic 125 byte/s; at user { }\n at web { } }", "net.back", 6, "0.006"),
    ("duplex_back", TWO % "pair" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net.forth", 6, "0.006"),
    ("replicated_link", TWO % "wire * 3" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net", 6, "0.002"),
    ("header", "network head { rate 1 Mbit/s; header 25 byte/packet }\n" + TWO % "head" + "stream flow for each user { traffic 1 packet/s, 100 byte/packet; at web { }\n at user { } }", "net", 6, "0.006"),
    ("cap", "network few { rate 1 Mbit/s; cap 60 packet/s }\n" + TWO % "few" + "stream flow for each user { traffic 1 packet/s, 100 byte/packet; at web { }\n at user { } }", "net.packets", 6, "0.1"),
    ("link_loss_thins", "network bad { rate 1 Mbit/s; loss 20 % }\n" + TWO % "bad" + "stream flow for each user { traffic 5 packet/s, 1 byte/packet; at web { }\n at user { work } }", "user.cpu", 6, "0.04"),
    ("condition_off", "option a = off\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { work if not a; work if a } }", "host.cpu", 1, "0.05"),
    ("condition_and_or", "option a = x or y or z\nparam p = 3\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { work if a == x and p > 2; work if a != x or p < 2 } }", "host.cpu", 1, "0.05"),
    ("choice_in_a_value", "option a = on\n" + ONE + "stream flow for each host { traffic (if a then 5 else 7) * 1 packet/s; at host { work } }", "host.cpu", 1, "0.05"),
    ("parameter_of_another", "param a = 2\nparam b = a * 2.5 packet/s\n" + ONE + "stream flow for each host { traffic b; at host { work } }", "host.cpu", 1, "0.05"),
    ("let_and_func", "let a = 2 packet/s\nfunc f(x: packet/s, y) = x * y\n" + ONE + "stream flow for each host { traffic f(a, 2.5); at host { work } }", "host.cpu", 1, "0.05"),
    ("component_formal", "component paid(share) { cpu 10 ms/packet * share }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { paid(50 %) } }", "host.cpu", 1, "0.025"),
    ("cores", "machine quad { cpu 4 core }\ntopology { node host = quad }\nstream flow { traffic 100 packet/s; at host { work } }", "host.cpu", 1, "0.25"),
    ("idle", "machine lazy { cpu 1 core, idle 8 % }\ntopology { node host = lazy }\nstream flow { traffic 5 packet/s; at host { work } }", "host.cpu", 1, "0.13"),
    ("single_thread", "machine quad { cpu 4 core }\ncomponent one { cpu 10 ms/packet single_thread }\ntopology { node host = quad }\nstream flow { traffic 50 packet/s; at host { one } }", "host.cpu.one", 1, "0.5"),
    ("single_thread_whole", "machine quad { cpu 4 core }\ncomponent one { cpu 10 ms/packet single_thread }\ntopology { node host = quad }\nstream flow { traffic 50 packet/s; at host { one } }", "host.cpu", 1, "0.125"),
    ("disk", "machine store { disk 1 MB/s }\ncomponent read { disk 1 byte/byte }\ntopology { node host = store }\nstream flow { traffic 1000 byte/s; at host { read } }", "host.disk", 1, "0.001"),
    ("operations", "machine store { disk 100 request/s }\ncomponent read { disk 2 request/packet }\ntopology { node host = store }\nstream flow { traffic 5 packet/s; at host { read } }", "host.disk", 1, "0.1"),
    # 12 flows on two machines hold 6 * 2 MB of 48 MB
    ("memory", "machine ram { memory 48 MB }\ncomponent hold { memory 2 MB }\ntopology { node host = ram * 2\n node user = box * N }\nstream flow for each user { traffic 5 packet/s; at host { hold } }", "host.memory", 12, "0.25"),
    ("constant_cost", "component guard { cpu 3 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { guard } }", "host.cpu", 1, "0.03"),
    ("scaled", "component x { cpu 10 ms/packet measured on rated }\ntopology { node host = twice }\nstream flow { traffic 5 packet/s; at host { x } }", "host.cpu", 1, "0.025"),
    ("very_machine_wins", "component x { cpu 10 ms/packet measured on rated\n cpu 1 ms/packet measured on twice }\ntopology { node host = twice }\nstream flow { traffic 5 packet/s; at host { x } }", "host.cpu", 1, "0.005"),
    ("first_is_scaled", "machine thrice { cpu 30 score }\ncomponent x { cpu 10 ms/packet measured on twice\n cpu 1 ms/packet measured on rated }\ntopology { node host = thrice }\nstream flow { traffic 3 packet/s; at host { x } }", "host.cpu", 1, "0.02"),
    ("default_machine", "costs measured on rated\ncomponent x { cpu 10 ms/packet }\ntopology { node host = twice }\nstream flow { traffic 5 packet/s; at host { x } }", "host.cpu", 1, "0.025"),
    ("other_rating", "unit audio of rating\nmachine a { cpu 10 score; rating 1 audio }\nmachine b { cpu 10 score; rating 4 audio }\ncomponent x { cpu 10 ms/packet measured on a scaled by audio }\ntopology { node host = b }\nstream flow { traffic 4 packet/s; at host { x } }", "host.cpu", 1, "0.01"),
    ("own_unit", "unit update\ncomponent x { cpu 10 ms/update }\n" + ONE + "stream flow for each host { traffic 5 update/s; at host { x } }", "host.cpu", 1, "0.05"),
    ("derived_unit", "unit dozen = 12 packet\ncomponent x { cpu 120 ms/dozen }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { x } }", "host.cpu", 1, "0.05"),
    ("items_of_items", ONE + "stream flow for each host { traffic 5 frame/s, 3 packet/frame; at host { work } }", "host.cpu", 1, "0.15"),
    ("streams_add_up", ONE + "stream flow for each host { traffic 5 packet/s; at host { work } }\nstream more { traffic 1 packet/s; at host { work } }", "host.cpu", 1, "0.06"),
    ("population_as_source", ONE + "stream flow for each host { traffic N * 1 packet/s; at host { work } }", "host.cpu", 9, "0.09"),
    # 24 Mbit of each frame are 3 MB, or 2343.75 packets of 1280 byte; 30 frames a second
    ("frames_cut_into_packets", "component tiny { cpu 1 ns/packet }\n" + ONE + "stream flow for each host { traffic 30 frame/s, 24 Mbit/frame, 1280 byte/packet; at host { tiny } }", "host.cpu", 1, "0.0000703125"),
    ("emit_size_of_frames", "component nano { cpu 1 ns/byte }\ncomponent zip { emit 24 Mbit/frame }\n" + ONE + "stream flow for each host { traffic 30 frame/s, 384 Mbit/frame; at host { zip; nano } }", "host.cpu", 1, "0.09"),
    ("emit_keeps_the_rate_of_frames", "component draw { cpu 1 ms/frame }\ncomponent zip { emit 24 Mbit/frame }\n" + ONE + "stream flow for each host { traffic 30 frame/s, 384 Mbit/frame; at host { zip; draw } }", "host.cpu", 1, "0.03"),
    ("emit_of_bytes_alone", ONE + "component zip { emit 25 % }\nstream flow { traffic 1000 byte/s; at host { zip; each_byte } }", "host.cpu", 1, "0.00025"),
    # what is emitted comes after the cost of the step itself
    ("cost_before_emit", ONE + "component zip { cpu 1 us/byte; emit 25 % }\nstream flow { traffic 1000 byte/s; at host { zip; zip } }", "host.cpu", 1, "0.00125"),
    ("emit_twice", ONE + "component zip { emit 25 % }\nstream flow { traffic 1000 byte/s; at host { zip * 2; each_byte } }", "host.cpu", 1, "0.00025"),
    ("emit_before_a_link", "component zip { emit 25 % }\n" + TWO % "wire" + "stream flow for each user { traffic 1000 byte/s, 100 byte/packet; at web { zip }\n at user { } }", "net", 6, "0.012"),
    ("sizes_after_packets", ONE + "stream flow for each host { traffic 5 packet/s, 100 byte/packet; at host { each_byte } }", "host.cpu", 1, "0.0005"),
    ("binary_prefix", ONE + "stream flow for each host { traffic 1 KiB/s; at host { each_byte } }", "host.cpu", 1, "0.001024"),
    ("decimal_prefix", ONE + "stream flow for each host { traffic 1 kB/s; at host { each_byte } }", "host.cpu", 1, "0.001"),
    ("cast_by_option_unicast", "option cast = unicast\n" + MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work to others by cast }\n over lan\n at host { } }", "host.cpu", 5, "0.04"),
    ("cast_by_option_multicast", "option cast = multicast\n" + MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work to others by cast }\n over lan\n at host { } }", "host.cpu", 5, "0.01"),
    ("cast_by_option_on_the_link", "option cast = multicast\n" + MANY + "stream flow for each host { traffic 1 byte/s; at host { each_byte to others by cast }\n over lan\n at host { } }", "lan", 5, "0.00004"),
    # four copies at 10 ms, then once more for the flow itself
    ("after_a_spread_once", MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work to others; work }\n over lan\n at host { } }", "host.cpu", 5, "0.05"),
    ("copies_times_repeats", MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work * 2 to others }\n over lan\n at host { } }", "host.cpu", 5, "0.08"),
    ("all_are_n_receivers_also_oneself", MANY + "component go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to all host }\n over lan\n at host { work } }", "host.cpu", 5, "0.05"),
    ("others_are_one_less", MANY + "component go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { work } }", "host.cpu", 5, "0.04"),
    ("no_others_for_one", MANY + "component go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { work } }", "host.cpu", 1, "0"),
    # one in five speaks: each of four listeners hears a fifth of five
    ("active_thins_what_arrives", MANY + "component talk { active 1/N }\ncomponent go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { talk; go to others }\n over lan\n at host { work } }", "host.cpu", 5, "0.008"),
    ("active_thins_the_link", MANY + "component talk { active 1/N }\ncomponent go { }\nstream flow for each host { traffic 1 byte/s; at host { talk; go to others }\n over lan\n at host { } }", "lan", 5, "0.000032"),
    # four flows on two servers: two at each become one; two flows then go to four users
    ("merged_flows_go_on_as_one", "component mix { merge }\n" + TWO % "wire" + "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { mix }\n at user { work } }", "user.cpu", 4, "0.005"),
    ("a_second_merge_is_free", MANY + "component mix { cpu 10 ms/packet; merge }\ncomponent go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix; mix } }", "host.cpu", 5, "0.03"),
    ("merge_repeated", MANY + "component mix { cpu 10 ms/packet; merge }\ncomponent go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix * 2 } }", "host.cpu", 5, "0.06"),
    ("merge_at_exactly_one", MANY + "component mix { cpu 10 ms/packet; merge }\nstream flow for each host { traffic 1 packet/s; at host { mix; work } }", "host.cpu", 5, "0.01"),
    ("merge_of_parts_of_a_flow", "component half { active 50 % }\ncomponent mix { cpu 10 ms/packet; merge }\n" + TWO % "wire" + "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { half; mix } }", "web.cpu", 8, "0.01"),
    ("duplex_replicated", TWO % "pair * 2" + "stream flow for each user { traffic 125 byte/s; at user { }\n at web { } }", "net.back", 6, "0.003"),
    ("switched_replicated", TWO % "ports * 3" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net.web.out", 6, "0.001"),
    ("switched_replicated_in", TWO % "ports * 3" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net.user.in", 6, "1/3000"),
    ("switched_cap", "network few { switched; rate 1 Mbit/s; cap 60 packet/s }\n" + TWO % "few" + "stream flow for each user { traffic 1 packet/s, 100 byte/packet; at web { }\n at user { } }", "net.web.out.packets", 6, "0.05"),
    ("header_of_cut_packets", "network head { rate 1 Mbit/s; header 25 byte/packet }\n" + TWO % "head" + "stream flow for each user { traffic 1 frame/s, 1000 byte/frame, 100 byte/packet; at web { }\n at user { } }", "net", 6, "0.06"),
    ("keep_thins_links", "component half { keep 50 % }\n" + TWO % "wire" + "stream flow for each user { traffic 125 byte/s; at web { half }\n at user { } }", "net", 6, "0.003"),
    ("link_loss_charges_the_link_in_full", "network bad { rate 1 Mbit/s; loss 20 % }\n" + TWO % "bad" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net", 6, "0.006"),
    ("conditions_nest", "option a = on\nparam p = 3\n" + ONE + "stream flow for each host { traffic (if a then if p > 5 then 1 else 5 else 9) * 1 packet/s; at host { work } }", "host.cpu", 1, "0.05"),
    ("let_with_the_population", "let pace = N * 1 packet/s\n" + ONE + "stream flow for each host { traffic pace; at host { work } }", "host.cpu", 9, "0.09"),
    ("count_of_a_node", MANY + "stream flow for each host { traffic 1 packet/s; at host { work * count(host) } }", "host.cpu", 4, "0.04"),
    ("functions_call_functions", "func f(x) = x + 1\nfunc g(x) = f(f(x)) * 1 packet/s\n" + ONE + "stream flow for each host { traffic g(3); at host { work } }", "host.cpu", 1, "0.05"),
    ("function_of_max_and_min", ONE + "stream flow for each host { traffic max(min(N, 4), 2) * 1 packet/s; at host { work } }", "host.cpu", 9, "0.04"),
    ("function_of_ceil", ONE + "stream flow for each host { traffic ceil(N / 4) * 1 packet/s; at host { work } }", "host.cpu", 9, "0.03"),
    ("formal_with_a_dimension", "component paid(t: ms/packet) { cpu t }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { paid(10 ms/packet) } }", "host.cpu", 1, "0.05"),
    ("formal_in_an_effect", "component zip(r) { emit 1 - r }\n" + ONE + "stream flow for each host { traffic 1000 byte/s; at host { zip(75 %); each_byte } }", "host.cpu", 1, "0.00025"),
    ("one_component_with_two_arguments", "component paid(t) { cpu t * 1 ms/packet }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { paid(2); paid(8) } }", "host.cpu", 1, "0.05"),
    ("formal_with_the_population", "component talk(share) { active share }\n" + MANY + "stream flow for each host { traffic 5 packet/s; at host { talk(1/N); work } }", "host.cpu", 5, "0.01"),
    ("nic_by_bits", "machine m { nic 1 Mbit/s }\ncomponent out { nic 1 byte/byte }\ntopology { node host = m }\nstream flow { traffic 1000 byte/s; at host { out } }", "host.nic", 1, "0.008"),
    ("nic_by_packets", "machine m { nic 800 packet/s }\ncomponent out { nic 1 packet/packet }\ntopology { node host = m }\nstream flow { traffic 5 packet/s; at host { out } }", "host.nic", 1, "0.00625"),
    ("licences", "machine m { licences 500 session }\ncomponent hold { licences 1 session }\ntopology { node host = m * 2\n node user = box * N }\nstream flow for each user { traffic 5 packet/s; at host { hold } }", "host.licences", 12, "0.012"),
    ("held_while_active", "machine ram { memory 48 MB }\ncomponent half { active 50 % }\ncomponent hold { memory 2 MB }\ntopology { node host = ram * 2\n node user = box * N }\nstream flow for each user { traffic 5 packet/s; at host { half; hold } }", "host.memory", 12, "0.125"),
    ("two_resources_in_one_step", "machine m { cpu 1 core; disk 1 MB/s }\ncomponent read { cpu 10 ms/packet; disk 100 byte/packet }\ntopology { node host = m }\nstream flow { traffic 5 packet/s; at host { read } }", "host.disk", 1, "0.0005"),
    ("single_thread_of_one_core", "component one { cpu 10 ms/packet single_thread }\n" + ONE + "stream flow for each host { traffic 50 packet/s; at host { one } }", "host.cpu", 1, "0.5"),
    ("single_thread_adds_up_by_component", "machine quad { cpu 4 core }\ncomponent one { cpu 10 ms/packet single_thread }\ntopology { node host = quad }\nstream flow { traffic 50 packet/s; at host { one; work; one } }", "host.cpu.one", 1, "1"),
    ("cores_and_rating", "machine quad { cpu 4 core * 20 score }\ncomponent x { cpu 10 ms/packet measured on rated }\ntopology { node host = quad }\nstream flow { traffic 80 packet/s; at host { x } }", "host.cpu", 1, "0.1"),
    ("single_thread_is_scaled", "machine quad { cpu 4 core * 20 score }\ncomponent x { cpu 10 ms/packet measured on rated single_thread }\ntopology { node host = quad }\nstream flow { traffic 80 packet/s; at host { x } }", "host.cpu.x", 1, "0.4"),
    ("idle_counts_once", "machine lazy { cpu 1 core, idle 8 % }\ntopology { node host = lazy }\nstream flow { traffic 5 packet/s; at host { work } }\nstream more { traffic 5 packet/s; at host { work } }", "host.cpu", 1, "0.18"),
    ("idle_without_users", "machine lazy { cpu 1 core, idle 8 % }\ntopology { node host = box\n node other = lazy }\nstream flow { traffic 5 packet/s; at host { work } }", "other.cpu", 1, "0.08"),
    ("default_machine_holds_below_it_only", "component x { cpu 10 ms/packet }\ncosts measured on rated\ntopology { node host = twice }\nstream flow { traffic 5 packet/s; at host { x } }", "host.cpu", 1, "0.05"),
    ("own_machine_over_the_default", "costs measured on rated\ncomponent x { cpu 10 ms/packet measured on twice }\ntopology { node host = twice }\nstream flow { traffic 5 packet/s; at host { x } }", "host.cpu", 1, "0.05"),
    ("scaled_by_on_its_own_machine", "unit audio of rating\nmachine a { cpu 10 score; rating 3 audio }\ncomponent x { cpu 10 ms/packet measured on a scaled by audio }\ntopology { node host = a }\nstream flow { traffic 4 packet/s; at host { x } }", "host.cpu", 1, "0.04"),
    ("disks_are_not_scaled_by_ratings", "machine d { cpu 10 score; disk 1 MB/s }\nmachine e { cpu 40 score; disk 1 MB/s }\ncomponent read { disk 100 byte/packet measured on d }\ntopology { node host = e }\nstream flow { traffic 5 packet/s; at host { read } }", "host.disk", 1, "0.0005"),
    ("percent_of_a_rate", ONE + "stream flow for each host { traffic 50 % * 10 packet/s; at host { work } }", "host.cpu", 1, "0.05"),
    # a third of N servers: three flows at each, whatever N is
    ("nodes_by_the_population", "topology { node web = box * (N / 3)\n node user = box * N }\nstream flow for each user { traffic 1 packet/s; at web { work } }", "web.cpu", 7, "0.03"),
    ("nodes_by_a_parameter", "param panels = 27 / 9\ntopology { node web = box * panels\n node user = box * N }\nstream flow for each user { traffic 1 packet/s; at web { work } }", "web.cpu", 6, "0.02"),
    ("nodes_rounded_up", "param panels = 2.5\ntopology { node web = box * ceil(panels)\n node user = box * N }\nstream flow for each user { traffic 1 packet/s; at web { work } }", "web.cpu", 6, "0.02"),
    ("nodes_whole_as_a_product", "param rows = 1.5\ntopology { node web = box * (2 * rows)\n node user = box * N }\nstream flow for each user { traffic 1 packet/s; at web { work } }", "web.cpu", 6, "0.02"),
    ("nothing_is_left_of_the_bits", "component gone { emit 0 % }\n" + TWO % "wire" + "stream flow for each user { traffic 125 byte/s; at web { gone }\n at user { } }", "net", 6, "0"),
    ("nodes_in_whole_numbers", "topology { node web = box * ceil(N / 4)\n node user = box * N }\nstream flow for each user { traffic 1 packet/s; at web { work } }", "web.cpu", 6, "0.03"),
    ("links_by_the_population", TWO % "wire * N" + "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }", "net", 6, "0.001"),
    ("staying_at_a_node", MANY + "stream flow for each host { traffic 5 packet/s; at host { work }\n at host { work } }", "host.cpu", 7, "0.1"),
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
        "stream flow for each user { traffic 125 byte/s; at web { }\n at user { } }"
    )
    assert load(graph, "trunk", 12) == Fraction("0.012")
    assert load(graph, "edge", 12) == Fraction("0.002")


def test_several_links_of_a_switch_share_what_each_end_sends_and_receives() -> None:
    graph = lowered(
        PRELUDE + "topology { node web = box * 3\n node user = box * N\n"
        " link net = ports * 2 between web, user }\n"
        "stream flow for each user { traffic 125_000 byte/s; at web { }\n at user { } }"
    )
    # 12 flows of 1 Mbit/s: from 3 machines on 2 links each, to 12 on 2 links each
    assert load(graph, "net.web.out", 12) == Fraction(12, 3 * 2)
    assert load(graph, "net.user.in", 12) == Fraction(12, 12 * 2)
    counts = {name: at(graph, r.count, 12) for name, r in graph.resources.items()}
    assert (counts["net.web.out"], counts["net.user.in"]) == (3 * 2, 12 * 2)


def test_latency_adds_up_its_stages() -> None:
    graph = lowered(
        PRELUDE + "network slow { rate 1 Mbit/s; propagation 3 ms }\n"
        "component wait { delay 20 ms }\n"
        + TWO
        % "slow"
        + "stream flow for each user { traffic 1000 byte/s, 125 byte/packet; at user { wait; work }\n"
        " at web { work * 2 } }"
    )
    # 125 ms to fill a packet, 20 fixed, 10 and 20 for work, 1 on the link, 3 to get there
    assert latency(graph, "flow", 5) == Fraction("0.179")


def test_the_last_copy_waits_for_the_others() -> None:
    graph = lowered(
        PRELUDE
        + MANY
        + "stream flow for each host { traffic 1 packet/s, 125 byte/packet; at host { work to others }\n"
        " over lan\n at host { } }"
    )
    assert latency(graph, "flow", 5) == Fraction("0.041")


def test_loss_joins_transmission_and_saturation() -> None:
    graph = lowered(
        PRELUDE
        + "network bad { rate 1 Mbit/s; loss 10 % }\n"
        + TWO % "bad"
        + "stream flow for each user { traffic 125_000 byte/s; at web { }\n at user { } }"
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
        + "stream flow for each host { traffic pace; at host { x; x if extra } }\n"
        + "scenario fast { host = twice; pace = 10 packet/s }"
    )
    assert load(lowered(text, "pace = 10 packet/s"), "host.cpu", 1) == Fraction("0.1")
    assert load(lowered(text, "extra = on"), "host.cpu", 1) == Fraction("0.1")
    assert load(lowered(text, "host = twice"), "host.cpu", 1) == Fraction("0.025")
    spec = checked(text)
    configuration = spec.configuration("fast", ["pace=20 packet/s"])
    assert configuration.nodes["host"].machine == "twice"
    assert configuration.values_from["pace"].text == "20 packet/s"


def test_doc_strings_are_preserved() -> None:
    model = checked(
        '"""The whole."""\n' + PRELUDE + '"""A number."""\nparam p = 3\n' + ONE
        + "stream flow for each host { traffic 5 packet/s; at host { work } }"
    ).model  # fmt: skip
    assert model.doc == "The whole."
    assert model.parameters[0].doc == "A number."


def test_a_factor_makes_a_processor_faster_and_core_makes_several() -> None:
    text = (
        PRELUDE + "machine eight_fold { cpu 8 * 10 score }\nmachine eight_cores "
        "{ cpu 8 core * 10 score }\ncomponent x { cpu 8 ms/packet measured on rated }\n"
        "topology { node host = eight_fold }\nstream flow { traffic 5 packet/s; at host { x } }"
    )
    assert load(lowered(text), "host.cpu", 1) == Fraction("0.005")
    assert latency(lowered(text), "flow", 1) == Fraction("0.001")
    assert load(lowered(text, "host = eight_cores"), "host.cpu", 1) == Fraction("0.005")
    assert latency(lowered(text, "host = eight_cores"), "flow", 1) == Fraction("0.008")


# -- conditions -----------------------------------------------------------------------

TRUTHS = [
    ("a", True),
    ("not a", False),
    ("b == x", True),
    ("b != x", False),
    ("b == y", False),
    ("b != y", True),
    ("a == on", True),
    ("p == 3", True),
    ("p != 3", False),
    ("p < 3", False),
    ("p <= 3", True),
    ("p > 3", False),
    ("p >= 3", True),
    ("2 < p <= 3", True),
    ("2 < p < 3", False),
    ("a and b == y", False),
    ("a or b == y", True),
    ("not a or b == x", True),
    ("not a and b == x or p == 3", True),
    ("not (a or b == x) or p == 3 and b == y", False),
    ("not not a", True),
    ("not b == x", False),
    ("0.1 + 0.2 == 0.3", True),
]


@pytest.mark.parametrize(("condition", "truth"), TRUTHS)
def test_conditions(condition: str, truth: bool) -> None:
    text = (
        PRELUDE + "option a = on\noption b = x or y\nparam p = 3\n" + ONE
        + f"stream flow for each host {{ traffic 5 packet/s; at host {{ work; work if {condition} }} }}"
    )  # fmt: skip
    assert load(lowered(text), "host.cpu", 1) == Fraction(5 * (1 + truth), 100)
    value = text.replace(f"; work if {condition}", "").replace(
        "traffic 5 packet/s", f"traffic (if {condition} then 2 else 1) * 5 packet/s"
    )
    assert load(lowered(value), "host.cpu", 1) == Fraction(5 * (1 + truth), 100)


def test_conditions_follow_what_is_set() -> None:
    text = (
        PRELUDE + "option a = on\noption b = x or y\nparam p = 3 in 0..9\n" + ONE
        + "stream flow for each host { traffic 5 packet/s; at host { work; work if a and b == y and p > 3 } }"
    )  # fmt: skip
    assert load(lowered(text, "b = y", "p = 4"), "host.cpu", 1) == Fraction("0.1")
    assert load(lowered(text, "b = y"), "host.cpu", 1) == Fraction("0.05")
    assert load(lowered(text, "b = y", "p = 4", "a = off"), "host.cpu", 1) == Fraction("0.05")


def test_parameters_follow_those_they_depend_on() -> None:
    text = (
        PRELUDE + "param b = a * 2\nparam a = 2\nlet c = a + b\n" + ONE
        + "stream flow for each host { traffic c * 1 packet/s; at host { work } }"
    )  # fmt: skip
    assert load(lowered(text), "host.cpu", 1) == Fraction("0.06")
    assert load(lowered(text, "a = 3"), "host.cpu", 1) == Fraction("0.09")
    assert load(lowered(text, "b = 3"), "host.cpu", 1) == Fraction("0.05")
    assert load(lowered(text, "b = a + 1", "a = 1"), "host.cpu", 1) == Fraction("0.03")


@pytest.mark.parametrize(
    ("setting", "accepted"),
    [
        ("pace = 3 packet/s", True),
        ("pace = 30 packet/s", True),
        ("pace = 2.999 packet/s", False),
        ("pace = 30.001 packet/s", False),
        ("pace = 1800 packet/minute", True),
        ("pace = 1801 packet/minute", False),
    ],
)
def test_ranges_of_parameters(setting: str, accepted: bool) -> None:
    text = PRELUDE + ONE + (
        "param pace = 5 packet/s in 3..30 packet/s\n"
        "stream flow for each host { traffic pace; at host { work } }"
    )  # fmt: skip
    if accepted:
        lowered(text, setting)
        return
    with pytest.raises(QpsError, match="range"):
        lowered(text, setting)


# -- the ways -------------------------------------------------------------------------

WAYS = (
    "topology { node web = box\n node user = box * N\n node odd = box\n"
    "link trunk = wire between web\nlink edge = wire * 6 between trunk, user\n"
    "link side = wire between odd, user\n%s }\n"
    "stream flow for each user { traffic 125 byte/s; at web { }\n%s at user { } }"
)


@pytest.mark.parametrize(
    ("more", "over", "loaded"),
    [
        ("", "", {"trunk", "edge"}),
        ("", "over trunk, edge\n", {"trunk", "edge"}),
        # a way of one link is shorter than one of two
        ("link direct = wire between web, user", "", {"direct"}),
        ("link direct = wire between web, user", "over trunk, edge\n", {"trunk", "edge"}),
        # a way leads over links, not through other nodes
        ("link far = wire between web, odd", "", {"trunk", "edge"}),
    ],
)
def test_routes(more: str, over: str, loaded: set[str]) -> None:
    assert set(lowered(PRELUDE + WAYS % (more, over)).resources) == loaded


def test_every_hop_thins_the_next_one() -> None:
    graph = lowered(
        PRELUDE + "network bad { rate 1 Mbit/s; loss 20 % }\n"
        "network worse { rate 1 Mbit/s; loss 50 % }\n"
        "topology { node web = box\n node user = box * N\n link trunk = bad between web\n"
        "link edge = worse between trunk, user }\n"
        "stream flow for each user { traffic 5 packet/s, 1 byte/packet; at web { }\n"
        "at user { work } }"
    )
    # 6 flows of 40 bit/s, then of 32; 5 packets, 4 behind the trunk, 2 behind the edge
    assert load(graph, "trunk", 6) == Fraction("0.00024")
    assert load(graph, "edge", 6) == Fraction("0.000192")
    assert load(graph, "user.cpu", 6) == Fraction("0.02")
    assert at(graph, graph.streams["flow"].loss, 6) == Fraction("0.6")
    assert at(graph, graph.streams["flow"].rate, 6) == 2
    assert at(graph, graph.streams["flow"].throughput, 6) == 16


# -- latency, loss, rate --------------------------------------------------------------

LATENCIES = [
    # a frame is ten packets at 10 ms
    ("item_is_the_frame", ONE + "stream flow for each host { traffic 10 frame/s, 1000 byte/frame, 100 byte/packet; at host { work } }", 1, "0.1"),
    ("item_is_the_packet", ONE + "stream flow for each host { traffic 10 packet/s, 1000 byte/packet; at host { work; each_byte } }", 1, "0.011"),
    ("item_is_the_byte", ONE + "stream flow for each host { traffic 1000 byte/s; at host { each_byte } }", 1, "0.000001"),
    ("filling_a_packet", ONE + "stream flow for each host { traffic 1000 byte/s, 100 byte/packet; at host { } }", 1, "0.1"),
    ("nothing_to_fill", ONE + "stream flow for each host { traffic 10 packet/s, 100 byte/packet; at host { } }", 1, "0"),
    ("delay", "component wait { delay 20 ms }\n" + ONE + "stream flow for each host { traffic 1 packet/s; at host { wait; wait } }", 1, "0.04"),
    ("scaled", "component x { cpu 10 ms/packet measured on rated }\ntopology { node host = twice }\nstream flow { traffic 5 packet/s; at host { x } }", 1, "0.005"),
    ("cores_do_not_help_one_item", "machine quad { cpu 4 core }\ntopology { node host = quad }\nstream flow { traffic 5 packet/s; at host { work } }", 1, "0.01"),
    ("machines_do_not_help_one_item", "topology { node host = box * 9 }\nstream flow in all { traffic 5 packet/s; at host { work } }", 1, "0.01"),
    ("repeat", ONE + "stream flow for each host { traffic 5 packet/s; at host { work * 3 } }", 1, "0.03"),
    ("switched_off", "option a = off\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { work; work if a } }", 1, "0.01"),
    ("disk", "machine m { disk 1 MB/s }\ncomponent read { disk 1 byte/byte }\ntopology { node host = m }\nstream flow { traffic 5 packet/s, 100 byte/packet; at host { read } }", 1, "0.0001"),
    ("memory_takes_no_time", "machine m { memory 1 MB }\ncomponent hold { memory 1 kB }\ntopology { node host = m }\nstream flow { traffic 5 packet/s; at host { hold } }", 1, "0"),
    ("a_constant_share_takes_no_time", "component guard { cpu 3 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { guard } }", 1, "0"),
    ("idle_takes_no_time", "machine lazy { cpu 1 core, idle 8 % }\ntopology { node host = lazy }\nstream flow { traffic 5 packet/s; at host { work } }", 1, "0.01"),
    ("keep_changes_no_item", "component half { keep 50 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { half; work } }", 1, "0.01"),
    ("active_changes_no_item", "component half { active 50 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s; at host { half; work } }", 1, "0.01"),
    ("emit_changes_the_item", "component zip { emit 25 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s, 100 byte/packet; at host { zip; each_byte } }", 1, "0.000025"),
    ("link", TWO % "wire" + "stream flow for each user { traffic 1 packet/s, 125 byte/packet; at web { }\n at user { } }", 9, "0.001"),
    ("link_with_a_header", "network head { rate 1 Mbit/s; header 25 byte/packet }\n" + TWO % "head" + "stream flow for each user { traffic 1 packet/s, 100 byte/packet; at web { }\n at user { } }", 9, "0.001"),
    ("link_of_many_is_no_faster", TWO % "wire * 4" + "stream flow for each user { traffic 1 packet/s, 125 byte/packet; at web { }\n at user { } }", 9, "0.001"),
    ("propagation", "network far { rate 1 Mbit/s; propagation 30 ms }\n" + TWO % "far" + "stream flow for each user { traffic 1 packet/s, 125 byte/packet; at web { }\n at user { } }", 9, "0.031"),
    # three merges at 10 ms, and eight bits on the link
    ("all_merges", MANY + "component mix { cpu 10 ms/packet; merge }\ncomponent go { }\nstream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { go to others }\n over lan\n at host { mix } }", 5, "0.030008"),
    ("nothing_to_merge", MANY + "component mix { cpu 10 ms/packet; merge }\nstream flow for each host { traffic 1 packet/s; at host { mix } }", 5, "0"),
    ("multicast_makes_one_copy", MANY + "stream flow for each host { traffic 1 packet/s, 1 byte/packet; at host { work to others by multicast }\n over lan\n at host { } }", 5, "0.010008"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "population", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in LATENCIES],
)
def test_latency(spec: str, population: int, expected: str) -> None:
    assert latency(lowered(PRELUDE + spec), "flow", population) == Fraction(expected)


# rate, throughput and loss where the stream arrives
ARRIVALS = [
    ("whole", ONE + "stream flow for each host { traffic 5 packet/s, 100 byte/packet; at host { work } }", 1, "5", "4000", "0"),
    ("kept", "component half { keep 50 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s, 100 byte/packet; at host { half; work } }", 1, "2.5", "2000", "0"),
    ("emitted", "component zip { emit 25 % }\n" + ONE + "stream flow for each host { traffic 5 packet/s, 100 byte/packet; at host { zip } }", 1, "5", "1000", "0"),
    ("bytes_alone_in_bits", ONE + "stream flow for each host { traffic 100 byte/s; at host { each_byte } }", 1, "800", "800", "0"),
    ("frames_first", ONE + "stream flow for each host { traffic 5 frame/s, 1000 byte/frame, 100 byte/packet; at host { work } }", 1, "5", "40000", "0"),
    # twice what it can do: half is served
    ("saturated", ONE + "stream flow for each host { traffic 200 packet/s, 100 byte/packet; at host { work } }", 1, "100", "80000", "0.5"),
    # two stages, each serves a half
    ("two_stages", "machine m { cpu 1 core; disk 1 MB/s }\ncomponent read { cpu 10 ms/packet; disk 10_000 byte/packet }\ntopology { node host = m }\nstream flow { traffic 200 packet/s; at host { read } }", 1, "50", "0", "0.75"),
    # one stage, passed twice
    ("one_stage_twice", ONE + "stream flow for each host { traffic 100 packet/s; at host { work; work } }", 1, "50", "0", "0.5"),
    ("of_others_too", ONE + "stream flow for each host { traffic 100 packet/s; at host { work } }\nstream more { traffic 100 packet/s; at host { work } }", 1, "50", "0", "0.5"),
    ("not_of_elsewhere", "topology { node host = box\n node other = box }\nstream flow { traffic 50 packet/s; at host { work } }\nstream more { traffic 400 packet/s; at other { work } }", 1, "50", "0", "0"),
    # 120 packets a second where 60 pass
    ("cap", "network few { rate 1 Mbit/s; cap 60 packet/s }\n" + TWO % "few" + "stream flow for each user { traffic 20 packet/s, 100 byte/packet; at web { }\n at user { } }", 6, "10", "8000", "0.5"),
    ("store", "machine ram { memory 4 MB }\ncomponent hold { memory 2 MB }\ntopology { node host = ram\n node user = box * N }\nstream flow for each user { traffic 5 packet/s; at host { hold } }", 8, "1.25", "0", "0.75"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "population", "rate", "throughput", "loss"),
    [pytest.param(*case[1:], id=case[0]) for case in ARRIVALS],
)
def test_what_arrives(spec: str, population: int, rate: str, throughput: str, loss: str) -> None:
    graph = lowered(PRELUDE + spec)
    flow = graph.streams["flow"]
    values = [at(graph, value, population) for value in (flow.rate, flow.throughput, flow.loss)]
    assert values == [Fraction(rate), Fraction(throughput), Fraction(loss)]


def test_measures_of_loads() -> None:
    graph = lowered(
        PRELUDE + TWO % "pair" + "component other { cpu 5 ms/packet }\n"
        "stream flow for each user { traffic 1 packet/s, 100 byte/packet; at web { work; other }\n"
        " at user { } }\n"
        "stream back for each user { traffic 1 packet/s, 300 byte/packet; at user { }\n at web { } }\n"
        "measure busy = web.cpu.load\nmeasure part = share(work, web.cpu)\n"
        "measure carried = net.load\nmeasure none = user.cpu.load"
    )
    values = {name: at(graph, m.value, 6) for name, m in graph.measures.items()}
    # 3 flows a server; the fuller direction of the link counts
    assert values == {
        "busy": Fraction("0.045"),
        "part": Fraction(2, 3),
        "carried": Fraction("0.0144"),
        "none": 0,
    }
