"""Reasons that no method of the table gives, for tests of how labels are put together."""

from __future__ import annotations

from qps.compiler.quantities.certainty import Reason


def reason(text: str) -> Reason:
    """Return a reason of a method that is called as it reads."""
    return Reason(method=text, text=text)
