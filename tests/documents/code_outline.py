"""What tests of names and sizes read in a file of Python: each file is read once in a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from msgspec import Struct, field

Line = tuple[int, str]


class CodeOutline(Struct, frozen=True):
    """What stands in a file, in its order: each name or text with its line."""

    classes: list[str] = field(default_factory=list)
    functions: list[tuple[str, int]] = field(default_factory=list)
    """The name of each function, and how many lines it has."""
    definitions: list[Line] = field(default_factory=list)
    """Names of functions, classes, members, parameters, and values outside of functions."""
    values: list[Line] = field(default_factory=list)
    """Values of functions, and names that patterns and imports give."""
    texts: list[Line] = field(default_factory=list)
    """Texts with a space that are no docstrings."""


@cache
def outline_of_file(path: Path) -> CodeOutline:
    """Return what stands in a file."""
    return outline(path.read_text(encoding="utf-8"))


def outline(text: str) -> CodeOutline:
    """Return what stands in a text of Python."""
    found = CodeOutline()
    _read(found, ast.parse(text), in_block=False, in_function=False, is_former=False)
    return found


def _read(
    found: CodeOutline, parent: ast.AST, *, in_block: bool, in_function: bool, is_former: bool
) -> None:
    """Add what stands in a node: in the `block` of a function, a class within begins anew."""
    for node in _parts(parent):
        is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not is_former:
            _define(found, node, in_block=in_block)
        if in_function and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.values.append((node.lineno, node.id))
        elif (name := _given_name(node)) is not None:
            found.values.append((node.lineno, name))  # type: ignore[attr-defined]
        if isinstance(node, ast.Constant) and not isinstance(parent, ast.Expr):
            if isinstance(node.value, str) and " " in node.value.strip():
                found.texts.append((node.lineno, node.value))
            continue
        _read(
            found,
            node,
            in_block=not isinstance(node, ast.ClassDef) if is_definition else in_block,
            in_function=in_function
            or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda),
            is_former=is_former or _is_former(node),
        )


def _parts(parent: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for name in parent._fields:
        part = getattr(parent, name, None)
        if isinstance(part, list):
            found += [one for one in part if isinstance(one, ast.AST)]
        elif isinstance(part, ast.AST) and name != "ctx":
            found.append(part)
    return found


def _define(found: CodeOutline, node: ast.AST, *, in_block: bool) -> None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            found.functions.append((name, (node.end_lineno or 0) - node.lineno))
            found.definitions.append((node.lineno, name))
        case ast.ClassDef(name=name):
            found.classes.append(name)
            found.definitions.append((node.lineno, name))
        case ast.arg(arg=name):
            found.definitions.append((node.lineno, name))
        case ast.Name(id=name, ctx=ast.Store()) if not in_block:
            found.definitions.append((node.lineno, name))
        case ast.Attribute(attr=name, value=ast.Name(id="self"), ctx=ast.Store()):
            found.definitions.append((node.lineno, name))


def _given_name(node: ast.AST) -> str | None:
    match node:
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return name
        case ast.alias(asname=str(name)) | ast.MatchMapping(rest=str(name)):
            return name
        case ast.ExceptHandler(name=str(name)):
            return name
    return None


def _is_former(node: ast.AST) -> bool:
    """Return whether a statement defines a deprecated name."""
    match node:
        case ast.Assign(value=ast.Call(func=ast.Name(id="former"))):
            return True
    return False
