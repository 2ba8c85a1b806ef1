"""Names that are units: behind a number the unit, wherever things are named the thing."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from qps.cli import main
from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Source
from qps.compiler.edition_upgrade import upgraded
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.units import BUILT_IN
from qps.compiler.syntax.format import formatted
from qps.grammar.words import RESERVED

LONG = """
users v_users in 1..1000
unit v_item
machine v_box { }
machine v_machine { cpu 4 core; price 0.1 $/hour }
network v_network { switched; rate 1 Gbit/s; propagation 20 us }
param v_param = 3
param v_kinds = 2 ms/request
let v_let = 2 * v_param
measure v_measure = v_stream.latency / 2
func v_func(v_formal) = v_formal * v_let + 1 ms/request
component v_component(v_cost) { cpu v_cost * v_param / 3 }
option v_option = on
topology {
  node v_client = v_box * v_users
  node v_node = v_machine * 4
  link v_link = v_network between v_client, v_node
}
stream v_stream for each v_client {
  traffic 3 request/s, 2 kB/request, 1448 byte/packet
  at v_client { }
  at v_node { v_component(v_kinds); v_component(1 ms/request) if v_option }
}
require { v_stream.latency <= 1 s }
scenario v_scenario { v_node = v_machine * 2; v_option = off; v_param = 4; v_users = 2..500 }
mode v_mode { v_stream.latency <= 2 s; v_param = 5 }
expect v_claim {
  (v_stream.latency with v_param = 5) < 3 s
  v_node.cpu.load >= 0
  source model
}
matrix v_matrix {
  v_param in [1, 2]
  v_node in [v_machine, v_machine * 3]
  column v_column = v_stream.latency
  where v_column < 3 s
  select v_column, v_stream.rate, v_let
}
figure v_figure { over v_users in 1..10; line v_stream.latency }
"""
NAMES = sorted(set(re.findall(r"v_\w+", LONG)))
UNITS = sorted(
    unit for unit in {*BUILT_IN, "seconds", "cores", "calls"} - RESERVED if unit.isidentifier()
)


def renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"v_\w+", lambda found: names.get(found[0], found[0]), text)


@given(st.permutations(UNITS))
def test_every_declaration_may_have_the_name_of_a_unit(units: list[str]) -> None:
    names = dict(zip(NAMES, units, strict=False))
    names["v_item"] = "v_item"  # a unit has a name of its own
    long, short = (check_source(Source("s", text)) for text in (LONG, renamed(LONG, names)))
    assert long.value is not None, long.diagnostics
    assert short.value is not None, [d.message for d in short.diagnostics]
    diagnostic = {d.code for d in short.diagnostics} - {codes.ALSO_A_UNIT}
    assert diagnostic == {d.code for d in long.diagnostics}
    values = [
        [(p.value.value if isinstance(p.value, ir.Constant) else None) for p in one.parameters]
        for one in (long.value.model, short.value.model)
    ]
    assert values[0] == values[1]


NAMED = {
    "v_stream": "s",
    "v_node": "us",
    "v_machine": "session",
    "v_component": "core",
    "v_network": "day",
    "v_param": "minute",
    "v_client": "byte",
    "v_link": "packet",
    "v_option": "call",
    "v_users": "message",
    "v_cost": "ms",
}


@pytest.mark.parametrize(
    "requested",
    [
        (),
        ("--set", "us=session * 3"),
        ("--set", "call=off"),
        ("--set", "minute=5"),
        ("--scenario", "v_scenario"),
    ],
    ids=" ".join,
)
def test_what_is_called_as_units_answers_as_what_is_not(
    requested: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    back = {unit: name for name, unit in NAMED.items()}
    plain = [re.sub(r"^\w+", lambda m: back.get(m[0], m[0]), a) for a in requested]
    plain = [a.replace("session", "v_machine") for a in plain]
    monkeypatch.chdir(tmp_path)
    answers = []
    for text, more in ((LONG, plain), (renamed(LONG, NAMED), requested)):
        Path("spec.qps").write_text(text, encoding="utf-8")
        assert main(["solve", "spec.qps", "--format", "json", *more]) == 0
        answer = json.loads(capsys.readouterr().out)
        codes = [warning["code"] for warning in answer["warnings"]]  # names move their places
        answers.append(answer | {"warnings": codes})
    numbers = [re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", json.dumps(one)) for one in answers]
    assert numbers[0]
    assert sorted(numbers[0]) == sorted(numbers[1])


def value_of(text: str, more: str = "") -> Fraction | None:
    """Return the value of an expression in base units; None where it is refused."""
    spec = (
        f"{more}\nparam p = {text}\nusers N in 1..2\nmachine m {{ }}\ntopology {{ node n = m }}\n"
        "stream s1 { traffic 1 packet/s; at n { } }"
    )
    outcome = check_source(Source("s", spec))
    if outcome.value is None:
        return None
    found = next(p for p in outcome.value.model.parameters if p.name == "p").value
    if isinstance(found, ir.Constant):
        return found.value
    return None


def reported_of(text: str, more: str) -> list[str]:
    spec = (
        f"{more}\nlet p = {text}\nusers N in 1..2\nmachine m {{ }}\ntopology {{ node n = m }}\n"
        "stream s1 { traffic 1 packet/s; at n { } }\n"
    )
    return [d.code.id for d in check_source(Source("s", spec)).diagnostics]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 day", 2 * 86_400),
        ("2 * day", 10),
        ("day * 2", 10),
        ("10 / day", 2),
        ("86400 request/day", 1),
        ("86400 request / (day)", 17_280),
        ("(1/2) day", 43_200),
        ("6 day / day", 6),
        ("6 day / (day)", 103_680),
        ("3 s * day", 15),
    ],
)
def test_behind_a_number_is_the_unit(text: str, value: int) -> None:
    assert value_of(text, "let day = 5") == value


def test_a_unit_called_as_a_value_is_reported_once_each() -> None:
    assert reported_of("2 day + 3 day", "let day = 5") == ["QPS0520"]
    assert reported_of("2 * day", "let day = 5") == []
    assert reported_of("request / (2 s)", "stream s { traffic 1 packet/s; at n { } }") == []


def test_a_spec_may_call_a_thing_as_its_own_unit() -> None:
    own = "unit update\nstream update { traffic 2 update/s, 1 kB/update; at n { } }"
    assert value_of("3 update / (2 update)", own) == Fraction(3, 2)
    assert reported_of("update.rate / (1 update/s)", own) == []


@pytest.mark.parametrize(
    ("text", "more", "value"),
    [
        ("2 requests / (1 request)", "", 2),
        ("2 messages / (1 message)", "", 2),
        ("6 queries / (2 query)", "unit query", 3),
        ("6 batches / (2 batch)", "unit batch", 3),
        ("6 updates / (2 update)", "unit update", 3),
        ("6 calls", "let calls = 7", 42),
        ("6 updates", "unit update\nlet updates = 7", 42),
        ("6 requests / (2 requests)", "unit requests", 3),
    ],
)
def test_items_have_plurals_that_yield_to_names(text: str, more: str, value: int) -> None:
    assert value_of(text, more) == value


def test_only_items_have_plurals() -> None:
    assert value_of("6 fortnights", "unit fortnight = 14 day") is None
    assert value_of("6 scores", "unit score of rating") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 message every 20 s", Fraction(1, 20)),
        ("1 message every 2 minute", Fraction(1, 120)),
        ("3 * 2 message every 2 * 10 s", Fraction(6, 20)),
        ("1 message every 20 s + 2 message every 1 minute", Fraction(5, 60)),
        ("8 bit every minute", Fraction(8, 60)),
        ("1 message every every", Fraction(1, 5)),
        ("1 message every (every + every)", Fraction(1, 10)),
        ("every every every", Fraction(1)),
    ],
)
def test_so_many_every_so_long_is_a_rate(text: str, value: Fraction) -> None:
    assert value_of(text, "let every = 5 s") == value
    assert reported_of(text, "let every = 5 s") == []


def test_a_source_may_send_every_so_long() -> None:
    text = "stream t { traffic 1 request every 2 minute, 80 kB/request; at n { } }"
    assert reported_of("t.rate / (1 request every 2 minute)", text) == []


def test_what_stands_behind_every_is_a_time() -> None:
    assert reported_of("1 message every 20", "") == ["QPS0302"]
    assert reported_of("1 message every 20/s", "") == ["QPS0302"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/20 s", Fraction(1, 20)),
        ("1 / 20 s", Fraction(1, 20)),
        ("6/2/4 s", Fraction(6, 8)),
        ("4 * 1/3 s", Fraction(4, 3)),
        ("(1/20) s", Fraction(1, 20)),
        ("1 / (20 s)", Fraction(1, 20)),
        ("(1) / 20 s", Fraction(1, 20)),
        ("1/2 s^2", Fraction(1, 2)),
        ("1/2 request/s", Fraction(1, 2)),
        ("3 request / 2 s", Fraction(3, 2)),
        ("x / 2 s", Fraction(5, 2)),
        ("1 / x", Fraction(1, 5)),
        ("-1/2 s", Fraction(-1, 2)),
    ],
)
def test_a_quotient_of_numbers_before_a_unit_is_a_number(text: str, value: Fraction) -> None:
    assert value_of(text, "let x = 5") == value
    assert reported_of(text, "let x = 5") == []


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("1/20 s", "1 s"),
        ("-1/20 s", "1 s"),
        ("2^2/20 s", "1 s"),
        ("-2^2/20 s", "1 s"),
        ("1 / (20 s)", "1/s"),
        ("(1) / 20 s", "1/s"),
        ("x / 2 s", "1/s"),
        ("3 request / 2 s", "1 request/s"),
        ("1/2 request/s", "1 request/s"),
    ],
)
def test_brackets_and_names_end_a_quotient_of_numbers(text: str, dimension: str) -> None:
    assert reported_of(f"max({text}, {dimension})", "let x = 5") == []


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("param p = 3 s in 1/4..7/2 s", "param p = 3 s in 1/4 s..7/2 s"),
        ("param p = 3 s in 1..7/2 s", "param p = 3 s in 1 s..7/2 s"),
        ("param p = 3 s in 1/4..5 s", "param p = 3 s in 1/4 s..5 s"),
        ("param p elastic 1/4..7/2 request/s", "param p elastic 1/4 request/s..7/2 request/s"),
    ],
)
def test_the_unit_of_the_upper_end_holds_for_quotients_too(short: str, long: str) -> None:
    """`1/4` was told to be a plain number."""
    models = [check_source(Source("m.qps", f"{text}\n")) for text in (short, long)]
    assert not [found for outcome in models for found in outcome.diagnostics if found.is_error]


def test_values_of_an_axis_may_be_quotients() -> None:
    text = LONG + "param p = 3 s\nmatrix m { p in [1/4, 3/4, 7/2 s] }\n"
    text += "matrix n { p in 1/4..3/4 s by 1/4 s }\n"
    outcome = check_source(Source("m.qps", text))
    assert outcome.value is not None, outcome.diagnostics
    listed, along = (matrix.axes[0] for matrix in outcome.value.model.matrices[-2:])
    assert listed.numbers == (Fraction(1, 4), Fraction(3, 4), Fraction(7, 2))
    assert along.numbers == ir.Steps(Fraction(1, 4), Fraction(1, 4), 3)
    assert listed.unit == along.unit == ("s", 1)


KINDS = "kinds film { I 1; P 4 }\n"


@pytest.mark.parametrize(
    ("braces", "commas"),
    [
        (
            "param x = { average 12 ms; least 7 ms; largest 13 ms } in 1..20 ms",
            "param x = average 12 ms, least 7 ms, largest 13 ms in 1..20 ms",
        ),
        ("param x = {\n  average -1\n  least -3\n\n}", "param x = average -1, least -3"),
        (
            KINDS + "param x by film { I { average 3 kB; largest 4 kB }; P 2 kB }",
            KINDS + "param x by film { I average 3 kB, largest 4 kB; P 2 kB }",
        ),
    ],
)
def test_bare_cases_are_refused_and_mean_the_same_in_braces(braces: str, commas: str) -> None:
    assert reported_of("5", commas) == ["QPS0108"]
    laid = formatted(Source("s", commas)).value
    assert laid is not None
    upgrade = upgraded(Source("s", commas)).value
    assert upgrade is not None
    assert upgrade.text == f"edition 2026\n{laid}"
    found = []
    for text in (braces, laid):
        spec = (
            f"{text}\nusers N in 1..2\nmachine m {{ }}\ntopology {{ node n = m }}\n"
            "stream s1 { traffic 1 packet/s; at n { } }\nlet y = 2 * x\n"
        )
        outcome = check_source(Source("s", spec))
        assert outcome.value is not None, outcome.diagnostics
        found.append([(p.name, _without_spans(p.value)) for p in outcome.value.model.parameters])
    assert found[0] == found[1]


def _without_spans(part: object) -> object:
    """Return a part of a model as plain values, without where it stands."""
    if isinstance(part, Struct):
        return [
            type(part).__name__,
            *(_without_spans(getattr(part, f)) for f in part.__struct_fields__ if f != "span"),
        ]
    return [_without_spans(one) for one in part] if isinstance(part, tuple) else str(part)


def test_a_block_in_a_block_that_is_opened_stays_on_its_line() -> None:
    inner = "I { average 23 kB/frame; largest 33 kB/frame }"
    other = "P { average 13 kB/frame; largest 23 kB/frame; least 1 kB/frame }"
    text = f"{KINDS}param size by film {{ {inner}; {other} }}\n"
    outcome = formatted(Source("s", text))
    assert outcome.value is not None
    assert f"  {inner}\n  {other}\n" in outcome.value


def test_a_case_below_zero_is_no_difference() -> None:
    assert reported_of("5", "let average = 3\nparam b = average -1\nlet c = b") == ["QPS0108"]
    assert reported_of("5", "let average = 3\nparam b = average - 1\nlet c = b") == []
    assert reported_of("5", "param b = { average -1 }\nlet c = b") == []


def test_users_may_be_the_plural_of_a_unit() -> None:
    assert value_of("6 users / (2 user)", "unit user\ngroup room of 12 users") == 3
