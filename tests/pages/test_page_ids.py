"""What a page looks for it finds by a number or an id, never by what is written there."""

from __future__ import annotations

import re
from pathlib import Path

from helpers.specs import checked
from qps.compiler.lower.lowering import lower
from qps.solver.details.request_path import timed_stream

SCRIPTS = Path(__file__).parents[2] / "reports" / "scripts"
BY_TEXT = re.compile(
    r"\.(?:textContent|innerText)(?: [!=]==|\.\w+\()|\.startsWith\(\"just "
    r"|name [!=]== \"quality\"|\.utilization`|\(limit\|ideal\)"
)

TWO = """
users N in 1..100
machine box { cpu 4 core, queueing ps }
component work { cpu 1 ms/request }
topology { node web = box }
stream first in all { traffic N * 1 request/s; at web { work } }
stream second in all { traffic N * 1 request/s; at web { work } }
require { %s }
"""


def test_no_script_finds_by_text() -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(SCRIPTS.rglob("*.js"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if BY_TEXT.search(line)
    ]
    assert found == [], (
        "give it a number in reports/pages/live/live_graphs.py, or an id in the template"
    )


def test_the_stream_of_which_a_time_is_required_is_drawn_however_that_is_written() -> None:
    options = {}
    for text in ("second.latency <= 1 s", "second.p99 <= 1 s", "2 * second.latency <= 1 s"):
        model = checked(TWO % text)
        options[text] = timed_stream(lower(model.model, model.configuration()))
    assert set(options.values()) == {"second"}
    other = checked(TWO % "second.loss <= 1 %")
    assert timed_stream(lower(other.model, other.configuration())) == "first"
