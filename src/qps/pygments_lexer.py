"""QPS for Pygments, which colors documentation and notebooks: its lexer `qps`."""

from __future__ import annotations

import re
from typing import ClassVar

from pygments import token
from pygments.lexer import RegexLexer, bygroups

from qps.highlighting import DOC_MARK, HighlightRule, TokenKind, rules

TOKENS = {
    TokenKind.COMMENT: token.Comment.Single,
    TokenKind.DOC: token.String.Doc,
    TokenKind.STRING: token.String,
    TokenKind.NUMBER: token.Number,
    TokenKind.UNIT: token.Keyword.Type,
    TokenKind.DECLARATION: token.Keyword.Declaration,
    TokenKind.KEYWORD: token.Keyword,
    TokenKind.CONSTANT: token.Keyword.Constant,
    TokenKind.DEFINITION: token.Name.Class,
    TokenKind.BUILT_IN: token.Name.Builtin,
    TokenKind.FUNCTION: token.Name.Function,
    TokenKind.MEASURE: token.Name.Attribute,
    TokenKind.NAME: token.Name,
    TokenKind.OPERATOR: token.Operator,
    TokenKind.PUNCTUATION: token.Punctuation,
    TokenKind.SPACE: token.Text.Whitespace,
}


def _of_pygments(rule: HighlightRule) -> tuple[str, object]:
    kinds = [TOKENS[kind] for kind in rule.kinds]
    if re.compile(rule.pattern).groups == 0:
        return rule.pattern, kinds[0]
    return rule.pattern, bygroups(*kinds)  # type: ignore[no-untyped-call]


class QpsLexer(RegexLexer):
    """Colors specs; `pygmentize -l qps` finds it by its entry point."""

    name = "QPS"
    aliases: ClassVar = ["qps"]
    filenames: ClassVar = ["*.qps"]
    mimetypes: ClassVar = ["text/x-qps"]
    flags = re.MULTILINE
    tokens: ClassVar = {
        "root": [
            (rf"{DOC_MARK}(?:[^\"]|\"(?!\"\"))*{DOC_MARK}", token.String.Doc),
            *map(_of_pygments, rules()),
            (r"\n", token.Text.Whitespace),
        ]
    }
