"""Of modes that support alike, all outputs show the same one: the nearest to a limit."""

from __future__ import annotations

from typing import Any

import pytest

import qps
from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of_text

RANGES = """
users N in 1..100
param pace = 1 request/s in 0.1..30 request/s
param work = 6 ms/request
machine server { cpu 16 core, queueing mmc }
topology { node web = server }
component answer { cpu work }
stream page for each user { traffic pace; at web { answer } }
target cpu 80 %
mode calm { }
mode busy { pace = 17 request/s }
mode rush { pace = 17 request/s }
mode slow { pace = 5 request/s }
matrix works { work in [6 ms/request, 7 ms/request] }
"""
STRICT = RANGES.replace("mode slow { pace = 5 request/s }", "mode slow { page.latency <= 7.1 ms }")
NOBODY = RANGES.replace("target cpu 80 %", "require { page.latency <= 5 ms }").replace(
    "mode busy { pace = 17 request/s }", "mode busy { page.latency <= 3 ms }"
)
CASES = pytest.mark.parametrize(
    ("text", "worst"), [(RANGES, "busy"), (STRICT, "slow"), (NOBODY, "busy")]
)


@CASES
def test_the_mode_nearest_to_a_limit_is_shown(text: str, worst: str) -> None:
    spec = qps.loads(text)
    assert spec.solve().mode == worst
    table = spec.matrix("works").to_arrow()
    assert set(table["mode"].to_pylist()) == {worst}


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
@CASES
def test_a_page_shows_the_same_mode(open_page: Any, text: str, worst: str) -> None:
    page = open_page(html_of_text(text))
    assert page.run("() => qps.shown.graph.mode") == worst
