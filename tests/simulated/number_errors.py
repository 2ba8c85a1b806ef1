"""By how much predictions of networks are off, each with its methods and its point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf, isfinite

from msgspec import Struct

from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.measured_errors import (
    FAR_UNEQUAL_SERVICES,
    OF_LAWS,
    SATURATION_METHODS,
    ErrorAxis,
    ErrorQuantity,
)
from simulated.records import Model, Number

FURTHEST = 10.0
"""Beyond a factor of ten it is as bad as that."""
_SIGMAS = 2.0
"""So many standard errors of what was played may be its own."""
_OF_OWN_TABLES = SATURATION_METHODS | {FAR_UNEQUAL_SERVICES}
"""Methods whose errors are measured by themselves: their numbers say nothing of the others."""
_OF_WAITS = frozenset(
    {
        ErrorQuantity.WAIT,
        ErrorQuantity.WAIT_QUANTILE,
        ErrorQuantity.SHARE_BEYOND,
        ErrorQuantity.SHARE_WITHIN,
    }
)


class Off(Struct, frozen=True):
    """By which part of the truth a number is off, of a network, by some methods, at some point."""

    off: float
    network: int
    methods: frozenset[str]
    point: Mapping[ErrorAxis, float] = {}
    calls_rarely: bool = False


def by_quantity(models: Iterable[Model]) -> dict[ErrorQuantity, list[Off]]:
    found = defaultdict[ErrorQuantity, list[Off]](list)
    for model in models:
        for one in model.numbers:
            off, quantity = off_of(one), _quantity_of(one)
            if off is not None and _OF_OWN_TABLES.isdisjoint(one.why):
                point, methods = _point_of(one, quantity), frozenset(one.why)
                is_rare = one.calls_rarely and quantity in OF_LAWS
                found[quantity].append(Off(off, model.seed, methods, point, is_rare))
    return found


def _point_of(one: Number, quantity: ErrorQuantity) -> dict[ErrorAxis, float]:
    """Return where a number lies: of waits alone the share of the latency says nothing.

    Of a share beyond a time its own size counts, as it is predicted; of those of a latency both.
    """
    if quantity not in _OF_WAITS:
        return one.point
    is_of_wait = one.quantity != "latency share"
    found = {
        axis: at
        for axis, at in one.point.items()
        if axis is not ErrorAxis.WAITING or not is_of_wait
    }
    if found and quantity is ErrorQuantity.SHARE_BEYOND:
        found[ErrorAxis.RARITY] = 1 / one.value if one.value > 0 else inf
    return found


_QUANTITIES = {one.value: one for one in ErrorQuantity} | {"queue": ErrorQuantity.WAIT}


def _quantity_of(one: Number) -> ErrorQuantity:
    """Return of what a number is."""
    if one.quantity == "quantile":
        return ErrorQuantity.of_level(Fraction(one.measure.removeprefix("p")) / 100)
    if one.quantity.endswith(" share"):
        is_rest = "<=" in one.measure
        return ErrorQuantity.SHARE_WITHIN if is_rest else ErrorQuantity.SHARE_BEYOND
    return _QUANTITIES[one.quantity]


def off_of(one: Number) -> float | None:
    """Return how far off an approximation is for sure; None of what is none, or was not played."""
    play = one.last
    if one.kind is not CertaintyKind.APPROXIMATION or play is None or play.error is None:
        return None
    by_chance = _SIGMAS * play.error
    away = abs(one.value - play.mean)
    if play.mean <= by_chance:
        return 0.0 if away <= by_chance else None  # nothing was seen to compare with
    return max(0.0, away - by_chance) / play.mean if isfinite(away) else inf


def networks_of(numbers: Iterable[Off]) -> set[int]:
    return {one.network for one in numbers}
