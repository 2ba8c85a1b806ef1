"""Rows that are medians of repetitions count by how far these lie apart: held against truths."""

from __future__ import annotations

from math import hypot, sqrt
from random import Random
from statistics import median

import numpy as np
import pytest

from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.leverage import relative_uncertainty
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.regression import regression
from qps.compiler.measurement.repetitions import _MEDIAN, _RANGE, Repetitions, weighting
from qps.compiler.measurement.student_t import student_quantile

_TABLES = 300
_TRUTH = (0.05, 4e-4)
_MARKED = "cpu in %,request/s,repetitions,spread in %"


def fit(text: str) -> CostFit:
    reading = FitColumns(resource=None, cores=1, processors=1)
    return fitted(read_table(text, "web.csv"), reading, units_with([]))


def measured(random: Random, deviations: tuple[float, ...], repeated: int, shared: float) -> str:
    """Return a table of medians, each row with repetitions that vary as one of these.

    `shared` is what all repetitions of a row have in common, as the line is not the whole truth.
    """
    lines = [_MARKED]
    for i, deviation in enumerate(random.sample(deviations, len(deviations))):
        rate = 200 + 1600 * (i + 0.5) / len(deviations)
        load = (_TRUTH[0] + _TRUTH[1] * rate) * (1 + shared * random.gauss(0, 1))
        runs = [load * (1 + deviation * random.gauss(0, 1)) for _ in range(repeated)]
        apart = (max(runs) - min(runs)) / median(runs)
        lines.append(f"{median(runs) * 100:.6g},{rate:g},{repeated},{apart * 100:.6g}")
    return "\n".join(lines)


def off_and_held(table: str, at: float, run: float | None = None) -> tuple[float, bool]:
    """Return by how much a load is missed, and whether the 90 % interval holds it.

    `run` is how far one more run is off, of which the interval tells as well.
    """
    off, missed, width = off_and_width(table, at, run)
    return off, missed <= width


def off_and_width(table: str, at: float, run: float | None = None) -> tuple[float, float, float]:
    """Return by how much a load is missed, the same of one more run, and half of its interval."""
    found = fit(table)
    spread = fit_spread(found)
    assert spread is not None
    truth = _TRUTH[0] + _TRUTH[1] * at
    predicted = float(found.fixed) + float(found.terms[0].value) * at
    parts = np.array(spread.weights).T @ (1, at)
    noise = 0.0 if run is None else spread.noise * predicted
    width = student_quantile(0.95, spread.freedom) * hypot(*parts, noise)
    return abs(predicted - truth), abs(predicted - truth * (1 + (run or 0.0))), width


def without(table: str) -> str:
    """Return a table without the columns of repetitions."""
    return "\n".join(line.rsplit(",", 2)[0] for line in table.splitlines())


_ALIKE = (0.05,) * 9
_APART = (0.02, 0.1, 0.02, 0.02, 0.1, 0.02, 0.1, 0.02, 0.02)


@pytest.mark.parametrize("repeated", [2, 3, 5])
@pytest.mark.parametrize("shared", [0.0, 0.03])
@pytest.mark.parametrize("deviations", [_ALIKE, _APART], ids=["alike", "apart"])
def test_nine_of_ten_truths_are_held(
    deviations: tuple[float, ...], repeated: int, shared: float
) -> None:
    """Where nothing but the noise is off, intervals are on the safe side: a bend was expected.

    Of each row few repetitions tell how it varies, and it is taken to be more like the others: the
    safe side is at most twice as wide as what would hold nine of ten. Where rows vary apart along a
    line that is the whole truth, it may hold all tables (298 and 300 of these).
    """
    random = Random(f"{deviations} {repeated} {shared}")
    tables = [measured(random, deviations, repeated, shared) for _ in range(_TABLES)]
    widths = sorted(off / width for off, _, width in (off_and_width(each, 1500) for each in tables))
    held = sum(part <= 1 for part in widths) / _TABLES
    assert held >= 0.87
    assert held <= 0.99 or (deviations is _APART and not shared)
    assert widths[int(0.9 * _TABLES)] >= 0.5


@pytest.mark.parametrize(
    ("deviations", "shared", "gain"),
    [(_APART, 0.0, 0.75), (_APART, 0.03, 0.95), (_ALIKE, 0.0, 1.04)],
    ids=["rows that vary apart", "and a line that is not all", "rows that vary alike"],
)
def test_errors_fall_where_rows_vary_apart(
    deviations: tuple[float, ...], shared: float, gain: float
) -> None:
    """Where they vary alike, spreads tell nothing but chance: little is lost."""
    random = Random(f"{deviations} {shared}")
    tables = [measured(random, deviations, 3, shared) for _ in range(_TABLES)]
    weighted, plain = (
        sqrt(sum(off_and_held(table, 1500)[0] ** 2 for table in found))
        for found in (tables, map(without, tables))
    )
    assert weighted <= gain * plain


def test_one_more_run_is_held_though_rows_are_medians() -> None:
    """What a median takes away of the noise, a single run has: intervals of runs hold it."""
    random, repeated = Random(5), 5
    held, narrow = 0, 0
    for _ in range(_TABLES):
        table = measured(random, _ALIKE, repeated, 0.02)
        run = hypot(0.05, 0.02) * random.gauss(0, 1)
        held += off_and_held(table, 1500, run)[1]
        narrow += off_and_held(without(table), 1500, run)[1]
    assert 0.87 <= held / _TABLES <= 0.94
    assert narrow / _TABLES < 0.82


def test_tables_of_ranges_and_medians_are_those_of_normal_numbers() -> None:
    random = np.random.default_rng(4)
    for count in range(2, 11):
        numbers = random.standard_normal((100_000, count))
        root = np.sqrt(np.mean(np.ptp(numbers, axis=1) ** 2))
        assert root == pytest.approx(_RANGE[count - 2], rel=0.01)
        variance = np.median(numbers, axis=1).var()
        assert variance == pytest.approx(_MEDIAN[count - 1], rel=0.02)


def test_rows_that_vary_alike_count_as_before() -> None:
    rows = [(12, 200), (30, 600), (44, 1000), (62, 1400), (76, 1800)]
    table = "\n".join([_MARKED, *(f"{load},{rate},3,10" for load, rate in rows)])
    found, plain = fit(table), fit(without(table))
    assert found.terms == plain.terms
    assert found.fixed == plain.fixed
    result, before = regression(found), regression(plain)
    assert result.left_out_error == pytest.approx(before.left_out_error)
    assert result.pulling == before.pulling


def test_three_lucky_repetitions_do_not_decide() -> None:
    """A row whose repetitions happen to be equal counts more than the others, not alone."""
    rows = [(12, 200, 10), (30, 600, 10), (44, 1000, 0), (62, 1400, 10), (76, 1800, 10)]
    table = "\n".join([_MARKED, *(f"{load},{rate},3,{apart}" for load, rate, apart in rows)])
    weights = fit(table).weights
    plain = fit(without(table)).weights
    counts = [a / b for a, b in zip(weights, plain, strict=True)]
    assert max(counts) == counts[2]
    assert min(counts) > counts[2] / 2


@pytest.fixture
def apart() -> CostFit:
    rows = [(12, 200, 2), (31, 600, 60), (44, 1000, 2), (66, 1400, 70), (76, 1800, 3)]
    return fit("\n".join([_MARKED, *(f"{a},{b},5,{c}" for a, b, c in rows)]))


def test_numbers_are_those_of_numpys_weighted_least_squares(apart: CostFit) -> None:
    weights = np.array(apart.weights, dtype=float)
    assert weights[0] > 1.5 * weights[1]
    rates = np.array([200.0, 600, 1000, 1400, 1800])
    loads = np.array([0.12, 0.31, 0.44, 0.66, 0.76])
    cost, fixed = np.polyfit(rates, loads, 1, w=weights)
    assert float(apart.fixed) == pytest.approx(fixed)
    assert float(apart.terms[0].value) == pytest.approx(cost)
    result = regression(apart)
    for i in range(5):
        others = np.arange(5) != i
        line = np.polyfit(rates[others], loads[others], 1, w=weights[others])
        assert result.residual(i).left_out == pytest.approx(np.polyval(line, rates[i]))


def test_the_uncertainty_of_a_load_is_that_of_the_line_whatever_a_row_counts(
    apart: CostFit,
) -> None:
    rows = [relative_uncertainty(apart, {"request": rate}) for rate in (200, 600, 1000, 1400, 1800)]
    assert max(rows) == pytest.approx(1)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("30,600,3,x", "line 3: `x` in column `spread in %` is not a number"),
        ("30,600,3,-1", "line 3: `-1` in column `spread in %` is invalid"),
        ("30,600,2.5,1", "line 3: `2.5` in column `repetitions` is invalid"),
        ("30,600,0,1", "line 3: `0` in column `repetitions` is invalid"),
    ],
)
def test_what_cannot_be_is_reported(row: str, expected: str) -> None:
    with pytest.raises(DataError) as error:
        fit(f"{_MARKED}\n12,200,3,10\n{row}\n44,1000,3,10\n")
    assert expected in error.value.message


@pytest.mark.parametrize("rest", ["1,0", "3,0", "3,-", "-,-", "1,10"])
def test_rows_without_a_spread_count_alike(rest: str) -> None:
    rows = ["12,200", "30,600", "44,1000", "62,1400"]
    found = fit("\n".join([_MARKED, *(f"{row},{rest}" for row in rows)]))
    assert found.weighting is not None
    assert set(found.weighting.deviations) == {1.0}
    assert (
        found.terms == fit(without(f"{_MARKED}\n" + "\n".join(f"{r},{rest}" for r in rows))).terms
    )


def test_nothing_is_weighted_where_rows_are_as_few_as_numbers() -> None:
    found = fit(f"{_MARKED}\n12,200,3,10\n44,1000,3,20\n")
    assert weighting(found.squares, Repetitions(counts=(3, 3), spreads=(0.1, 0.2))) is None
