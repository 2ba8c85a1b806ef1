"""What editors may ask, and who answers: the table of features."""

from __future__ import annotations

from lsprotocol import types
from msgspec import Struct

from qps.editing.legend import LEGEND


class Feature(Struct, frozen=True, kw_only=True):
    """A request of the protocol, what the editor is told of it, and the function that answers.

    The function is named, not imported: the server itself needs no compiler.
    """

    method: str
    function: str
    options: object = None


FEATURES = (
    Feature(
        method=types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        function="qps.editing.outline:outline",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_FORMATTING,
        function="qps.editing.layout_edits:layout_edits",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_COMPLETION,
        function="qps.editing.completing:completion",
        options=types.CompletionOptions(trigger_characters=[".", '"', "/"]),
    ),
    Feature(
        method=types.TEXT_DOCUMENT_DEFINITION,
        function="qps.editing.declared_names:definition",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_REFERENCES,
        function="qps.editing.declared_names:references",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        function="qps.editing.declared_names:highlights",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_PREPARE_RENAME,
        function="qps.editing.new_names:can_rename",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_RENAME,
        function="qps.editing.new_names:rename",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_HOVER,
        function="qps.editing.hovering:hover",
    ),
    Feature(
        method=types.TEXT_DOCUMENT_CODE_ACTION,
        function="qps.editing.mending:mending",
        options=types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    ),
    Feature(
        method=types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        function="qps.editing.word_colours:word_colours",
        options=LEGEND,
    ),
)
"""Requests about one text that are answered at once."""

MISTAKES, ANSWER, PAGE, LIBRARY_TEXT = "mistakes", "answer", "page", "library text"

FUNCTIONS = {one.method: one.function for one in FEATURES} | {
    types.TEXT_DOCUMENT_INLAY_HINT: "qps.editing.value_hints:value_hints",
    MISTAKES: "qps.editing.told_mistakes:told_mistakes",
    ANSWER: "qps.editing.told_answer:told_answer",
    PAGE: "qps.editing.told_page:told_page",
}
"""Who answers what is asked of a process, by the name of the request."""
