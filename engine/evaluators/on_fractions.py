"""Exact values of operations: of fractions and infinities, as fractions or infinities.

InexactError where a value is no fraction (a root, a logarithm), NoValueError where there is none.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import inf

from qps.engine.evaluators.arithmetic_fractions import (
    HALF,
    ONE,
    ZERO,
    absolute,
    ceiling,
    finite,
    floor,
    maximum,
    mean,
    minimum,
    only_at,
    product,
    raised,
    ratio,
    refuse,
    total,
    waiting,
)
from qps.engine.evaluators.on_floats import ONE_OVER_E
from qps.engine.evaluators.queueing.closed_fractions import (
    closed_cycle,
    closed_quantile,
    closed_rate,
    closed_wait,
    mixed_room,
    mixed_wait,
)
from qps.engine.evaluators.queueing.fork_join_fractions import forked_rate, forked_time, forked_wait
from qps.engine.evaluators.queueing.load_dependent_fractions import (
    nested_rate,
    nested_time,
    nested_wait,
)
from qps.engine.evaluators.queueing.multiclass_fractions import (
    class_open_wait,
    class_quantile,
    class_rate,
    class_wait,
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.evaluators.queueing.queue_fractions import (
    batch_quantile,
    burst_quantile,
    burst_wait,
    erlang_b,
    erlang_c,
    fork_mean,
    fork_quantile,
    fork_tail,
    gamma_quantile,
    md1_quantile,
    md1_tail,
    order_level,
    order_mean,
    order_quantile,
    order_tail,
    periodic_quantile,
    periodic_tail,
    periodic_wait,
    room_loss,
    room_quantile,
    room_traffic,
    room_wait,
    slowest,
    sojourn_quantile,
    stages_quantile,
    stages_tail,
    uneven,
)
from qps.engine.evaluators.queueing.unlike_fractions import (
    unlike_long,
    unlike_ratio,
    unlike_share,
    unlike_short,
)
from qps.engine.exact_algebra.exact_values import Exact, InexactError

_MOST_COUNTED = 1000


def root(value: Exact) -> Exact:
    """Return a square root."""
    return raised(value, HALF)


def exponential(value: Exact) -> Exact:
    """Return e^x, a fraction at 0 alone."""
    if isinstance(value, float):
        return inf if value > 0 else ZERO
    return only_at(value, ZERO, ONE)


def logarithm(value: Exact) -> Exact:
    """Return ln x, a fraction at 1 alone."""
    refuse(value <= 0, "is the logarithm of a number that is not above zero")
    return value if isinstance(value, float) else only_at(value, ONE, ZERO)


def cosine(value: Exact) -> Exact:
    """Return a cosine, a fraction at 0 alone."""
    refuse(isinstance(value, float))
    return only_at(value, ZERO, ONE)


def arc_cosine(value: Exact) -> Exact:
    """Return an angle of which the cosine is known, a fraction at 1 alone."""
    refuse(not -1 <= value <= 1, "is the arc cosine of a number that is not between -1 and 1")
    return only_at(value, ONE, ZERO)


def lambert(value: Exact) -> Exact:
    """Return the upper branch of Lambert's W, a fraction at 0 alone."""
    refuse(value < -ONE_OVER_E[0], "is Lambert's W of a number below -1/e")
    return value if isinstance(value, float) else only_at(value, ZERO, ZERO)


def lower_lambert(value: Exact) -> Exact:
    """Return the lower branch of Lambert's W, nowhere a fraction."""
    refuse(not -ONE_OVER_E[0] <= value < 0, "is the lower branch of Lambert's W outside -1/e to 0")
    raise InexactError


def effective(cores: Exact, efficiency: Exact) -> Exact:
    """Return what cores do together, c e^(log2 c): a fraction for powers of two."""
    refuse(cores <= 0 or efficiency < 0)
    cores, efficiency = finite(cores), finite(efficiency)
    doublings = _log2(cores)
    if doublings is not None:
        return product(cores, raised(efficiency, doublings))
    halvings = _log2(efficiency) if efficiency > 0 else None  # c e^(log2 c) = c c^(log2 e)
    if halvings is None:
        raise InexactError
    return cores * finite(raised(cores, halvings))


def _log2(value: Fraction) -> Fraction | None:
    """Return log2 of a power of two, None of another."""
    above, below = value.numerator, value.denominator
    if above & (above - 1) or below & (below - 1):
        return None
    return Fraction(above.bit_length() - below.bit_length())


def harmonic(count: Exact) -> Exact:
    """Return 1 + 1/2 + ... + 1/n: of a whole number, up to a thousand."""
    refuse(count <= -1)
    if isinstance(count, float):
        return count
    if count.denominator != 1 or count > _MOST_COUNTED:
        raise InexactError
    return _harmonic(int(count))


@lru_cache(maxsize=1 << 10)
def _harmonic(count: int) -> Fraction:
    # By halves: long fractions are added once.
    def between(first: int, last: int) -> Fraction:
        if first == last:
            return Fraction(1, first)
        middle = (first + last) // 2
        return between(first, middle) + between(middle + 1, last)

    return between(1, count) if count else ZERO


def normal_tail(distance: Exact) -> Exact:
    """Return the share of a normal law above so many deviations, a fraction at 0."""
    if isinstance(distance, float):
        return ZERO if distance > 0 else ONE
    return only_at(distance, ZERO, HALF)


def normal_quantile(level: Exact) -> Exact:
    """Return how many deviations above its mean a normal law has a share below; 0 of a half."""
    refuse(not 0 < level < 1, "is the quantile of a share that is not between 0 and 100 %")
    return only_at(level, HALF, ZERO)
