"""What is wrong where the grammar cannot go on, as diagnostics."""

from __future__ import annotations

import re
from unicodedata import category, name

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import (
    Hint,
    insertion_after_hint,
    insertion_before_hint,
    instead,
)
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.syntax.call_cycles import reports_endless_calls
from qps.compiler.syntax.common_hints import syntax_help
from qps.compiler.syntax.faults import CHARACTERS_BEFORE, RANGE_HINT, Fault
from qps.compiler.syntax.percentile_hints import missing_percentiles
from qps.compiler.syntax.queueing_hints import discipline_of_nothing, report_nothing_waits
from qps.compiler.syntax.statement_hints import misnamed_members
from qps.grammar.parsing import END, SEPARATOR, UnexpectedError, first_terminals
from qps.grammar.words import TOKEN_CHOICES, in_words

_MANY_EXPECTED = 4
_FEW = 100


def report_syntax_error(
    error: UnexpectedError, source: Source, start: int, end: int, sink: Sink
) -> None:
    """Turn what the parser raised into a diagnostic."""
    at, token = error.position, error.token
    before = at if token is None or token.type != END else end
    lacking = discipline_of_nothing(source, start, before)
    if lacking is not None and not _open_brackets(source.text, start, before)[0]:
        report_nothing_waits(lacking, sink)
    elif token is not None and token.type != END:
        span = Span(source, at, at + 1 if token.type == SEPARATOR else max(token.end, at + 1))
        _unexpected(error, span, start, sink)
    elif token is None:
        word = re.compile(r"\w+|.", re.DOTALL).match(source.text, at)
        span = Span(source, at, word.end() if word else at + 1)
        if source.text.startswith('"', at):
            _unclosed_text(span, sink)
        elif re.fullmatch(r"\w+", span.text) or span.text in "{}()[]=<>+-*/^,.:;~%$":
            _unexpected(error, span, start, sink)
        else:
            _character(span, sink)
    else:
        last = max(start, len(source.text[:end].rstrip()) - 1)
        _at_end(error, Span(source, last, min(last + 1, len(source.text))), start, sink)


# -- characters and texts ----------------------------------------------------------------

_CHARACTERS = {
    "|": "join choices with `or`",
    "&": "join conditions with `and`",
    "!": "write `not` to negate, `!=` to compare",
    "?": "write `if … then … else …`",
    "€": "write money in `$`",
    "@": "write `*`, as in `4 core * 3 GHz`",
    "\\": "remove it; a line continues after an operator or a comma",
    **dict.fromkeys("×·∙⋅", "write `*`"),
    **dict.fromkeys("÷∕⁄", "write `/`"),
    **dict.fromkeys("−–—‐", "write `-`"),
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "≈": "write `~`",
    "±": "write the tolerance after `within`",
    "→": "write `->`",
    "…": "write a range as `2..200`",
    **dict.fromkeys("'`´‘’“”„«»", 'put text in double quotes: `"`'),
}
_INSTEAD = {
    "|": "or", "&": "and", "@": "*", "\\": "", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "→": "->",
    "…": "..", **dict.fromkeys("×·∙⋅", "*"), **dict.fromkeys("÷∕⁄", "/"),
    **dict.fromkeys("−–—‐", "-"), **dict.fromkeys("“”„«»", '"'),
}  # fmt: skip


def _character(span: Span, sink: Sink) -> None:
    character = span.text
    if category(character)[0] in "CZ":
        called = name(character, "a control character").lower()
        sink.report(
            codes.CHARACTER,
            span,
            f"invisible character: U+{ord(character):04X} ({called})",
            hint=instead(character, " ", words="remove it, or replace it by a space"),
        )
        return
    sink.report(
        codes.CHARACTER,
        span,
        f"unknown character `{character}`",
        hint=_character_hint(character),
    )


def _character_hint(character: str) -> str:
    hint = _CHARACTERS.get(character, "remove it; it is allowed only in text and comments")
    if character in _CHARACTERS and character not in _INSTEAD:
        return hint
    return instead(character, _INSTEAD.get(character, ""), words=hint)


def _unclosed_text(span: Span, sink: Sink) -> None:
    is_doc = span.source.text.startswith('"""', span.start)
    width = 3 if is_doc else 1
    sink.report(
        codes.UNCLOSED,
        Span(span.source, span.start, span.start + width),
        "this docstring is not closed" if is_doc else "this quoted text is not closed",
        hint=_closed('"""' if is_doc else '"', span),
    )


def _closed(quotes: str, span: Span) -> Hint:
    """Return the hint to close a text where its line ends."""
    if len(quotes) > 1:
        return Hint(f"close it with `{quotes}`")
    text = span.source.text
    end = text.find("\n", span.start)
    line = text[span.start : end if end >= 0 else len(text)].rstrip()
    at = Span(span.source, span.start, span.start + len(line))
    return insertion_after_hint(at, quotes, text=f"close it with `{quotes}` on the same line")


# -- brackets ----------------------------------------------------------------------------

_BRACKETS = re.compile(r'"[^"\n]*"|#[^\n]*|[{}()]')
_CLOSING = {"{": "}", "(": ")"}


def _open_brackets(text: str, start: int, end: int) -> tuple[list[int], int | None]:
    """Return where the brackets stand that are open at `end`, and one that looks unclosed.

    A block that ends further to the left than it started was closed by the bracket of
    another one: the block itself is the one that nobody closed.
    """
    open_at: list[tuple[int, int]] = []
    suspect: int | None = None
    line, previous = start, start
    for match in _BRACKETS.finditer(text, start, end):
        line = max(line, text.rfind("\n", previous, match.start()) + 1)
        previous = match.start()
        if match.group() in "{(":
            open_at.append((match.start(), _indentation(text, line)))
        elif match.group() in "})" and open_at:
            opened, indentation = open_at.pop()
            if suspect is None and _indentation(text, line) < indentation:
                suspect = opened
    return [at for at, _ in open_at], suspect


def _indentation(text: str, line: int) -> int:
    """Return how many blanks a line starts with, where it starts with few."""
    start = text[line : line + CHARACTERS_BEFORE]
    return len(start) - len(start.lstrip(" \t"))


def _unclosed(source: Source, opening: int, sink: Sink, before: int | None = None) -> None:
    """Report an open bracket; it belongs `before` a place, where that is known."""
    bracket = source.text[opening]
    sink.report(
        codes.UNCLOSED,
        Span(source, opening, opening + 1),
        f"this `{bracket}` is not closed",
        hint=_added(source, _CLOSING[bracket], before),
    )


def _added(source: Source, bracket: str, before: int | None) -> Hint:
    hint = f"add the missing `{bracket}`"
    return (
        Hint(hint)
        if before is None
        else insertion_before_hint(Span(source, before, before), bracket, hint)
    )


# -- words that cannot stand where they stand --------------------------------------------


def _at_end(error: UnexpectedError, span: Span, start: int, sink: Sink) -> None:
    """Report a declaration that stops too early; an open bracket is the usual reason."""
    open_at, suspect = _open_brackets(span.source.text, start, span.end)
    if open_at:
        is_clear = suspect is None and len(open_at) == 1
        last = open_at[-1] if suspect is None else suspect
        _unclosed(span.source, last, sink, span.end if is_clear else None)
        return
    endless = _ENDLESS.search(span.source.text, start, span.end)
    if endless is not None:
        _without_an_end(Span(span.source, *endless.span(1)), endless[2], sink)
        return
    accepted = error.expected
    statement = span.source.text[start : span.end]
    known = misnamed_members(statement, span) or missing_percentiles(statement)
    sink.report(
        codes.SYNTAX,
        span,
        "unexpected end of statement",
        label=f"expected {_expected(accepted)} after this",
        hint=known or (RANGE_HINT if "RANGE" in accepted else "complete it, or remove it"),
    )


def _unexpected(error: UnexpectedError, span: Span, start: int, sink: Sink) -> None:
    """Report a word that cannot stand where it stands, with what could."""
    text = span.source.text
    open_at, _ = _open_brackets(text, start, span.start)
    if span.text == "}" and open_at and text[open_at[-1]] == "(":
        _unclosed(span.source, open_at[-1], sink, span.start)
        return
    endless = _ENDLESS.search(text, start, span.start)
    if endless is not None:
        _without_an_end(Span(span.source, *endless.span(1)), endless[2], sink)
        return
    fault = Fault(
        span,
        text[start : span.start].rstrip(),
        error.expected,
        text[open_at[-1]] if open_at else "",
    )
    if reports_endless_calls(fault, sink):
        return
    is_end = not span.text.strip(";\n ")
    sink.report(
        codes.SYNTAX,
        span,
        "unexpected end of the line" if is_end else f"unexpected `{shortened(span.text)}`",
        label=f"expected {_expected(fault.accepted)}",
        hint=syntax_help(fault),
    )


_ENDLESS = re.compile(r"(?<![\w.])((\d[\d_]*(?:\.\d+)?) *\.\.)\s*\Z")


def _without_an_end(span: Span, low: str, sink: Sink) -> None:
    """Report a range of which only the first value is written: `1..`."""
    many = float(low.replace("_", "")) >= _FEW
    hint = f"write the largest value to consider, such as `{low}..{'1_000_000' if many else '100'}`"
    sink.report(codes.SYNTAX, span, "this range has no end", label="", hint=hint)


# -- what was expected -------------------------------------------------------------------


_EXPRESSION_STARTS = frozenset(
    [
        "NUMBER",
        "DATE",
        "NAME",
        "LPAR",
        "MINUS",
        "SIGN",
        "NOT",
        "IF",
        "BETWEEN",
        "_ONE_OF",
        "_SAMPLES",
    ]
)
_OPERATORS = frozenset([
    "PLUS", "MINUS", "TIMES", "SLASH", "COMPARE", "CIRCUMFLEX", "AND", "OR", "DOT", "_EVERY",
    "_PLUS_MINUS",
])  # fmt: skip
_NAME_GOES_ON = frozenset(["DOT", "LPAR", "CIRCUMFLEX", "TIMES"])
_ENDS = ("RBRACE", "_SEP", "$END")
_SELDOM = frozenset(["FITTED", "_SOURCE"])
"""What is reported only where nothing else fits."""


def _expected(accepted: frozenset[str]) -> str:
    """Return in words what the grammar would have taken, at most four things."""
    rest = set(accepted - _SELDOM or accepted)
    words: list[str] = []
    if set(first_terminals()) <= rest:
        words.append("a declaration")
        rest -= {*first_terminals(), "DOC", "_SEP", "$END"}
    if {"NUMBER", "NAME", "LPAR"} <= rest:
        words.append("a quantity such as `10 Mbit/s`")
        rest -= _EXPRESSION_STARTS | {"_SEP", "BARE_CASE"}
    if {"PLUS", "TIMES"} <= rest or {"COMPARE", "AND"} <= rest:
        words.append("an operator")
        rest -= _OPERATORS | {"LPAR", "SIGN"}
    if rest - _NAME_GOES_ON:
        rest -= _NAME_GOES_ON - {"LPAR"} if "LBRACE" in rest else _NAME_GOES_ON
    named = [word for token in rest for word in TOKEN_CHOICES.get(token, ())]
    named = [f"`{word}`" for word in named]
    named += [in_words(token) for token in rest if token not in (*TOKEN_CHOICES, *_ENDS)]
    words += sorted(named)
    words += [in_words(token) for token in _ENDS if token in rest]
    if len(words) > _MANY_EXPECTED:
        words = [*words[: _MANY_EXPECTED - 1], "…"]
    if len(words) <= 1:
        return words[0] if words else "the end"
    return f"{', '.join(words[:-1])} or {words[-1]}"
