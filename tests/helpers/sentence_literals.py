"""Which sentences and phrases stand as literals in the code that makes texts and pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from documents.docs import ROOT

ROOMS = ("reports", "reviewing", "src/qps/commands")
_TABLES = ("reports/text/words/", "src/qps/commands/arguments/", "reviewing/rules/")
"""Rooms of the tables and their words, of the texts of `--help`, and of messages with a page."""

_MESSAGES = {"complain", "refused", "_refuse", "report", "_send", "add_argument"}
"""What takes the text of a message: those are written where the fault is found."""

_CODE = re.compile(r"</|^<|^qps [a-z]|^--[a-z]|^\^|\(\?|\\[bdw]|^const |^quantile\(")
_IN_TICKS = re.compile(r"`[^`]*`")
_WORD = re.compile(r"[A-Za-z][a-z]+(?:-[a-z]+)*")


def sentence_literals(path: Path) -> Iterator[tuple[int, str]]:
    """Return the line and the text of each literal of several words, with `{}` for each value."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _literals(tree)


def _literals(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Raise | ast.Assert) or _is_message(node):
        return
    text = template(node)
    if text is not None:
        if is_sentence(text):
            assert isinstance(node, ast.expr)
            yield node.lineno, text
        values = getattr(node, "values", ())
        parts = [part.value for part in values if isinstance(part, ast.FormattedValue)]
    else:
        parts = [part for part in ast.iter_child_nodes(node) if not _is_doc(part)]
    for part in parts:
        yield from _literals(part)


def template(node: ast.AST) -> str | None:
    """Return the text of a literal, with `{}` for each value; None if it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        return "".join(str(part) for part in parts)
    return None


def is_sentence(text: str) -> bool:
    """Return whether a text has two words or more that a person reads."""
    if _CODE.search(text):
        return False
    tokens = _IN_TICKS.sub(" ", text).replace("{}", " ").split()
    return sum(bool(_WORD.fullmatch(token.strip(".,;:()!?*…"))) for token in tokens) > 1


def _is_doc(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_message(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in _MESSAGES


def modules() -> Iterator[Path]:
    """Return the modules that hold no sentences of their own."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if not path.relative_to(ROOT).as_posix().startswith(_TABLES):
                yield path


def main() -> None:
    """Print all literals of several words that stand outside the tables."""
    for path in modules():
        for line, text in sentence_literals(path):
            print(f"{path.relative_to(ROOT)}:{line} {text!r}")


if __name__ == "__main__":
    main()
