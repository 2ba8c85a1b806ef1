"""Quotients that are read otherwise than they look.

In `1/20 message/s` a unit belongs to the number before it: it is 1 by `20 message/s`. In
`request/s` a value that is called `s` divides: behind no number, it is no unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler.check.names.declarations import (
    Module,
    is_value,
    kind_of,
    lookup,
    unit_called,
    unit_meant,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import TIME
from qps.compiler.syntax import ast

_IN_BRACKETS = re.compile(r"\(")
"""Between two factors: brackets make nothing of their own in the tree."""


def report_quotients(modules: Iterable[Module], sink: Sink) -> None:
    """Warn of quotients of two plain numbers before a unit, and of units by a value, once each."""
    seen: set[str] = set()
    for module in modules:
        label = module.syntax.source.label
        if label in seen:
            continue
        seen.add(label)
        for product in _products(module.syntax.declarations):
            _report(product, sink)
            _report_bare_unit(product, module, sink)


def _report_bare_unit(product: ast.Product, module: Module, sink: Sink) -> None:
    """Report a bare unit that is divided by a value with the name of a unit: `request/s`."""
    for (_, unit), (divides, value) in zip(product.factors, product.factors[1:], strict=False):
        if not (divides and isinstance(unit, ast.Reference) and isinstance(value, ast.Reference)):
            continue
        declared = lookup(module, value.name)
        is_either = is_value(declared) and unit_called(module, value.name) is not None
        if not is_either or value.is_unit or unit.is_unit or unit_meant(module, unit) is None:
            continue
        if _IN_BRACKETS.search(unit.span.source.text, unit.span.end, value.span.start):
            continue
        assert declared is not None
        name, before = value.name.text, unit.name.text
        sink.report(
            codes.ALSO_A_UNIT,
            value.span,
            f"`{name}` is {kind_of(declared.declaration)} here, not the unit: it stands behind no "
            "number",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=f"for the unit write `1 {before}/{name}`, for the value `{before}/({name})`",
        )


def _report(product: ast.Product, sink: Sink) -> None:
    """Report the first quotient of a product that is read otherwise than it looks."""
    for (_, before), (divides, quantity) in zip(product.factors, product.factors[1:], strict=False):
        is_number = isinstance(before, ast.Number)
        if not (divides and is_number and isinstance(quantity, ast.Quantity)):
            continue
        if _IN_BRACKETS.search(before.span.source.text, before.span.end, quantity.span.start):
            continue
        source, number = before.span.source, quantity.number.span
        quotient = Span(source, before.span.start, number.end)
        unit, divided = _one_line(quantity.unit.span), _one_line(quantity.span)
        behind = _one_line(Span(source, number.end, product.span.end))
        sink.report(
            codes.QUOTIENT,
            Span(source, before.span.start, quantity.span.end),
            f"`{_one_line(quotient)} {unit}` is {before.span.text} divided by `{divided}`",
            secondary=[Label(quantity.span, "this divides, with its unit")],
            hint=f"for a number of `{unit}` write `({_one_line(quotient)}) {behind}`"
            f"{_every(product, before, quantity)}; for what is meant now "
            f"`{before.span.text} / ({divided})`",
        )
        return


def _every(product: ast.Product, before: ast.Expr, quantity: ast.Quantity) -> str:
    """Return how to say a rate: `1/20 message/s` is mostly `1 message every 20 s`."""
    match product.factors:
        case (_, _, (True, ast.Reference(name=name))):
            time = units.built_in(name.text)
            if time is not None and time.dimension == TIME:
                told = f"{before.span.text} {_one_line(quantity.unit.span)}"
                return f" or `{told} every {quantity.number.span.text} {name.text}`"
    return ""


def _products(part: object) -> Iterator[ast.Product]:
    """Yield the products in a part of the syntax tree; what is said of rates is none."""
    open_ = [part]
    while open_:
        at = open_.pop()
        if isinstance(at, ast.Product) and not isinstance(at, ast.Every):
            yield at
        if isinstance(at, tuple):
            open_ += reversed(at)
        elif isinstance(at, ast.Written) and isinstance(at, Struct):
            open_ += [getattr(at, field) for field in at.__struct_fields__ if field != "span"]


def _one_line(span: Span) -> str:
    return " ".join(span.text.split())
