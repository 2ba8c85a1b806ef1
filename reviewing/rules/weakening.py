"""What the rules of a review find."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from qps.compiler.diagnostics.source import Span


class Weakening(Struct, frozen=True, kw_only=True):
    """What a change makes weaker, by the name of its rule.

    It stands at `span` in the new text; where `is_before`, at that in the old one: the new one has
    it no more. `about` is the spec that it is of, where it stands elsewhere; `claim` the claim that
    it is of, `content` what that said, so that it is found where it was moved to.
    """

    rule: str
    message: str
    span: Span
    is_before: bool = False
    claim: str = ""
    about: str = ""
    content: frozenset[Hashable] = frozenset()


def said(span: Span) -> str:
    """Return a part of a text in one line."""
    return " ".join(span.text.split())
