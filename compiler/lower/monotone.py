"""How the functions of the language move with their arguments: what bounds need to pass them."""

from __future__ import annotations

from enum import Enum

from qps.compiler import ir
from qps.engine.operations import BY_NAME


class Slope(Enum):
    """Which way a value goes as one argument grows and the others stay."""

    RISES = "rises"  # or stays
    FALLS = "falls"  # or stays
    EITHER = "either"

    @property
    def turned(self) -> Slope:
        """The slope of the negative."""
        return {Slope.RISES: Slope.FALLS, Slope.FALLS: Slope.RISES}.get(self, self)


_BY_SIGN = {1: Slope.RISES, -1: Slope.FALLS, 0: Slope.EITHER}
_WRITTEN_OUT: dict[ir.Function, tuple[int, ...]] = {
    ir.Function.LOG2: (1,),
    ir.Function.LOG10: (1,),
    ir.Function.CLAMP: (1, 1, 1),
    ir.Function.WAITING: (1, 1),
}
"""Functions that are made of other operations, and `waiting`, of work that is not negative."""


def slopes(function: ir.Function, arguments: int) -> tuple[Slope, ...]:
    """Return how a function of so many arguments moves with each of them, where it has a value.

    `abs` rises where what it is given is not negative: for it the sign decides. What counts whole
    is not said to rise.
    """
    known = _WRITTEN_OUT.get(function)
    if known is None:
        row = BY_NAME[function.value]
        known = tuple(0 if k in row.whole else grows for k, grows in enumerate(row.grows))
    found = tuple(_BY_SIGN[grows] for grows in known)
    return found if function.arguments else found * arguments
