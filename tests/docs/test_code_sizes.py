"""Modules, functions and folders stay small enough to be read at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from documents.code_outline import CodeOutline, outline, outline_of_file
from documents.vocabulary import ROOT

LINES_OF_MODULE, LINES_OF_FUNCTION, FILES_OF_FOLDER = 400, 60, 30

CODE = (
    "benchmarks", "compiler", "docs/website", "editing", "editors/generators", "engine", "grammar",
    "laboratory", "playground", "reports", "reviewing", "simulation", "solver", "src/qps/commands",
)  # fmt: skip

SYNTAX_AND_MODEL = {"compiler/syntax/ast", "compiler/ir"}

LONGER_FUNCTIONS = {
    "reports/pages/report_page.py: page_view": "a line for each part of a page",
}
"""The functions that may have more lines, because a split makes no better parts."""


def sources(*endings: str) -> list[Path]:
    found = [path for folder in CODE for path in (ROOT / folder).rglob("*")]
    found += (ROOT / "src/qps").glob("*.py")
    ours = (path for path in found if not {"node_modules", "build"} & set(path.parts))
    return sorted(path for path in ours if path.suffix in endings)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def long_functions(found: CodeOutline, most: int) -> list[str]:
    return [name for name, lines in found.functions if lines >= most]


def test_modules_of_one_name_mean_the_same() -> None:
    """A declaration has one name in the syntax tree and in the model; any other name is unique."""
    places: dict[str, set[str]] = {}
    for path in sources(".py"):
        folder, _, name = name_of(path).rpartition("/")
        if not name.startswith("__"):
            places.setdefault(name, set()).add(folder)
    twice = {name: folders for name, folders in places.items() if len(folders) > 1}
    assert {name: one for name, one in twice.items() if one != SYNTAX_AND_MODEL} == {}
    assert twice


def test_no_module_is_longer_than_400_lines() -> None:
    longer = {
        name_of(path)
        for path in sources(".py", ".js")
        if len(path.read_text(encoding="utf-8").splitlines()) > LINES_OF_MODULE
    }
    assert longer == set(), "split it by idea"


def test_no_function_is_longer_than_60_lines() -> None:
    longer = {
        f"{name_of(path)}: {name}"
        for path in sources(".py")
        for name in long_functions(outline_of_file(path), LINES_OF_FUNCTION)
    }
    assert longer == set(LONGER_FUNCTIONS), "split it, or remove an exception"


def test_no_folder_has_more_than_30_modules() -> None:
    tests = (ROOT / "tests").rglob("*.py")
    files = Counter(
        name_of(path.parent) for path in (*sources(".py", ".js", ".css", ".j2"), *tests)
    )
    assert {name: count for name, count in files.items() if count > FILES_OF_FOLDER} == {}


@pytest.mark.parametrize(("lines", "found"), [(2, ["f"]), (3, []), (4, [])])
def test_a_long_function_is_found(lines: int, found: list[str]) -> None:
    text = "@each\ndef f():\n    a = 1\n    return a\n"
    assert long_functions(outline(text), lines) == found
