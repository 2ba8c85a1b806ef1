"""What a file declares, each declaration with what others of the file say of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler.syntax import ast


def completed(items: Sequence[str | ast.Declaration]) -> list[str | ast.Declaration]:
    """Return what a file declares, each with what others say of it.

    Costs below `costs measured on m` are measured there; links `between all` join all nodes.
    """
    default: ast.Name | None = None
    built: list[str | ast.Declaration] = []
    for item in items:
        if isinstance(item, ast.Defaults):
            default = item.machine
        is_step = isinstance(item, ast.Component) and default is not None
        built.append(replace(item, default_machine=default) if is_step else item)  # type: ignore[type-var]
    return _with_all_nodes(built)


def _with_all_nodes(
    items: Sequence[str | ast.Declaration],
) -> list[str | ast.Declaration]:
    """Return what a file declares with the ends of links `between all`: the nodes of the file."""
    parts = [one for item in items if isinstance(item, ast.Topology) for one in item.items]
    nodes = [one.name.text for one in parts if isinstance(one, ast.Node)]
    return [
        replace(item, items=tuple(_joined(one, nodes) for one in item.items))
        if isinstance(item, ast.Topology)
        else item
        for item in items
    ]


def _joined(item: ast.Node | ast.Link, nodes: Sequence[str]) -> ast.Node | ast.Link:
    """Return a link `between all but` some with its ends, each where that is said."""
    if isinstance(item, ast.Node) or item.everyone is None:
        return item
    left_out = {name.text for name in (*item.ends, *item.everyone.but)}
    span = item.everyone.span
    found = [ast.Name(span, (name,)) for name in dict.fromkeys(nodes) if name not in left_out]
    return replace(item, ends=(*item.ends, *found))
