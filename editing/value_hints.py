"""What is reckoned, beside where it is written: values of parameters, costs, rates and the like."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.editing.open_documents import OpenDocuments


def value_hints(documents: OpenDocuments, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Return the values of what a range states by names of other things.

    What is written as a number says so itself.
    """
    reading = documents.reading(params.text_document.uri)
    values = reading.examined.values
    if values is None:
        return []
    places = documents.positions(reading.source)
    start, end = places.offset(params.range.start), places.offset(params.range.end)
    found = []
    for expr in _stated(reading.syntax, start, end):
        value = values.at(expr.span) if _is_computed(expr) else None
        text = "" if value is None else value.text()
        if text:
            hint = types.InlayHint(places.position(expr.span.end), f"= {text}", padding_left=True)
            found.append(hint)
    return found


def _stated(tree: ast.Module, start: int, end: int) -> Iterator[ast.Expr]:
    """Yield the expressions that a stretch of a text states, each as a whole."""
    for declaration in tree.declarations:
        if declaration.span.end < start or declaration.span.start > end:
            continue
        for node in nodes_in(declaration):
            for expr in _of(node):
                if start <= expr.span.end <= end:
                    yield expr


def _of(node: ast.Written) -> tuple[ast.Expr, ...]:
    match node:
        case ast.Param() | ast.Let() | ast.Measure() | ast.LinkProperty() | ast.Aim():
            return (node.value,)
        case ast.Cost(amount=amount) if not isinstance(amount, ast.Fit):
            return (amount,)
        case ast.ResourceItem(capacity=capacity) if not isinstance(capacity, ast.Fit):
            return (capacity,)
        case ast.Emission(values=values):
            return values
        case ast.Think(time=time):
            return (time,)
        case ast.Playout(delay=delay):
            return (delay,)
    return ()


def _is_computed(value: ast.Expr) -> bool:
    """Return whether a value names anything but units, or calls a function."""
    return any(
        isinstance(node, ast.Call) or (isinstance(node, ast.Reference) and not node.is_unit)
        for node in nodes_in(value)
    ) and not isinstance(value, ast.Quantity | ast.Samples)
