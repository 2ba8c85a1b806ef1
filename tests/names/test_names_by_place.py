"""Numbers of one name in the spec, such as those of arguments, are named after where they are."""

from __future__ import annotations

import pytest

from helpers.specs import checked, lowered
from qps.compiler.lower.lowering import lower

SHOP = """
users N in 1..10_000
unit score of rating
machine pod { cpu 2 core * 10 score; memory 8 GB }
machine big { cpu 8 core * 12 score }
network mesh { switched; rate 10 Gbit/s }
component work(t) { cpu t; memory 20 kB }
component packed(share) { emit share }
component serve(t) { run work(t) }
component query { cpu 3 ms/request measured on pod; cpu 1 ms/request measured on big }
topology {
  node web, auth, stock = pod
  node db = pod
  node archive = big
  link lan = mesh between all
}
stream browse for each user {
  traffic 1 request / 20 s, 2 kB/request
  at web {
    serve(0.25 ms/request)
    call auth, sends 200 byte/request { serve(0.4 ms/request) }
    call stock { serve(0.4 ms/request) }
    call auth, sends 300 byte/request { serve(0.6 ms/request) }
    call db { query }
    call archive { query }
  }
}
stream add in all {
  traffic N * 1 request / 100 s, 2 kB/request
  at web { work(0.9 ms/request); call auth { work(0.4 ms/request) } }
}
"""


def test_each_number_of_an_argument_is_named_after_its_place() -> None:
    by_name = {
        one.name: one.text
        for one in lowered(SHOP).assumptions.values()
        if "cpu.request" in one.name
    }
    assert by_name == {
        "work.cpu.request at web": "t (t = 0.25 ms/request)",
        "work.cpu.request at auth": "t (t = 0.4 ms/request)",
        "work.cpu.request at stock": "t (t = 0.4 ms/request)",
        "work.cpu.request at auth in browse": "t (t = 0.6 ms/request)",
        "work.cpu.request at web in add": "t (t = 0.9 ms/request)",
        "query.cpu.request": "3 ms/request",
        "query.cpu.request at archive": "1 ms/request",
    }


def test_what_does_not_rest_on_an_argument_is_one_number() -> None:
    names = [
        one.name for one in lowered(SHOP).assumptions.values() if one.name.startswith("work.memory")
    ]
    assert names == ["work.memory.share"]


def test_what_has_no_other_place_is_counted() -> None:
    names = {one.name for one in lowered(SHOP).assumptions.values()}
    assert {"browse.auth.sends", "browse.auth.sends (2)"} <= names
    assert not any("'" in name for name in names)


def test_a_place_moves_by_itself() -> None:
    """Equal numbers in two places are two: one of them moves the load of its own place only."""
    graph = lowered(SHOP)
    moved = [
        name
        for name, resource in graph.resources.items()
        if "work.cpu.request at stock" in {one.name for one in resource.load.symbols}
    ]
    assert moved == ["stock.cpu"]


@pytest.mark.parametrize(
    ("name", "value", "stated"),
    [
        ("work.cpu.request at auth", "2 ms/request", "t"),
        ("work.cpu.request at auth in browse", "2 ms/request", "t"),
        ("browse.auth.sends (2)", "2 kB/request", "300 byte/request"),
        ("query.cpu.request", "2 ms/request", "3 ms/request"),
        ("query.cpu.request at archive", "2 ms/request", "1 ms/request"),
        ("browse.traffic", "1 request/s", "1 request / 20 s"),
    ],
)
def test_such_a_number_is_set_by_its_name(name: str, value: str, stated: str) -> None:
    """It alone is another one then: all others are what they were."""
    settings = [f"{name} = {value}"]
    before = lowered(SHOP).assumptions
    spec = checked(SHOP).with_parts_of(settings)
    after = lower(spec.model, spec.configuration(None, settings)).assumptions
    assert before[name].span.text == stated
    assert {n: one.value for n, one in before.items() if n != name} == {
        n: one.value for n, one in after.items() if n != name
    }
    assert after[name].text == value
