"""Forecasts as tables: what can be read, and what is refused with its mend."""

from __future__ import annotations

import pytest

from qps.compiler.measurement.forecast_tables import read_forecast
from qps.compiler.measurement.measured_tables import DataError


@pytest.mark.parametrize(
    "text",
    [
        "date,low,mid,high\n2027-01,9,10,12\n2027-02,10,11,13\n",
        "Month,N,Low,High\n2027-01,10,9,12\n2027-02,11,10,13\n",
        "ds,yhat,yhat_lower,yhat_upper\n2027-01-01,10,9,12\n2027-02-01,11,10,13\n",
    ],
)
def test_columns_have_the_usual_names(text: str) -> None:
    points = read_forecast(text, "plan.csv", "N")
    assert [(p.date.iso, p.low, p.mid, p.high) for p in points] == [
        ("2027-01", 9, 10, 12),
        ("2027-02", 10, 11, 13),
    ]


def test_a_table_without_an_interval_has_one_number_a_date() -> None:
    (point,) = read_forecast("quarter,forecast\n2027-Q2,12500\n", "plan.csv", "N")
    assert (point.date.iso, point.low, point.mid, point.high) == ("2027-04", 12500, 12500, 12500)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("day,mid\n2027-01,10\n", "has no column `date`"),
        ("date,people\n2027-01,10\n", "has no column `n`"),
        ("date,mid,low\n2027-01,10,9\n", "a column `low`, but no column `high`"),
        ("date,mid,region\n2027-01,10,eu\n", "a column `region` that a forecast does not use"),
        ("date,mid\n2027-13,10\n", "line 2: `2027-13` is not a date that exists"),
        ("date,mid\n2027-02,10\n2027-01,11\n", "line 3: 2027-01 does not come after 2027-02"),
        ("date,mid\n2027-01,10\n2027-01-01,11\n", "line 3: 2027-01 does not come after 2027-01"),
        ("date,mid\n2027-01,many\n", "line 2: `many` is not a number of users"),
        ("date,mid\n2027-01,-5\n", "line 2: `-5` is not a number of users"),
        ("date,low,mid,high\n2027-01,11,10,12\n", "not in ascending order"),
        ("date,mid\n", "has no rows"),
    ],
)
def test_other_tables_are_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        read_forecast(text, "plan.csv", "N")
    assert message in error.value.message
    assert error.value.hint
