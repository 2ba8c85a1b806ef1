"""How visits are spread over the equal copies of a station."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class CopySelectionKind(StrEnum):
    """Which of the equal copies of a station serves an item."""

    RANDOM = "random"
    """Any of them, chosen anew at each visit."""
    OWN = "own"
    """That of the holder of the flow."""
    WITH_HOLD = "with_hold"
    """The one whose pool the item holds a part of."""


class CopySelection(Struct, frozen=True):
    """How visits are spread over the copies of a station; `pool` is the one that decides."""

    kind: CopySelectionKind = CopySelectionKind.RANDOM
    pool: str = ""
