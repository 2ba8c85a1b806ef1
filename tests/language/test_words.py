"""Words of the language that are free: each is a name of any thing, and what it says stays said."""

from __future__ import annotations

import re
from functools import cache

import pytest

from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.quantities import units
from qps.compiler.syntax.format import formatted
from qps.grammar import parsing
from qps.grammar.keywords import keywords
from qps.grammar.words import NO_KINDS, NO_RESOURCES, NO_UNITS, RESERVED

SPEC = """
users v_users in 1..1000
unit v_unit
group v_group of 12 users source "rooms"
option v_option = v_choice or v_other
option v_switch = on
machine v_box { v_resource 2 request/s; cpu 10 v_rating }
unit v_rating of rating
machine v_rated = v_box with cpu 20 v_rating
machine v_machine { cpu 4 core; price 0.1 $/hour }
network v_network { switched; rate 1 Gbit/s; propagation 20 us }
param v_param = 3 in 1..9 source "a guess"
param v_case = { average 3; largest 5 } fitted "told"
kinds v_kinds { v_kind 1; v_kind_of 3 }
param v_by by v_kinds { v_kind 2; v_kind_of 6 }
let v_let = v_param
  + (
v_param * 2 - v_param / v_param ^ 2)
let v_long = if v_option == v_choice then v_param else -v_param
measure v_measure = v_stream.latency / v_param
func v_func(v_formal, v_formal_of) = v_formal * v_let + v_formal_of * v_param
component v_component(v_cost) { cpu v_cost / v_param single_thread v_thread }
component v_step {
  v_resource 1 / 1000
  cpu v_func(1 ms/request, 1 ms/request) measured on v_rated
}
component v_keeping { delay v_let * 1 ms; cpu 1 ms/request }
topology {
  node v_client = v_box * v_users
  node v_node, v_called = v_machine * v_param
  link v_link = v_network between v_client, v_node, v_called
}
stream v_stream for each v_client {
  traffic v_param * 1 request/s, 2 kB/request, 1448 byte/packet
  at v_client {
    v_step
  }
  over v_link
  at v_node {
    v_keeping
    v_component(1 ms/request)
    v_component(1 ms/request) if v_switch
    call v_called over v_link * 20 %, sends v_param * 100 byte/request {
      v_keeping; v_component(1 ms/request)
    }
  }
}
queueing v_node.cpu mm1
target v_node.cpu 80 %, v_link v_param * 20 %
require {
  v_stream.latency <= v_param * 1 s
  v_measure <= 1 s ideal v_param * 1 ms
}
scenario v_scenario {
  v_param = 4
  v_node = v_machine * 2; v_option = v_other; v_switch = off
  v_users = 2..500
}
scenario v_wider { scenario = v_scenario; v_called = v_machine * 5 }
mode v_mode { v_stream.latency <= 2 s; v_param = 5 }
expect v_claim "a title" {
  (v_stream.latency with v_param = 5, scenario = v_scenario) < 3 s
  v_node.cpu.load >= 0
  v_param ~ 3 within 10 %
  v_param == 3
  v_let > v_param with v_param = 2
  source model
}
matrix v_matrix with v_case = 4 {
  v_param in [1, 2]
  v_node in [v_machine, v_machine * 3]
  mode in [v_mode]
  include v_param = 4
  exclude v_param == 2 and v_node == v_machine
  column v_column = v_stream.latency * v_param
  where v_column < 3 s
  select v_column, v_let
  order by v_column descending
  note "only a few"
}
figure v_figure {
  over v_param in 1..10
  line v_node.cpu.load with v_users = 3; line "load" v_link.load with v_users = 2
}
"""
NAMES = sorted(set(re.findall(r"v_\w+", SPEC)))
CASES = {"average", "least", "largest"}
CHOOSING = {"mode", "scenario"}
FREE = sorted(keywords() - RESERVED - CASES - CHOOSING - {"all"})
"""Those behind have tests of their own."""


def named(turn: int) -> dict[str, str]:
    """Return the words that all names are called by, each by another one at each turn."""
    found: dict[str, str] = {}
    for place, name in enumerate(NAMES):
        word = FREE[(turn + place) % len(FREE)]
        is_taken = name in ("v_unit", "v_rating") and (word in NO_UNITS or units.is_reserved(word))
        is_taken |= name == "v_resource" and word in NO_RESOURCES | TAKEN_IN_MACHINES
        is_taken |= name in ("v_kind", "v_kind_of") and word in NO_KINDS
        is_taken |= name in ("v_option", "v_switch") and word in ("unicast", "multicast")
        is_taken |= name == "v_thread" and word in ("load", "rating", "measured", "scaled")
        found[name] = name if is_taken else word
    return found


TAKEN_IN_MACHINES = {"price", "rating"}
"""What a machine says of itself."""


def renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"v_\w+", lambda found: names.get(found[0], found[0]), text)


def said(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return sorted(d.code.id for d in diagnostics if d.code.id != "QPS0520")


@cache
def as_it_is() -> tuple[list[str], str]:
    """Return what is said of the spec with names that are no words, and how it is laid out."""
    checked, laid_out = check_source(Source("spec.qps", SPEC)), formatted(Source("spec.qps", SPEC))
    assert checked.value is not None, [d.message for d in checked.diagnostics]
    assert laid_out.value is not None
    return said(checked.diagnostics), laid_out.value


@pytest.mark.parametrize("turn", range(len(FREE)), ids=FREE)
def test_each_free_word_is_a_name_of_each_thing(turn: int) -> None:
    """At its turn a word is called as one thing, and all the words behind it as the others."""
    text = renamed(SPEC, named(turn))
    plain, of_plain = as_it_is()
    worded = check_source(Source("spec.qps", text))
    assert worded.value is not None, [
        (d.message, d.primary and d.primary.span.source.text[d.primary.span.start :][:40])
        for d in worded.diagnostics
        if d.is_error
    ]
    assert said(worded.diagnostics) == plain
    stored = formatted(Source("spec.qps", text))
    assert stored.value is not None
    words = [
        [token.text for token in parsing.parse(each).tokens if token.type != parsing.SEPARATOR]
        for each in (stored.value, renamed(of_plain, named(turn)))
    ]
    assert words[0] == words[1]
