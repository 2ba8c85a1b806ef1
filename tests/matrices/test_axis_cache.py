"""What rests on few axes of a matrix is told once for each combination of their values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qps.api import Model
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.matrix.limits.saturations import Saturations
from qps.solver.matrix.rows import mode_rows
from qps.solver.matrix.rows.axis_cache import AxisCache

SFU = Path(__file__).parents[2] / "specs" / "sfu.qps"


def test_one_row_of_each_combination_is_solved_for_all() -> None:
    options: list[list[int]] = []

    def tell(rows: Ints) -> tuple[Floats, Bools]:
        options.append(rows.tolist())
        return rows * 10.0, rows == 2

    once = AxisCache(axes=(1,), counts=(3,))
    index = np.array([0, 1, 2, 3, 4]), np.array([0, 0, 1, 1, 2])
    at, is_open = once.points(index, np.arange(4), tell)
    assert at.tolist() == [0, 0, 20, 20]
    assert is_open.tolist() == [False, False, True, True]
    at, is_open = once.points(index, np.arange(1, 5), tell)
    assert at.tolist() == [0, 20, 20, 40]
    assert is_open.tolist() == [False, True, True, False]
    assert options == [[0, 2], [4]]


def test_what_rests_on_no_axis_is_the_same_in_all_rows() -> None:
    once = AxisCache(axes=(), counts=())
    index = (np.arange(5),)
    at, _ = once.points(index, np.array([3, 4]), lambda rows: (rows * 1.0, rows < 0))
    assert at.tolist() == [3, 3]


def test_resources_that_no_axis_changes_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures change what is sent, not how full the other links are; nothing is left open."""
    rows: list[int] = []
    saturations = mode_rows.saturations  # type: ignore[attr-defined]

    def counted(some: object, *options: object, **how: object) -> Saturations:
        rows.append(some.count)  # type: ignore[attr-defined]
        found: Saturations = saturations(some, *options, **how)
        return found

    monkeypatch.setattr(mode_rows, "saturations", counted)
    text = SFU.read_text(encoding="utf-8") + "\nmatrix m_ { seen in 1..64 by 1 }\n"
    spec = check_source(Source(SFU.name, text, SFU.parent)).value
    assert spec is not None
    result = Model(spec).matrix("m_")
    table = result.to_arrow()
    assert len(table) == 64
    assert b"solved_individually" not in (table.schema.metadata or {})
    assert min(rows) == 1
    assert max(rows) == 64
