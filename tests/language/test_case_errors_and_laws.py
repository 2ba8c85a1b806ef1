"""Parameters with several values: formulas and sources, errors, and laws of averages."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.breakdowns import explain
from helpers.cases.parameter_cases import BASE, MEAN, messages
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.syntax.parse import parse
from qps.reports.text.explanations.explanation_text import explanation_text

law = settings(max_examples=examples(40), deadline=None)


# -- formulas and where they come from --------------------------------------------------------


def test_formulas_name_cases_and_kinds_with_their_sources() -> None:
    text = BASE + "measure m = (largest(size) + size.I * film.I) / size\n"
    explained = explain(lowered(text), "m", 3)
    assert explained.formulas[0][1] == "(film.I*size.I + size.largest)/size"
    by_name = {a.name: (a.value, a.source) for a in explained.assumptions}
    assert by_name == {
        "film.I": ("30/175", ""),
        "size": ("(30 * 20 kB/packet + 29 * 13 kB/packet + 116 * 3 kB/packet)/175", "figure 21"),
        "size.I": ("20 kB/packet", "figure 21"),
        "size.largest": ("33 kB/packet", "figure 21"),
    }
    worst = explain(lowered(text, "case = largest"), "m", 3)
    assert worst.formulas[0][1] == "(film.I*size.I + size)/size"
    assert {a.name: a.value for a in worst.assumptions}["size"] == "33 kB/packet"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("think", "60 % * 90 s + 30 % * 30 s + 10 % * 10 s"),
        ("even", "(6 s + 4 * 3 s + 0 s)/6"),
        ("display", "12 ms/packet"),
    ],
)
def test_how_a_value_is_reported(name: str, written: str) -> None:
    graph = lowered(BASE + f"measure m = {name}\n")
    assert graph.assumptions[name].text == written


def test_explaining_a_parameter_shows_its_table() -> None:
    explained = explain(lowered(BASE), "size", 3)
    rows = [(c.kind, c.share, c.average, c.least, c.largest) for c in explained.cases]
    assert rows == [
        ("I", "17.1 %", "20 kB/packet", "17 kB/packet", "33 kB/packet"),
        ("P", "16.6 %", "13 kB/packet", "9 kB/packet", "22 kB/packet"),
        ("B", "66.3 %", "3 kB/packet", "1 kB/packet", "7 kB/packet"),
        ("all", "", "7.571 kB/packet", "1 kB/packet", "33 kB/packet"),
    ]
    assert {c.source for c in explained.cases} == {"figure 21"}
    assert [c.place for c in explained.cases] == [
        "spec.qps:19",
        "spec.qps:20",
        "spec.qps:21",
        "spec.qps:18",
    ]
    assert explained.value == float(MEAN)
    largest = explain(lowered(BASE), "size.largest", 3)
    assert (largest.value, largest.cases) == (264_000, explained.cases)
    assert explain(lowered(BASE, "case = least"), "size", 3).value == 8000
    # what no formula rests on is explained too, and what is not stated is left empty
    duo = explain(lowered(BASE), "duo", 3)
    assert [(c.kind, c.average, c.least, c.largest) for c in duo.cases] == [
        ("", "3 ms/packet", "", "5 ms/packet")
    ]
    assert "Average  Least      Largest  Defined at   Source" in explanation_text(duo)
    # what was set has one value
    assert explain(lowered(BASE, "size = 3 kB/packet"), "size", 3).cases == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scenario s { case = least }", []),  # duo is not in use
        ("measure m = duo\nscenario s { case = least }", ["`duo` has no value for case least"]),
        ("measure m = least(duo)", ["`duo` has no value for case least"]),
        ("measure m = least(2 * duo)", ["`duo` has no value for case least"]),
        ("let l = duo\nmeasure m = least(l + 1 s/packet)", ["`duo` has no value for case least"]),
        ("measure m = if 1 > 2 then least(duo) else duo", []),
        ("measure m = largest(lan.load)", ["`largest` can be used only with parameters, not with results"]),
        ("param e elastic 1..2 packet/s\nmeasure m = largest(e)", ["`largest` can be used only with parameters, not with results"]),
        ('expect e { duo >= 1 ms/packet with case = least; source "x" }', ["`duo` has no value for case least"]),
        ('expect e { (duo with case = least) >= 1 ms/packet; source "x" }', ["`duo` has no value for case least"]),
        ('expect e { least(duo) ~ 1 ms/packet within 1 %; source "x" }', ["`duo` has no value for case least"]),
        ('expect e { 1 ms/packet ~ least(duo) within 1 %; source "x" }', ["`duo` has no value for case least"]),
        ('expect e { least(duo) > 1 ms/packet or N > 3 with N = 2; source "x" }', ["`duo` has no value for case least"]),
        ("figure f { over N in 1..9; line least(duo) }", ["`duo` has no value for case least"]),
        ("param case = 3\nscenario s { case = 4 }", []),
        ("param case = 3\nscenario s { case = largest }", ["unknown name `largest`"]),
        ("measure m = average(1, 2)", ["`average` takes 1 argument, but 2 were given"]),
        ("measure m = largest(3 s)", []),
        ("kinds k { a 1; b 2.5 }", []),
        ("kinds k { a 0.5; b 2.5 }", []),
        ("kinds k { a 50 %; b 1 }", ["the shares of `k` add up to 150 %, not to 100 %"]),
        ("kinds k { a 1/2; b 1/2 }", []),
        ("kinds k { a 1/3; b 2/3 }", []),
        ("kinds k { a 0.3; b 0.6 }", ["the shares of `k` add up to 90 %, not to 100 %"]),
        ("kinds k { a -1; b 2 }", ["a weight must be above zero"]),
        ('kinds k in "aß漢"', []),
        ("kinds display { a 1 }", ["`display` is declared twice"]),
        ("kinds ms { a 1 }", []),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, said: list[str]) -> None:
    assert messages(BASE + text + "\n") == said


def test_a_case_in_force_that_is_not_stated_is_refused_where_it_is_set() -> None:
    spec = checked(BASE + "measure m = duo\n")
    with pytest.raises(QpsError) as raised:
        spec.configuration(None, ["case = least"])
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == "`duo` has no value for case least"
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "case = least"
    assert spec.configuration(None, ["case = least", "duo = 1 ms/packet"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["case = worst"], "unknown case `worst`"),
        (["case = 3"], "unknown case `3`"),
        (["case = 1..2"], "unknown case `1..2`"),
        (["case = least", "case = largest"], "the case is set twice"),
        (["film.I = 3"], "a single share of `film` cannot be set: `film.I`"),
        (["size.X = 3 kB/packet"], "`size` has no kind `X`"),
        (["display.largest = 3 ms/packet"], "`display` has no kind `largest`"),
        (["size.I = 3 ms/packet"], "`size.I` must be `bit/packet`, not `s/packet`"),
        (["size = 3 kB/packet", "size.I = 3 kB/packet"], "`size.I` is a kind of a value that is also set as a whole"),
        (["film = 3"], "`film` is a set of kinds and cannot be changed"),
    ],
)  # fmt: skip
def test_settings_that_are_refused(settings: list[str], said: str) -> None:
    with pytest.raises(QpsError) as raised:
        checked(BASE).configuration(None, settings)
    assert [d.message for d in raised.value.diagnostics] == [said]


@pytest.mark.parametrize(
    "text",
    [
        "param average = 3\nparam x = average * 2",
        "param least = 3\nparam x = least - 2",
        "param largest = 3\nparam x = largest in 1..4",
        'param average = 3\nparam x = average source "y"',
        "param x = largest(y) * 2",
        "param x = largest (y) * 2",
        "param average = 3\nparam x = average",
    ],
)
def test_the_words_for_cases_are_free(text: str) -> None:
    outcome = parse(Source("s", text))
    assert outcome.diagnostics == ()
    assert "Cases" not in repr(outcome.value)


# -- laws ----------------------------------------------------------------------------------------

_triple = st.lists(st.integers(0, 10**6), min_size=3, max_size=3).map(sorted)
_table = st.lists(st.tuples(st.integers(1, 500), _triple), min_size=1, max_size=6)


def _spec(table: list[tuple[int, list[int]]], factor: int = 1) -> str:
    weights = "; ".join(f"k{i} {weight}" for i, (weight, _) in enumerate(table))
    values = "; ".join(
        f"k{i} {{ average {mid * factor} byte; least {low * factor} byte; largest {high * factor} byte }}"
        for i, (_, (low, mid, high)) in enumerate(table)
    )
    return (
        f"{PRELUDE}kinds k {{ {weights} }}\nparam x by k {{ {values} }}\n"
        "topology { node host = box }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
        f"measure m = x\nmeasure times = {factor} * x\nmeasure parts = "
        + " + ".join(f"k.k{i} * x.k{i}" for i in range(len(table)))
        + "\nmeasure top = largest(x)\nmeasure bottom = least(x)\n"
    )


def _measures(text: str, case: str) -> dict[str, Fraction]:
    graph = lowered(text, f"case = {case}")
    return {name: at(graph, measure.value, 1) for name, measure in graph.measures.items()}


@law
@given(_table)
def test_the_average_lies_between_least_and_largest(table: list[tuple[int, list[int]]]) -> None:
    by_name = {case: _measures(_spec(table), case) for case in ("least", "average", "largest")}
    assert by_name["least"]["m"] <= by_name["average"]["m"] <= by_name["largest"]["m"]
    for case in by_name.values():
        assert (case["bottom"], case["top"]) == (by_name["least"]["m"], by_name["largest"]["m"])


@law
@given(_table)
def test_the_average_is_the_weighted_mean(table: list[tuple[int, list[int]]]) -> None:
    result = _measures(_spec(table), "average")
    total = sum(weight for weight, _ in table)
    mean = Fraction(sum(weight * mid for weight, (_, mid, _) in table), total)
    assert result["m"] == result["parts"] == mean * 8


@law
@given(_table, st.integers(1, 1000), st.sampled_from(["least", "average", "largest"]))
def test_a_case_of_a_multiple_is_the_multiple_of_the_case(
    table: list[tuple[int, list[int]]], factor: int, case: str
) -> None:
    text = _spec(table).replace("times = 1 *", f"times = {factor} *")
    assert _measures(text, case)["times"] == _measures(_spec(table, factor), case)["m"]


@law
@given(_table, st.integers(0, 10**6), st.sampled_from(["least", "average", "largest"]))
def test_what_is_set_is_the_same_in_every_case(
    table: list[tuple[int, list[int]]], amount: int, case: str
) -> None:
    graph = lowered(_spec(table), f"x = {amount} byte", f"case = {case}")
    by_name = {name: at(graph, measure.value, 1) for name, measure in graph.measures.items()}
    assert set(by_name.values()) == {Fraction(8 * amount)}
