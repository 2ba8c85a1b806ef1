"""Requests of editors, and who answers: the table of features."""

from __future__ import annotations

from lsprotocol import types
from msgspec import Struct

from qps.editing.legend import LEGEND


class Feature(Struct, frozen=True, kw_only=True):
    """A request of the protocol, what the editor receives, and the function that answers.

    The function is named, not imported: the server itself needs no compiler.
    """

    method: str
    function: str
    options: object = None


_COMPLETES = types.CompletionOptions(trigger_characters=[".", '"', "/"])
_QUICK_FIXES = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

_SYNCHRONOUS_FEATURES: tuple[tuple[str, str, object], ...] = (
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, "outline:outline", None),
    (types.TEXT_DOCUMENT_FORMATTING, "layout_edits:layout_edits", None),
    (types.TEXT_DOCUMENT_COMPLETION, "code_completion:completion", _COMPLETES),
    (types.TEXT_DOCUMENT_DEFINITION, "references:definition", None),
    (types.TEXT_DOCUMENT_REFERENCES, "references:references", None),
    (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "references:highlights", None),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, "symbol_renaming:can_rename", None),
    (types.TEXT_DOCUMENT_RENAME, "symbol_renaming:rename", None),
    (types.TEXT_DOCUMENT_HOVER, "hover:hover", None),
    (types.TEXT_DOCUMENT_CODE_ACTION, "code_actions:quick_fixes", _QUICK_FIXES),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, "semantic_tokens:word_colors", LEGEND),
)
"""What is requested, which module and function of this folder answers, what the editor receives."""

FEATURES = tuple(
    Feature(method=method, function=f"qps.editing.{function}", options=options)
    for method, function, options in _SYNCHRONOUS_FEATURES
)
"""Requests about one text that are answered at once."""

OF_TEXTS = frozenset([*(one.method for one in FEATURES), types.TEXT_DOCUMENT_INLAY_HINT])
"""Requests of which nothing is answered for a text that is too long to be read."""

MISTAKES, ANSWER, PAGE, LIBRARY_TEXT = "mistakes", "answer", "page", "library text"

FUNCTIONS = {one.method: one.function for one in FEATURES} | {
    types.TEXT_DOCUMENT_INLAY_HINT: "qps.editing.value_hints:value_hints",
    MISTAKES: "qps.editing.published_diagnostics:text_diagnostics",
    ANSWER: "qps.editing.answer_summary:answer_line",
    PAGE: "qps.editing.live_preview:page_result",
}
"""Who answers what is demanded of a process, by the name of the request."""
