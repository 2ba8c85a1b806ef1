"""The factor for higher loads is what tables with several loads of one mix of requests show."""

from __future__ import annotations

from math import exp, log

import pytest

from documents import higher_loads
from qps.stdlib import module_text


def test_the_factor_of_the_library_is_that_of_the_tables() -> None:
    found = higher_loads.errors_by_table()
    count = sum(map(len, found.values()))
    limit = higher_loads.largest_of_nine_in_ten([one for each in found.values() for one in each])
    assert round(100 * limit / 1.645) == 13
    text = module_text("std.trust")
    assert "let higher_load = lognormal(1, 13 %)" in text
    assert (
        f"90 % within {100 * (exp(limit) - 1):.0f} % ({count} predictions of {len(found)}" in text
    )


def test_each_table_is_held_by_the_others_as_often_as_stated() -> None:
    held, count, _ = higher_loads.held_by_others(higher_loads.errors_by_table())
    assert f"{held} / {count} >=" in module_text("std.trust")
    assert 0.86 <= held / count <= 0.93


def test_a_line_through_low_loads_predicts_a_straight_one() -> None:
    straight = [(rate, 2 + 3 * rate) for rate in (1.0, 2.0, 4.0)]
    assert list(higher_loads.errors(straight)) == pytest.approx([0.0])
    bent = [*straight[:2], (4.0, 28.0)]
    assert list(higher_loads.errors(bent)) == pytest.approx([log(2)])
