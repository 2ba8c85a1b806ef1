"""What expressions come to where they stand, and what is left of a text with mistakes."""

from __future__ import annotations

import pytest

from qps.compiler.diagnostics.source import Source
from qps.compiler.evaluation import PlacedValue
from qps.compiler.examination import TextExamination, examine

TEXT = """users N in 2..50
param size = 4 kB/request source "measured"
param pace = 3 request/s +- 10 %
let work = 2 ms/request + size / (1 GB/s)
let each = pace * work
let all = each * N
func twice(x) = x * 2
let doubled = twice(work)
machine box { cpu 2 core }
component serve { cpu work }
topology { node web = box }
stream page for each user { traffic pace, size; at web { serve } }
measure busy = web.cpu.load * 2
require { page.latency <= 3 ms * 100 }
"""


@pytest.fixture(scope="module")
def examined() -> TextExamination:
    found = examine(Source("values.qps", TEXT))
    assert found.spec is not None, [one.message for one in found.diagnostics]
    return found


def _at(examined: TextExamination, text: str, part: str) -> PlacedValue | None:
    """Return what is told of a part of a text that stands in it once."""
    source = examined.source
    assert source.text.count(text) == 1, text
    start = source.text.index(text) + text.index(part)
    assert examined.values is not None
    around = examined.values.around(source, start)
    return next((result for result in around if result.span.text == part), None)


@pytest.mark.parametrize(
    ("text", "part", "reported"),
    [
        ("= 4 kB/request", "4 kB/request", "4 kB/request"),
        ("2 ms/request + size / (1 GB/s)", "2 ms/request + size / (1 GB/s)", "2.004 ms/request"),
        ("size / (1 GB/s)", "size / (1 GB/s)", "4 µs/request"),
        ("pace * work", "pace * work", "0.006012"),
        ("each * N", "each * N", "0.01202 … 0.3006"),
        ("twice(work)", "twice(work)", "4.008 ms/request"),
        ("{ cpu work }", "work", "2.004 ms/request"),
        ("web.cpu.load * 2", "web.cpu.load * 2", ""),
        ("3 ms * 100", "3 ms * 100", "300 ms"),
    ],
)
def test_expressions_have_values(
    examined: TextExamination, text: str, part: str, reported: str
) -> None:
    found = _at(examined, text, part)
    assert found is not None
    assert found.text() == reported


def test_what_is_known_of_a_value_is_reported(examined: TextExamination) -> None:
    work, each = _at(examined, "2 ms/request + size", "size"), _at(examined, "pace * work", "pace")
    assert work is not None
    assert each is not None
    assert (work.is_uncertain, each.is_uncertain) == (False, True)
    whole = _at(examined, "each * N", "each * N")
    assert whole is not None
    assert (whole.varies, whole.value, whole.at(10)) == (
        True,
        None,
        10 * (each.at(2) or 0) * 2004 / 10**6,
    )
    load = _at(examined, "web.cpu.load * 2", "web.cpu.load")
    assert load is not None
    assert (load.is_query, load.at(2)) == (True, None)
    assert _at(examined, "x * 2", "x * 2") is None, "a formal has no value of its own"


MISTAKES = (
    (
        "param pace = 3 request/s +- 10 %",
        "param pace = 3 request/s + 2 kB",
        "`pace` is known no more",
    ),
    ("let each = pace * work", "let each = = pace", "a line that cannot be read"),
    ("component serve { cpu work }", "component serve { gpu work }", "a cost of nothing"),
    ("measure busy = web.cpu.load * 2", "measure busy = wbe.cpu.load", "an unknown name"),
)


@pytest.mark.parametrize(("right", "wrong", "why"), MISTAKES, ids=lambda text: text[:12])
def test_a_mistake_leaves_what_does_not_rest_on_it(right: str, wrong: str, why: str) -> None:
    found = examine(Source("values.qps", TEXT.replace(right, wrong)))
    assert found.spec is None, why
    assert any(one.is_error for one in found.diagnostics)
    result = _at(found, "size / (1 GB/s)", "size / (1 GB/s)")
    assert result is not None
    assert result.text() == "4 µs/request"
    assert found.model is not None
    assert "size" in {parameter.name for parameter in found.model.parameters}
    if "pace" in wrong:
        name = found.bindings.at(found.source, found.source.text.index("size / "))
        assert name is not None
        assert name.symbol.kind == "parameter"


def test_what_rests_on_a_mistake_has_no_value() -> None:
    found = examine(Source("values.qps", TEXT.replace(MISTAKES[0][0], MISTAKES[0][1])))
    assert _at(found, "pace * work", "pace * work") is None
    assert found.model is not None
    assert not found.model.streams, "its traffic is not known"
