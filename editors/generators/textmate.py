"""VS Code's grammar, which Shiki and other sites read, too."""

from __future__ import annotations

import json
import re

from qps.highlighting import DOC_MARK, HighlightRule, TokenKind, rules

_SCOPES = {
    TokenKind.COMMENT: "comment.line.number-sign",
    TokenKind.DOC: "string.quoted.docstring",
    TokenKind.STRING: "string.quoted.double",
    TokenKind.NUMBER: "constant.numeric",
    TokenKind.UNIT: "keyword.other.unit",
    TokenKind.DECLARATION: "storage.type",
    TokenKind.KEYWORD: "keyword.control",
    TokenKind.CONSTANT: "constant.language",
    TokenKind.DEFINITION: "entity.name.type",
    TokenKind.BUILT_IN: "support.function",
    TokenKind.FUNCTION: "entity.name.function",
    TokenKind.MEASURE: "support.variable.property",
    TokenKind.NAME: "variable.other",
    TokenKind.OPERATOR: "keyword.operator",
    TokenKind.PUNCTUATION: "punctuation",
}
"""The scopes that themes of every kind color."""


def _scope(kind: TokenKind) -> dict[str, str]:
    return {"name": f"{_SCOPES[kind]}.qps"}


def _pattern(rule: HighlightRule) -> dict[str, object]:
    if re.compile(rule.pattern).groups == 0:
        return {"match": rule.pattern, **_scope(rule.kinds[0])}
    captures = {
        str(number): _scope(kind)
        for number, kind in enumerate(rule.kinds, 1)
        if kind is not TokenKind.SPACE
    }
    return {"match": rule.pattern, "captures": captures}


def grammar() -> str:
    """Return `qps.tmLanguage.json`."""
    doc = {"begin": DOC_MARK, "end": DOC_MARK, **_scope(TokenKind.DOC)}
    colored = [_pattern(rule) for rule in rules() if rule.kinds != (TokenKind.SPACE,)]
    made = {
        "name": "QPS",
        "scopeName": "source.qps",
        "fileTypes": ["qps"],
        "patterns": [doc, *colored],
    }
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
