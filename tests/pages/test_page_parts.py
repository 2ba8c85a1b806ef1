"""A page without parts that cannot be made where it is made, as in the playground."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from qps.commands import lsp, report
from qps.commands.cache.spec_cache import load
from qps.engine.expressions.memo import memoized
from qps.reports.pages.live.live_page import live_page
from qps.solver.variants import lowered_combinations
from qps.solver.variants.variant_graphs import variant_graph

T = TypeVar("T")

SPEC = """users N in 1..1000
machine small { cpu 4 core }
machine large { cpu 8 core }
component page { cpu 20 ms/request }
topology { node web = small }
stream pages { traffic N * 2 request/s; at web { page } }
"""


@pytest.mark.parametrize("refused", [(), (report.COMBINATIONS_STEP,)])
def test_a_page_has_its_spec_where_other_combinations_cannot_be_made(
    refused: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[Any] = []

    def recorded(*arguments: Any) -> dict[str, Any]:
        pages.append(live_page(*arguments))
        return pages[-1]

    def tried(name: str, make: Callable[[], T]) -> T | None:
        return None if name in refused else make()

    monkeypatch.setattr(report, "live_page", recorded)
    spec = tmp_path / "site.qps"
    spec.write_text(SPEC, encoding="utf-8")
    lsp.page_of(load(spec), tried)
    [model] = pages[-1]["models"]
    assert (len(model["variants"]) == 1) == bool(refused)


def test_combinations_make_no_formula_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    @memoized
    def noted(what: str) -> str:
        made.append(what)
        return what

    combinations = 0

    def counted(*arguments: Any) -> Any:
        nonlocal combinations
        combinations += 1
        noted("a percentile")
        return variant_graph(*arguments)

    monkeypatch.setattr(lowered_combinations, "variant_graph", counted)
    spec = tmp_path / "site.qps"
    spec.write_text(SPEC, encoding="utf-8")
    lsp.page_of(load(spec), lambda _, make: make())
    assert combinations > 1
    assert made == ["a percentile"]
