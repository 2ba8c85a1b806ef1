"""What `qps explain` says of a long formula: the piece that is in force at a population."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.breakdowns import explain
from helpers.formulas import R, absolute, ceil, exp
from helpers.nightly import examples
from helpers.specs import PRELUDE, lowered
from qps.cli import main
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_file
from qps.engine.expressions.algebraic_functions import as_rational_function
from qps.engine.expressions.formulas import (
    Formula,
    apply,
    maximum,
    minimum,
    population,
    square_root,
    symbol,
)
from qps.engine.expressions.point_values import EvaluationPoint, in_floats
from qps.engine.expressions.substitution import substituted
from qps.reports.text.explanations.explanation import Explanation
from qps.reports.text.explanations.explanation_summary import SCREEN
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.reports.text.formulas.formula_excerpts import shortened
from qps.reports.text.formulas.formula_text import in_population
from qps.reports.text.words.quantities import number
from qps.solver.search.critical_points import piece_at

law = settings(max_examples=examples(60), deadline=None)
N = population("N")
X = symbol("x")

# an expression, a point, and what it is there, by hand
PIECES = [
    (N + 3, 7, N + 3),
    (maximum(N, 10), 3, R(10)),
    (maximum(N, 10), 30, N),
    (minimum(N, 10), 3, N),
    (minimum(N, 10), 30, R(10)),
    (absolute(N - 4), 3, 4 - N),
    (absolute(N - 4), 9, N - 4),
    # the inner one first: max(N, 10) is 10, and 2 N - 5 is less up to 7.5
    (minimum(maximum(N, 10), 2 * N - 5), 6, 2 * N - 5),
    (minimum(maximum(N, 10), 2 * N - 5), 9, R(10)),
    (minimum(maximum(N, 10), 2 * N - 5), 40, N),
    # under a fraction, a power and a root
    (1 / maximum(1, N / 20), 10, R(1)),
    (1 / maximum(1, N / 20), 40, 20 / N),
    (square_root(maximum(0, N - 5) ** 2 + 1), 3, R(1)),
    (square_root(maximum(0, N - 5) ** 2 + 1), 8, square_root((N - 5) ** 2 + 1)),
    # several of them in a sum
    (maximum(N, 10) + maximum(N / 2, 10) * absolute(N - 30), 15, N + 10 * (30 - N)),
    # what is compared is no quotient of polynomials: there is no telling
    (maximum(exp(N), 3), 2, None),
    (maximum(ceil(N / 3), 3), 2, None),
    (maximum(1 / (N - 5), 3), 5, None),
]


@pytest.mark.parametrize(("expr", "at", "expected"), PIECES)
def test_the_piece_in_force(expr: Formula, at: int, expected: Formula | None) -> None:
    piece = piece_at(expr, N, Fraction(at))
    if expected is None or piece is None:
        assert piece is expected
    else:
        function = as_rational_function(piece - expected, N)
        assert piece is expected or (function is not None and function.is_zero)


_LINES = st.builds(lambda a, b: a * N + b, st.integers(-3, 3), st.integers(-20, 20))
_PIECEWISE = st.recursive(
    _LINES,
    lambda inner: st.one_of(
        st.builds(maximum, inner, inner),
        st.builds(minimum, inner, inner),
        st.builds(absolute, inner),
        st.builds(lambda one, other: one + other, inner, inner),
        st.builds(lambda one: one / 7, inner),
    ),
    max_leaves=6,
)


@law
@given(_PIECEWISE, st.integers(1, 40))
def test_a_piece_has_no_kink_and_the_value_of_the_whole(expr: Formula, at: int) -> None:
    piece = piece_at(expr, N, Fraction(at))
    assert piece is not None
    assert not piece.has("max", "min", "abs")
    point = EvaluationPoint({N: Fraction(at)})
    assert point.exact(piece) == point.exact(expr)


# -- in explain ----------------------------------------------------------------------------

ONE = "topology { node host = box }\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
LONG = PRELUDE + ONE + (
    "measure long = max(N / 8, 3) + max(N / 16, 5) + abs(N - 50) / 4 + min(N / 2, 8)"
    " + max(N / 32, 2) + abs(N - 70) / 64 + max(N / 5, 17 / 2)"
    " + min(N / 10, 9 / 4) + max(N / 40, 1)\n"
    "measure short = max(N / 8, 3)\n"
    "measure jumps = long + max(ceil(N / 3), 4)\n"
)  # fmt: skip


def _formulas(name: str, at: int) -> dict[str, str]:
    explanation: Explanation = explain(lowered(LONG), name, at)
    return dict(explanation.formulas)


# N / 2 and N / 10 up to 16 and 22.5, N / 8 from 24, N / 40 from 40, N / 5 from 42.5, N - 50 from
# 50, N / 32 from 64, N - 70 from 70, N / 16 from 80
@pytest.mark.parametrize(
    ("at", "slope", "constant"),
    [
        # by hand: 3 + 5 + (50 - N)/4 + N/2 + 2 + (70 - N)/64 + 17/2 + N/10 + 1
        (
            10,
            Fraction(-1, 4) + Fraction(1, 2) - Fraction(1, 64) + Fraction(1, 10),
            3 + 5 + Fraction(50, 4) + 2 + Fraction(70, 64) + Fraction(17, 2) + 1,
        ),
        # by hand: N/8 + 5 + (50 - N)/4 + 8 + 2 + (70 - N)/64 + 17/2 + 9/4 + 1
        (
            30,
            Fraction(1, 8) - Fraction(1, 4) - Fraction(1, 64),
            5 + Fraction(50, 4) + 8 + 2 + Fraction(70, 64) + Fraction(17, 2) + Fraction(9, 4) + 1,
        ),
        # by hand: N/8 + N/16 + (N - 50)/4 + 8 + N/32 + (N - 70)/64 + N/5 + 9/4 + N/40
        (
            90,
            sum((Fraction(1, k) for k in (8, 16, 4, 32, 64, 5, 40)), Fraction(0)),
            Fraction(-50, 4) + 8 - Fraction(70, 64) + Fraction(9, 4),
        ),
    ],
)
def test_a_long_formula_is_reported_as_the_piece_around_the_population(
    at: int, slope: Fraction, constant: Fraction
) -> None:
    result = _formulas("long", at)
    assert "for any N" not in result
    piece = result[f"near N = {at}"]
    assert "max" not in piece
    parsed = {k: Fraction(0) for k in ("N", "1")}
    for term in piece.replace(" - ", " + -").split(" + "):
        parsed["N" if "N" in term else "1"] += Fraction(term.replace("*N", ""))
    assert float(parsed["N"]) == pytest.approx(float(slope), rel=1e-5)
    assert float(parsed["1"]) == pytest.approx(float(constant), rel=1e-5)
    # the whole formula stands above it
    assert result["formula"].count("max(") == 5


def test_a_short_formula_is_reported_whole() -> None:
    assert _formulas("short", 30)["for any N"] == "max(0.125*N, 3)"


def test_without_a_known_piece_the_whole_formula_is_shown() -> None:
    result = _formulas("jumps", 30)
    assert result["for any N"].count("max(") == 6


# -- long formulas as text -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("N*a.cpu + 1", 11, "N*a.cpu + 1"),
        ("max(a.cpu.load, b.cpu.load)*(1 - a.load)", 20, "max(…)*(1 - a.load)"),  # short
        ("w(N*(a.cpu + b.cpu), sqrt(N*a.cpu/(1 - N*b.cpu)))", 40, "w(N*(a.cpu + b.cpu), sqrt(…))"),
        ("w(N*(a.cpu + b.cpu)^2, sqrt(N*a.cpu/(1 - N*b.cpu)))", 12, "w(…)"),
        ("a.cpu + b.cpu + c.cpu + d.cpu", 20, "a.cpu + b.cpu + …"),  # in no brackets at all
        ("max(a.load, b.load) + c.cpu.load", 15, "…"),
    ],
)  # fmt: skip
def test_a_formula_is_shortened_where_it_is_deepest(text: str, most: int, expected: str) -> None:
    assert shortened(text, most) == expected


def test_a_formula_that_nobody_would_read_is_reported_by_its_parts_as_text() -> None:
    spec = check_file(Path(__file__).parents[1] / "networks" / "p1_pool_shapes_others.qps").value
    assert spec is not None
    explanation = explain(lower(spec.model, spec.configuration(None)), "s.latency", 10)
    whole = dict(explanation.formulas)
    for markdown in (False, True):
        text = explanation_text(explanation, markdown=markdown)
        assert max(map(len, text.splitlines())) < 550 < len(whole["formula"])
        assert "waiting for b.cpu + slow at b\n" in text
        assert "prints it in full" in text


def test_of_short_formulas_nothing_is_left_out() -> None:
    text = explanation_text(explain(lowered(LONG), "short", 30))
    assert "…" not in text
    assert "max(N/8, 3)" in text


# -- names in formulas ---------------------------------------------------------------------

# two streams alike from end to end, so that all their measures have equal formulas
TWINS = """users N in 1..100
machine box { cpu 1 core, jitter 3 ms^2 * min(load, 1) }
network lan { shared; rate 100 Mbit/s; loss 1 % }
component work { cpu 4 ms/frame }
param size = 3 kB/frame
param often = 20 frame/s
topology {
  node a = box * 9
  node b = box * 9
  node hub = box
  link la = lan between a, hub
  link lb = lan between b, hub
}
stream one for each a {
  traffic often, size
  at a { work; work to one hub }
  over la
  at hub { work }
  playout 4 * sqrt(one.jitter)
}
stream two for each b {
  traffic often, size
  at b { work; work to one hub }
  over lb
  at hub { work }
  playout 4 * sqrt(two.jitter) + lb.load * N * 1 ms
}
measure ours = two.latency * 2 + two.loss * 1 s
measure theirs = one.jitter / 3
require { one.loss <= 40 %; two.loss <= 50 % }
""".replace("work to one hub", "send to one hub").replace(
    "param size", "component send { cpu 1 us/frame }\nparam size", 1
)

_NAMED = re.compile(
    r"\b((?:a|b|hub|la|lb)\.(?:cpu\.)?load|(?:one|two)\.(?:latency|jitter|loss|buffer))\b"
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("two.latency", {"two.jitter", "lb.utilization"}),
        ("two.buffer", {"two.jitter", "lb.utilization"}),
        ("two.jitter", {"b.cpu.utilization", "hub.cpu.utilization"}),
        ("two.loss", {"b.cpu.utilization", "hub.cpu.utilization", "lb.utilization"}),
        ("two.rate", {"b.cpu.utilization", "hub.cpu.utilization", "lb.utilization"}),
        ("one.jitter", {"a.cpu.utilization", "hub.cpu.utilization"}),
        ("one.loss", {"a.cpu.utilization", "hub.cpu.utilization", "la.utilization"}),
        (
            "ours",
            {
                "two.loss",
                "two.jitter",
                "b.cpu.utilization",
                "hub.cpu.utilization",
                "lb.utilization",
            },
        ),
        ("theirs", {"one.jitter", "a.cpu.utilization", "hub.cpu.utilization"}),
        ("quality", {"one.loss", "two.loss"}),
        ("b.cpu", set()),
        ("lb", set()),
    ],
)
def test_only_what_a_formula_rests_on_is_named_in_it(name: str, expected: set[str]) -> None:
    explanation = explain(lowered(TWINS), name, 5)
    texts = [*dict(explanation.formulas).values(), *(part.formula for part in explanation.parts)]
    assert set(_NAMED.findall(" ".join(texts))) <= expected


def test_each_part_is_reported_by_its_own_measures() -> None:
    graph = lowered(TWINS)
    variances = {part.name: part.formula for part in explain(graph, "two.jitter", 5).parts}
    assert variances == {
        "b.cpu": "3*min(b.cpu.utilization, 1)/1000000",
        "hub.cpu": "3*min(hub.cpu.utilization, 1)/1000000",
    }
    losses = {part.name: part.formula for part in explain(graph, "one.loss", 5).parts}
    assert losses["la saturated"] == "1 - 1/max(1, la.utilization)"
    assert losses["a.cpu saturated"] == "1 - 1/max(1, a.cpu.utilization)"
    graph = lowered(TWINS + "quality euclidean\n")
    axes = {part.name: part.formula for part in explain(graph, "quality", 5).parts}
    assert axes == {
        "one.loss": "one.loss/limit of one.loss",
        "two.loss": "two.loss/limit of two.loss",
    }
    text = dict(explain(graph, "quality", 5).formulas)["formula"]
    assert text == ("sqrt(one.loss^2/limit of one.loss^2 + two.loss^2/limit of two.loss^2)"), (
        "each with its own limit"
    )


# -- elastic parameters in formulas ----------------------------------------------------------

ELASTIC = TWINS.replace("param often = 20 frame/s", "param often elastic 1..300 frame/s")


RATES = PRELUDE + (
    "topology { node host = box }\n"
    "stream talk { traffic 20 packet/s, 1000 byte/packet; at host { work } }\n"
)


@pytest.mark.parametrize(
    ("name", "expected", "unit"),
    [
        ("talk.rate", "20 packets/s", "packet/s"),
        ("talk.throughput", "160 kbit/s", "bit/s"),
    ],
)
def test_what_arrives_has_its_unit(name: str, expected: str, unit: str) -> None:
    found = explain(lowered(RATES), name, 1)
    assert (dict(found.formulas)["at N = 1"], found.unit) == (expected, unit)


@pytest.mark.parametrize("name", ["two.rate", "b.cpu", "hub.cpu", "lb", "two.throughput"])
def test_an_elastic_parameter_is_a_symbol_of_its_own(name: str) -> None:
    graph = lowered(ELASTIC)
    explanation = explain(graph, name, 5)
    texts = dict(explanation.formulas)
    for heading in ("formula", "with values"):
        assert "often" in texts[heading]
        assert "often.least" not in texts[heading]
        assert len(texts[heading]) < 200
    for part in explanation.parts:
        assert "often." not in part.formula
    (configuration,) = graph.elastic
    value = graph.at(5).number(configuration.value)
    assert texts["often (elastic)"] == (
        f"{number(value)} frames/s at N = 5; for its formula, run `qps explain … often`"
    )
    # what is shown is the number: with the value for the symbol
    resources = graph.loads_of(name)
    if resources:
        put_in = graph.values | {
            graph.population: R(5),
            configuration.parameter.symbol: configuration.value,
        }
        shown = resources[0].unresolved
        shown = substituted(substituted(shown, put_in), put_in)
        assert in_floats(shown) == pytest.approx(explanation.value)


def test_its_own_formula_is_shown_in_full() -> None:
    texts = dict(explain(lowered(ELASTIC), "often", 5).formulas)
    assert texts["formula"].startswith("min(often.most, max(often.least, min(")
    assert "often (elastic)" not in texts


def test_one_that_is_set_is_a_number_again() -> None:
    texts = dict(explain(lowered(ELASTIC, "often = 7 frame/s"), "two.rate", 5).formulas)
    assert "(7 frame/s)" in texts["with values"]
    assert not [heading for heading in texts if "elastic" in heading]


@pytest.mark.parametrize(
    "expr",
    [
        *(expr for expr, _, _ in PIECES),
        (N + 1) * (2 * N - X / 7) * maximum(3, N * (X + 1) / 3),
        apply("mean", N * (N + X) / 3, N * X),
        apply("waiting", X * N, N / (200 + X)),
        apply("ratio", N + X, apply("mean", N * X, 7 * N)),
        square_root(X * N) + square_root(R(2)) * (N + 1) ** 2 / N - 10**30 * X,
    ],
)
@pytest.mark.parametrize("at", [3, 47])
def test_what_is_written_out_in_the_population_comes_to_the_same(expr: Formula, at: int) -> None:
    written = in_population(expr, {X: R(Fraction(22, 7))}, N)
    names = {"max": max, "min": min, "abs": abs, "exp": math.exp, "ceil": math.ceil}
    expected = EvaluationPoint({X: Fraction(22, 7), N: at}).number(expr)
    found = eval(written.replace("^", "**"), {"sqrt": math.sqrt, **names, "N": at})
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)


_CHAIN = (
    "users N in 1..1000\nmachine server { cpu 1 core, queueing mm1 }\nnetwork lan { switched; rate "
    "1 Gbit/s }\n"
    + "".join(f"component work_{n} {{ cpu {n} ms/request }}\n" for n in range(1, 21))
    + "topology {\n  node user = server * N\n"
    + "".join(f"  node tier_{n} = server\n" for n in range(1, 21))
    + "  link wire = lan between user, "
    + ", ".join(f"tier_{n}" for n in range(1, 21))
    + "\n}\nstream page for each user {\n  traffic 0.1 request/s, 80 kB/request\n  at user { }\n"
    + "".join(f"  over wire\n  at tier_{n} {{ work_{n} }}\n" for n in range(1, 21))
    + "}\n"
)


def test_a_long_explanation_is_a_screen_and_all_of_it_behind_a_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chain.qps").write_text(_CHAIN, encoding="utf-8")
    command = ["explain", "chain.qps", "page.latency", "--at", "100"]
    main(command)
    short = capsys.readouterr().out
    main([*command, "--all"])
    whole = capsys.readouterr().out
    assert len(short.splitlines()) <= SCREEN < len(whole.splitlines())
    assert "use --all" in short
    assert "use --all" not in whole
    shares = [
        float(line.split()[-2])
        for line in short.partition("Share\n")[2].splitlines()
        if line.endswith("%")
    ]
    assert sum(shares) == pytest.approx(100, abs=0.5), "other parts are a row of their own"
    assert "work 20 at tier 20" in short
    assert "work 1 at tier 1 " not in short
    assert "work 1 at tier 1 " in whole


def test_a_short_explanation_is_printed_in_full(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chain.qps").write_text(_CHAIN, encoding="utf-8")
    command = ["explain", "chain.qps", "tier_3.cpu", "--at", "100"]
    main(command)
    short = capsys.readouterr().out
    main([*command, "--all"])
    assert capsys.readouterr().out == short


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("pages.p99", "did you mean `page.p99`?"),
        ("pag.latency", "did you mean `page.latency`?"),
        ("web.cpus", "did you mean `web.cpu`?"),
        ("nothing.like.it", "streams: `page`; resources: `web.cpu`"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_those_that_are(
    name: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.qps"
    spec.write_text(
        "users N in 1..9\nmachine app { cpu 1 core, queueing mm1 }\n"
        "component work { cpu 5 ms/request }\ntopology { node web = app }\n"
        "stream page for each user { traffic 0.2 request/s; at web { work } }\n"
        "require { page.p99 <= 200 ms }\n",
        encoding="utf-8",
    )
    assert main(["explain", str(spec), name]) == 2
    assert hint in capsys.readouterr().err
