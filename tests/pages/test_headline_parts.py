"""The headline in parts, as Python and the scripts of a page split it: one table for both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.reports.pages.html_page import headline_parts

CASES = json.loads(
    (Path(__file__).parents[1] / "scripts" / "headline_cases.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "is_answered", "parts"), CASES)
def test_a_headline_in_parts(text: str, is_answered: bool, parts: list[list[str]]) -> None:
    assert [list(part) for part in headline_parts(text, is_answered=is_answered)] == parts
