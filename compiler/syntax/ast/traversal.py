"""All nodes of a syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import attrgetter

from qps.compiler.syntax.ast.base_node import Written
from qps.compiler.syntax.ast.module import Module


def nodes_in(tree: Module | Written) -> Iterator[Written]:
    """Yield all nodes of a syntax tree in the order of the text, a node before its parts."""
    waiting: list[object] = [tree.declarations if isinstance(tree, Module) else tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += reversed(part)
        elif isinstance(part, Written):
            yield part
            waiting += _parts(type(part))(part)


@cache
def _parts(kind: type[Written]) -> Callable[[Written], Iterable[object]]:
    """Return what gives the parts of a node, the last first; where it stands is none of them."""
    fields = [field for field in reversed(kind.__struct_fields__) if field != "span"]
    if len(fields) > 1:
        return attrgetter(*fields)
    return lambda node: [getattr(node, field) for field in fields]
