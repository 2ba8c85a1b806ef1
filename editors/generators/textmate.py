"""VS Code's grammar, which Shiki and other sites read, too."""

from __future__ import annotations

import json
import re

from qps.highlighting import DOC_MARK, Kind, Rule, rules

_SCOPES = {
    Kind.COMMENT: "comment.line.number-sign",
    Kind.DOC: "string.quoted.docstring",
    Kind.STRING: "string.quoted.double",
    Kind.NUMBER: "constant.numeric",
    Kind.UNIT: "keyword.other.unit",
    Kind.DECLARATION: "storage.type",
    Kind.KEYWORD: "keyword.control",
    Kind.CONSTANT: "constant.language",
    Kind.DEFINITION: "entity.name.type",
    Kind.BUILT_IN: "support.function",
    Kind.FUNCTION: "entity.name.function",
    Kind.MEASURE: "support.variable.property",
    Kind.NAME: "variable.other",
    Kind.OPERATOR: "keyword.operator",
    Kind.PUNCTUATION: "punctuation",
}
"""The scopes that themes of every kind color."""


def _scope(kind: Kind) -> dict[str, str]:
    return {"name": f"{_SCOPES[kind]}.qps"}


def _pattern(rule: Rule) -> dict[str, object]:
    if re.compile(rule.pattern).groups == 0:
        return {"match": rule.pattern, **_scope(rule.kinds[0])}
    captures = {
        str(number): _scope(kind)
        for number, kind in enumerate(rule.kinds, 1)
        if kind is not Kind.SPACE
    }
    return {"match": rule.pattern, "captures": captures}


def grammar() -> str:
    """Return `qps.tmLanguage.json`."""
    doc = {"begin": DOC_MARK, "end": DOC_MARK, **_scope(Kind.DOC)}
    colored = [_pattern(rule) for rule in rules() if rule.kinds != (Kind.SPACE,)]
    made = {
        "name": "QPS",
        "scopeName": "source.qps",
        "fileTypes": ["qps"],
        "patterns": [doc, *colored],
    }
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
