"""Where code names an operation of the table: a second list of operations begins so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from qps.engine import operations
from qps.engine.operations import OPERATIONS

TREE = Path(__file__).parents[2]

ITS_OWN = {
    "engine/operations.py",  # the table
    "engine/queueing/queue_arrays.py",  # functions of columns, by their names
    "engine/queueing/queue_numbers.py",
    "compiler/check/values/check_operations.py",  # words of the language that are made of several
    "reports/scripts/engine/operations.js",  # the page's column
    "reports/scripts/common/phrases.js",  # words for those who read the page
}
ABOUT_TEXT = ("compiler/check/", "compiler/syntax/", "compiler/quantities/")
"""They speak of words of the language, which have no formulas yet."""

CONSTANTS = {name for name, value in vars(operations).items() if value in (*OPERATIONS,)}
USES = {"apply", "Apply"}
"""Functions that make an operation, by its word: so it is used, and nothing of it known."""

OF_FORMULAS = {
    "qps.engine.expressions.formula_parts",
    "qps.engine.expressions.formulas",
    "qps.engine.expressions.quotients",
    "qps.engine.operations",
    "qps.engine.execution.programs",
}
"""Who imports one of these knows formulas."""

QUOTED = re.compile(r"""(["'`])(\w+)\1""")


def named_in_tree() -> Iterator[str]:
    """Yield the places of the tree at which an operation is named that must not be."""
    for top in ("engine", "compiler", "solver", "reports", "src/qps/commands"):
        for file in sorted((TREE / top).rglob("*.*")):
            path = file.relative_to(TREE).as_posix()
            if path in ITS_OWN or path.startswith(("engine/evaluators/", *ABOUT_TEXT)):
                continue
            if file.suffix == ".py":
                yield from (f"{path}:{named}" for named in named_in_python(path, file.read_text()))
            elif file.suffix == ".js":
                yield from (f"{path}:{named}" for named in named_in_script(file.read_text()))


def named_in_script(text: str) -> Iterator[str]:
    """Yield the lines and words of operations in a script."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from (f"{number} {word}" for _, word in QUOTED.findall(line) if word in OPERATIONS)


def named_in_python(path: str, text: str) -> Iterator[str]:
    """Yield the lines and words of operations in a module, where it knows formulas.

    An operation may be used, but not in the search; the search has no words of its own either.
    """
    if not path.startswith("engine/") and not any(module in text for module in OF_FORMULAS):
        return
    tree, is_solver = ast.parse(text), path.startswith("solver/")
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    if not path.startswith("engine/") and not modules & OF_FORMULAS:
        return
    used = {id(word) for node in ast.walk(tree) if not is_solver for word in _used(node)}
    used |= {id(word) for node in ast.walk(tree) for word in _cases(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str(word)) if word in OPERATIONS and id(node) not in used:
                # Marks may be written in a text.
                if word.isidentifier() or not path.startswith("reports/"):
                    yield f"{node.lineno} {word}"
            case ast.ImportFrom(names=names) if is_solver:
                yield from (f"{node.lineno} {n.name}" for n in names if n.name in CONSTANTS)


def _cases(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the words of cases of a method: `mean` is one of its numbers there."""
    if isinstance(node, ast.keyword) and node.arg == "case":
        yield from ast.walk(node.value)


def _used(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the words of operations that a call makes."""
    if isinstance(node, ast.Call) and node.args:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in USES:
            first = node.args[0]
            yield from (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,)
