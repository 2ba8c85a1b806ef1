"""What is reckoned, beside where it is written: the values of parameters and of names for them."""

from __future__ import annotations

from lsprotocol import types

from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.walking import nodes_in
from qps.editing.desk import Desk


def value_hints(desk: Desk, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Return the values of what a range declares by names of other things.

    What is written as a number says so itself.
    """
    reading = desk.reading(params.text_document.uri)
    values = reading.examined.values
    if values is None:
        return []
    places = desk.positions(reading.source)
    start, end = places.offset(params.range.start), places.offset(params.range.end)
    found = []
    for declaration in reading.syntax.declarations:
        if not isinstance(declaration, ast.Param | ast.Let | ast.Measure):
            continue
        if not start <= declaration.value.span.end <= end or not _is_reckoned(declaration.value):
            continue
        value = values.at(declaration.value.span)
        told = "" if value is None else value.text()
        if told:
            at = places.position(declaration.value.span.end)
            found.append(types.InlayHint(at, f" = {told}", padding_left=True))
    return found


def _is_reckoned(value: ast.Expr) -> bool:
    """Return whether a value names anything but units, or calls a function."""
    return any(
        isinstance(node, ast.Call) or (isinstance(node, ast.Reference) and not node.is_unit)
        for node in nodes_in(value)
    ) and not isinstance(value, ast.Quantity | ast.Samples)
