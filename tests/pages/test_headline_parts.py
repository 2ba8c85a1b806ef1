"""The headline of a page in parts: its number, what it is of, and what it is known to be."""

from __future__ import annotations

import pytest

from helpers.answers import answer_of
from helpers.specs import checked
from qps.reports.text.solutions.capacity_text import headline

SPEC = """
users N in 1..HIGH
machine server { cpu 1 core }
component work { cpu WORK ms/request }
topology { node web = server }
stream page for each user { traffic 1 request/s; at web { work } }
target web.cpu 75 %
"""

ROUNDED = ("beside", " (rounded down from 7,425)")
CASES = [
    ("7", "100_000", [("figure", "107"), ("words", " users")]),
    ("0.1", "100_000", [("figure", "7,500"), ("words", " users")]),
    (
        "0.101",
        "100_000",
        [("figure", "7,420"), ("words", " users"), ROUNDED],
    ),
    ("7", "100", [("figure", "100+"), ("words", " users")]),
    ("400", "100", [("figure", "1"), ("words", " user")]),
    ("800", "100", [("words none", "none: not even 1 user is supported")]),
]


@pytest.mark.parametrize(("work", "high", "parts"), CASES)
def test_a_headline_in_parts(work: str, high: str, parts: list[tuple[str, str]]) -> None:
    """The number stands apart from its words, and all parts are the text."""
    found = headline(answer_of(checked(SPEC.replace("HIGH", high).replace("WORK", work))))
    assert list(found.parts) == parts
    assert found.text == "".join(text for _, text in parts)
