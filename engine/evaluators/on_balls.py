"""Values of operations on balls: proven, to as many binary digits as flint works with.

An operand is a ball in which a number lies, `INFINITE` or `-INFINITE`, or `UNKNOWN`: something of
which these digits say nothing. So is a value. NoValueError is raised where there surely is none:
that distinguishes what is not real from what is not known. More digits (`flint.ctx.prec`) make
balls smaller.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import add

from flint import arb, fmpq

from qps.engine.evaluators.ball_arithmetic import INFINITE, UNKNOWN, is_infinite, joined, refuse
from qps.engine.evaluators.queueing.closed_balls import (
    closed_cycle,
    closed_quantile,
    closed_rate,
    closed_wait,
    mixed_room,
    mixed_wait,
)
from qps.engine.evaluators.queueing.erlang_balls import erlang_b, erlang_c, periodic_wait
from qps.engine.evaluators.queueing.finite_room_balls import (
    room_loss,
    room_quantile,
    room_traffic,
    room_wait,
)
from qps.engine.evaluators.queueing.fork_balls import fork_mean, fork_quantile, fork_tail
from qps.engine.evaluators.queueing.fork_join_balls import forked_rate, forked_time, forked_wait
from qps.engine.evaluators.queueing.load_dependent_balls import (
    nested_rate,
    nested_time,
    nested_wait,
)
from qps.engine.evaluators.queueing.maximum_balls import slowest
from qps.engine.evaluators.queueing.md1_balls import batch_quantile, md1_quantile, md1_tail
from qps.engine.evaluators.queueing.multiclass_exact import (
    class_open_wait,
    class_quantile,
    class_rate,
    class_wait,
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.evaluators.queueing.on_off_balls import burst_quantile, burst_wait, uneven
from qps.engine.evaluators.queueing.order_balls import (
    order_level,
    order_mean,
    order_quantile,
    order_tail,
)
from qps.engine.evaluators.queueing.periodic_balls import periodic_quantile, periodic_tail
from qps.engine.evaluators.queueing.quantile_balls import (
    gamma_quantile,
    normal_quantile,
    normal_tail,
    sojourn_quantile,
)
from qps.engine.evaluators.queueing.sum_balls import stages_quantile, stages_tail
from qps.engine.evaluators.queueing.unlike_balls import (
    unlike_long,
    unlike_ratio,
    unlike_share,
    unlike_short,
)


def ball(value: Fraction | float) -> arb:
    """Return a ball around a fraction or an infinity."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(value)


# -- arithmetic --------------------------------------------------------------------------


def total(*parts: arb) -> arb:
    """Return a sum."""
    refuse(any(part == INFINITE for part in parts) and any(part == -INFINITE for part in parts))
    return reduce(add, parts)


def product(*parts: arb) -> arb:
    """Return a product; nothing times infinity has no value."""
    if not any(map(is_infinite, parts)):
        return reduce(arb.__mul__, parts)
    refuse(any(part.is_zero() for part in parts))
    if not all(part > 0 or part < 0 for part in parts):
        return UNKNOWN
    return -INFINITE if sum(bool(part < 0) for part in parts) % 2 else INFINITE


def raised(base: arb, exponent: arb) -> arb:
    """Return a power; that of nothing below 0 has no value, that of a negative only if whole."""
    if base.is_nan() or exponent.is_nan():
        return UNKNOWN
    if is_infinite(base) or is_infinite(exponent):
        return _raised_without_end(base, exponent)
    if exponent.is_zero():
        return arb(1)
    if exponent.is_integer():
        refuse(base.is_zero() and bool(exponent < 0))
        is_near_zero = base.contains(0) and exponent > 0  # of such a ball arb knows no power
        return _whole_power(base, exponent) if is_near_zero else base**exponent
    if base > 0:
        return base**exponent
    refuse(bool(base < 0) and not exponent.contains_integer())
    refuse(base.is_zero() and bool(exponent < 0))
    if base.is_zero() and exponent > 0:
        return arb(0)
    if base.lower() >= 0 and exponent > 0:
        ends = [base.upper() ** end for end in (exponent.lower(), exponent.upper())]
        return joined(arb(0), *ends)
    return UNKNOWN


def _whole_power(base: arb, exponent: arb) -> arb:
    """Return a power of a number that may be 0, which is highest and lowest at the ends of it."""
    ends = [end**exponent for end in (base.lower(), base.upper())]
    is_even = (exponent / 2).is_integer()
    return joined(arb(0), *ends) if is_even else joined(*ends)


def _raised_without_end(base: arb, exponent: arb) -> arb:
    """Return a power of which an operand is infinite."""
    if is_infinite(exponent):
        if base == 1:
            return arb(1)
        refuse(bool(base < 0) or (base.is_zero() and bool(exponent < 0)))
        if base > 1:
            return INFINITE if exponent > 0 else arb(0)
        return UNKNOWN if not (base >= 0 and base < 1) else arb(0) if exponent > 0 else INFINITE
    refuse(bool(base < 0) and not exponent.contains_integer())
    if exponent.is_zero():
        return arb(1)
    if base < 0 and not exponent.is_integer():
        return UNKNOWN
    if exponent < 0:
        return arb(0)
    if not exponent > 0:
        return UNKNOWN
    return INFINITE if base > 0 or (exponent / 2).is_integer() else -INFINITE


def ratio(above: arb, below: arb) -> arb:
    """Return a quotient that is infinite where its divisor vanishes."""
    if above.is_nan():
        return UNKNOWN
    if below.is_zero():
        return INFINITE
    if is_infinite(below):
        refuse(is_infinite(above))
        return arb(0)
    if not (below > 0 or below < 0):
        return UNKNOWN
    if is_infinite(above):
        return above if below > 0 else -above
    return above / below


def mean(above: arb, below: arb) -> arb:
    """Return a quotient that is 0 where its divisor vanishes."""
    return arb(0) if below.is_zero() and not above.is_nan() else ratio(above, below)


def waiting(work: arb, load: arb) -> arb:
    """Return work/(1 - load), infinite from load 1 on."""
    if work.is_nan() or not (load < 1 or load >= 1):
        return UNKNOWN
    return INFINITE if load >= 1 else ratio(work, 1 - load)


def maximum(*parts: arb) -> arb:
    """Return the largest; unknown where any is, which flint would leave out."""
    if any(part.is_nan() for part in parts):
        return UNKNOWN
    if INFINITE in parts:
        return INFINITE
    found = [part for part in parts if part != -INFINITE]
    if not found:
        return -INFINITE
    largest = reduce(arb.max, found)
    # Flint rounds a radius up: what is at least zero would have an end below it.
    return largest.nonnegative_part() if 0 in parts else largest


def minimum(*parts: arb) -> arb:
    """Return the smallest."""
    return -maximum(*(-part for part in parts))


def absolute(value: arb) -> arb:
    """Return a size without its sign."""
    return INFINITE if is_infinite(value) else abs(value)


def floor(value: arb) -> arb:
    """Return a value rounded down: between two whole ones where it may be either."""
    return value if is_infinite(value) else value.floor()


def ceiling(value: arb) -> arb:
    """Return a value rounded up."""
    return -floor(-value)


# -- functions ---------------------------------------------------------------------------


def root(value: arb) -> arb:
    """Return a square root."""
    return raised(value, arb(1) / 2)


def exponential(value: arb) -> arb:
    """Return e^x."""
    if is_infinite(value):
        return INFINITE if value > 0 else arb(0)
    return value.exp()


def logarithm(value: arb) -> arb:
    """Return ln x."""
    refuse(bool(value <= 0))
    return value if is_infinite(value) else value.log() if value > 0 else UNKNOWN


def cosine(value: arb) -> arb:
    """Return a cosine."""
    refuse(is_infinite(value))
    return value.cos()


def arc_cosine(value: arb) -> arb:
    """Return an angle of which the cosine is known."""
    refuse(bool(value > 1) or bool(value < -1))
    return value.acos()


def lambert(value: arb) -> arb:
    """Return the upper branch of Lambert's W."""
    refuse(bool(value < -arb(-1).exp()))
    return value if is_infinite(value) else value.lambertw()


def lower_lambert(value: arb) -> arb:
    """Return the lower branch of Lambert's W."""
    refuse(bool(value < -arb(-1).exp()) or bool(value >= 0))
    return value.lambertw(-1)


def effective(cores: arb, efficiency: arb) -> arb:
    """Return what cores do together, c e^(log2 c): each doubling keeps a part e."""
    refuse(bool(cores <= 0) or bool(efficiency < 0))
    doublings = logarithm(cores) / arb.const_log2()
    return product(cores, raised(efficiency, doublings))


def harmonic(count: arb) -> arb:
    """Return 1 + 1/2 + ... + 1/n, between whole numbers by the digamma function."""
    refuse(bool(count <= -1))
    if is_infinite(count):
        return INFINITE
    return (count + 1).digamma() + arb.const_euler() if count > -1 else UNKNOWN
