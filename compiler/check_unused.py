"""Nodes and links that no stream reaches: their limits would silently be none."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler import codes, ir
from qps.compiler.diagnostics import Sink
from qps.compiler.source import Span


def report_unreached(
    sink: Sink,
    nodes: dict[str, ir.Node],
    links: dict[str, ir.Link],
    streams: Sequence[ir.Stream],
) -> None:
    """Warn of nodes that no stream visits and links that none crosses.

    A node that another place or a formula counts on (`count(node)`) is reached by no stream all
    the same: what it has is never loaded.
    """
    visited, crossed = _reached(streams)
    for node in nodes.values():
        if node.name not in visited:
            _warn(
                sink,
                node.span,
                f"no stream visits node `{node.name}`: no work is done there",
                f"let a stream pass, `at {node.name} {{ … }}`, or take it out",
            )
    for link in links.values():
        if link.name not in crossed:
            ends = ", ".join(link.ends)
            _warn(
                sink,
                link.span,
                f"no stream crosses link `{link.name}`: it limits nothing",
                f"let a stream visit what it joins ({ends}), one after the other, or take it out",
            )


def _reached(streams: Sequence[ir.Stream]) -> tuple[set[str], set[str]]:
    """Return the names of the nodes and of the links that streams reach."""
    visited: set[str] = set()
    crossed: set[str] = set()
    for stream in streams:
        if isinstance(stream.flows_from, str):
            visited.add(stream.flows_from)
        for leg in stream.legs:
            if isinstance(leg, ir.Crossing):
                crossed.add(leg.link)
            else:
                visited.add(leg.node)
    return visited, crossed


def _warn(sink: Sink, span: Span, message: str, hint: str) -> None:
    sink.report(codes.UNUSED, span, message, hint=hint)
