"""Citations: what is said of where a number comes from stands beside it, and changes no answer."""

from __future__ import annotations

import re

import pytest

from helpers.breakdowns import explain
from helpers.reports import page_of
from helpers.specs import checked, lowered
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.format import formatted
from qps.solver.answers.graph_solution import solve

CITED = """
users N in 1..10_000 source "marketing, 2026"
option cached = on source "the deployment"
param slow = 1 source "a guess"
param slower = slow * 2 source "twice the guess"
let work_time = 8 ms/request source "the profile"
let heavy = work_time * 2 source "two of it"
machine pod { cpu 2 core }
machine browser { }
network mesh { switched; rate 1 Gbit/s }
component work(t) { cpu t }
topology {
  node client = browser * N
  node web, db = pod * 4 source "the inventory"
  link lan = mesh between all source "the rack"
}
group room of 12 users source "the plan"
stream browse for each client {
  traffic 1 request/s, 2 kB/request source "the log"
  at client { }
  at web {
    work(work_time)
    work(heavy * slower) if cached
    call db * 20 % source "hits" { work(1 ms/request) }
  }
  playout 20 ms source "the player"
}
stream beat for each client {
  source "the protocol"
  traffic 1 request/s * slower, 1 kB/request
  at client { }
  at web { work(1 us/request) }
}
target cpu 70 % source "operations", link 80 %
measure both = browse.latency * 2 source "the contract"
require { browse.latency <= 250 ms * slow source "service level, section 3" }
quality worst
"""


def explained(name: str, *settings: str) -> dict[str, str]:
    """Return the source of each number in the table below what a name stands for."""
    found = explain(lowered(CITED, *settings), name, 10)
    return {number.name: number.source for number in found.assumptions}


def test_a_citation_changes_no_answer() -> None:
    bare = re.sub(r' source "[^"]*"', "", CITED.replace('  source "the protocol"\n', ""))
    assert "source" not in bare
    cited, plain = (solve(lowered(text)) for text in (CITED, bare))
    assert cited.capacity == plain.capacity
    assert cited.graph.resources.keys() == plain.graph.resources.keys()
    assert [r.load for r in cited.graph.resources.values()] == [
        r.load for r in plain.graph.resources.values()
    ]
    assert cited.graph.assumptions.keys() == plain.graph.assumptions.keys()


@pytest.mark.parametrize(
    ("name", "number", "source"),
    [
        ("web.cpu", "browse.traffic", "the log"),
        ("web.cpu", "slow", "a guess"),
        ("web.cpu", "slower", "twice the guess"),
        ("web.cpu", "web", "the inventory"),
        ("db.cpu", "db", "the inventory"),
        ("db.cpu", "browse.db.times", "hits"),
        ("db.cpu", "target of cpu", "operations"),
        ("lan", "lan", "the rack"),
        ("browse.latency", "browse.playout", "the player"),
        ("browse.latency", "browse.byte_per_request", "the log"),
        ("beat.rate", "beat.traffic", "the protocol"),
        ("both", "both", "the contract"),
        ("room", "room.size", "the plan"),
        ("quality", "limit of browse.latency", "service level, section 3"),
    ],
)
def test_a_citation_stands_next_to_its_number(name: str, number: str, source: str) -> None:
    assert explained(name)[number] == source


def test_a_let_takes_its_citation_wherever_it_is_named() -> None:
    found = explain(lowered(CITED), "browse.latency", 10).assumptions
    cited = {number.value: number.source for number in found}
    assert cited["t (t = work_time)"] == "the profile"
    assert cited["t (t = heavy * slower)"] == "two of it; the profile"


def test_what_is_put_in_another_place_has_not_the_citation_of_what_stood_there() -> None:
    assert "web" in explained("web.cpu")
    assert "web" not in explained("web.cpu", "web = pod * 8")


def test_the_page_lists_citations() -> None:
    page = page_of(checked(CITED))
    text = " ".join(row.source for row in (*page.settings, *page.assumptions))
    for source in re.findall(r'source "([^"]*)"', CITED):
        assert source in text, source


def test_formatting_keeps_citations() -> None:
    done = formatted(Source("cited.qps", CITED))
    assert done.value is not None
    assert re.findall(r'source "[^"]*"', done.value) == re.findall(r'source "[^"]*"', CITED)
    again = formatted(Source("cited.qps", done.value))
    assert again.value == done.value
