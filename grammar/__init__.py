"""The grammar of QPS and the parser that lark builds from it.

This package knows no other: `qps.compiler` turns its trees and its exceptions into
syntax nodes and diagnostics.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from zlib import crc32

import lark
from lark.lexer import PatternRE, PatternStr, TerminalDef, Token

from qps.grammar.words import CONTINUING_TOKENS

__all__ = ["grammar_text", "parser"]


def grammar_text() -> str:
    """Return the text of `qps.lark`."""
    return files("qps.grammar").joinpath("qps.lark").read_text(encoding="utf-8")


@cache
def parser() -> lark.Lark:
    """Return the LALR(1) parser with its two start rules, `start` and `change`.

    The tables that lark computes are kept beside Python's own bytecode, so that only the
    first run on a machine pays for them; where that folder cannot be written they are
    computed anew.
    """
    return build_parser(cache_path=_cache_path())


def build_parser(*, cache_path: str | None = None, strict: bool = False) -> lark.Lark:
    """Build the parser; `strict` refuses every conflict that lark would settle silently."""
    return lark.Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start=["start", "change"],
        propagate_positions=True,
        maybe_placeholders=True,
        postlex=_StatementEnds(),
        edit_terminals=_whole_words,
        cache=cache_path or False,
        strict=strict,
    )


def _cache_path() -> str | None:
    """Return where the parser tables are kept, or None where the place is not a real folder."""
    folder = Path(__file__).parent / "__pycache__"
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    # Lark compares the grammar's text itself; what this file does to it must be compared too.
    hooks = crc32(Path(__file__).read_bytes())
    version = f"{sys.implementation.cache_tag}-lark{lark.__version__}-{hooks:08x}"
    return str(folder / f"qps.{version}.tables")


def _whole_words(terminal: TerminalDef) -> None:
    """Make every keyword match whole words only: `componentfoo` is a name, not `component foo`."""
    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value[0].isalpha():
        terminal.pattern = PatternRE(rf"{terminal.pattern.value}\b")
        terminal.priority = 1


class _StatementEnds:
    """Drop the ends of lines that end no statement: in brackets, after an operator or a `{`."""

    always_accept = ("_SEP",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        previous: str | None = None
        for token in stream:
            if token.type == "_SEP":
                if depth or previous is None or previous in CONTINUING_TOKENS:
                    continue
            elif token.type in ("LPAR", "LSQB"):
                depth += 1
            elif token.type in ("RPAR", "RSQB"):
                depth -= 1
            previous = token.type
            yield token
