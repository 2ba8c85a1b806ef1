"""Sums that look uncertain and are not: `8 ms +-1 ms` is 7 ms, `8 ms +- 1 ms` an interval."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.values.values import looks_uncertain
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in

_GLUED = re.compile(r"\+-\S")
"""Without these a text has no such sum, and its nodes need not be walked."""


def report_signs(modules: Iterable[LoadedModule], sink: Sink) -> None:
    """Warn of sums with `+-` and no blank behind it. Once for each file."""
    for syntax in {module.syntax.source.label: module.syntax for module in modules}.values():
        if not _GLUED.search(syntax.source.text):
            continue
        for part in nodes_in(syntax):
            if isinstance(part, ast.Sum):
                _report(part, sink)


def _report(sum_: ast.Sum, sink: Sink) -> None:
    for (_, before), (_, term) in pairwise(sum_.terms):
        if not looks_uncertain(term.span):
            continue
        less = term.span.text[1:]
        sink.report(
            codes.GLUED_SIGNS,
            Span(term.span.source, term.span.start - 1, term.span.end),
            f"this subtracts `{less}` from `{before.span.text}`; it is not an interval",
            hint=instead(
                f"+-{less}",
                f"+- {less}",
                f"- {less}",
                words=f"for an uncertainty, write `+- {less}`, with a space; for a difference, `- "
                f"{less}`",
            ),
        )
