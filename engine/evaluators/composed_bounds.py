"""Bounds and slopes of laws that are written for numbers of any kind.

Of operands that stay as they are they are the values at both ends of those of which it is proven
that the law rises with them; else they are those of each operation that the law takes. So are its
slopes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, nan
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.engine.evaluators import on_floats, on_intervals, slopes_on_floats
from qps.engine.evaluators.composed_laws import Composer
from qps.engine.evaluators.queueing.unlike_proofs import ENDLESS, RISES, Proof
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval, power
from qps.engine.queueing import unlike_laws

if TYPE_CHECKING:
    from qps.engine.evaluators.row_bounds import Bounds

_SHARE = (0.0, 1.0)
_ERLANG = on_intervals.monotone(on_floats.erlang_c, (-1, 1), _SHARE)


# -- intervals ---------------------------------------------------------------------------


def _bounded(name: str, *operands: SlopedInterval) -> SlopedInterval:
    if name == "erlang_c":
        return _ERLANG(*operands).sound()
    if name == "square":
        return power(operands[0], 2)
    found: SlopedInterval = getattr(on_intervals, name)(*operands)
    return found.sound()


_INTERVALS = Composer(_bounded, lambda value: SlopedInterval(value, value))


def interval_of(name: str, lies: tuple[float, float]) -> Callable[..., SlopedInterval]:
    """Return the bounds of a law from those of its operands."""
    law, proof = getattr(unlike_laws, name), RISES[name]
    ends = on_intervals.monotone(getattr(on_floats, name), proof.grows, lies)

    def bounds(*operands: SlopedInterval) -> SlopedInterval:
        if not all(unlike_laws.are_there(*ends_of) for ends_of in _corners(operands)):
            return NOTHING_KNOWN
        if _is_proven(proof, operands):
            return ends(*operands)
        load = operands[-1]
        if name in ENDLESS and load.low >= 1:
            return SlopedInterval(inf, inf, -inf, inf)
        found: SlopedInterval = _INTERVALS.of(law, *operands).sound()
        low, high = max(found.low, lies[0]), min(found.high, lies[1])
        if name in ENDLESS and load.high >= 1:
            return SlopedInterval(low, inf, -inf, inf)
        return SlopedInterval(low, high, found.slow, found.steep)

    return bounds


def _corners(operands: tuple[SlopedInterval, ...]) -> list[list[float]]:
    return [[one.low for one in operands], [one.high for one in operands]]


def _is_proven(proof: Proof, operands: tuple[SlopedInterval, ...]) -> bool:
    pairs = zip(proof.grows, operands, strict=True)
    fixed = [one for grows, one in pairs if not grows]
    return all(map(on_intervals.is_one_number, fixed)) and all(
        proof.holds(*ends) for ends in _corners(tuple(fixed))
    )


# -- many rows ---------------------------------------------------------------------------


class _Rows(Struct, frozen=True):
    """Bounds of many rows, operation by operation."""

    def __call__(self, name: str, *operands: Bounds) -> Bounds:
        """Return those of an operation."""
        from qps.engine.evaluators import on_arrays, on_bounds  # noqa: PLC0415 - needs numpy

        if name == "erlang_c":
            return on_bounds.monotone(on_arrays.erlang_c, (-1, 1))(*operands)
        if name == "square":
            return on_bounds.power(operands[0], 2)
        found: Bounds = getattr(on_bounds, name)(*operands)
        return found


def bounds_of(name: str) -> Callable[..., Bounds]:
    """Return the bounds of a law from those of its operands, of many rows at once."""
    import numpy as np  # noqa: PLC0415 - who solves one configuration needs none

    from qps.engine.evaluators import on_arrays, on_bounds  # noqa: PLC0415
    from qps.engine.evaluators.row_bounds import Bounds  # noqa: PLC0415

    law, proof, endless = getattr(unlike_laws, name), RISES[name], name in ENDLESS
    ends = on_bounds.monotone(getattr(on_arrays, name), proof.grows)
    rows = Composer(_Rows(), lambda value: Bounds(value, value))
    holds = np.vectorize(proof.holds, otypes=[bool])

    def bounds(*operands: Bounds) -> Bounds:
        pairs = zip(proof.grows, operands, strict=True)
        fixed = [one for grows, one in pairs if not grows]
        is_proven = holds(*(one.low for one in fixed))
        for one in fixed:
            is_proven = is_proven & (one.low == one.high)
            is_proven = is_proven & (one.slope_low == 0) & (one.slope_high == 0)
        if np.all(is_proven):
            return ends(*operands)
        with np.errstate(all="ignore"):
            found = rows.of(law, *operands)
        load = operands[-1]
        high = np.where(load.high >= 1, np.inf, found.high) if endless else found.high
        steep = np.where(load.high >= 1, np.inf, found.slope_high) if endless else found.slope_high
        composed = found.low, high, found.slope_low, steep
        if not np.any(is_proven):
            return Bounds(*composed)
        known = ends(*operands)
        at_ends = known.low, known.high, known.slope_low, known.slope_high
        pairs_of_ends = zip(at_ends, composed, strict=True)
        return Bounds(*(np.where(is_proven, one, other) for one, other in pairs_of_ends))

    return bounds


# -- slopes ------------------------------------------------------------------------------


class _Sloped(Struct, frozen=True, gc=False):
    """A value, and its slopes by each operand of a law."""

    value: float
    slopes: tuple[float, ...] = ()


@lru_cache(maxsize=1 << 8)
def _erlang_slopes(servers: float, traffic: float) -> tuple[float, ...]:
    from qps.engine.evaluators import on_balls  # noqa: PLC0415 - seldom needed

    return slopes_on_floats.by_differences(
        on_floats.erlang_c, on_balls.erlang_c, lambda _place: False
    )(servers, traffic)


def _chained(name: str, *operands: _Sloped) -> _Sloped:
    at = [one.value for one in operands]
    outer: tuple[float, ...]
    if name == "square":
        value, outer = at[0] * at[0], (2 * at[0],)
    elif name == "erlang_c":
        value, outer = on_floats.erlang_c(*at), _erlang_slopes(*at)
    else:
        value, outer = getattr(on_floats, name)(*at), getattr(slopes_on_floats, name)(*at)
    moving = [(by, one.slopes) for by, one in zip(outer, operands, strict=True) if one.slopes]
    columns = zip(*(slopes for _, slopes in moving), strict=True)
    return _Sloped(
        value,
        tuple(
            sum(by * slope for (by, _), slope in zip(moving, column, strict=True) if slope)
            for column in columns
        ),
    )


_SLOPED = Composer(_chained, _Sloped)


def slopes_of(name: str) -> Callable[..., tuple[float, ...]]:
    """Return the slopes of a law by each of its operands."""
    law = getattr(unlike_laws, name)

    def slopes(*operands: float) -> tuple[Any, ...]:
        nothing = (nan,) * len(operands)
        if not unlike_laws.are_there(*operands):
            return nothing
        if name in ENDLESS and operands[-1] >= 1:
            return nothing
        count = range(len(operands))
        parts = [
            _Sloped(value, tuple(float(k == place) for k in count))
            for place, value in enumerate(operands)
        ]
        found: _Sloped = _SLOPED.of(law, *parts)
        return found.slopes or nothing

    return slopes
