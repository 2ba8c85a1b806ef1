"""Text to syntax tree, with every syntax error that can be told apart.

The whole text is parsed first. Where that fails, each declaration is parsed by itself, so
that one mistake hides no other: a declaration starts at a line that begins, at its left
edge, with one of the words of `grammar.words.DECLARATIONS`, or with a doc string.
"""

from __future__ import annotations

import re
from dataclasses import replace

import lark
from lark import Token, Tree
from lark.utils import TextSlice

from qps.compiler import ast, codes
from qps.compiler.build_ast import Builder
from qps.compiler.diagnostics import Outcome, Sink
from qps.compiler.source import Source, Span
from qps.compiler.suggest import closest, listed
from qps.grammar import parser
from qps.grammar.words import DECLARATIONS, RESERVED, in_words

LARGEST_TEXT = 2_000_000
"""Characters in a file beyond which it is refused."""

_STARTS = re.compile(r'^(?:\w+|""")|"[^"\n]*"|#[^\n]*|[{}]', re.MULTILINE)
_DECLARED = re.compile(r"(?:^\w+|\bnode|\blink|\bas)[ \t]+(\w+)", re.MULTILINE)
_MANY_EXPECTED = 4


def parse(source: Source) -> Outcome[ast.Module]:
    """Return the module that a text declares, as far as it could be made out."""
    sink = Sink()
    if len(source.text) > LARGEST_TEXT:
        sink.report(
            codes.UNREADABLE,
            Span(source, 0, 0),
            f"the file is longer than {LARGEST_TEXT:,} characters",
            hint="split it and join the parts with `use`",
        )
        return sink.partial(_module(source, [], set()))
    builder = Builder(source, sink)
    items: list[str | ast.Declaration] = []
    failed: set[str] = set()
    tree = _parse_part(source, 0, len(source.text), None)
    if tree is not None:
        items = builder.items(tree)
    else:
        for start, end in _parts(source.text):
            part = _parse_part(source, start, end, sink)
            if part is not None:
                items += builder.items(part)
            else:
                failed.update(_DECLARED.findall(source.text, start, end))
    return sink.partial(_module(source, items, failed))


def parse_change(source: Source) -> Outcome[ast.Change]:
    """Return the `name = value` that a text such as a `--set` flag holds."""
    sink = Sink()
    try:
        tree = parser().parse(source.text, start="change")
    except lark.exceptions.UnexpectedInput as error:
        _report(error, source, 0, len(source.text), sink)
        return sink.outcome(None)
    return sink.outcome(Builder(source, sink).change(tree))


def _module(source: Source, items: list[str | ast.Declaration], failed: set[str]) -> ast.Module:
    """Give each doc string to the declaration behind it, the first one to the module."""
    module_doc: str | None = None
    waiting: str | None = None
    declarations: list[ast.Declaration] = []
    for index, item in enumerate(items):
        if isinstance(item, str):
            if index == 0:
                module_doc = item
            else:
                waiting = item
        else:
            declarations.append(item if waiting is None else replace(item, doc=waiting))
            waiting = None
    return ast.Module(source, module_doc, tuple(declarations), frozenset(failed))


def _parts(text: str) -> list[tuple[int, int]]:
    """Return where each declaration starts and ends.

    A word of `DECLARATIONS` at the left edge always starts one, so that a missing brace
    costs no more than its own block; any other word there does where no block is open.
    """
    starts: list[int] = []
    depth = 0
    doc_end = 0
    for match in _STARTS.finditer(text):
        word = match.group()
        if match.start() < doc_end:
            continue
        if word == '"""':
            closing = text.find('"""', match.end())
            doc_end = len(text) if closing < 0 else closing + 3
            starts.append(match.start())
        elif word in "{}":
            depth = max(0, depth + (1 if word == "{" else -1))
        elif word[0] not in '"#' and (word in DECLARATIONS or depth == 0):
            starts.append(match.start())
            depth = 0
    if not starts or text[: starts[0]].strip():
        starts.insert(0, 0)
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _parse_part(source: Source, start: int, end: int, sink: Sink | None) -> Tree[Token] | None:
    """Parse a stretch of the text as declarations; report into the sink where there is one."""
    try:
        return parser().parse(TextSlice(source.text, start, end), start="start")
    except lark.exceptions.UnexpectedInput as error:
        if sink is not None:
            _report(error, source, start, end, sink)
        return None


def _report(
    error: lark.exceptions.UnexpectedInput, source: Source, start: int, end: int, sink: Sink
) -> None:
    """Turn an exception of lark's into a diagnostic."""
    if isinstance(error, lark.exceptions.UnexpectedToken) and error.token.type != "$END":
        at = error.token.start_pos or 0
        span = Span(source, at, max(error.token.end_pos or at, at + 1))
        if error.token.type == "_SEP":
            span = Span(source, at, at + 1)
        _unexpected(error, span, source, start, sink)
    elif isinstance(error, lark.exceptions.UnexpectedCharacters):
        at = error.pos_in_stream or 0
        if source.text.startswith('"', at):
            sink.report(
                codes.UNCLOSED,
                Span(source, at, at + 1),
                "this text in quotes is not closed",
                hint='close it with `"` on the same line, or `"""` for a doc string',
            )
            return
        word = re.compile(r"\w+|.", re.DOTALL).match(source.text, at)
        span = Span(source, at, word.end() if word else at + 1)
        if re.fullmatch(r"\w+", span.text) or span.text in "{}()[]=<>+-*/^,.:;~%$":
            _unexpected(error, span, source, start, sink)
        else:
            sink.report(
                codes.CHARACTER,
                span,
                f"`{span.text}` has no meaning in QPS",
                hint=_character_hint(span.text),
            )
    else:
        last = len(source.text[:end].rstrip())
        _at_end(error, Span(source, max(start, last - 1), last), source, start, sink)


def _character_hint(character: str) -> str | None:
    hints = {
        "|": "choices are joined by `or`",
        "&": "conditions are joined by `and`",
        "!": "`not` turns a condition round, `!=` compares",
        "'": 'texts stand in double quotes: `"`',
        "×": "multiply with `*`",
        "·": "multiply with `*`",
        "≤": "write `<=`",
        "≥": "write `>=`",
        "€": "money is counted in `$` in this version",
        "?": "choose with `if … then … else …`",
    }
    return hints.get(character)


def _at_end(
    error: lark.exceptions.UnexpectedInput, span: Span, source: Source, start: int, sink: Sink
) -> None:
    """Report a declaration that stops too early; an open brace is the usual reason."""
    opening = _open_bracket(source.text, start, span.end)
    if opening is not None:
        bracket = source.text[opening]
        sink.report(
            codes.UNCLOSED,
            Span(source, opening, opening + 1),
            f"this `{bracket}` is never closed",
            hint=f"add the missing `{'}' if bracket == '{' else ')'}`",
        )
        return
    sink.report(
        codes.SYNTAX,
        span,
        "the declaration stops too early",
        label=f"expected {_expected(error)} after this",
        hint="complete it, or take it out",
    )


def _unexpected(
    error: lark.exceptions.UnexpectedInput, span: Span, source: Source, start: int, sink: Sink
) -> None:
    """Report a word that cannot stand where it stands, with what could."""
    found = "the end of the line" if not span.text.strip(";\n ") else f"`{span.text}`"
    opening = _open_bracket(source.text, start, span.start)
    text_before = source.text[start : span.start].rstrip()
    sink.report(
        codes.SYNTAX,
        span,
        f"unexpected {found}",
        label=f"expected {_expected(error)}",
        hint=_slip(span, text_before, error, inside=opening is not None),
    )


def _slip(
    span: Span, before: str, error: lark.exceptions.UnexpectedInput, *, inside: bool
) -> str | None:
    """Return a hint for the commonest slips."""
    word = span.text
    keywords = [name.lower() for name in _accepted(error) if name.isalpha() and name.isupper()]
    if word.isidentifier() and not inside and not before:
        near = closest(word, DECLARATIONS)
        return (
            f"did you mean `{near}`?"
            if near
            else "a declaration starts with one of " + listed(DECLARATIONS, "or")
        )
    if word.isidentifier() and word not in RESERVED:
        near = closest(word, [k for k in keywords if k in RESERVED])
        if near:
            return f"did you mean `{near}`?"
    if word.isidentifier() and "_SEP" in _accepted(error) and before[-1:] not in "{(,=":
        return "end the statement before it with `;` or a new line"
    if word in "[]":
        return "write a range as `2..200`, choices as `a or b`"
    if word == "=" and before.endswith(("=", "<", ">")):
        return None
    if word == "=":
        return "compare with `==`, `<=` or `>=`; `=` only gives a name its value"
    if re.fullmatch(r"\d.*", word) and re.search(r"\d$", before):
        return "write digits together, or with `_` between: `800_000`"
    if word in RESERVED and "NAME" in _accepted(error):
        return f"`{word}` is a word of the language and cannot be a name"
    return None


def _accepted(error: lark.exceptions.UnexpectedInput) -> set[str]:
    if isinstance(error, lark.exceptions.UnexpectedToken):
        return set(error.accepts or error.expected)
    if isinstance(error, lark.exceptions.UnexpectedCharacters):
        return set(error.allowed or ())
    return set(getattr(error, "expected", ()))


_EXPRESSION_STARTS = frozenset(["NUMBER", "NAME", "LPAR", "MINUS", "SIGN", "NOT", "IF"])
_OPERATORS = frozenset(
    ["PLUS", "MINUS", "TIMES", "OVER", "COMPARE", "CIRCUMFLEX", "AND", "OR", "DOT"]
)


def _expected(error: lark.exceptions.UnexpectedInput) -> str:
    """Return in words what the grammar would have taken, at most four things."""
    accepted = _accepted(error) - {"_CONTINUATION", "SPACE", "COMMENT"}
    words: list[str] = []
    if {"NUMBER", "NAME", "LPAR"} <= accepted:
        words.append("a quantity such as `10 Mbit/s`")
        accepted -= _EXPRESSION_STARTS | {"_SEP"}
    if {"PLUS", "TIMES"} <= accepted:
        words.append("an operator")
        accepted -= _OPERATORS | {"LPAR", "SIGN"}
    words += sorted({in_words(name) for name in accepted})
    if len(words) > _MANY_EXPECTED:
        words = [*words[: _MANY_EXPECTED - 1], "…"]
    if len(words) <= 1:
        return words[0] if words else "something else"
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _open_bracket(text: str, start: int, end: int) -> int | None:
    """Return where the innermost bracket that is open at `end` stands."""
    open_at: list[int] = []
    for match in re.compile(r'"[^"\n]*"|#[^\n]*|[{}()]').finditer(text, start, end):
        if match.group() in "{(":
            open_at.append(match.start())
        elif match.group() in "})" and open_at:
            open_at.pop()
    return open_at[-1] if open_at else None
