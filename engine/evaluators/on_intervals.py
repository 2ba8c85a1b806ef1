"""Bounds of operations and of their slopes in the population, from those of their operands.

So a question about every population is decided without trying each of them (Moore, Kearfott and
Cloud 2009, Introduction to Interval Analysis, chapters 5 and 6). Bounds are rounded outwards:
they may be wide, never too narrow. What is not known has no bounds; it proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf

from msgspec.structs import replace

from qps.engine.evaluators import on_floats
from qps.engine.evaluators.fork_join_bounds import forked_rate, forked_time, forked_wait
from qps.engine.evaluators.load_dependent_bounds import nested_rate, nested_time, nested_wait
from qps.engine.evaluators.multiclass_bounds import (
    class_open_wait,
    class_quantile,
    class_rate,
    class_wait,
)
from qps.engine.evaluators.multiclass_load_dependent_bounds import (
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.numerics.sloped_intervals import (
    LIBRARY,
    NOTHING_KNOWN,
    ROUNDED_OFF,
    SlopedInterval,
    above,
    below,
    maximum,
    minimum,
    negative,
    power,
    product,
    quotient,
    span,
    times,
    total,
)
from qps.engine.operand_groups import found_together, placed, repeated


def _widened(low: float, high: float, by: float) -> tuple[float, float]:
    return _lowered(low, by), -_lowered(-high, by)


def _lowered(end: float, by: float) -> float:
    """Return a lower end moved down; what is beyond all floats lies above the largest of them."""
    return below(end) if end == inf else below(end - abs(end) * by)


def _chained(
    value: tuple[float, float], rate: tuple[float, float], inner: SlopedInterval
) -> SlopedInterval:
    """Return a function of something, its own slopes being between two bounds."""
    if inner.is_fixed:
        return SlopedInterval(*value)
    return SlopedInterval(*value, *span(*rate, inner.slow, inner.steep))


def _monotone(
    function: Callable[[float], float], one: SlopedInterval, *, falls: bool = False
) -> tuple[float, float]:
    """Return the bounds of a function that rises throughout, or that falls."""
    ends = function(one.low), function(one.high)
    return _widened(*(ends[::-1] if falls else ends), LIBRARY)


def absolute(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a size without its sign."""
    return maximum(one, negative(one))


def exponential(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of e^x."""
    low, high = _monotone(on_floats.exponential, one)
    value = max(low, 0.0), high
    return _chained(value, value, one)


def logarithm(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of ln x; nothing is known where x may not be positive."""
    if one.low <= 0:
        return NOTHING_KNOWN
    rate = below(1 / one.high), above(1 / one.low)
    return _chained(_monotone(math.log, one), rate, one)


def root(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a square root."""
    if one.low < 0:
        return NOTHING_KNOWN
    low, high = math.sqrt(one.low), math.sqrt(one.high)
    # The nearest float to a root is exact where its square is.
    least = low if low * low == one.low and low.is_integer() else max(below(low), 0.0)
    most = high if high * high == one.high and high.is_integer() else above(high)
    rate = below(0.5 / most) if most else inf, above(0.5 / least) if least else inf
    return _chained((least, most), rate, one)


def raised(base: SlopedInterval, exponent: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a power: a whole one, one of a root, or of something positive.

    The last as exp(y ln x).
    """
    if exponent.is_fixed and exponent.low == exponent.high and abs(exponent.low) < inf:
        if exponent.low.is_integer():
            return power(base, int(exponent.low))
        if (2 * exponent.low).is_integer():
            return power(root(base), int(2 * exponent.low))
    return exponential(times(exponent, logarithm(base)))


def _stepped(value: tuple[float, float], one: SlopedInterval) -> SlopedInterval:
    rate = (0.0, 0.0) if value[0] == value[1] else (0.0, inf)
    return _chained(value, rate, one)


def _rounded(function: Callable[[float], float], value: float) -> float:
    return value if value in (inf, -inf) else float(function(value))


def ceiling(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of what is rounded up: flat, but where it jumps."""
    return _stepped((_rounded(math.ceil, one.low), _rounded(math.ceil, one.high)), one)


def floor(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of what is rounded down."""
    return _stepped((_rounded(math.floor, one.low), _rounded(math.floor, one.high)), one)


def cosine(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a cosine: by its ends where it does not turn in between."""
    if not (abs(one.low) < inf and abs(one.high) < inf):
        return SlopedInterval(-1.0, 1.0, -inf, inf)
    value, rate = (-1.0, 1.0), (-1.0, 1.0)
    turns = math.floor(one.low / math.pi), math.floor(one.high / math.pi)
    if turns[0] == turns[1]:
        ends = sorted((math.cos(one.low), math.cos(one.high)))
        value = max(-1.0, ends[0] - LIBRARY), min(1.0, ends[1] + LIBRARY)
        rate = (-1.0, 0.0) if turns[0] % 2 == 0 else (0.0, 1.0)
    return _chained(value, rate, one)


def arc_cosine(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of an angle of which the cosine is known."""
    if not (one.low >= -1 and one.high <= 1):
        return NOTHING_KNOWN
    value = _monotone(math.acos, one, falls=True)
    far = max(abs(one.low), abs(one.high))
    near = 0.0 if one.low <= 0 <= one.high else min(abs(one.low), abs(one.high))
    steepest = -above(1 / math.sqrt(1 - far * far)) if far < 1 else -inf
    return _chained(
        value, (steepest, -below(1 / math.sqrt(1 - near * near)) if near < 1 else -1.0), one
    )


def lambert(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of the upper branch of Lambert's W, which rises."""
    value = _monotone(on_floats.lambert, one)
    return _chained(value, _lambert_rate(value), one)


def lower_lambert(one: SlopedInterval) -> SlopedInterval:
    """Return the bounds of the lower branch of Lambert's W, which falls."""
    value = _monotone(on_floats.lower_lambert, one, falls=True)
    return _chained(value, _lambert_rate(value), one)


def _lambert_rate(value: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds of 1 / (exp(w) (1 + w)), which is the slope where W is w."""
    w = SlopedInterval(*value)
    found = quotient(
        SlopedInterval(1.0, 1.0), times(exponential(w), total(SlopedInterval(1.0, 1.0), w))
    )
    return found.low, found.high


def ratio(one: SlopedInterval, other: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a quotient that is infinite where its divisor vanishes."""
    return quotient(one, other)


def mean(one: SlopedInterval, other: SlopedInterval) -> SlopedInterval:
    """Return the bounds of a quotient that is 0 where its divisor vanishes."""
    found = quotient(one, other)
    if other.low > 0 or other.high < 0:
        return found
    return SlopedInterval(min(found.low, 0.0), max(found.high, 0.0), -inf, inf)


def waiting(work: SlopedInterval, load: SlopedInterval) -> SlopedInterval:
    """Return the bounds of work/(1 - load), infinite from load 1 on."""
    spare = total(
        SlopedInterval(1.0, 1.0), SlopedInterval(-load.high, -load.low, -load.steep, -load.slow)
    )
    if load.high < 1:
        return quotient(work, spare)
    if work.low < 0:
        return NOTHING_KNOWN
    if load.low >= 1:
        return SlopedInterval(inf, inf, -inf, inf)
    rises = work.slow >= 0 and load.slow >= 0
    least = quotient(SlopedInterval(work.low, work.low), SlopedInterval(spare.high, spare.high)).low
    return SlopedInterval(least, inf, 0.0 if rises else -inf, inf)


def effective(cores: SlopedInterval, efficiency: SlopedInterval) -> SlopedInterval:
    """Return the bounds of what cores do together, c e^(log2 c), for one core or more.

    It grows with the efficiency, and with the cores where that lies above one half; below, it falls
    with them.
    """
    if not (cores.low >= 1 and efficiency.low > 0):
        return NOTHING_KNOWN
    doublings = quotient(logarithm(cores), logarithm(SlopedInterval(2.0, 2.0)))
    found = times(cores, raised(efficiency, doublings))
    low, high = (
        choose(on_floats.effective(end, of) for end in (cores.low, cores.high))
        for choose, of in ((min, efficiency.low), (max, efficiency.high))
    )
    rises = cores.slow >= 0 and efficiency.slow >= 0 and efficiency.low >= 1 / 2
    slow = max(found.slow, 0.0) if rises else found.slow
    return SlopedInterval(*_widened(low, high, 2 * LIBRARY), slow, found.steep)


def is_one_number(one: SlopedInterval) -> bool:
    """Return whether bounds are those of one number, itself a float or between two of them."""
    return one.is_fixed and one.high <= above(above(one.low))


def _leave_rests(pairs: list[tuple[int, SlopedInterval]], waits: int | None, repeats: int) -> None:
    """Let shares that are found together with others have the ends of what these leave.

    From the place `waits` on stand groups of operands of stages (`engine/distributions/stages.py`),
    each of which begins with a share that waits. Where parts of work are found together by a known
    share, the second of them takes no less time: so all is longest where most find any of them, and
    most of these the second. How the first share moves by itself does not matter then.
    """
    for first, second, both, servers in found_together(waits, repeats, len(pairs)):
        part, whole = pairs[second][1], pairs[both][1]
        if pairs[servers][1].high == 0 and whole.high > 0:
            rest = max(whole.low - part.low, 0.0), max(whole.high - part.high, 0.0)
            pairs[first] = 1, SlopedInterval(*rest)


def _slopes_of(pairs: list[tuple[int, SlopedInterval]]) -> tuple[float, float]:
    """Return the bounds of the slope of what rises (1) or falls (-1) with each of some operands."""
    slow = steep = 0.0
    for g, p in pairs:
        if not p.is_fixed:
            rate = (-inf if g <= 0 else 0.0, inf if g >= 0 else 0.0)
            least, most = span(p.slow, p.steep, *rate)
            slow, steep = slow + least, steep + most
    return slow, steep


def monotone(
    function: Callable[..., float],
    grows: tuple[int, ...],
    lies: tuple[float, float],
    off: tuple[float, float] = (ROUNDED_OFF, 0.0),
    repeats: int = 0,
    gammas: tuple[int, ...] = (),
    never_negative: tuple[int, ...] = (),
    waits: int | None = None,
    highest: Callable[..., float] | None = None,
) -> Callable[..., SlopedInterval]:
    """Return the bounds of a function that rises (1) or falls (-1) with each of its operands.

    Where `grows` is 0 it may do either: nothing is known then but of one number.
    All its values lie between two numbers, each `off` by a part of it and by an error besides, at
    most. Of the last operands come more groups of so many as it `repeats`.

    In the places of `gammas` stand the squared variations of gamma laws, behind their means. Such a
    law grows with its shape 1/v and with its scale m v, in the order of likelihood ratios, and what
    is left of it as well: of all within bounds none is longer than that of the largest both.

    From the place `waits` on stand operands of stages: see `_leave_rests`.

    With an operand below zero in a place that is `never_negative` it has no value: one without
    bounds begins at zero there. So it does not hide what another operand makes infinite.
    Upper ends may be no operands of it, but they are of the `highest`, if there is one.
    """

    def at_end(pairs: list[tuple[int, SlopedInterval]], end: int) -> float:
        """Return the least (-1) or most (1)."""
        ends = [p.high if g * end > 0 else p.low for g, p in pairs]
        for place in placed(gammas, len(grows), repeats, len(pairs)):
            varied = pairs[place][1]
            ends[place], other = (varied.low, varied.high)[:: int(end)]
            ends[place - 1] *= other / ends[place] if ends[place] != other else 1.0
        return (function if end < 0 or highest is None else highest)(*ends)

    def bounds(*parts: SlopedInterval) -> SlopedInterval:
        pairs = list(zip(repeated(grows, repeats, len(parts)), parts, strict=True))
        for place in placed(never_negative, len(grows), repeats, len(pairs)):
            g, p = pairs[place]
            if p.low == -inf and p.high >= 0:
                pairs[place] = g, replace(p, low=0.0)
        _leave_rests(pairs, waits, repeats)
        ordered = placed(gammas, len(grows), repeats, len(pairs))
        for place, (g, p) in enumerate(pairs):
            if not g and not (place in ordered and p.low > 0) and not is_one_number(p):
                return NOTHING_KNOWN
        least, most = at_end(pairs, -1), at_end(pairs, 1)
        if least == inf:
            return SlopedInterval(inf, inf, -inf, inf)  # without an end, not only beyond all floats
        if math.isnan(most) and not math.isnan(least) and lies[1] == inf:
            most = inf  # an operand without bounds has no value at its end
        low, high = _widened(least, most, off[0])
        low, high = below(low - off[1]), above(high + off[1])
        # In this order: one that is not-a-number stays so, and then bounds nothing.
        return SlopedInterval(max(low, lies[0]), min(high, lies[1]), *_slopes_of(pairs))

    return bounds
