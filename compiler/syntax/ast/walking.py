"""All nodes of a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.syntax.ast.module import Module
from qps.compiler.syntax.ast.written import Written


def nodes_in(tree: Module | Written) -> Iterator[Written]:
    """Yield all nodes of a syntax tree in the order of the text, a node before its parts."""
    waiting: list[object] = [tree.declarations if isinstance(tree, Module) else tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += reversed(part)
        elif isinstance(part, Written):
            yield part
            waiting += [getattr(part, field) for field in reversed(part.__struct_fields__)]
