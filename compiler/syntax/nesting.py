"""How deep expressions may be nested, and how deep Python may go for that."""

from __future__ import annotations

import sys

DEEPEST_EXPRESSION = 600
"""How deep an expression may be nested, its functions and `let`s put in."""

_CALLS_A_LEVEL = 25


def allow_deep_expressions() -> None:
    """Let Python nest as deep as the deepest expression that is not refused needs.

    Whatever reads a text needs it, too: what is too deep is reported where it is built. Passes walk
    expressions by recursion, sympy does so several calls a level.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _CALLS_A_LEVEL * DEEPEST_EXPRESSION))
