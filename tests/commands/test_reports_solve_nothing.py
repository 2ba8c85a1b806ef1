"""One complete answer is worked out once, with details; reports lay it out and solve nothing."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from helpers.specs import PRELUDE
from qps.cli import main
from qps.commands import solve
from qps.solver import configured_answer

ROOT = Path(__file__).resolve().parents[2]
SOLVING = ("qps.solver.", "qps.simulation.", "qps.compiler.lower.")
STILL = {
    "matrix_output": {
        "columns_of", "counts_of", "layout_of", "one_by_one_in", "request_of", "schema_of",
    },
    "matrix_page": {"one_by_one_in", "read_request"},
    "network_numbers": {"averaged", "mixtures_of"},
}  # fmt: skip
"""Functions that reports call: what a table of a matrix says of itself, a mean over kinds."""


@cache
def functions(module: str) -> frozenset[str]:
    """Return the functions at the top of a module."""
    file = ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(one.name for one in tree.body if isinstance(one, ast.FunctionDef))


def called(file: Path) -> set[str]:
    """Return the functions that a module takes from what solves."""
    found = set[str]()
    for one in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(one, ast.ImportFrom) and one.module and one.module.startswith(SOLVING):
            found |= {name.name for name in one.names} & functions(one.module)
    return found


def test_reports_take_types_from_the_solver_and_no_functions() -> None:
    found = {file.stem: called(file) for file in (ROOT / "reports").rglob("*.py")}
    assert {name: taken for name, taken in found.items() if taken} == STILL


@pytest.mark.parametrize(("output", "views"), [("text", 0), ("markdown", 0), ("json", 1)])
def test_an_answer_is_worked_out_once_and_its_view_for_json_alone(
    output: str, views: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "small.qps"
    spec.write_text(
        PRELUDE + "topology { node web = box\n node user = box * N\n"
        " link net = ports between web, user }\n"
        "stream page for each user { traffic 1 packet/s, 1 byte/packet; at web { work }\n"
        " at user { } }\n",
        encoding="utf-8",
    )
    made: list[str] = []
    for module, name in ((configured_answer, "complete_answer"), (solve, "solve_view")):
        function = getattr(module, name)

        def counting(
            *args: object, _name: str = name, _of: object = function, **more: object
        ) -> object:
            made.append(_name)
            return _of(*args, **more)  # type: ignore[operator]

        monkeypatch.setattr(module, name, counting)
    assert main(["solve", "--format", output, "--quiet", str(spec)]) == 0
    assert made == ["complete_answer", *["solve_view"] * views]
