"""Figures: what they draw is what the model says, point by point."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from math import isnan
from pathlib import Path

import numpy as np
import pytest

import qps
from helpers.specs import PRELUDE, checked, load, lowered
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import DrawnFigure, draw

ONE = "topology { node host = box }\n"
BASE = PRELUDE + (
    "param pace = 3 packet/s in 0..200 packet/s\nparam p = 3\noption twice_as_much = off\n"
    + ONE
    + "stream flow { traffic N * pace; at host { work; work if twice_as_much } }\n"
    "scenario heavy { twice_as_much = on }\n"
)


def _drawn(text: str) -> DrawnFigure:
    model = checked(text).model
    return draw(ClaimRunner(model=model), model.figures[0])


def _lines(text: str) -> dict[str, list[float]]:
    return {curve.label: list(curve.values) for curve in _drawn(text).curves}


# -- over the population -------------------------------------------------------------------


def test_over_the_population_it_says_what_a_sweep_says() -> None:
    text = BASE + (
        "require { flow.loss <= 20 %; host.cpu.load <= 90 % }\n"
        "figure f { over N in 2..80; line host.cpu.utilization; line quality; line flow.loss }\n"
    )
    drawn = _drawn(text)
    assert (drawn.at[0], drawn.at[-1]) == (2, 80)
    assert np.allclose(np.diff(drawn.at), 78 / (len(drawn.at) - 1))
    table = qps.loads(text).sweep(N=drawn.at)  # type: ignore[arg-type]
    by_name = {curve.label: curve.values for curve in drawn.curves}
    assert set(by_name) == {"host.cpu.utilization", "quality", "flow.loss"}
    for name, values in by_name.items():
        assert values == pytest.approx(table[name].tolist(), rel=1e-12)
    # 3 packets a second at 10 ms
    assert by_name["host.cpu.utilization"] == pytest.approx([0.03 * n for n in drawn.at])
    # beyond 33.3 users, 1 - 1/load are lost; 20 % of them are the limit
    expected = [max(0, 1 - 1 / (0.03 * n)) / 0.2 for n in drawn.at]
    assert by_name["quality"] == pytest.approx(expected)


def test_lines_have_changes_of_their_own() -> None:
    result = _lines(
        BASE + 'figure f { over N in 1..40; line "usual" host.cpu.load\n'
        'line "faster" host.cpu.load with pace = 4 packet/s\n'
        'line "scenario" host.cpu.load with scenario = heavy\n'
        'line "at ten" host.cpu.load with N = 10\nline "limit" 1; line p / 10 }\n'
    )
    usual = result["usual"]
    assert result["faster"] == pytest.approx([value * 4 / 3 for value in usual])
    assert result["scenario"] == pytest.approx([value * 2 for value in usual])
    assert result["at ten"] == pytest.approx([0.3] * len(usual))
    assert result["limit"] == [1] * len(usual)
    assert result["p / 10"] == pytest.approx([0.3] * len(usual))


def test_a_line_without_a_label_is_called_by_its_text() -> None:
    assert list(_lines(BASE + "figure f { over N in 1..9; line host.cpu.load  *\n 2 }\n")) == [
        "host.cpu.load * 2"
    ]


def test_modes_are_lines_and_quality_is_the_poorest() -> None:
    result = _lines(
        BASE + "measure m = N\nmode calm { m <= 100 }\nmode busy { m <= 50; pace = 6 packet/s }\n"
        'figure f { over N in 1..50; line "calm" quality with mode = calm\n'
        'line "busy" quality with mode = busy; line "worst" quality\n'
        'line "load" host.cpu.load with mode = busy }\n'
    )
    at = np.linspace(1, 50, len(result["calm"]))
    assert result["calm"] == pytest.approx((at / 100).tolist())
    assert result["busy"] == pytest.approx((at / 50).tolist())
    assert result["worst"] == result["busy"]
    assert result["load"] == pytest.approx((at * 0.06).tolist())


def test_elastic_parameters_bend_their_lines() -> None:
    text = PRELUDE + "param x elastic 2..30 packet/s\n" + ONE + (
        "stream flow { traffic N * x; at host { work } }\n"
        'figure f { over N in 1..80; line "x" x; line "each" flow.rate / N }\n'
    )  # fmt: skip
    drawn = _drawn(text)
    by_name = {curve.label: curve.values for curve in drawn.curves}
    assert by_name["x"] == pytest.approx([min(30, max(2, 100 / n)) for n in drawn.at])
    # beyond 50 users the processor does 100 packets a second
    assert by_name["each"] == pytest.approx([min(30, 100 / n) for n in drawn.at])


def test_where_a_line_has_no_real_value_it_has_a_gap() -> None:
    drawn = _drawn(
        BASE + "figure f { over N in 1..40; line sqrt(20 - N); line N; line lambert_w(-N) }\n"
    )
    roots, all_of_them, none = (curve.values for curve in drawn.curves)
    for n, value in zip(drawn.at, roots, strict=True):
        assert isnan(value) if n > 20 else value == pytest.approx((20 - n) ** 0.5)
    assert list(all_of_them) == pytest.approx(list(drawn.at))
    assert all(isnan(value) for value in none)


def test_a_logarithmic_axis_has_points_in_proportion() -> None:
    drawn = _drawn(BASE + "figure f { over N in 1..1000; line host.cpu.load; log x }\n")
    assert drawn.at == tuple(sorted(set(np.geomspace(1, 1000, 241).round())))
    assert drawn.curves[0].values == pytest.approx([0.03 * n for n in drawn.at])
    level = _drawn(BASE + "figure f { over N in 1..1000; line host.cpu.load; log y }\n")
    assert level.at == tuple(np.linspace(1, 1000, 241).round())


def test_of_few_users_each_number_is_a_point() -> None:
    drawn = _drawn(BASE + "figure f { over N in 1..40; line host.cpu.load }\n")
    assert drawn.at == tuple(range(1, 41))


# -- over a parameter ----------------------------------------------------------------------


def test_over_a_parameter_in_base_units() -> None:
    drawn = _drawn(
        BASE + "figure f { over pace in 60..6000 packet/minute\n"
        'line "ten" host.cpu.load with N = 10; line "forty" host.cpu.load with N = 40\n'
        'line "heavy" host.cpu.load with N = 10, scenario = heavy }\n'
    )
    assert (drawn.at[0], drawn.at[-1]) == (1, 100)
    by_name = {curve.label: curve.values for curve in drawn.curves}
    assert by_name["ten"] == pytest.approx([0.1 * point for point in drawn.at])
    assert by_name["forty"] == pytest.approx([0.4 * point for point in drawn.at])
    assert by_name["heavy"] == pytest.approx([0.2 * point for point in drawn.at])


def test_over_a_parameter_it_says_what_setting_it_says() -> None:
    text = BASE + (
        "param cost = 10 ms/packet\ncomponent paid { cpu cost; delay cost * 1 packet }\n"
        "stream more { traffic N * 1 packet/s; at host { paid } }\n"
        "require { more.latency <= 100 ms; flow.loss <= 10 % }\n"
        "figure f { over cost in 5..80 ms/packet; line host.cpu.load with N = 7; line quality with N = 7 }\n"
    )
    drawn = _drawn(text)
    for index in (0, 17, 120, len(drawn.at) - 1):
        exact = Fraction(drawn.at[index]).limit_denominator(10**9)
        change = f"cost = ({exact.numerator} / {exact.denominator}) * 1 s/packet"
        result = load(lowered(text, change), "host.cpu", 7)
        assert drawn.curves[0].values[index] == pytest.approx(float(result), rel=1e-6)
        table = qps.loads(text).sweep(set={"cost": change.split("= ")[1]}, N=[7])
        assert drawn.curves[1].values[index] == pytest.approx(table["quality"][0], rel=1e-6)


def test_parameters_that_depend_on_the_axis_follow_it() -> None:
    text = BASE + "param double = 2 * p\nlet triple = p + double\n" + (
        "figure f { over p in 1..5; line triple; line double with N = 3 }\n"
    )  # fmt: skip
    drawn = _drawn(text)
    assert drawn.curves[0].values == pytest.approx([3 * point for point in drawn.at])
    assert drawn.curves[1].values == pytest.approx([2 * point for point in drawn.at])


def test_a_parameter_that_depends_on_another_may_be_the_axis() -> None:
    text = BASE + "param double = 2 * p\nfigure f { over double in 1..5; line double + p }\n"
    drawn = _drawn(text)
    assert drawn.curves[0].values == pytest.approx([point + 3 for point in drawn.at])


def test_an_elastic_parameter_as_the_axis_is_fixed_at_each_point() -> None:
    text = PRELUDE + "param x elastic 2..30 packet/s\n" + ONE + (
        "stream flow { traffic N * x; at host { work } }\n"
        "figure f { over x in 2..30 packet/s; line host.cpu.load with N = 10 }\n"
    )  # fmt: skip
    drawn = _drawn(text)
    assert drawn.curves[0].values == pytest.approx([0.1 * point for point in drawn.at])


def test_a_condition_on_the_axis_is_settled_point_by_point() -> None:
    drawn = _drawn(
        BASE + "figure f { over p in 0..10; line if p > 4 then 10 * p else p; line p }\n"
    )
    steps, straight = (curve.values for curve in drawn.curves)
    assert len(drawn.at) == len(steps) == len(straight)
    assert list(steps) == pytest.approx([10 * x if x > 4 else x for x in drawn.at])
    assert list(straight) == pytest.approx(list(drawn.at))


def test_a_step_that_the_axis_switches_on_shows() -> None:
    text = BASE.replace("work if twice_as_much", "work if p >= 5") + (
        "figure f { over p in 1..9; line host.cpu.load with N = 10; log x }\n"
    )
    drawn = _drawn(text)
    assert list(drawn.curves[0].values) == pytest.approx([0.6 if x >= 5 else 0.3 for x in drawn.at])


def test_a_condition_that_holds_in_the_middle_only_shows() -> None:
    drawn = _drawn(
        BASE + "figure f { over p in 0..10; line if p > 4 and p < 6 then 7 else 1 with N = 10 }\n"
    )
    expected = [7 if 4 < x < 6 else 1 for x in drawn.at]
    assert list(drawn.curves[0].values) == pytest.approx(expected)


def test_a_line_that_sets_the_axis_itself_is_level() -> None:
    drawn = _drawn(BASE + "figure f { over p in 1..5; line p with p = 3 }\n")
    assert list(drawn.curves[0].values) == [3] * len(drawn.at)


def test_the_axis_wins_over_modes_and_scenarios() -> None:
    drawn = _drawn(
        BASE
        + "mode own { p = 2 }\nscenario other { p = 4 }\nmeasure m = N * p\nrequire { m <= 100 }\n"
        "figure f { over p in 1..5; line p with mode = own; line p with scenario = other\n"
        "line quality with N = 10; line quality with N = 10, mode = own }\n"
    )
    for curve in drawn.curves[:2]:
        assert curve.values == pytest.approx(drawn.at)
    for curve in drawn.curves[2:]:
        assert curve.values == pytest.approx([point / 10 for point in drawn.at])


# -- what cannot be ------------------------------------------------------------------------


def _refused(figure: str) -> tuple[str, str, str | None]:
    with pytest.raises(QpsError) as raised:
        _drawn(BASE + figure)
    (diagnostic,) = raised.value.diagnostics
    return (
        diagnostic.code.id,
        diagnostic.message,
        diagnostic.primary.span.text if diagnostic.primary else None,
    )


def test_a_line_that_needs_the_population_says_so() -> None:
    assert _refused('figure f { over p in 1..5; line 1; line "l" host.cpu.load * p }\n') == (
        "QPS0602",
        "this line depends on N, which is not the axis of the figure",
        'line "l" host.cpu.load * p',
    )


def test_an_axis_beyond_the_range_of_its_parameter_is_refused() -> None:
    code, message, _ = _refused("figure f { over pace in 1..201 packet/s; line pace }\n")
    assert (code, message) == ("QPS0309", "the axis leaves the range of `pace`")


def test_an_axis_beyond_its_range_is_shown_where_it_is_stated() -> None:
    place = _refused("figure f { over pace in 1..201 packet/s; line p }\n")[2]
    assert place is not None
    assert "201" in place
    assert "line" not in place


def test_a_quality_that_nothing_makes_is_refused() -> None:
    code, message, _ = _refused("figure f { over N in 1..20; line quality }\n")
    assert (code, message) == ("QPS0602", "the spec has no requirement that defines quality")


def test_a_quality_that_nothing_makes_can_be_fixed() -> None:
    with pytest.raises(QpsError) as raised:
        _drawn(BASE + "figure f { over N in 1..20; line quality }\n")
    assert raised.value.diagnostics[0].hints


# -- from the command line -----------------------------------------------------------------

REPORTED = BASE + (
    'figure first "Load against users" { over N in 1..60; line "measured load" host.cpu.load; source "a guess" }\n'
    'figure second "Load against pace" { over pace in 1..9 packet/s; line "fixed load" host.cpu.load with N = 5; log y }\n'
)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("drawn.qps")
    path.write_text(REPORTED)
    return path


def _report(
    capsys: pytest.CaptureFixture[str], spec: Path, *arguments: str
) -> tuple[int, str, str, str]:
    """Return the status, what was printed, what was complained of, and the page."""
    status = main(["report", str(spec), "-o", "out.html", *arguments])
    printed = capsys.readouterr()
    page = Path("out.html").read_text() if Path("out.html").exists() else ""
    return status, printed.out, printed.err, page


def test_a_report_draws_all_figures(capsys: pytest.CaptureFixture[str], spec: Path) -> None:
    status, _, _, page = _report(capsys, spec)
    assert status == 0
    for word in ("Load against users", "Load against pace", "measured load", "fixed load"):
        assert word in page
    assert "a guess" in page


def test_one_figure_may_be_requested(capsys: pytest.CaptureFixture[str], spec: Path) -> None:
    status, out, _, page = _report(capsys, spec, "--figure", "second")
    assert (status, out) == (0, "1 figure written to out.html\n")
    assert "Load against pace" in page
    assert "Load against users" not in page
    whole = _report(capsys, spec)[3]
    assert len(page) < len(whole)


def test_figures_alone_have_no_uncertainty_of_the_answer(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    spec.write_text(REPORTED.replace("pace = 3 packet/s", "pace = 3 packet/s +- 10 %"))
    assert "new-samples" in _report(capsys, spec)[3]
    status, out, _, page = _report(capsys, spec, "--figure", "second")
    assert (status, out) == (0, "1 figure written to out.html\n")
    assert "Load against pace" in page
    assert "new-samples" not in page


def test_several_figures_may_be_requested_each_once(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    chosen = ["--figure", "second", "--figure", "first", "--figure", "second"]
    status, out, _, page = _report(capsys, spec, *chosen)
    assert (status, out) == (0, "2 figures written to out.html\n")
    # in the order asked for
    assert page.index("Load against pace") < page.index("Load against users")


def test_a_figure_that_is_not_there_is_refused(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    status, out, err, page = _report(capsys, spec, "--figure", "frist")
    assert (status, out, page) == (2, "", "")
    assert "drawn.qps has no figure named `frist`" in err
    assert "did you mean `first`?" in err


def test_without_figures_it_is_said_how_to_have_one(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    spec.write_text(BASE)
    status, _, err, _ = _report(capsys, spec, "--figure", "first")
    assert status == 2
    assert "has no figure named `first`" in err
    assert "declare one: `figure name" in err


def test_a_figure_that_cannot_be_drawn_writes_no_report(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    spec.write_text(BASE + "figure f { over p in 1..5; line host.cpu.load }\n")
    status, _, err, page = _report(capsys, spec)
    assert (status, page) == (2, "")
    assert "this line depends on N" in err
