"""Cases that stand without braces, as the first edition had them: they are reported with a fix."""

from __future__ import annotations

import re

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.syntax.spelling import in_braces
from qps.compiler.syntax.tree_pieces import token_of, tree_of
from qps.grammar.parsing import ParseTree

_COMMENT = re.compile(r"#[^\n]*")


def report_bare_cases(source: Source, sink: Sink, cases: ParseTree) -> None:
    """Report cases without braces; what stands there may be meant as a difference."""
    text, span = source.text, Span(source, cases.start, cases.end)
    only = tree_of(cases.children[0])
    word, value = token_of(only.children[0]), text[tree_of(only.children[1]).start : only.end]
    is_difference = len(cases.children) == 1 and value.startswith("-")
    difference = f"; to subtract, write `{word} - {value[1:].lstrip()}`"
    fix = " ".join(_COMMENT.sub("", in_braces(text, cases)).split())
    sink.report(
        codes.FIRST_EDITION,
        span,
        "cases must be in braces",
        hint=instead(
            span.text,
            in_braces(text, cases),
            *([f"{word} - {value[1:].lstrip()}"] if is_difference else []),
            words=("write " if shortened(fix) == fix else "as in ")
            + f"`{shortened(fix)}`, or run `qps fmt`{difference if is_difference else ''}",
        ),
    )
