"""The traced systems of the laboratory: what they write and what is made of it."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

LABORATORY = Path(__file__).parents[2] / "laboratory"
sys.path.insert(0, str(LABORATORY))

import traced_designs  # noqa: E402 - found by the line above
import traced_results  # noqa: E402
import traced_systems  # noqa: E402


def test_the_page_has_the_stored_numbers() -> None:
    stored = (LABORATORY / "traced_systems.json").read_bytes()
    found = msgspec.json.decode(stored, type=dict[str, traced_results.TracedResult])
    page = (LABORATORY / "traced_systems.md").read_text(encoding="utf-8")
    assert page == traced_results.page(found)
    for one in found.values():
        assert one.busiest <= 0.45
        assert one.least <= one.predicted <= one.most


def test_windows_have_the_cpu_and_the_requests_within_them(tmp_path: Path) -> None:
    times = [100.0 + number / 8 for number in range(1, 161)]  # eight a second
    lines = "".join(f"{at} /price\n" for at in times)
    (tmp_path / "prices.access.log").write_text(lines, encoding="utf-8")
    used = [(100.0 + number / 4, 0.05 * number, "prices") for number in range(60)]
    head, *rows = traced_systems.cpu_table([used], tmp_path).splitlines()
    assert head == "time,service,cpu (cores),requests/s"
    assert rows == [f"{at},prices,0.200000,8.0000" for at in ("100.0", "105.0")]


def test_answers_that_fit_no_question_are_refused() -> None:
    spec = "param api_cores = 1 in 1..1024\nparam postgresql_shop_cores = 1 in 1..1024\n"
    with pytest.raises(ValueError, match="nothing in the spec"):
        traced_designs.POOLED.answered(spec)
