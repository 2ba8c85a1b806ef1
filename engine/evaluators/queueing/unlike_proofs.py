"""Of which operands it is proven that a law of services of two lengths rises with them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from qps.engine.queueing import unlike_laws
from qps.engine.queueing.unlike_numbers import FLOATS


def ratio_rises(between: float, third: float, varied: float, servers: float) -> bool:
    """Return whether it is proven that the ratio rises with the load.

    Where services of one length vary no less than exponential ones, the wait for them is a multiple
    that rises with the load, from 1 to at most (1 + v)/2. So the long ones are surely waited for
    longer than the short ones where they are longer by more than that.
    """
    if not (servers >= 1 and varied >= 1):
        return False
    of = unlike_laws.two_lengths(FLOATS, between, third)
    return bool(of.long >= of.short * (1 + varied) / 2)


class Proof(Struct, frozen=True):
    """With which operands a law rises (1) of the same others (0), and whether it does of these."""

    grows: tuple[int, ...]
    holds: Callable[..., bool] = lambda *_: True


RISES = {
    "unlike_ratio": Proof((0, 0, 0, 0, 1), ratio_rises),
    "unlike_share": Proof((0, 0, 1, 1)),
    "unlike_short": Proof((0, 0, 1)),
    "unlike_long": Proof((0, 0, 1)),
}
ENDLESS = frozenset(["unlike_long"])
"""What has no end from load 1 on."""
