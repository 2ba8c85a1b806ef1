"""Measured rows against intervals of what one more run would be: closed forms, known truths."""

# ruff: noqa: E501, ISC004 - tables: one case a line, however long

from __future__ import annotations

import json
from math import exp, hypot
from operator import mul
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler import ir
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.measurement.fit_spread import spread
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.noise_prior import NOISE, SPREAD
from qps.compiler.measurement.repetitions import weighting
from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.pipeline import check_file, load
from qps.reports.text.claims.coverage_text import coverage_lines
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import Coverage, PredictionInterval
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.prediction_intervals import _as_many
from qps.solver.uncertainty.sample_draws import UncertainNumber
from qps.solver.uncertainty.single_runs import SingleRuns

SPEC = """
users N in 1..1_000
param cost = {cost}
param other = 1 ms/request
param pace = 1 request/s
machine server {{ cpu 1 core{idle} }}
component work {{ cpu {charged} }}
topology {{ node web = server }}
stream replies in all {{
  traffic N * pace, 1 kB/request
  at web {{ work }}
}}
observe runs "runs.csv" {{
  users -> N
  "cpu in %" in % -> web.cpu.load
}}
"""
UNSURE = "lognormal(1 ms/request, 20 %)"


def claims_of(
    folder: Path,
    rows: str,
    cost: str = UNSURE,
    charged: str = "cost",
    probability: float = 0.9,
    idle: str = "",
) -> Claims:
    folder.joinpath("runs.csv").write_text(rows)
    folder.joinpath("spec.qps").write_text(SPEC.format(cost=cost, charged=charged, idle=idle))
    found = check_file(folder / "spec.qps")
    assert found.value is not None, found.diagnostics
    return Claims(ClaimRunner(model=found.value.model), probability=probability)


def intervals_of(claims: Claims) -> list[PredictionInterval | None]:
    return [one.interval for one in claims.results()]


@pytest.mark.parametrize(
    ("probability", "side"), [(0.5, 0.67449), (0.8, 1.28155), (0.9, 1.64485), (0.99, 2.57583)]
)
def test_an_interval_is_that_of_the_number(tmp_path: Path, probability: float, side: float) -> None:
    rows = "users,cpu in %\n300,30\n500,90\n"
    first, second = intervals_of(claims_of(tmp_path, rows, probability=probability))
    assert first is not None
    assert second is not None
    for interval, typical in ((first, 0.3), (second, 0.5)):
        assert interval.least == pytest.approx(typical * exp(-0.2 * side), rel=5e-3)
        assert interval.most == pytest.approx(typical * exp(0.2 * side), rel=5e-3)
    assert (first.side, second.side) == (0, 1)
    assert first.rank == pytest.approx(0.5, abs=1e-3)
    assert second.rank == pytest.approx(0.9984, abs=1e-3)  # ln(9/5) is 2.94 of 20 %


@pytest.mark.parametrize(
    ("measured", "coverage", "chance"),
    [
        ((30, 50, 60), (3, 0, 0), 1.0),
        ((45, 75, 90), (0, 3, 0), None),
        ((15, 25, 30), (0, 0, 3), None),
        ((45, 25, 60), (1, 1, 1), 2 / 4096),
    ],
)
def test_what_is_not_known_is_off_in_all_rows(
    tmp_path: Path, measured: tuple[int, ...], coverage: tuple[int, ...], chance: float | None
) -> None:
    """Three that miss to one side miss by one number: a binomial distribution would say 0.1 %."""
    users = (300, 500, 600)
    table = "".join(f"{n},{load}\n" for n, load in zip(users, measured, strict=True))
    claims = claims_of(tmp_path, "users,cpu in %\n" + table)
    claims.results()
    (found,) = claims.coverages
    assert (found.inside, found.above, found.below) == coverage
    if chance is None:
        assert found.as_many == pytest.approx(0.1, abs=0.005)
        assert found.as_far < 0.1
    else:
        assert found.likely_by_chance == pytest.approx(chance)


def test_one_more_run_is_off_by_the_noise_of_the_fit_too(tmp_path: Path) -> None:
    random = Random(3)
    loads = [0.05 + 0.0008 * rate * (1 + 0.04 * random.gauss(0, 1)) for rate in range(100, 900, 80)]
    pairs = [*zip(range(100, 900, 80), loads, strict=True)]
    tmp_path.joinpath("fitted.csv").write_text(
        "request/s,cpu in %\n" + "".join(f"{rate},{100 * load:.6f}\n" for rate, load in pairs)
    )
    rows = "users,cpu in %\n500,45\n900,80\n"
    claims = claims_of(
        tmp_path,
        rows,
        charged='fit "fitted.csv" measured on server',
        idle=', idle fit "fitted.csv"',
    )
    target = tuple(round(1e8 * float(f"{load:.8f}")) for _, load in pairs)
    squares = LeastSquares(((1,) * len(pairs), tuple(rate for rate, _ in pairs)), target)
    weights = weighting(squares, None)
    assert weights is not None
    columns = tuple(tuple(map(mul, column, weights.weights)) for column in squares.columns)
    squares = LeastSquares(columns, tuple(map(mul, target, weights.weights)))
    own = spread(squares, [1e-8, 1e-8], weighting=weights)
    assert own is not None
    assert squares.numbers is not None
    fixed, slope = (1e-8 * float(number) for number in squares.numbers)
    for interval, rate in zip(intervals_of(claims), (500, 900), strict=True):
        load = fixed + slope * rate
        off = [a + rate * b for a, b in zip(*own.weights, strict=True)]
        width = student_quantile(0.95, own.freedom) * hypot(*off, own.noise * load)
        assert interval is not None
        assert interval.least == pytest.approx(load - width, abs=0.06 * width)
        assert interval.most == pytest.approx(load + width, abs=0.06 * width)
        assert width > 1.2 * student_quantile(0.95, own.freedom) * hypot(*off)


@pytest.mark.parametrize("count", [4, 8, 30])
def test_nine_of_ten_new_runs_are_held(count: int) -> None:
    """The law of `SingleRuns`, for fits to so many runs of a known truth."""
    random, held, repetitions = Random(count), 0, 400
    written = Span(Source("spec.qps", "x"), 0, 1)
    for _ in range(repetitions):
        deviation = NOISE * exp(SPREAD * random.gauss(0, 1))

        def measured(rate: float, deviation: float = deviation) -> float:
            return (0.05 + 0.8 * rate) * (1 + deviation * random.gauss(0, 1))

        rates = [0.1 + 0.8 * (i + 0.5) / count for i in range(count)]
        columns = ((10**6,) * count, tuple(round(10**6 * rate) for rate in rates))
        squares = LeastSquares(columns, tuple(round(10**6 * measured(rate)) for rate in rates))
        found = spread(squares, [1.0, 1.0])
        assert found is not None
        assert squares.numbers is not None
        parameters = tuple(
            (
                name,
                ir.Fitted(mean=mean, weights=w, freedom=found.freedom, table="", noise=found.noise),
            )
            for name, mean, w in zip("ab", squares.numbers, found.weights, strict=True)
        )
        number = UncertainNumber(written=written, parameters=parameters)
        values = SingleRuns(seed=1, count=256).values([number])
        least, most = np.quantile(values["a"] + values["b"] * 0.7, (0.05, 0.95))
        held += bool(least <= measured(0.7) <= most)
    assert 0.87 <= held / repetitions <= 0.95


counts = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60)


@given(counts)
def test_as_odd_a_way_is_no_likelier_than_it_says(drawn: list[tuple[int, int]]) -> None:
    above, below = (np.array(side) for side in zip(*drawn, strict=True))

    def at_least(a: int, b: int) -> int:
        return sum(x >= a and y >= b for x, y in drawn)

    by_name = {pair: _as_many(*pair, above, below) for pair in drawn}
    for pair, share in by_name.items():
        odder = [one for one in drawn if at_least(*one) <= at_least(*pair)]
        assert share == pytest.approx(len(odder) / len(drawn))
        assert sum(by_name[one] <= share for one in drawn) / len(drawn) <= share + 1e-12


def test_rows_that_the_fit_has_seen_are_reported(tmp_path: Path) -> None:
    rows = "users,request/s,cpu in %\n100,100,11\n300,300,32\n500,500,49\n700,700,72\n"
    claims = claims_of(tmp_path, rows, charged='fit "runs.csv" measured on server')
    claims.results()
    (found,) = claims.coverages
    assert found.is_fitted
    assert "inputs were calibrated on these rows" in coverage_lines([found])


@pytest.mark.parametrize(
    ("coverage", "expected"),
    [
        ({"inside": 3}, "runs: 3 of 3 within the 90 % prediction interval\n"),
        (
            {"without": 1},
            "runs: no prediction interval for 1 value: no uncertain input affects it\n",
        ),
        (
            {"inside": 27, "above": 3, "below": 1, "as_many": 0.53, "as_far": 0.41, "without": 2},
            "runs: 27 of 31 within the 90 % prediction interval, 3 above, 1 below; consistent with "
            "chance (p = 0.53 for the count, p = 0.41 for the largest error); 2 values more depend on "
            "no uncertain input\n",
        ),
        (
            {"inside": 1, "below": 2, "as_many": 0.0, "as_far": 0.3},
            "runs: 1 of 3 within the 90 % prediction interval, 2 below; not consistent with chance "
            "(p < 0.0002 for the count, p = 0.3 for the largest error)\n",
        ),
    ],
)
def test_lines(coverage: dict[str, float], expected: str) -> None:
    usual = {"inside": 0, "above": 0, "below": 0, "without": 0, "as_many": 1.0, "as_far": 1.0}
    found = Coverage(  # type: ignore[call-arg] - of all others
        observation="runs",
        file="runs.csv",
        probability=0.9,
        draws=4096,
        is_fitted=False,
        **(usual | coverage),  # type: ignore[arg-type]
    )
    assert coverage_lines([found]) == expected


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims_of(tmp_path, "users,cpu in %\n300,30\n500,72\n600,\n")
    spec = str(tmp_path / "spec.qps")
    assert main(["test", spec]) == 0
    output = capsys.readouterr().out
    assert "90 % interval" in output
    assert "21.6–41.7" in output
    assert "36–69.5 %, 3.6 % above" in output
    assert "runs: 1 of 2 within the 90 % prediction interval, 1 above" in output
    assert main(["test", spec, "--interval", "99 %", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["interval"]["side"] for one in found["expectations"]] == [0, 0]
    assert found["coverage"][0]["inside"] == 2
    assert main(["test", spec, "--format", "markdown"]) == 0
    assert "1 of 2 within" in capsys.readouterr().out


def test_nothing_is_reported_where_all_is_certain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims_of(tmp_path, "users,cpu in %\n300,30\n", cost="1 ms/request")
    assert main(["test", str(tmp_path / "spec.qps"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["coverage"] == []
    assert found["expectations"][0]["interval"] is None


def test_what_nothing_uncertain_moves_has_no_interval(tmp_path: Path) -> None:
    claims = claims_of(tmp_path, "users,cpu in %\n300,30\n500,50\n", charged="other")
    assert intervals_of(claims) == [None, None]
    assert claims.coverages[0].without == 2


@pytest.mark.parametrize("requested", ["90", "40 %", "99.9 %", "most"])
def test_bad_probabilities_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], requested: str
) -> None:
    claims_of(tmp_path, "users,cpu in %\n300,30\n")
    assert main(["test", str(tmp_path / "spec.qps"), "--interval", requested]) == 2
    assert "--interval" in capsys.readouterr().err


def test_a_report_shows_intervals_and_how_many_hold(tmp_path: Path) -> None:
    claims_of(tmp_path, "users,cpu in %\n300,30\n500,72\n")
    page = tmp_path / "page.html"
    assert main(["report", "-q", "--no-advice", str(tmp_path / "spec.qps"), "-o", str(page)]) == 0
    text = page.read_text()
    assert "36–69.5 %, 3.6 % above" in text
    assert "<li>runs: 1 of 2 within the 90 % prediction interval, 1 above;" in text
    claims_of(tmp_path, "users,cpu in %\n300,30\n", cost="1 ms/request")
    assert main(["report", "-q", "--no-advice", str(tmp_path / "spec.qps"), "-o", str(page)]) == 0
    assert "in which one more run lies" not in page.read_text()


def test_an_answer_that_was_measured_has_its_interval(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("pace,carried\n1,500\n1,900\n")
    text = SPEC.format(cost=UNSURE, charged="cost", idle="").partition("observe")[0]
    (tmp_path / "spec.qps").write_text(
        f"{text}require {{ web.cpu.load <= 50 % }}\n"
        'observe runs "runs.csv" {\n  pace in request/s -> pace\n  carried -> largest_acceptable\n}\n'
    )
    model = load(tmp_path / "spec.qps").model
    first, second = intervals_of(Claims(ClaimRunner(model=model)))
    assert first is not None
    assert second is not None
    assert first.least == pytest.approx(500 * exp(-0.2 * 1.64485), rel=0.01)
    assert first.most == pytest.approx(500 * exp(0.2 * 1.64485), rel=0.01)
    assert (first.side, second.side) == (0, 1)


SLOW = """
users N in 1..200
unit thread
machine web { cpu 2 core, queueing mmc; threads 20 thread }
machine db { cpu 1 core, queueing ps speeds [1, 1.8, 2.4, 2.8] }
machine pc { }
network office { propagation 1 ms }
component work { cpu 15 ms/request +- 10 % }
component query { cpu 20 ms/request }
topology { node shop = web; node store = db; node client = pc * N; link lan = office between all }
stream page for each client {
  traffic 1 request, 2 kB/request, think 5 s
  at client { }
  at shop { take threads; work; call store { query }; give threads }
  at client { }
}
observe runs "runs.csv" { n -> N; ms in ms -> page.latency }
"""


def test_what_takes_long_is_computed_by_a_surrogate_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("n,ms\n20,39\n")
    (tmp_path / "spec.qps").write_text(SLOW)
    claims = Claims(ClaimRunner(model=load(tmp_path / "spec.qps").model))
    (interval,) = intervals_of(claims)
    assert interval is not None
    assert interval.least == pytest.approx(37.92e-3, rel=1e-3)  # as each of 4,096 draws tells it
    assert interval.most == pytest.approx(40.44e-3, rel=1e-3)
    (found,) = claims.coverages
    assert found.error is not None
    assert found.error < 1e-3
    assert "intervals from a surrogate model, up to" in coverage_lines([found])
