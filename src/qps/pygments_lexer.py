"""QPS for Pygments, which colors documentation and notebooks: its lexer `qps`."""

from __future__ import annotations

import re
from typing import ClassVar

from pygments import token
from pygments.lexer import RegexLexer, bygroups

from qps.highlighting import DOC_MARK, Kind, Rule, rules

TOKENS = {
    Kind.COMMENT: token.Comment.Single,
    Kind.DOC: token.String.Doc,
    Kind.STRING: token.String,
    Kind.NUMBER: token.Number,
    Kind.UNIT: token.Keyword.Type,
    Kind.DECLARATION: token.Keyword.Declaration,
    Kind.KEYWORD: token.Keyword,
    Kind.CONSTANT: token.Keyword.Constant,
    Kind.DEFINITION: token.Name.Class,
    Kind.BUILT_IN: token.Name.Builtin,
    Kind.FUNCTION: token.Name.Function,
    Kind.MEASURE: token.Name.Attribute,
    Kind.NAME: token.Name,
    Kind.OPERATOR: token.Operator,
    Kind.PUNCTUATION: token.Punctuation,
    Kind.SPACE: token.Text.Whitespace,
}


def _of_pygments(rule: Rule) -> tuple[str, object]:
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
