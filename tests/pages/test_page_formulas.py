"""Formulas as a page holds them: whole, folded, or told by their length."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from qps.reports.pages.html_page import _environment


@pytest.mark.parametrize(
    ("length", "stands", "expected"),
    [
        (1_200, 2, ""),
        (1_201, 2, "1,201 characters"),
        (10_001, 0, "Not shown: 10,001 characters"),
    ],
)
def test_what_nobody_reads_is_reported_by_its_length(
    length: int, stands: int, expected: str
) -> None:
    part = SimpleNamespace(name="wait", value="1 ms", share="100 %", formula="x" * length)
    item = SimpleNamespace(
        name="page.p99", what="", formulas=[("", part.formula)], parts=[part], at_text="N = 1"
    )
    tables = _environment().get_template("tables.html.jinja").module
    text = str(tables.formulas([(item, None, "")]))  # type: ignore[attr-defined]
    assert text.count(part.formula) == stands
    assert expected in text
    assert ("<code>qps explain</code>" in text) == (stands == 0)


def test_a_long_part_of_a_formula_is_reported_by_its_length() -> None:
    part = SimpleNamespace(name="wait", value="1 ms", share="100 %", formula="x" * 2_001)
    item = SimpleNamespace(name="p", what="", formulas=[], parts=[part], at_text="N = 1")
    tables = _environment().get_template("tables.html.jinja").module
    text = str(tables.formulas([(item, None, "")]))  # type: ignore[attr-defined]
    assert "2,001 characters" in text
    assert part.formula not in text
