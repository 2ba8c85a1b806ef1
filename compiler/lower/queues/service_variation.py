"""How long one waits for several servers, as a part of what one waits for exponential services.

Where services vary less, the wait lies between those of exponential and of fixed ones (Kimura
1986): their rates of going on, one over a wait, are weighted by the variation. That of fixed ones
is as Cosmetatos has it (1976), and never above what holds where hardly anybody waits.

Where they vary more, A = (1 + s)/2 times as long is waited where all is nearly full (Lee and
Longton 1959), and where hardly anybody waits, so long as the first of c services that go on
still takes (Burman and Smith 1983): for gamma distributed ones A to the power of about
c^(-1/sqrt(1.44 + 4 s)). Between these two the power is weighted by the load.
"""

from __future__ import annotations

from fractions import Fraction

from qps.engine.expressions.formulas import (
    ONE,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
)

_LEAST = number(Fraction(1, 10**9))
_WIDTH = number(Fraction(36, 25))


def wait_ratio(spread: Formula, servers: Formula, load: Formula) -> Formula:
    """Return the ratio, of services whose variance is `spread` mean squares: 1 for exponential."""
    less, more = minimum(ONE, spread), maximum(ONE, spread)
    return _more_even(less, servers, load) * _less_even(more, servers, load)


def _more_even(spread: Formula, servers: Formula, load: Formula) -> Formula:
    """Return the same for service times that vary less than exponential ones, else 1."""
    if spread is ONE:
        return ONE
    below = minimum(ONE, load)
    most = (servers - 1) / (servers + 1)
    longer = (1 - below) * (servers - 1) * (square_root(4 + 5 * servers) - 2)
    longer = minimum(most, longer / (16 * servers * maximum(below, _LEAST)))
    return (1 + spread) / (2 * spread + 2 * (1 - spread) / (1 + longer))


def _less_even(spread: Formula, servers: Formula, load: Formula) -> Formula:
    """Return the same for service times that vary more, else 1."""
    if spread is ONE:
        return ONE
    below, more = minimum(ONE, load), apply("ln", (1 + spread) / 2)
    power = apply("exp", -apply("ln", servers) / square_root(_WIDTH + 4 * spread))
    return apply("exp", (below + (1 - below) * power) * more)
