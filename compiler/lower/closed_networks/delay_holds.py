"""Users who think, and hold a place of a pool for a while in which nobody waits: their throughput.

Of exponential holds it is the machine repair model, M/M/c//N. How many want or hold a place moves
by chance as they come and as they leave. Near the knee N* = c (Z + s)/s, at which asymptotes meet,
that is a diffusion, of a variance of (1 + v)/2 = h times as much where the squared coefficient of
variation of holding times is v. So by

    W(N) = sqrt(h) W'(N* + (N - N*)/sqrt(h))

a wait follows from the one of exponential holds, W'. Below the knee N/(N* - N)
stands for that distance: it is multiplied by sqrt(h), so that of many users the wait
at one server is that of Pollaczek and Khinchine, h W', where it is not long. Above it both grow by
s/c a user. Both ways meet at the knee with the same slope.

The machine repair model by itself has times of fixed holds up to 42 % too long; so corrected, they
are within 6 % of simulation, and rates within 2 % (`laboratory/questions/closed_pool_simulation.py`
has holds that are fixed, or in part).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from qps.compiler.lower.closed_networks.closed_stations import CyclePool
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    maximum,
    minimum,
    number,
    square_root,
)

_LEAST = number(Fraction(1, 10**12))


def rate_of_delay_holds(
    pool: CyclePool, jobs: Formula, delay: Formula, rate: Callable[[Formula], Formula]
) -> Formula:
    """Return how many cycles `jobs` make in a second that take a `delay` besides the pool.

    Of exponential holds so many make them at a `rate`. Where nothing says that nobody waits
    meanwhile, that is the one of all.
    """
    assert pool.is_delay is not None
    root = square_root(1 - pool.is_delay * (1 - pool.variation) / 2)
    held = maximum(_LEAST, pool.alone)
    least = delay + held
    knee = pool.places * least / held
    below, above = minimum(jobs, knee), maximum(ZERO, jobs - knee)
    as_if = root * below / (ONE - (1 - root) * below / knee) + above / root
    wait = maximum(ZERO, as_if / rate(as_if) - least)
    return jobs / (least + root * wait)
