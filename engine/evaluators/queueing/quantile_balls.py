"""Quantiles of wait plus service, and of the normal law, as balls, as `queue_numbers` has them."""

from __future__ import annotations

from flint import arb

from qps.engine.distributions.gamma_numbers import lower_ball
from qps.engine.evaluators.ball_arithmetic import (
    INFINITE,
    UNKNOWN,
    Falling,
    is_infinite,
    is_unknown,
    joined,
    of_quantile,
    refuse,
    root,
)
from qps.engine.evaluators.queueing.md1_balls import md1_quantile
from qps.engine.queueing import queue_numbers
from qps.engine.queueing.fluid_decay_numbers import log_growth

_LEAST_VARIATION = arb(10) ** -6


# -- exponential service -----------------------------------------------------------------


def sojourn_quantile(waiting: arb, rate: arb, level: arb) -> arb:
    """Return the quantile of wait plus service: service is exponential with mean 1."""
    refuse(bool(level < 0) or bool(level >= 1))
    if is_unknown(waiting, rate, level) or not (rate > 0 or rate <= 0):
        return UNKNOWN
    if rate <= 0:
        return INFINITE
    refuse(bool(waiting < 0) or bool(waiting > 1))
    if level.is_zero():
        return arb(0)
    if not (level > 0 and level < 1):
        return UNKNOWN
    if is_infinite(rate):
        return -(-level).log1p()

    def excess(time: arb) -> tuple[arb, arb]:
        served, late = (-time).exp(), waiting * _wait_factor(time, rate)
        density = (1 - waiting) * served + rate * late
        return ((served + late) / (1 - level)).log(), -density / (served + late)

    numbers = (float(one.mid()) for one in (waiting, rate, level))
    return root(excess, queue_numbers.sojourn_quantile(*numbers))


def _wait_factor(time: arb, rate: arb) -> arb:
    """Return exp(-t) (1 - exp(-(r - 1) t))/(r - 1)."""
    apart = (rate - 1) * time
    if not apart.contains(0):
        return (-time).exp() * (-(-apart).expm1()) / (rate - 1)
    # (1 - e^-x)/x falls, and is 1 at 0.
    ends = (-(-end).expm1() / end for end in (apart.lower(), apart.upper()) if not end.is_zero())
    return (-time).exp() * time * joined(arb(1), *ends)


# -- gamma service -----------------------------------------------------------------------


def gamma_quantile(load: arb, variation: arb, level: arb) -> arb:
    """Return an upper bound of the quantile of wait plus service in M/G/1, service times gamma."""
    refuse(bool(variation < 0) or variation == INFINITE)
    known = of_quantile(load, level)
    if known is not None or not variation >= 0:
        return UNKNOWN if known is None else known
    if variation.is_zero():
        return 1 + md1_quantile(load, level)
    if level.is_zero():
        return arb(0)
    if not (variation > 0 and level > 0 and (load > 0 or load.is_zero())):
        return UNKNOWN
    numbers = [float(one.mid()) for one in (load, variation, level)]
    start = queue_numbers.gamma_quantile(*numbers)
    if load.is_zero():
        return root(_gamma_law_excess(variation, level), start)
    variation = variation.max(_LEAST_VARIATION)
    growth = _log_growth(load, variation)
    decay, tilt = -(-variation * growth).expm1() / variation, (-variation * growth).exp()
    shape = 1 / variation

    def excess(time: arb) -> tuple[arb, arb]:
        late = (growth - decay * time).exp() * lower_ball(shape, shape * time * tilt)
        share = (shape * time).gamma_upper(shape, 1) + late
        return (share / (1 - level)).log(), -decay * late / share

    return root(excess, start)


def _gamma_law_excess(variation: arb, level: arb) -> Falling:
    shape = 1 / variation

    def excess(time: arb) -> tuple[arb, arb]:
        share = (shape * time).gamma_upper(shape, 1)
        density = (shape * (shape * time).log() - shape * time - shape.lgamma()).exp() / time
        return (share / (1 - level)).log(), -density / share

    return excess


def _log_growth(load: arb, variation: arb) -> arb:
    """Return y = log M(z) at the root z > 0 of load (M(z) - 1) = z (`fluid_decay_numbers`)."""

    def over(y: arb) -> arb:
        return (y.expm1() / y).log()

    def slope(y: arb) -> arb:
        return -1 / (-y).expm1() - 1 / y

    def excess(y: arb) -> tuple[arb, arb]:
        scaled = variation * y
        value = -load.log() - over(y) - scaled + over(scaled)
        return value, -slope(y) - variation * (1 - slope(scaled))

    return root(excess, log_growth(float(load.mid()), float(variation.mid())))


# -- the normal law ----------------------------------------------------------------------


def normal_tail(distance: arb) -> arb:
    """Return the share of a normal law that lies more than so many deviations above its mean."""
    if is_infinite(distance):
        return arb(0) if distance > 0 else arb(1)
    return (distance / arb(2).sqrt()).erfc() / 2


def normal_quantile(level: arb) -> arb:
    """Return how many deviations above its mean a normal law has a share below it."""
    refuse(bool(level <= 0) or bool(level >= 1))
    return arb(2).sqrt() * (2 * (1 - level)).erfcinv()
