"""Gamma functions, one number at a time: exact to the last digits of a float, by balls of flint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf, lgamma, log, log1p, sqrt

from flint import arb, ctx

from qps.engine.distributions.normal_numbers import normal_quantile
from qps.engine.numerics.falling_roots import falling_root

_BITS = (96, 192, 384, 768)
"""Binary digits in which a value is sought, one after the other."""
_ENOUGH = 54
_NEARLY_ENOUGH = 45
_NEGLIGIBLE = 1e-17


def lower_share(shape: float, value: float) -> float:
    """Return how much of a gamma law of mean `shape` lies below a value."""
    if value == inf or value <= 0:
        return 1.0 if value > 0 else 0.0
    if value >= shape:
        return float_of_ball(lambda: lower_ball(arb(shape), arb(value)))
    found = _ball_of(lambda: 1 - arb(value).gamma_upper(arb(shape), 1), _BITS[:2])
    if found.rel_accuracy_bits() >= _NEARLY_ENOUGH:
        return float(found)
    # So far below the mean that the share above has too few digits: a sum of positive terms.
    density = _ball_of(lambda: _density(arb(shape), arb(value)))
    total, term, at = 0.0, 1.0, shape
    while term > total * _NEGLIGIBLE:
        total += term
        at += 1
        term *= value / at
    return float(density) * total


def upper_share(shape: float, value: float) -> float:
    """Return how much of a gamma law of mean `shape` lies above a value."""
    if value == inf or value <= 0:
        return 0.0 if value > 0 else 1.0
    return float_of_ball(lambda: arb(value).gamma_upper(arb(shape), 1))


def lower_ball(shape: arb, value: arb) -> arb:
    """Return how much of a gamma law lies below a value, as a ball; its digits may be few."""
    by_rest = 1 - value.gamma_upper(shape, 1)
    if not value < shape or by_rest.rel_accuracy_bits() > ctx.prec // 2:
        return by_rest
    by_series = _density(shape, value) * value.hypgeom_1f1(arb(1), shape + 1)
    return max(by_rest, by_series, key=lambda ball: ball.rel_accuracy_bits())


def _density(shape: arb, value: arb) -> arb:
    return (shape * value.log() - value - (shape + 1).lgamma()).exp()


def gamma_law_quantile(variation: float, level: float) -> float:
    """Return what a share of a gamma law of mean 1 and squared variation `variation` lies below."""
    if level == 0:
        return 0.0
    shape, goal = 1 / variation, -log1p(-level)
    is_low = level < 1 / 2

    def excess(t: float) -> tuple[float, float]:
        share = lower_share(shape, shape * t) if is_low else upper_share(shape, shape * t)
        if not (share > 0 and t > 0):
            return (inf if is_low else -inf), 0.0
        density = exp(shape * log(shape * t) - shape * t - lgamma(shape)) / t
        return log(level / share) if is_low else log(share) + goal, -density / share

    far = variation * goal
    high = 1 + sqrt(2 * far) + far  # by Chernoff's bound
    start = 1 - variation / 9 + normal_quantile(level) * sqrt(variation / 9)
    if start > 0:  # noqa: SIM108 - says which
        start = start**3  # Wilson and Hilferty 1931
    else:
        start = exp((log(level) + lgamma(shape + 1)) / shape) / shape
    return falling_root(excess, 0.0, high, min(start, high))


def float_of_ball(ball: Callable[[], arb]) -> float:
    """Return the float next to what a function has as a ball, at as many digits as that needs."""
    return float(_ball_of(ball))


def _ball_of(ball: Callable[[], arb], precisions: Sequence[int] = _BITS) -> arb:
    """Return a ball with as many digits as a float has, or the best of the precisions."""
    before = ctx.prec
    try:
        for bits in precisions:
            ctx.prec = bits
            found = ball()
            if found.rel_accuracy_bits() >= _ENOUGH:
                break
    finally:
        ctx.prec = before
    return found
