"""How the functions of the language move with their arguments: what bounds need to pass them."""

from __future__ import annotations

from enum import Enum

from qps.compiler import ir


class Slope(Enum):
    """Which way a value goes as one argument grows and the others stay."""

    RISES = "rises"  # or stays
    FALLS = "falls"  # or stays
    EITHER = "either"

    @property
    def turned(self) -> Slope:
        """The slope of the negative."""
        return {Slope.RISES: Slope.FALLS, Slope.FALLS: Slope.RISES}.get(self, self)


_RISES, _FALLS, _EITHER = Slope.RISES, Slope.FALLS, Slope.EITHER

_SLOPES: dict[ir.Function, tuple[Slope, ...]] = {
    ir.Function.MAX: (_RISES,),
    ir.Function.MIN: (_RISES,),
    ir.Function.CEIL: (_RISES,),
    ir.Function.FLOOR: (_RISES,),
    ir.Function.SQRT: (_RISES,),
    ir.Function.EXP: (_RISES,),
    ir.Function.LOG: (_RISES,),
    ir.Function.LOG2: (_RISES,),
    ir.Function.LOG10: (_RISES,),
    ir.Function.ABS: (_EITHER,),
    ir.Function.COS: (_EITHER,),
    ir.Function.ACOS: (_FALLS,),
    ir.Function.LAMBERT_W: (_RISES,),
    ir.Function.LOWER_LAMBERT_W: (_FALLS,),
    ir.Function.CLAMP: (_RISES, _RISES, _RISES),
    ir.Function.WAITING: (_RISES, _RISES),
    ir.Function.HARMONIC: (_RISES,),
    ir.Function.ERLANG_B: (_FALLS, _RISES),
    ir.Function.ERLANG_C: (_FALLS, _RISES),
    ir.Function.MD1_TAIL: (_RISES, _FALLS),
    ir.Function.MD1_QUANTILE: (_RISES, _RISES),
    ir.Function.PERIODIC_WAIT: (_EITHER, _RISES),
    ir.Function.PERIODIC_TAIL: (_EITHER, _RISES, _FALLS),
    ir.Function.PERIODIC_QUANTILE: (_EITHER, _RISES, _RISES),
    ir.Function.NORMAL_TAIL: (_FALLS,),
    ir.Function.NORMAL_QUANTILE: (_RISES,),
}


def slopes(function: ir.Function, arguments: int) -> tuple[Slope, ...]:
    """Return how a function of so many arguments moves with each of them, where it has a value.

    `abs` and `waiting` rise where what they are given is not negative; for `abs` the sign decides.
    """
    found = _SLOPES[function]
    return found * arguments if not function.arguments else found
