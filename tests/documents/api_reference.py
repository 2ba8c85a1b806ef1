"""docs/api.md: what `qps` offers in Python, and what that returns, as its docstrings tell it."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

import msgspec

import qps
from documents.docs import ROOT

PAGE = ROOT / "docs" / "api.md"
_STORED = "<!-- What follows is made of docstrings by tests/documents/docs.py. -->\n"
_WIDEST = 90
_NAMES = re.compile(r"[A-Za-z_]\w*")
_NOT_TAKEN_APART = frozenset(["LoadGraph", "Network", "Spec", "Diagnostic", "CompiledMatrix"])
"""What is returned, but of the compiler: its docstring says what it is for, its parts change."""


def written(page: str) -> str:
    """Return the page with what docstrings say now below its own words."""
    return page.partition(_STORED)[0] + _STORED + "\n" + "\n".join(_reference()) + "\n"


def _reference() -> Iterator[str]:
    functions = [name for name in qps.__all__ if inspect.isfunction(getattr(qps, name))]
    classes = [name for name in qps.__all__ if inspect.isclass(getattr(qps, name))]
    returned: dict[type, None] = {}
    yield "## Functions\n"
    for name in functions:
        yield from _function(getattr(qps, name), f"qps.{name}", "###")
        _gather(getattr(qps, name), returned)
    for name in classes:
        owner = getattr(qps, name)
        yield f"## {name}\n\n{_doc(owner)}\n"
        yield from _methods(owner, returned)
    own = {getattr(qps, name) for name in classes}
    yield '<a id="what-they-return"></a>\n\n## Return types\n'
    for owner in sorted(_all_of(returned), key=lambda one: one.__name__):
        if owner not in own:
            yield f"### {owner.__name__}\n\n{_doc(owner)}\n"
            if owner.__name__ not in _NOT_TAKEN_APART:
                yield from _fields(owner)
                yield from _methods(owner, {})


def _methods(owner: type, returned: dict[type, None]) -> Iterator[str]:
    for name, member in vars(owner).items():
        if name.startswith("_") and name not in ("__len__", "__iter__"):
            continue
        function = member.fget if isinstance(member, property) else member
        if isinstance(function, FunctionType) and function.__name__ == name:  # no former name
            yield from _former_anchors(owner, function)
            text = f"{owner.__name__}.{name}"
            yield from _function(function, text, "####", is_property=isinstance(member, property))
            _gather(function, returned)


def _former_anchors(owner: type, function: FunctionType) -> Iterator[str]:
    """Yield an anchor for each former name of a method: old addresses lead to the current one."""
    for name, member in vars(owner).items():
        if member is function and name != function.__name__:
            yield f'<a id="{name}"></a>\n'


def _function(
    function: FunctionType, name: str, level: str, *, is_property: bool = False
) -> Iterator[str]:
    anchor = name.rpartition(".")[2].strip("_")
    returns = str(inspect.signature(function).return_annotation)
    arguments = _arguments(function)
    shown = f"{name}({', '.join(arguments)}) -> {returns}"
    if is_property:
        shown = f"{name}: {returns}"
    elif len(shown) > _WIDEST:
        shown = "\n".join([f"{name}(", *(f"    {one}," for one in arguments), f") -> {returns}"])
    yield f"{level} {anchor}\n\n```py\n{shown}\n```\n"
    text = _doc(function)
    yield f"{text}\n" if text else ""


def _arguments(function: FunctionType) -> list[str]:
    """Return the arguments of a function as they are written, but for `self`."""
    found = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    result, is_named = [], False
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    for one in found:
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not is_named:
            result.append("*")
        is_named |= one.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
        default = "" if one.default is inspect.Parameter.empty else f" = {_quoted(one.default)}"
        result.append(f"{stars.get(one.kind, '')}{one.name}: {one.annotation}{default}")
    return result


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _doc(of: object) -> str:
    """Return a docstring; classes that have none of their own have nothing to say."""
    own = vars(of).get("__doc__") if inspect.isclass(of) else getattr(of, "__doc__", None)
    return inspect.cleandoc(own or "")


def _fields(owner: type) -> Iterator[str]:
    """Yield the attributes of a struct with what is said of each, the values of an enumeration."""
    if issubclass(owner, Enum):
        yield f"One of {', '.join(f'`{one.value}`' for one in owner)}.\n"
    if not issubclass(owner, msgspec.Struct):
        return
    rows, last = [], ""
    said: dict[str, str] = {}
    for line in _body(owner):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            last = line.target.id
            rows.append((last, ast.unparse(line.annotation)))
        elif isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and last:
            said[last] = " ".join(str(line.value.value).split())
    yield "| Attribute | Type | Meaning |\n|---|---|---|"
    for name, kind in rows:
        shown = kind.replace("|", "\\|")
        yield f"| `{name}` | `{shown}` | {said.get(name, '')} |"
    yield ""


def _body(owner: type) -> Iterator[ast.stmt]:
    """Yield what stands in a struct, after what it has of those that it is one of."""
    for kind in reversed(owner.__mro__):
        if issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct:
            tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
            assert isinstance(tree, ast.ClassDef)
            yield from tree.body[1:] if ast.get_docstring(tree) else tree.body


def _gather(of: Any, found: dict[type, None]) -> None:
    """Add the types of ours that a function says it returns."""
    result = str(inspect.signature(of).return_annotation)
    found |= dict.fromkeys(_types_in(result, sys.modules[of.__module__]))


def _all_of(found: dict[type, None]) -> dict[type, None]:
    """Return types with all that their attributes are made of."""
    left, every = list(found), dict[type, None]()
    while left:
        owner = left.pop()
        if owner in every:
            continue
        every[owner] = None
        if owner.__name__ not in _NOT_TAKEN_APART:
            for of in owner.__mro__:
                for kind in vars(of).get("__annotations__", {}).values():
                    left += _types_in(str(kind), sys.modules[of.__module__])
    return every


def _types_in(annotation: str, module: Any) -> Iterator[type]:
    """Yield the structs of ours that an annotation names."""
    for name in _NAMES.findall(annotation):
        kind = getattr(module, name, None) or _imported_for_types(module).get(name)
        is_ours = inspect.isclass(kind) and kind.__module__.startswith("qps.")
        if is_ours and (issubclass(kind, (msgspec.Struct, Enum)) or hasattr(kind, "_shown")):
            yield kind


@cache
def _imported_for_types(module: Any) -> dict[str, type]:
    """Return what a module imports for its annotations alone."""
    found: dict[str, type] = {}
    for block in ast.parse(inspect.getsource(module)).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("qps."):
                    source = import_module(line.module or "")
                    found |= {one.name: getattr(source, one.name) for one in line.names}
    return found
