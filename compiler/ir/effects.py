"""The effects of components on a stream: a row each, with all that is true of it.

What one does to the items is said in `lower/walk/build_visits.py`.
"""

from __future__ import annotations

from enum import Enum
from typing import Self

from msgspec import Struct

from qps.compiler.quantities.allowed_values import Bound
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension


class EffectTraits(Struct, frozen=True, kw_only=True):
    """What is true of an effect.

    Its value has a `dimension`, where that is one alone, and is within a `bound`; it has none where
    there is no bound. Inside a call it is `refused`: what it does there, and the fix; or it is so
    only where some items skip or repeat the call (`in_optional_call`: what it does).
    """

    bound: Bound | None = None
    dimension: Dimension | None = DIMENSIONLESS
    refused: tuple[str, str] | None = None
    in_optional_call: str = ""


class EffectKind(Enum):
    """What a component does to the stream: its word, and its traits."""

    traits: EffectTraits

    def __new__(cls, word: str, traits: EffectTraits) -> Self:
        """Return the effect of a word, which is its value."""
        made = object.__new__(cls)
        made._value_ = word
        made.traits = traits
        return made

    KEEP = (
        "keep",
        EffectTraits(
            bound=Bound.SHARE,
            refused=(
                "drops requests inside a call, so that some are never answered",
                "for a call by some requests, write `call db * 20 % { … }`; for loss, `drop`",
            ),
        ),
    )
    ACTIVE = (
        "active",
        EffectTraits(
            bound=Bound.SHARE,
            refused=(
                "makes flows on and off inside a call",
                "move it before the call, where the flows start",
            ),
        ),
    )
    EMIT = "emit", EffectTraits(bound=Bound.POSITIVE, dimension=None)
    DELAY = "delay", EffectTraits(bound=Bound.NOT_NEGATIVE, dimension=TIME)
    DROP = "drop", EffectTraits(bound=Bound.SHARE)
    QUEUE = (
        "queue",
        EffectTraits(bound=Bound.NOT_NEGATIVE, dimension=None, in_optional_call="adds a queue"),
    )
    RECOVER = "recover", EffectTraits(bound=Bound.SHARE, in_optional_call="recovers losses")
    MERGE = (
        "merge",
        EffectTraits(
            refused=(
                "merges flows inside a call, but each flow waits for its own answer",
                "move it after the call",
            ),
        ),
    )


EFFECTS = {one.value: one for one in EffectKind}
"""All effects by the words of the language."""
