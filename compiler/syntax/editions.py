"""Of which edition of the language a text is, and which this QPS reads.

A text keeps its meaning: what a later edition says otherwise holds for texts that name it. One that
names none is of the edition of 2026, the first that was published.
"""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.syntax import ast

EDITION = 2026
"""The edition that is read here, and of which texts are that name none."""


def report_editions(declarations: Sequence[ast.Declaration], sink: Sink) -> None:
    """Report an edition that is not read here, stated twice, or behind what it says how to read."""
    for index, declaration in enumerate(declarations):
        if not isinstance(declaration, ast.Edition):
            continue
        year = declaration.year
        if index:
            is_again = any(isinstance(before, ast.Edition) for before in declarations[:index])
            sink.report(
                codes.MISPLACED,
                declaration.span,
                "the edition is specified twice"
                if is_again
                else "the edition must be at the top of the file",
                hint=single_statement_hint(
                    declaration.span,
                    "state it once, in the first line or right after the docstring",
                )
                if is_again
                else "state it once, in the first line or right after the docstring",
            )
        elif year.value > EDITION:
            sink.report(
                codes.EDITION,
                year.span,
                f"this version of QPS reads edition {EDITION} of the language",
                hint="to use a newer edition, update QPS",
            )
        elif year.value != EDITION:
            sink.report(
                codes.EDITION,
                year.span,
                f"unknown edition; the one before {EDITION} had no name",
                hint=instead(
                    year.span.text,
                    str(EDITION),
                    words=f"write `edition {EDITION}`; for older specs run `qps fmt --upgrade`",
                ),
            )
