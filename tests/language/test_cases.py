"""Parameters with several values: average, least, largest, by kind; the case in force."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from helpers.answers import answer_of
from helpers.cases.parameter_cases import BASE, FILM, MEAN, messages
from helpers.specs import PRELUDE, at, checked, latency, load, lowered
from oracles.plain_model import plain_measure
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import load as load_spec
from qps.reports.text.solutions.answer_text import circumstances
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw
from qps.solver.what_if.advice import advise
from qps.solver.what_if.inverse import solve_for


def value(text: str, *settings: str, population: int = 10) -> Fraction:
    """Return an expression exactly, in the model as set."""
    graph = lowered(f"{BASE}measure m = {text}\n", *settings)
    return at(graph, graph.measures["m"].value, population)


VALUES = [
    # what, in which case, in base units
    ("display", "", "0.012"),
    ("display", "case = average", "0.012"),
    ("display", "case = least", "0.007"),
    ("display", "case = largest", "0.015"),
    ("largest(display)", "", "0.015"),
    ("least(display)", "case = largest", "0.007"),
    ("average(display)", "case = least", "0.012"),
    ("size", "", MEAN),
    ("size", "case = least", "8000"),
    ("size", "case = largest", "264000"),
    ("size.I", "", "160000"),
    ("size.B", "case = largest", "56000"),
    ("largest(size.P)", "case = least", "176000"),
    ("film.I", "", "6/35"),
    ("film.I + film.P + film.B", "case = least", "1"),
    ("gop.B", "", "2/3"),
    ("audience.heavy", "", "0.1"),
    ("film.I * size.I + film.P * size.P + film.B * size.B", "", MEAN),
    ("think", "", "64"),
    ("think", "case = least", "10"),
    ("think", "case = largest", "90"),
    ("think.medium", "case = largest", "30"),
    ("even", "", "3"),
    ("even", "case = least", "0"),
    ("even.P", "", "0"),
    ("doubled", "", "0.024"),
    ("doubled", "case = least", "0.014"),
    ("largest(doubled)", "", "0.03"),
    ("largest(doubled) + display", "case = least", "0.037"),
    ("double", "case = largest", "528000"),
    ("largest(double)", "", "528000"),
    ("largest(double - size)", "", "264000"),
    ("largest(2 * least(size))", "", "16000"),
    ("tripled(size)", "", "792000"),
    ("tripled(size)", "case = least", "792000"),
    ("largest(N * 1 s)", "", "10"),
    ("largest(display * count(host))", "", "0.015"),
    ("largest(if display > 13 ms/packet then 2 else 1)", "", "2"),
    ("if largest(display) > 13 ms/packet then 2 else 1", "", "2"),
    ("if display > 13 ms/packet then 2 else 1", "", "1"),
    ("if display > 13 ms/packet then 2 else 1", "case = largest", "2"),
    ("some", "", Fraction(6, 10) * Fraction(24, 1000) + Fraction(3, 10) * Fraction(4, 1000) + Fraction(1, 10000)),
    ("some", "case = largest", "0.09"),
    ("largest(some.light)", "", "0.03"),
    ("largest(duo)", "", "0.005"),
    # what is set is one value, in all cases and of all kinds
    ("display", "display = 9 ms/packet; case = largest", "0.009"),
    ("largest(display)", "display = 9 ms/packet", "0.009"),
    ("size", "size = 5 kB/packet; case = least", "40000"),
    ("size.I", "size = 5 kB/packet", "40000"),
    ("largest(size.P)", "size = 5 kB/packet", "40000"),
    ("size", "size.I = 90 kB/packet; case = largest", "720000"),
    ("size", "size.B = 3 kB/packet", MEAN),
    ("size.B", "size.B = 5 kB/packet; case = least", "40000"),
    ("size", "size = 2 * 5 kB/packet", "80000"),
    ("doubled", "display = 3 * duo; case = largest", "0.03"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "how", "expected"), VALUES)
def test_values_by_case(what: str, how: str, expected: str | Fraction) -> None:
    changes = [change.strip() for change in how.split(";") if change]
    assert value(what, *changes) == Fraction(expected)
    # the oracle, written from the reference, says the same
    spec = checked(f"{BASE}measure m = {what}\n")
    measure = spec.model.measures[0].value.expr
    configuration = spec.configuration(None, changes)
    assert plain_measure(spec.model, configuration, measure, 10) == Fraction(expected)


# -- in the model ----------------------------------------------------------------------------


def test_costs_and_sizes_are_those_of_the_case_in_force() -> None:
    graph = lowered(BASE)
    assert load(graph, "far.cpu", 10) == Fraction("0.12")
    assert load(graph, "lan", 10) == 10 * MEAN / 10**6
    worst = lowered(BASE, "case = largest")
    assert load(worst, "far.cpu", 10) == Fraction("0.15")
    assert load(worst, "lan", 1) == Fraction("0.264")
    assert latency(worst, "flow", 1) == Fraction("0.264") + Fraction("0.015")


def test_requirements_and_limits_by_case() -> None:
    text = BASE + "require { flow.latency <= (4 * display + size / (1 Mbit/s)) * 1 packet }"
    assert (
        solve_model(checked(text).model, checked(text).configuration()).limited_by
        == "lan.utilization"
    )
    result = BASE + "measure late = display\nrequire { late <= 14 ms/packet }"
    spec = checked(result)
    assert solve_model(spec.model, spec.configuration()).capacity == 16
    worst = solve_model(spec.model, spec.configuration(None, ["case = largest"]))
    assert (worst.capacity, worst.limited_by) == (None, "late")


def test_scenarios_modes_and_claims_choose_the_case() -> None:
    text = BASE + (
        "scenario worst { case = largest }\nmode calm { }\nmode busy { case = largest }\n"
        "mode quiet { case = least }\n"
        "expect e { far.cpu.load ~ 12 % within 0 % with N = 10, mode = calm\n"
        "far.cpu.load ~ 15 % within 0 % with N = 10, mode = busy\n"
        "far.cpu.load ~ 7 % within 0 % with N = 10, mode = quiet\n"
        "far.cpu.load ~ 15 % within 0 % with N = 10, scenario = worst\n"
        "(far.cpu.load with case = least) < far.cpu.load with N = 10, case = largest\n"
        "(flow.latency with case = largest) > largest(display) * 1 packet with N = 1\n"
        'source "arithmetic" }'
    )
    results = Claims(
        ClaimRunner(
            model=checked(
                text.replace("mode quiet", "mode still").replace("= quiet", "= still")
            ).model
        )
    ).results()
    assert [r.holds for r in results] == [True] * 6
    spec = checked(text)
    answer = answer_of(spec)
    assert (answer.mode, answer.case) == ("busy", "largest")
    assert circumstances(answer) == ("case largest",)


def test_the_title_and_json_state_the_case(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "film.qps"
    file.write_text('"""Film."""\n' + BASE + "scenario worst { case = largest }\n")
    for changes, title in (
        ([], "Film FILE"),
        (["--scenario", "worst"], "Film FILE, scenario worst, case largest"),
        (["--set", "case = least"], "Film FILE, case = least"),
        (["--set", "case=average"], "Film FILE, case=average"),
    ):  # fmt: skip
        main(["solve", "--all", str(file), "--no-advice", *changes])
        heading = capsys.readouterr().out.split("\n\n")[0]
        assert " ".join(heading.split()) == title.replace("FILE", str(file))
    main(["solve", str(file), "--no-advice", "--format", "json", "--scenario", "worst"])
    assert json.loads(capsys.readouterr().out)["case"] == "largest"
    file.write_text(
        PRELUDE
        + "topology { node host = box }\nstream f { traffic N * 1 packet/s; at host { work } }\n"
    )
    main(["solve", str(file), "--no-advice", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["case"] is None


def test_observations_set_the_case_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(
        "users,case,busy\n10,average,0.12\n10,largest,0.15\n10,least,0.08\n"
    )
    spec = tmp_path / "film.qps"
    spec.write_text(
        BASE
        + 'observe runs "runs.csv" { users -> N; case -> case; busy -> far.cpu.load within 1 %; source "us" }'
    )
    results = Claims(ClaimRunner(model=load_spec(spec).model)).results()
    assert [r.holds for r in results] == [True, True, False]


def test_figures_draw_cases_next_to_each_other() -> None:
    text = BASE + (
        'figure f { over N in 1..10; line far.cpu.load; line far.cpu.load with case = largest; source "us" }\n'
        'figure g { over size in 1..9 kB/packet; line lan.load with N = 1; line largest(size) / (1 Mbit/packet) with N = 1; line size.I / (1 Mbit/packet) with N = 1; source "us" }\n'
    )
    model = checked(text).model
    first, second = (draw(ClaimRunner(model=model), figure) for figure in model.figures)
    assert first.curves[1].values[-1] == pytest.approx(0.15)
    assert first.curves[0].values[-1] == pytest.approx(0.12)
    # along its own axis, a parameter is one number, whatever is asked of it
    for curve in second.curves:
        assert curve.values[0] == pytest.approx(0.008)
        assert curve.values[-1] == pytest.approx(0.072)


def test_figures_over_one_kind() -> None:
    text = BASE + (
        "figure f { over size.I in 0..90 kB/packet; line size with N = 1; line largest(size) with N = 1 }\n"
    )
    model = checked(text).model
    mean, top = draw(ClaimRunner(model=model), model.figures[0]).curves
    rest = float(Fraction(29 * 13 + 116 * 3, 175))
    assert mean.values[0] == pytest.approx(rest * 8000)
    assert mean.values[-1] == pytest.approx((rest + 30 / 175 * 90) * 8000)
    assert (top.values[0], top.values[-1]) == (176_000, 720_000)
    assert messages(BASE + "figure f { over size.X in 0..9 kB/packet; line lan.load }\n") == [
        "`film` has no kind `X`"
    ]


def test_the_question_turned_round_for_one_kind() -> None:
    spec = checked(BASE)
    found = solve_for(spec.model, spec.configuration(), "size.I", 20)
    # 30 of 175 frames may be so large that the mean is 50 kbit
    rest = Fraction(29 * 13 + 116 * 3, 175) * 1000 * 8
    assert found.intervals[0].high == pytest.approx(float((50_000 - rest) / Fraction(30, 175)))
    # The largest frame of all counts: one of 264 kbit goes three times into 1 Mbit, not four times.
    largest = spec.configuration(None, ["case = largest"])
    assert solve_for(spec.model, largest, "size.B", 3).intervals[0].high == pytest.approx(1e6 / 3)
    assert solve_for(spec.model, largest, "size.B", 4).intervals == ()


def test_a_kind_with_a_plain_value_can_be_requested() -> None:
    spec = checked(BASE.replace("cpu display", "cpu think * 1 ms / (1 s * 1 packet)"))
    found = solve_for(spec.model, spec.configuration(), "think.light", 10)
    # 10 packets in a second leave 100 ms for each: 100 = 0.6 light + 0.3 * 30 + 0.1 * 10
    assert found.intervals[0].high == pytest.approx(150)
    assert found.intervals[0].fails_above is not None
    assert found.intervals[0].fails_above.requirement == "far.cpu.utilization"


def test_a_share_cannot_be_requested() -> None:
    spec = checked(BASE + "measure m = film.I * size.I\n")
    with pytest.raises(QpsError) as raised:
        solve_for(spec.model, spec.configuration(), "film.I", 10)
    assert raised.value.diagnostics[0].message.startswith("`film.I` is one of several shares")


def test_the_report_states_the_case(tmp_path: Path) -> None:
    file = tmp_path / "film.qps"
    file.write_text(BASE + "scenario worst { case = largest }\n")
    main(["report", str(file), "--scenario", "worst", "-o", str(tmp_path / "film.html"), "-q"])
    page = (tmp_path / "film.html").read_text()
    assert "largest (alternatives: average, least)" in page
    assert "scenario worst, case largest" in page


def test_the_question_turned_round() -> None:
    spec = checked(BASE)
    found = solve_for(spec.model, spec.configuration(), "size", 20)
    assert found.intervals[0].high == pytest.approx(50_000)
    assert found.number.current == {None: pytest.approx(float(MEAN))}
    worst = solve_for(spec.model, spec.configuration(None, ["case = largest"]), "size", 20)
    assert worst.intervals[0].high == pytest.approx(50_000)
    assert worst.number.current == {None: pytest.approx(264_000)}


def test_less_of_a_parameter_is_less_of_all_its_values() -> None:
    spec = checked(BASE)
    for case in ("average", "largest"):
        configuration = spec.configuration(None, [f"case = {case}"])
        solution = solve_model(spec.model, configuration)
        advice = {a.change: a for a in advise(spec.model, configuration, solution)}
        less = advice["10 % less size"]
        size = float(MEAN) if case == "average" else 264_000
        assert less.capacity == int(10**6 / (size * 0.9))
        assert not less.set


def test_kinds_and_values_of_an_imported_module(tmp_path: Path) -> None:
    (tmp_path / "film.qps").write_text(FILM)
    main_spec = tmp_path / "main.qps"
    main_spec.write_text(
        'use "film.qps" as f\n' + PRELUDE + "param own by f.film { I 3 s; P 2 s; B 1 s }\n"
        "topology { node host = box }\nstream flow { traffic N * 1 packet/s, f.size; at host { work } }\n"
        "measure a = f.size.I + f.film.B * 1 byte/packet\nmeasure b = largest(f.size)\nmeasure c = own.P * f.film.P\n"
    )
    spec = load_spec(main_spec)

    graph = lower(spec.model, spec.configuration())
    by_name = {name: at(graph, m.value, 1) for name, m in graph.measures.items()}
    assert by_name == {
        "a": 160_000 + 8 * Fraction(116, 175),
        "b": Fraction(264_000),
        "c": Fraction(58, 175),
    }
    set_to = lower(spec.model, spec.configuration(None, ["f.size.I = 7 kB/packet"]))
    assert at(set_to, set_to.measures["a"].value, 1) == 56_000 + 8 * Fraction(116, 175)
    assert "f.size.I" in graph.assumptions
