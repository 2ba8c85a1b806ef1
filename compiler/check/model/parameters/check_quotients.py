"""Quotients that some read otherwise than they are.

`1/20 message/s` is the twentieth of a `message/s`; the first edition of the language read 1 by
`20 message/s`. A text with a stream states its edition, a module without one does not. A quotient
before `%` is reported in each: `1 / 90 %` has no dimension however it is read, so that no check of
units finds the mistake. In `request/s` a value that is called `s` divides: behind no number, it is
no unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from qps.compiler.check.names.declarations import (
    LoadedModule,
    is_value,
    kind_of,
    lookup,
    unit_called,
    unit_meant,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in

_IN_BRACKETS = re.compile(r"\(")
"""Between two factors: brackets make nothing of their own in the tree."""


def report_quotients(modules: Iterable[LoadedModule], sink: Sink) -> None:
    """Warn of quotients that some read otherwise, and of units that are divided by a value.

    Each file is reported once.
    """
    by_file = {module.syntax.source.label: module for module in reversed(tuple(modules))}
    for module in reversed(by_file.values()):
        states_its_edition = bool(module.syntax.every(ast.Stream))
        for part in nodes_in(module.syntax):
            if not isinstance(part, ast.Product):
                continue
            _report_bare_unit(part, module, sink)
            for before, number, unit in part.quotients:
                if unit.span.text == "%":
                    _report_percentage(before, number, unit, sink)
                elif not states_its_edition:
                    _report(before, number, unit, sink)


def _report_bare_unit(product: ast.Product, module: LoadedModule, sink: Sink) -> None:
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
            f"`{name}` is {kind_of(declared.declaration)} here, not the unit, since no "
            "number precedes it",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=instead(
                unit.span.to(value.span).text,
                f"1 {before}/{name}",
                f"{before}/({name})",
                at=unit.span.to(value.span),
                words=f"for the unit, write `1 {before}/{name}`, for the value, "
                f"`{before}/({name})`",
            ),
        )


def _report(before: ast.Expr, number: ast.Number, unit: ast.Expr, sink: Sink) -> None:
    source = before.span.source
    quotient = _one_line(Span(source, before.span.start, number.span.end))
    divided = _one_line(Span(source, number.span.start, unit.span.end))
    sink.report(
        codes.QUOTIENT,
        Span(source, before.span.start, unit.span.end),
        f"this means ({quotient}) {unit.span.text}; in the first edition, it meant "
        f"{before.span.text} / ({divided})",
        hint=instead(
            Span(source, before.span.start, unit.span.end).text,
            f"({quotient}) {unit.span.text}",
            f"{before.span.text} / ({divided})",
            words=f"write `({quotient}) {unit.span.text}`, or `{before.span.text} / "
            f"({divided})` for the old meaning",
        ),
    )


def _report_percentage(before: ast.Expr, number: ast.Number, unit: ast.Expr, sink: Sink) -> None:
    source = before.span.source
    quotient = _one_line(Span(source, before.span.start, number.span.end))
    divided = _one_line(Span(source, number.span.start, unit.span.end))
    whole = Span(source, before.span.start, unit.span.end)
    sink.report(
        codes.QUOTIENT,
        whole,
        f"this is ({quotient}) %, not {before.span.text} divided by {divided}",
        hint=instead(
            whole.text,
            f"{before.span.text} / ({divided})",
            f"({quotient}) %",
            words=f"write `{before.span.text} / ({divided})` to divide by the percentage, or "
            f"`({quotient}) %`",
        ),
    )


def _one_line(span: Span) -> str:
    return " ".join(span.text.split())
