"""Operations as sympy has them, for algebra and for what is read; those that it lacks stay.

They stay as they are written until digits are requested.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import sympy
from flint import arb, ctx

from qps.engine.evaluators import on_balls
from qps.engine.exact_algebra.exact_values import NoValueError

_MORE_BITS = 32


class Lacking(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """An operation that sympy lacks; its digits are those of balls."""

    of_balls: ClassVar[Callable[..., arb]]

    @classmethod
    def _should_evalf(cls, _operand: sympy.Expr) -> int:
        return -1  # of digits it stays as it stands, until it is evaluated

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        operands = [operand._evalf(prec) for operand in self.args]  # noqa: SLF001 - sympy's protocol
        if not all(operand.is_Float or operand.is_Rational for operand in operands):
            return self.func(*operands)
        fractions = [sympy.Rational(operand) for operand in operands]
        before, ctx.prec = ctx.prec, prec + _MORE_BITS
        try:
            found = self.of_balls(*(on_balls.ball(Fraction(f.p, f.q)) for f in fractions))
        except NoValueError:
            return sympy.nan
        finally:
            ctx.prec = before
        if not found.is_finite():
            return sympy.oo if found == on_balls.INFINITE else self.func(*operands)
        mantissa, exponent = (int(part) for part in found.mid().man_exp())
        return sympy.Float(mantissa * sympy.Integer(2) ** exponent, precision=prec)


def _lacking(name: str, of_balls: Callable[..., arb]) -> type[Lacking]:
    return type(name, (Lacking,), {"of_balls": staticmethod(of_balls)})


class Waiting(Lacking):
    """work/(1 - load), infinite from load 1 on: no quotient, which is negative there."""

    of_balls = staticmethod(on_balls.waiting)

    def _sympystr(self, printer: Any) -> str:
        work, load = self.args
        above = printer.parenthesize(work, 50)
        return f"{above}/(1 - {printer.parenthesize(load, 45)})"


class Effective(Lacking):
    """c · e^(log2 c) of a number of cores and their efficiency."""

    of_balls = staticmethod(on_balls.effective)

    def _sympystr(self, printer: Any) -> str:
        cores, efficiency = (printer._print(argument) for argument in self.args)  # noqa: SLF001
        return f"({cores}*{efficiency}^log2({cores}))"


_MAXIMUM, _MINIMUM = _lacking("max", on_balls.maximum), _lacking("min", on_balls.minimum)


def _flat(function: type[Lacking], operands: tuple[sympy.Expr, ...]) -> sympy.Expr:
    """Return an operation; one of its kind inside it is put in its place."""
    parts = (o.args if o.func is function else (o,) for o in operands)
    return function(*(part for inner in parts for part in inner))


def maximum(*operands: sympy.Expr) -> sympy.Expr:
    """Return the largest."""
    return _flat(_MAXIMUM, operands)


def minimum(*operands: sympy.Expr) -> sympy.Expr:
    """Return the smallest."""
    return _flat(_MINIMUM, operands)


def raised(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    """Return a power; that of a sum stands as it is."""
    return sympy.Pow(base, exponent, evaluate=not base.is_Add)


def ratio(above: sympy.Expr, below: sympy.Expr) -> sympy.Expr:
    """Return a quotient."""
    return above / below


def lower_lambert(operand: sympy.Expr) -> sympy.Expr:
    """Return the lower branch of Lambert's W."""
    return sympy.LambertW(operand, -1)


mean = ratio
total, product, root = sympy.Add, sympy.Mul, sympy.sqrt
absolute, floor, ceiling = sympy.Abs, sympy.floor, sympy.ceiling
exponential, logarithm, cosine, arc_cosine = sympy.exp, sympy.log, sympy.cos, sympy.acos
lambert, harmonic = sympy.LambertW, sympy.harmonic
waiting, effective = Waiting, Effective
erlang_b = _lacking("erlang_b", on_balls.erlang_b)
erlang_c = _lacking("erlang_c", on_balls.erlang_c)
periodic_wait = _lacking("periodic_wait", on_balls.periodic_wait)
md1_tail = _lacking("md1_tail", on_balls.md1_tail)
md1_quantile = _lacking("md1_quantile", on_balls.md1_quantile)
batch_quantile = _lacking("batch_quantile", on_balls.batch_quantile)
room_loss = _lacking("room_loss", on_balls.room_loss)
room_wait = _lacking("room_wait", on_balls.room_wait)
room_traffic = _lacking("room_traffic", on_balls.room_traffic)
room_quantile = _lacking("room_quantile", on_balls.room_quantile)
slowest = _lacking("slowest", on_balls.slowest)
burst_wait = _lacking("burst_wait", on_balls.burst_wait)
burst_quantile = _lacking("burst_quantile", on_balls.burst_quantile)
uneven = _lacking("uneven", on_balls.uneven)
unlike_ratio = _lacking("unlike_ratio", on_balls.unlike_ratio)
unlike_share = _lacking("unlike_share", on_balls.unlike_share)
unlike_short = _lacking("unlike_short", on_balls.unlike_short)
unlike_long = _lacking("unlike_long", on_balls.unlike_long)
periodic_tail = _lacking("periodic_tail", on_balls.periodic_tail)
periodic_quantile = _lacking("periodic_quantile", on_balls.periodic_quantile)
order_level = _lacking("order_level", on_balls.order_level)
fork_mean = _lacking("fork_mean", on_balls.fork_mean)
fork_quantile = _lacking("fork_quantile", on_balls.fork_quantile)
fork_tail = _lacking("fork_tail", on_balls.fork_tail)
order_mean = _lacking("order_mean", on_balls.order_mean)
order_quantile = _lacking("order_quantile", on_balls.order_quantile)
order_tail = _lacking("order_tail", on_balls.order_tail)
stages_quantile = _lacking("stages_quantile", on_balls.stages_quantile)
stages_tail = _lacking("stages_tail", on_balls.stages_tail)
sojourn_quantile = _lacking("sojourn_quantile", on_balls.sojourn_quantile)
gamma_quantile = _lacking("gamma_quantile", on_balls.gamma_quantile)
normal_tail = _lacking("normal_tail", on_balls.normal_tail)
normal_quantile = _lacking("normal_quantile", on_balls.normal_quantile)
closed_rate = _lacking("closed_rate", on_balls.closed_rate)
closed_cycle = _lacking("closed_cycle", on_balls.closed_cycle)
closed_wait = _lacking("closed_wait", on_balls.closed_wait)
mixed_wait = _lacking("mixed_wait", on_balls.mixed_wait)
mixed_room = _lacking("mixed_room", on_balls.mixed_room)
closed_quantile = _lacking("closed_quantile", on_balls.closed_quantile)
class_rate = _lacking("class_rate", on_balls.class_rate)
class_wait = _lacking("class_wait", on_balls.class_wait)
class_open_wait = _lacking("class_open_wait", on_balls.class_open_wait)
class_quantile = _lacking("class_quantile", on_balls.class_quantile)
forked_rate = _lacking("forked_rate", on_balls.forked_rate)
forked_time = _lacking("forked_time", on_balls.forked_time)
forked_wait = _lacking("forked_wait", on_balls.forked_wait)
shared_rate = _lacking("shared_rate", on_balls.shared_rate)
shared_time = _lacking("shared_time", on_balls.shared_time)
shared_wait = _lacking("shared_wait", on_balls.shared_wait)
nested_rate = _lacking("nested_rate", on_balls.nested_rate)
nested_time = _lacking("nested_time", on_balls.nested_time)
nested_wait = _lacking("nested_wait", on_balls.nested_wait)
