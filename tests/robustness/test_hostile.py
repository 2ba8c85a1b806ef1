"""Specs at the edges of what can be computed: an answer, or a refusal that says why; no fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.specs import lowered
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.engine.expressions import point_values
from qps.solver.answers.graph_solution import solve

MEASURED = (
    "users N in 1..{high}\nmachine box {{ cpu 1 core }}\ncomponent work {{ cpu 1 us/packet }}\n"
    "topology {{ node host = box }}\nstream flow {{ traffic 10 packet/s; at host {{ work }} }}\n"
    "measure it = {measure}\nrequire {{ it <= {limit} }}\n"
)
WIDE = 10**12
POLES = " + ".join(f"1 / (N - {place}.5)" for place in range(1, 101))


@pytest.mark.parametrize(
    ("measure", "limit", "high", "largest"),
    [
        # the limit is beyond all floats: exp(7741/1000) is below ln(10^1000), that of 7742 is not
        ("exp(exp(N / 1000))", "10^1000", 100_000, 7741),
        ("N * 10^400", "10^402", 1000, 100),
        # squared, as a metric compares it, it would be of a degree above 100
        (POLES, "10^9", WIDE, WIDE),
        ("(N + 1)^100 - N^100", "10^300", WIDE, 1023),
        # below 1 by less than any digits tell
        ("1 - exp(-N)", "1", 100_000, 100_000),
    ],
)
def test_what_comes_near_to_the_edges_is_answered(
    measure: str, limit: str, high: int, largest: int
) -> None:
    graph = lowered(MEASURED.format(measure=measure, limit=limit, high=high))
    assert solve(graph).capacity == largest


@pytest.mark.parametrize("command", ["solve", "report", "matrix", "explain"])
def test_a_limit_beyond_all_floats_is_reported_by_every_command(
    command: str, tmp_path: Path
) -> None:
    text = MEASURED.format(measure="N * 10^400", limit="10^402", high=1000)
    path = tmp_path / "huge.qps"
    path.write_text(text + "param k = 1\nmatrix some { k in [1, 2] }\n", "utf-8")
    words = {"report": ["-o", str(tmp_path / "huge.html")], "explain": ["it"]}
    assert main([command, str(path), *words.get(command, [])]) in (0, None)


def test_a_number_that_digits_do_not_decide_has_a_name_and_a_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(point_values, "BITS", (128, 1024))
    text = MEASURED.format(measure="max(1 - exp(-N), 0.5)", limit="1", high=100_000)
    text = text.replace("<=", "<")  # from 710 users on, 1,024 digits are too few
    with pytest.raises(QpsError) as refused:
        solve(lowered(text))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.primary is not None
    assert "`it` is too close to its limit to decide with 1,024 binary digits" in diagnostic.message


def test_what_is_too_large_at_many_populations_is_reported_once_for_each_place() -> None:
    text = MEASURED.format(measure="exp(N)", limit="10^300", high=WIDE)
    found = check_source(Source("spec.qps", text)).diagnostics
    assert [one.primary.span.text for one in found if one.primary] == ["exp(N)", "it"]
