"""A method, and a premise of it: what a row of the table says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.quantities.certainty import CertaintyKind

Steps: TypeAlias = tuple[tuple[float, float], ...]
"""Errors, each up to a number."""
Rows: TypeAlias = Mapping[str, "Method"]
"""Methods by their ids."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Of(StrEnum):
    """What a method gives: each quantity is known by itself."""

    MEAN = "mean"
    QUANTILE = "quantile"
    RATE = "rate"
    LOAD = "utilization"
    LOSS = "loss"
    JITTER = "jitter"
    ANSWER = "answer"
    """What is found by search over any of these, such as a capacity."""


class Method(Struct, frozen=True, kw_only=True):
    """A method: what it gives, its `name` in the field, and how a number is known by it.

    A theorem is exact under its `premises`, a bound holds under them. `reason` is what people read,
    with `{at}` for the places and other arguments by name; `notes` are what was found by comparison
    with simulation, by case, listed behind it. `error` is relative to the true value, as are
    `errors` by case and those `up_to` how many times services are apart, how much they vary, which
    share of the latency is waited, or how many items there are to one beyond a time: `measured`
    says by which comparison. Other errors go `by_delay`, the part of a latency that unequal
    services may falsify (`ErrorAxis.UNEQUAL_DELAY`). A reason may name such an error as that of its
    case, and `{most}` as where it ends. Where an approximation or bound stands `instead` of
    theorems, some of their premises fail.
    """

    name: str
    of: tuple[Of, ...]
    kind: CertaintyKind = CertaintyKind.APPROXIMATION
    reason: str = ""
    notes: Mapping[str, str] = _NOTHING
    error: float | None = None
    errors: Mapping[str, float] = MappingProxyType({})
    up_to: Mapping[str, Steps] = MappingProxyType({})
    by_delay: Mapping[str, Steps] = MappingProxyType({})
    measured: str = ""
    sources: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()

    def error_of(self, case: str, apart: float | None) -> float | None:
        """Return the error that is stated of a case, and of services so many times apart."""
        if case not in self.up_to:
            return self.errors.get(case, self.error)
        return next(
            (e for most, e in self.up_to[case] if apart is not None and apart <= most), None
        )

    def steps_at(self, apart: float | None) -> dict[str, float]:
        """Return what a reason names of the errors by case: of those beyond all, the last one."""
        found: dict[str, float] = {}
        for case, steps in self.up_to.items():
            within = (one for one in steps if apart is not None and apart <= one[0])
            found["most"], found[case] = next(within, steps[-1])
        return found


class PremiseText(Struct, frozen=True):
    """What a method needs of the network: its name, and what it says in a sentence."""

    name: str
    sentence: str


TIMES = (Of.MEAN, Of.QUANTILE)
TAIL = (Of.QUANTILE,)
CLOSED = (Of.MEAN, Of.QUANTILE, Of.RATE, Of.LOAD)
UPPER, LOWER = CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND
"""What many rows give, and how."""
