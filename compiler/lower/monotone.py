"""How the functions of the language move with their arguments: what bounds need to pass them."""

from __future__ import annotations

from enum import Enum

from qps.engine.operations import OPERATIONS


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


def slopes(word: str, arguments: int) -> tuple[Slope, ...]:
    """Return how an operation on so many arguments moves with each of them, where it has a value.

    `abs` rises where what it is given is not negative: for it the sign decides. `waiting` is taken
    as that of work that is not negative. What counts whole is not said to rise.
    """
    row = OPERATIONS[word]
    known = (1, 1) if word == "waiting" else row.grows
    found = tuple(_BY_SIGN[0 if k in row.whole else grows] for k, grows in enumerate(known))
    return found * arguments if row.takes_more else found
