"""The measures of a solved model, and what each is of."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from msgspec import Struct


class MeasureKind(Enum):
    """The measures of a solved model."""

    LATENCY = "latency"
    QUANTILE = "quantile"
    JITTER = "jitter"
    BUFFER = "buffer"
    MAX_WAIT = "max_wait"
    WAIT = "wait"
    WAIT_QUANTILE = "wait_quantile"
    QUEUE = "queue"
    TIME_SHARE = "time_share"
    LOSS = "loss"
    VOLUNTARY_LOSS = "voluntary_loss"
    SATURATION_LOSS = "saturation_loss"
    TRANSMISSION_LOSS = "transmission_loss"
    RATE = "rate"
    THROUGHPUT = "throughput"
    LOAD = "load"
    SHARE = "share"
    SATURATION = "saturation"
    LARGEST = "capacity"
    HOLDS_UNTIL = "holds_until"
    AVAILABILITY = "availability"
    LOWEST_COST = "lowest_cost"
    LOWEST_RUNNING_COST = "lowest_running_cost"
    QUALITY = "quality"
    COST = "cost"
    RUNNING_COST = "running_cost"


WAITS = frozenset(
    (
        MeasureKind.WAIT,
        MeasureKind.WAIT_QUANTILE,
        MeasureKind.QUEUE,
        MeasureKind.TIME_SHARE,
    )
)
"""Waits, numbers of those who wait, and shares of items by a time."""

OF_THE_WHOLE = frozenset(
    (
        MeasureKind.HOLDS_UNTIL,
        MeasureKind.AVAILABILITY,
        MeasureKind.LOWEST_COST,
        MeasureKind.LOWEST_RUNNING_COST,
    )
)
"""Measures of a whole system, in all modes, that claims alone can name."""

OWN = ""
"""The subject in a jitter law: the very resource that has it; its rate is what is stated there."""


class TimeLimit(Struct, frozen=True, kw_only=True):
    """The condition of a share of items: a time of each that is longer than a limit, or is not.

    It is the time that an item waits, or else its latency; the limit is in seconds.
    """

    seconds: Fraction
    is_wait: bool
    is_longer: bool


class Measured(Struct, frozen=True, kw_only=True):
    """A measure of a stream or a resource.

    `component` is set for a share; for the latency of a call it is the node that is called. `level`
    is set for a quantile: the share that is to stay below it. `times` is set for the share of items
    whose time is within a limit, or beyond it.
    """

    kind: MeasureKind
    subject: str
    component: str | None = None
    level: Fraction | None = None
    times: TimeLimit | None = None
