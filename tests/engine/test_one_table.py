"""An operation stands once, in the table: no other code knows it by its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import qps.engine.evaluators
from helpers.named_operations import named_in_python, named_in_script, named_in_tree
from qps.engine.operations import OPERATIONS

FORMULAS = "from qps.engine.expressions.formulas import Formula, apply\n"


def test_no_code_outside_the_table_names_an_operation() -> None:
    assert list(named_in_tree()) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("solver/search/a.py", 'KINKED = ("abs", "waiting")'),
        ("solver/search/a.py", 'def f(x): return x.word == "floor"'),
        ("solver/search/a.py", "from qps.engine.operations import MAXIMUM"),
        ("solver/matrix/a.py", 'x = apply("abs", y)'),
        ("compiler/lower/a.py", 'RULES = {"max": 1}'),
        ("compiler/configure/a.py", 'def f(w):\n    match w:\n        case "exp": return 1'),
        ("reports/text/a.py", 'is_one = part.word == "effective"'),
        ("engine/a.py", 'SUMS = ("+",)'),
    ],
)
def test_a_name_is_found(path: str, code: str) -> None:
    assert len(set(named_in_python(path, FORMULAS + code))) >= 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("compiler/lower/a.py", 'x = apply("waiting", y, z)'),
        ("compiler/lower/a.py", 'x = ir.Apply("max" if y else "min", z)'),
        ("reports/text/a.py", 'x = " + ".join(y) + "*"'),
        ("compiler/lower/a.py", 'x = known_by("m", case="mean" if y else "percentiles")'),
        ("solver/search/a.py", '"""Where a maximum or abs is."""\nx = y.word in EXTREMES'),
    ],
)
def test_a_use_is_none(path: str, code: str) -> None:
    assert list(named_in_python(path, FORMULAS + code)) == []


def test_a_name_in_a_script_is_found() -> None:
    assert list(named_in_script('const a = 1;\nif (word === "waiting") b();')) == ["2 waiting"]
    assert list(named_in_script('const IN_PLACE = { "+": 1 };')) == []


def test_columns_of_some_operations_have_no_others() -> None:
    """What a module of a column imports by the name of an operation would be in that column."""
    columns: dict[str, list[str]] = {name: [] for name in ("boxes", "inverse", "lateness")}
    for word, row in OPERATIONS.items():
        for column, words in columns.items():
            if getattr(row, column) is not None:
                words.append(word)
    assert columns == {
        "boxes": ["+", "*", "pow", "ratio", "mean", "waiting"],
        "inverse": ["+", "*"],
        "lateness": ["stages_quantile", "order_quantile", "fork_quantile"],
    }


@pytest.mark.parametrize(
    "path",
    sorted(Path(qps.engine.evaluators.__file__).parent.glob("on_*.py")),
    ids=lambda p: p.stem,
)
def test_a_column_imports_nothing_but_operations_and_what_it_uses(path: Path) -> None:
    """Linters cannot see it there: what is imported is looked up by its name."""
    tree = ast.parse(path.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = {one.asname or one.name for node in imports for one in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    operations = {name for row in OPERATIONS.values() for name in (row.name, row.tail)}
    assert imported - used - operations - {"annotations"} == set()
