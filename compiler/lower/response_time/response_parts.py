"""The parts of what users see besides the latency: of jitter, of full queues and of loss."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.expressions.formulas import (
    Formula,
)


class JitterPart(Struct, frozen=True):
    """What a resource adds to a stream's jitter, a variance in s^2; `span` is its law."""

    resource: str
    value: Formula
    span: Span
    known: Certainty = EXACT


class QueuePart(Struct, frozen=True):
    """What a queue of bounded length holds when it is full, in seconds of the stream's items."""

    stage: str
    value: Formula
    span: Span


class LossKind(Enum):
    """Why items are lost (Claypool 1997, section 5.6.4, "Predicting Data Loss")."""

    VOLUNTARY = "voluntary"  # what a step drops, what comes too late for the playout buffer
    SATURATION = "saturation"  # what is beyond the capacity of a resource
    TRANSMISSION = "transmission"  # what a network loses
    BLOCKED = "blocked"  # what finds no room at a resource


class LossPart(Struct, frozen=True, kw_only=True):
    """A stage at which a share of the items is lost; stages are independent.

    `resource` is the one that is saturated, None for the other kinds. Where lost items are
    `restored`, which says what share of them, the value is below zero: so many more items leave
    the stage than reach it. What finds no room does so `at` a resource.
    """

    stage: str
    kind: LossKind
    value: Formula
    span: Span
    restored: Formula | None = None
    resource: str | None = None
    at: str | None = None
    known: Certainty = EXACT

    def changed(self, change: Callable[[Formula], Formula]) -> LossPart:
        """Return the stage with its formulas changed."""
        restored = self.restored and change(self.restored)
        return replace(self, value=change(self.value), restored=restored)
