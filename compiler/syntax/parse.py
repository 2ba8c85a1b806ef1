"""Text to syntax tree, with every syntax error that can be distinguished.

The whole text is parsed first. Where that fails, each declaration is parsed by itself, so
that one mistake hides no other: a declaration starts at a line that begins, at its left
edge, with one of the words of `grammar.keywords.declarations`, or with a doc string.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Outcome, Sink
from qps.compiler.diagnostics.source import LARGEST_TEXT, Source, Span
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.syntax import ast
from qps.compiler.syntax.build_ast import AstBuilder
from qps.compiler.syntax.completed_file import completed
from qps.compiler.syntax.editions import report_editions
from qps.compiler.syntax.nesting import allow_deep_expressions
from qps.grammar import parsing
from qps.grammar.keywords import continuing_words, declarations

if TYPE_CHECKING:
    from qps.compiler.syntax.parse_cache import ParseCache

LARGEST_DECLARATION = 200_000
"""Characters in a declaration beyond which it is refused, comments and blanks included."""

_STARTS = re.compile(r'^(?:\w+|""")|"""|"[^"\n]*"|#[^\n]*|[{}()]', re.MULTILINE)
_DECLARES = re.compile(
    r'quality\b|\w+(?:[ \t]*\{|[ \t]+(?:"|(?!(?:and|at|by|if|in|or|to|with|within)\b)\w))'
)
"""What a line starts with that declares something, where a name could stand as well."""
_WAITS = "+-*/^<>=~,:"
_CHARACTERS_BEFORE = 200
_DECLARED = re.compile(
    r"^observe[ \t]+trace[ \t]+(\w+)|"
    r"^\w+[^\w\n]+(\w+)|\b(?:node|link|as)[ \t]+(\w+)|[{;\n][ \t]*\w+[ \t]+(\w+)[ \t]*=(?!=)",
    re.MULTILINE,
)


def parse(source: Source, cache: ParseCache | None = None) -> Outcome[ast.Module]:
    """Return the module that a text declares, as far as it could be made out.

    What was read before is had from what is `cache`, where that is given, and kept for the next.
    """
    allow_deep_expressions()
    sink = Sink()
    if len(source.text) > LARGEST_TEXT:
        sink.report(
            codes.UNREADABLE,
            Span(source, 0, 0),
            f"the file has {len(source.text):,} characters, more than the limit of "
            f"{LARGEST_TEXT:,}",
            hint="split it into files, and include them with `use`",
        )
        return sink.partial(_module(source, [], [(0, 0)], sink))
    parts = _parts(source.text)
    items, parts = ([], parts) if cache is None else _reused_parts(source, parts, sink, cache)
    failed: list[tuple[int, int]] = []
    builder = AstBuilder(source, sink)
    tree = None
    if parts and all(end - start <= LARGEST_DECLARATION for start, end in parts):
        tree = _parse_part(source, parts[0][0], len(source.text), None)
    if tree is not None:
        items += builder.items(tree)
        parts = []
    for start, end in parts:
        known = None if cache is None else cache.get(source, start, end)
        part = _parse_part(source, start, end, sink) if known is None else None
        if known is not None:
            items += known
        elif part is not None:
            items += builder.items(part)
        else:
            failed.append((start, end))
    return sink.partial(_module(source, completed(items), failed, sink))


def _reused_parts(
    source: Source, parts: list[tuple[int, int]], sink: Sink, cache: ParseCache
) -> tuple[list[str | ast.Declaration], list[tuple[int, int]]]:
    """Return what the first parts say, each read by itself, and the parts from a wrong one on."""
    items: list[str | ast.Declaration] = []
    for index, (start, end) in enumerate(parts):
        found = cache.get(source, start, end)
        if found is None:
            is_short = end - start <= LARGEST_DECLARATION
            tree = _parse_part(source, start, end, None) if is_short else None
            if tree is None:
                return items, parts[index:]
            before = len(sink.found)
            found = AstBuilder(source, sink).items(tree)
            if len(sink.found) == before:
                cache.put(source, start, end, found)
        items += found
    return items, []


def _report(
    error: parsing.UnexpectedError, source: Source, start: int, end: int, sink: Sink
) -> None:
    """Report a syntax error; what recognizes mistakes is imported where there is one."""
    from qps.compiler.syntax.syntax_errors import report_syntax_error  # noqa: PLC0415

    report_syntax_error(error, source, start, end, sink)


def parse_change(source: Source) -> Outcome[ast.Change]:
    """Return the `name = value` that a text such as a `--set` flag holds."""
    allow_deep_expressions()
    sink = Sink()
    try:
        tree = parsing.parse(source.text, start="change").tree
    except parsing.UnexpectedError as error:
        _report(error, source, 0, len(source.text), sink)
        return sink.outcome(None)
    return sink.outcome(AstBuilder(source, sink).change(tree))


def _module(
    source: Source,
    items: list[str | ast.Declaration],
    failed: list[tuple[int, int]],
    sink: Sink,
) -> ast.Module:
    """Give each doc string to the declaration behind it, the first one to the module."""
    module_doc: str | None = None
    waiting: str | None = None
    declarations: list[ast.Declaration] = []
    for index, item in enumerate(items):
        if isinstance(item, str):
            if all(isinstance(before, ast.Edition) for before in items[:index]):
                module_doc = item
            else:
                waiting = item
        else:
            declarations.append(item if waiting is None else replace(item, doc=waiting))
            waiting = None
    report_editions(declarations, sink)
    names: set[str] = set()
    kinds: set[str] = set()
    for start, end in failed:
        kind = _kind_meant(source.text, start, end)
        kinds.add(kind)
        names |= _names_meant(source.text, start, end, kind)
    return ast.Module(
        source=source,
        doc=module_doc,
        declarations=tuple(declarations),
        failed_names=frozenset(names),
        failed_kinds=frozenset(kinds),
    )


def _kind_meant(text: str, start: int, end: int) -> str:
    """Return the word that a declaration that failed starts with, or was meant to; else ''."""
    word = re.compile(r"\s*(\w+)").match(text, start, end)
    if word is None:
        return ""
    return word[1] if word[1] in declarations() else closest(word[1], declarations()) or ""


def _names_meant(text: str, start: int, end: int, kind: str) -> set[str]:
    """Return the names that a declaration that failed would have declared."""
    if kind == "use":
        return set(re.compile(r"\w+").findall(text, start, end))
    found = _DECLARED.findall(text, start, end)
    return {name for names in found for name in names if name}


def declaration_start(text: str, offset: int) -> int:
    """Return where the declaration starts that a place of a text is in, or would be."""
    return max((start for start, _ in _parts(text[:offset]) if start <= offset), default=0)


def _parts(text: str) -> list[tuple[int, int]]:
    """Return where each declaration starts and ends.

    A word that declares with a name behind it at the left edge starts one, so that a missing
    brace costs no more than its own block; any other word there does where nothing is open and the
    line before is complete.
    """
    declared = frozenset(declarations())
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
            if not match.start() or text[match.start() - 1] == "\n":  # others stand in a block
                starts.append(match.start())
        elif word in "{}()":
            depth = max(0, depth + (1 if word in "{(" else -1))
        elif word[0] in '"#':
            continue
        elif depth == 0 and not _continues(text, match.start()):
            starts.append(match.start())
        elif word in declared and _DECLARES.match(text, match.start()):
            starts.append(match.start())
            depth = 0
    if not starts or text[: starts[0]].strip():
        starts.insert(0, 0)
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _continues(text: str, at: int) -> bool:
    """Return whether the line that starts at a place goes on from the line before."""
    before = text[max(0, at - _CHARACTERS_BEFORE) : at].rstrip()
    word = re.compile(r"\w+").match(text, at)
    return (before[-1:] in _WAITS and bool(before)) or (
        word is not None and word[0] in continuing_words()
    )


def _parse_part(
    source: Source, start: int, end: int, sink: Sink | None
) -> parsing.ParseTree | None:
    """Parse a stretch of the text as declarations; report into the sink where there is one."""
    if sink is not None and end - start > LARGEST_DECLARATION:
        sink.report(
            codes.TOO_DEEP,
            Span(source, start, start + len(source.text[start:end].partition("\n")[0])),
            f"a declaration is longer than {LARGEST_DECLARATION:,} characters",
            hint="split it; declarations start at the left margin",
        )
        return None
    try:
        return parsing.parse(source.text, start, end).tree
    except parsing.UnexpectedError as error:
        if sink is not None:
            _report(error, source, start, end, sink)
        return None
