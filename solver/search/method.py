"""How a crossing was found."""

from __future__ import annotations

from enum import Enum


class SearchMethod(Enum):
    """Method that found a saturation point."""

    CLOSED_FORM = "closed form"
    ISOLATED_ROOT = "exactly isolated root"
    BRACKETED_ROOT = "bracketed root"
    JUMP = "jump"
    NONE = "never saturates"
    UNDECIDED = "undecided"
    AT_START = "saturated from the start"
