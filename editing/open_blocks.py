"""Where the statement and the block begin that are open at the end of some tokens."""

from __future__ import annotations

from collections.abc import Sequence

from qps.grammar.parsing import SEPARATOR, Token


def statement_head(tokens: Sequence[Token]) -> str:
    """Return the word that the statement at hand starts with."""
    head = ""
    for token in reversed(tokens):
        if token.type in (SEPARATOR, "LBRACE", "RBRACE"):
            break
        head = token.type
    return head


def open_bracket(tokens: Sequence[Token], opening: str, closing: str) -> int | None:
    """Return where the innermost bracket stands that is open at the end."""
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        kind = tokens[index].type
        depth += (kind == closing) - (kind == opening)
        if depth < 0:
            return index
    return None
