"""How the items of a class arrive."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from qps.engine.expressions.formulas import Formula


class ArrivalProcess(StrEnum):
    """How the items of one flow arrive."""

    POISSON = "poisson"
    PERIODIC = "periodic"
    RENEWAL = "renewal"
    """The times between two items are independent, of a stated coefficient of variation."""


class Arrivals(Struct, frozen=True, kw_only=True):
    """The arrivals of one flow: `rate` in 1/s; of renewals the coefficient of `variation`."""

    process: ArrivalProcess
    rate: Formula
    variation: Formula | None = None
