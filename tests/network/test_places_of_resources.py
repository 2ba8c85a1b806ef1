"""Where a resource stands is what the network says, whatever its name begins with."""

from __future__ import annotations

from helpers.specs import checked
from qps.compiler.configure.settable_numbers import places_of_numbers
from qps.compiler.lower.lowering import lower
from qps.solver.what_if.sizing import size

# A kind is called as a resource is; ports begin as the node `lan_web` and its processor does.
ALIKE = """
users N in 1..10_000
kinds region { cpu 50 %; web 50 % }
machine pod { cpu 2 core, queueing ps; nic 1 Gbit/s }
machine pc { nic 1 Gbit/s }
network wire { switched; rate 100 Mbit/s }
component page { cpu 2 ms/request; nic 1 kbit/request }
topology {
  node web for each region = pod * 2
  node lan_web = pod * 4
  node user = pc * N
  link lan for each region = wire between user, web, lan_web
}
stream browse for each user in each region {
  traffic 1 request/s, 1 kB/request
  at user { }
  at web { page }
  at lan_web { page }
}
target web.cpu.cpu 50 %
target lan.web 40 %
"""
PLACES = {
    "web.cpu.cpu": "web.cpu", "web.cpu.nic": "web.cpu",
    "web.web.cpu": "web.web", "web.web.nic": "web.web",
    "lan_web.cpu": "lan_web", "lan_web.nic": "lan_web",
    "lan.cpu.user.out": "lan.cpu", "lan.cpu.web.cpu.in": "lan.cpu",
    "lan.cpu.web.cpu.out": "lan.cpu", "lan.cpu.lan_web.in": "lan.cpu",
    "lan.web.user.out": "lan.web", "lan.web.web.web.in": "lan.web",
    "lan.web.web.web.out": "lan.web", "lan.web.lan_web.in": "lan.web",
}  # fmt: skip
TARGETS = {"web.cpu.cpu": 0.5} | dict.fromkeys(list(PLACES)[-4:], 0.4)


def test_resources_stand_where_the_network_says_and_have_the_targets_of_their_places() -> None:
    spec = checked(ALIKE)
    graph = lower(spec.model, spec.configuration())
    assert {name: graph.network.place_of(name) for name in graph.resources} == PLACES
    targets = {name: graph.number(one.target) for name, one in graph.resources.items()}
    assert targets == dict.fromkeys(PLACES, 1.0) | TARGETS
    sizing = size(spec.model, spec.configuration(), 500)
    assert {one.resource: one.place for one in sizing.needed} == PLACES


def test_numbers_of_hardware_belong_to_its_place_and_those_of_components_to_none() -> None:
    spec = checked(ALIKE)
    graph = lower(spec.model, spec.configuration())
    found = places_of_numbers(spec.model, spec.configuration())
    stations = {name: place for name, place in PLACES.items() if not name.startswith("lan.")}
    of_stations = {
        f"{name}.{'cores' if name.endswith('cpu') else 'capacity'}": place
        for name, place in stations.items()
    }
    rates = {"lan.cpu.rate": "lan.cpu", "lan.web.rate": "lan.web"}
    assert found == of_stations | rates | {"user.nic.capacity": "user"}
    assert graph.assumptions.keys() - found.keys() >= {"page.cpu.request", "browse.web.traffic"}


def test_a_speed_that_two_resources_share_is_in_a_place_too() -> None:
    text = """
    users N in 1..100
    unit score of rating
    machine old { cpu 1 core * 5 score; gpu 1 core * 5 score }
    machine box { cpu 2 core * 10 score, queueing ps; gpu 1 core * 10 score, queueing ps }
    component work { cpu 2 ms/request measured on old; gpu 1 ms/request measured on old }
    topology { node web = box }
    stream jobs in all { traffic N * 1 request/s; at web { work } }
    """
    spec = checked(text)
    found = places_of_numbers(spec.model, spec.configuration())
    graph = lower(spec.model, spec.configuration())
    own = {name for name in graph.assumptions if name.startswith("web.")}
    assert own <= found.keys()
    assert own
