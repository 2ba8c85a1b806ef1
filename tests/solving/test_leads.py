"""Which load leads from where to where: the envelope, what figures and the command line tell."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.formulas import R, ceil, exp
from helpers.nightly import examples
from helpers.specs import PRELUDE, checked
from qps.cli import main
from qps.engine.expressions.formulas import number, square_root, symbol
from qps.engine.expressions.point_values import EvaluationPoint
from qps.reports.text.explanations.figure_text import leads_text
from qps.solver.answers.envelope import equal_at, upper_envelope
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import DrawnFigure, draw

X = symbol("x")

# A path of a wire, a bus that each bit crosses twice, and a processor.
PATH = PRELUDE + (
    "param rate = 1 Mbit/s in 1..5000 Mbit/s\nparam pace elastic 1 bit/s .. 9000 Mbit/s\n"
    "option copied = off\n"
    "machine host { bus 1000 Mbit/s; cpu 300 Mbit/s }\nnetwork cable { shared; rate rate }\n"
    "component take { bus 2 bit/bit; cpu 1 bit/bit }\ncomponent copy { cpu 1 bit/bit }\n"
    "topology { node far = box; node near = host; link lan = cable between far, near }\n"
    "stream flow { traffic pace; at far { }; over lan; at near { take; copy if copied } }\n"
)


FIGURE = "figure f { over rate in 1000..5000 Mbit/s; loads with N = 1 }\n"


def drawn(text: str) -> DrawnFigure:
    model = checked(text).model
    return draw(ClaimRunner(model=model), model.figures[0])


def reported(text: str) -> tuple[str, ...]:
    figure = drawn(text)
    return leads_text(figure, figure.figure.parameter or "N")


# -- the envelope --------------------------------------------------------------------------


def test_the_highest_of_lines_and_where_they_meet() -> None:
    loads = {"a": X / 2, "b": 2 * X - 3, "c": number(1)}
    first, changes = upper_envelope(loads, X, Fraction(0), Fraction(10))
    assert first == "c"
    assert [(change.at, change.to) for change in changes] == [(2.0, "b")]
    assert equal_at(loads, X, "b", Fraction(2)) == ("b", "a", "c")


def test_of_loads_that_begin_alike_the_one_that_grows_faster_leads() -> None:
    first, changes = upper_envelope({"a": X, "b": 3 * X}, X, Fraction(0), Fraction(5))
    assert (first, changes) == ("b", ())


def test_what_is_no_rational_function_is_bracketed() -> None:
    loads = {"root": square_root(X), "line": X / 3}
    first, changes = upper_envelope(loads, X, Fraction(1), Fraction(100))
    assert first == "root"
    assert [change.to for change in changes] == ["line"]
    assert changes[0].at == pytest.approx(9, rel=1e-10)


_parabola = st.tuples(st.integers(0, 6), st.integers(-9, 9), st.integers(-9, 9))


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(_parabola, min_size=2, max_size=4))
def test_the_envelope_is_the_highest_everywhere(shapes: list[tuple[int, int, int]]) -> None:
    loads = {f"r{i}": a * X**2 + b * X + c for i, (a, b, c) in enumerate(shapes)}
    first, changes = upper_envelope(loads, X, Fraction(0), Fraction(8))
    for step in range(1, 160, 3):
        at = Fraction(step, 20) + Fraction(1, 777)
        leader = [first, *(c.to for c in changes if c.at < at)][-1]
        values = {name: EvaluationPoint({X: at}).number(load) for name, load in loads.items()}
        assert values[leader] >= max(values.values()) - 1e-6


# -- figures -------------------------------------------------------------------------------


def test_loads_are_a_line_for_each_resource() -> None:
    figure = drawn(PATH + "figure f { over rate in 10..1000 Mbit/s; loads with N = 1 }\n")
    curves = {curve.label: curve.values for curve in figure.curves}
    assert set(curves) == {"lan", "near.bus", "near.cpu"}
    for rate, lan, bus, cpu in zip(
        figure.at, *(curves[n] for n in ("lan", "near.bus", "near.cpu")), strict=True
    ):
        through = min(rate, 3e8)
        assert (lan, bus, cpu) == pytest.approx((through / rate, 2 * through / 1e9, through / 3e8))


def test_an_elastic_rate_hands_over_where_the_next_resource_is_full() -> None:
    figure = drawn(PATH + "figure f { over rate in 10..1000 Mbit/s; loads with N = 1 }\n")
    (leads,) = figure.leads
    assert leads.exact
    assert [lead.lines for lead in leads.leads] == [("lan",), ("near.cpu",)]
    assert leads.leads[0].to == 3e8  # exact, and no point of the axis
    assert 3e8 not in figure.at


def test_the_sentences() -> None:
    assert reported(PATH + "figure f { over rate in 10..1000 Mbit/s; loads with N = 1 }\n") == (
        "lan leads up to 300 Mbit/s, then near.cpu.",
    )
    assert reported(
        PATH + "figure f { over rate in 10..1000 Mbit/s\n"
        'loads "once" with N = 1; loads "twice" with N = 1, copied = on }\n'
    ) == (
        "once: lan leads up to 300 Mbit/s, then near.cpu.",
        "twice: lan leads up to 150 Mbit/s, then near.cpu.",
    )
    assert reported(PATH + "figure f { over rate in 500..1000 Mbit/s; loads with N = 1 }\n") == (
        "near.cpu leads throughout.",
    )


def test_three_resources_lead_in_turn() -> None:
    # The bus is loaded by 0.5 + N/1000, the disk by 0.3 + N/100, the wire by N²/1000.
    text = PRELUDE + (
        "machine host { bus 1000 packet/s, idle 50 %; disk 100 packet/s, idle 30 % }\n"
        "network cable { shared; rate 1 packet/s * 1000 bit/packet }\n"
        "component step { bus 1 packet/packet; disk 1 packet/packet }\n"
        "topology { node near = host; node far = box; link lan = cable between near, far }\n"
        "stream flow { traffic N * 1 packet/s, 1 bit/packet * N\n"
        "  at near { step }; over lan; at far { } }\n"
        "figure f { over N in 1..60; loads }\n"
    )
    # 0.5 + N/1000 = 0.3 + N/100 at 200/9; 0.3 + N/100 = N²/1000 at 5 + sqrt(325)
    assert reported(text) == (
        "near.bus leads up to N = 22.22, then near.disk up to N = 23.03, then lan.",
    )


def test_lines_of_loads_are_compared_where_they_are_of_one_model() -> None:
    text = PATH + (
        "figure f { over rate in 10..1000 Mbit/s; line lan.load with N = 1\n"
        "line near.cpu.load with N = 1\n"
        'line "bus" near.bus.load with N = 1, copied = on; line "full" 1 }\n'
    )
    assert reported(text) == ("lan.load leads up to 300 Mbit/s, then near.cpu.load.",)


def test_equal_loads_lead_together() -> None:
    text = PRELUDE + (
        "machine host { left 10 packet/s; right 10 packet/s }\n"
        "component step { left 1 packet/packet; right 1 packet/packet }\n"
        "topology { node a = host }\n"
        "stream flow { traffic N * 1 packet/s; at a { step } }\nfigure f { over N in 1..9; loads }\n"
    )
    assert reported(text) == ("a.left and a.right lead together throughout.",)


def test_no_loads_no_sentence() -> None:
    assert (
        reported(
            PATH + "figure f { over rate in 10..99 Mbit/s; line flow.throughput with N = 1 }\n"
        )
        == ()
    )


def test_where_a_condition_decides_the_place_is_bisected() -> None:
    # Beyond 2000 Mbit/s the processor has twice the work: 1250 Mbit/s go through.
    text = (
        PATH.replace("cpu 300 Mbit/s", "cpu 2500 Mbit/s")
        .replace("bus 1000", "bus 10000")
        .replace("copy if copied", "copy if rate > 2000 Mbit/s")
    )
    (leads,) = drawn(text + FIGURE).leads
    assert not leads.exact
    assert reported(text + FIGURE)[0].endswith(" (tried at the points of the axis).")
    assert [lead.lines for lead in leads.leads] == [("lan",), ("near.cpu",)]
    assert leads.leads[0].to == pytest.approx(2e9, rel=1e-6)


# -- the command line ----------------------------------------------------------------------


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "path.qps"
    path.write_text(
        PATH + 'figure f "Who <leads>?" { over rate in 10..1000 Mbit/s; loads with N = 1\n'
        'source "known" }\n'
    )
    return str(path)


def test_explain_prints_a_figure(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", spec, "f"]) == 0
    printed = capsys.readouterr().out
    assert "lan leads up to 300 Mbit/s, then near.cpu." in printed
    assert "known" in printed
    assert main(["explain", spec, "f", "--format", "markdown"]) == 0
    assert "| lan |" in capsys.readouterr().out
    assert main(["explain", spec, "f", "--format", "json"]) == 0
    view = json.loads(capsys.readouterr().out)
    assert view["schema"] == "qps/figure/1"
    assert view["leads"] == [
        {
            "of": "",
            "leads": [
                {"lines": ["lan"], "from": 1e7, "to": 3e8},
                {"lines": ["near.cpu"], "from": 3e8, "to": 1e9},
            ],
            "exact": True,
        }
    ]
    assert len(view["lines"]) == 3
    assert len(view["at"]) == len(view["lines"][0]["values"])


@pytest.mark.parametrize("flags", [["--set", "copied=on"], ["--at", "3"], ["--scenario", "x"]])
def test_a_figure_takes_no_settings(
    spec: str, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert main(["explain", spec, "f", *flags]) == 2
    assert "do not apply to a figure" in capsys.readouterr().err


def test_the_report_says_who_leads(spec: str, tmp_path: Path) -> None:
    output = tmp_path / "out.html"
    assert main(["report", spec, "--figure", "f", "-o", str(output)]) == 0
    page = output.read_text(encoding="utf-8")
    assert "lan leads up to 300 Mbit/s, then near.cpu." in page
    assert "<leads>" not in page


def test_loads_that_jump_lead_between_two_points_of_any_grid() -> None:
    # a saw of teeth 3 wide, from 1 down to 0, against one half: ten to a step of a grid
    loads = {"half": R(1, 2), "saw": ceil(X / 3) - X / 3}
    first, changes = upper_envelope(loads, X, Fraction(1), Fraction(30_000))
    assert first == "saw"
    found = [(c.at, c.to) for c in changes]
    assert found[:4] == [(1.5, "half"), (3, "saw"), (4.5, "half"), (6, "saw")]
    assert found[4:] == [(7.5, None)]  # so many changes are listed: that there are more is told


def test_the_population_from_which_bounds_are_inconclusive_is_reported() -> None:
    # two loads that touch all the time: teeth as high as what they are compared with
    teeth = ceil(1_000_000_007 * X) - 1_000_000_007 * X
    loads = {"level": number(1), "root": square_root(X), "teeth": teeth * teeth * exp(teeth - 1)}
    first, changes = upper_envelope(loads, X, Fraction(1, 4), Fraction(9))
    assert first == "level"
    assert changes[0].to is None
    assert changes[0].at < 1


def test_of_loads_that_begin_alike_the_one_just_behind_leads() -> None:
    # from 0 on the exponential is above the line for the first thousandth of a millionth
    line, bump = 2 * X, exp(X * (R(1, 10**9) - X)) - 1 + 2 * X
    first, changes = upper_envelope({"line": line, "bump": bump}, X, Fraction(0), Fraction(1))
    assert first == "bump"
    assert [change.to for change in changes] == ["line"]
    assert changes[0].at == pytest.approx(1e-9, rel=1e-12)
