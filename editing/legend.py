"""The kinds of words that are colored by what they mean."""

from __future__ import annotations

from lsprotocol import types

KINDS = (
    "keyword", "comment", "string", "number", "type", "class", "interface", "function", "method",
    "parameter", "variable", "property", "enum", "enumMember", "struct", "event", "namespace",
)  # fmt: skip
"""Of the protocol, so that every theme has colors for them."""

MODIFIERS = ("declaration", "readonly", "documentation")

LEGEND = types.SemanticTokensLegend(token_types=list(KINDS), token_modifiers=list(MODIFIERS))
