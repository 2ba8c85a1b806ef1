"""Functions of queues in formulas: they stay as they are written until numbers are put in.

Each has a name in the language or in `explain`, a value for numbers (`queue_numbers`), a
derivative for what each number would buy, and, where it is one, a rational function.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import sympy

from qps.engine import queue_numbers as numbers

_MOST_EXACT = 64
_MOST_RATIONAL = 16
_EXACT_DIGITS = 40
_NUDGE = sympy.Rational(1, 10**5)


class Waiting(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """What waits, over what is left of a capacity: work/(1 - load), infinite from load 1 on.

    Beyond saturation the quotient alone would be negative: a queue that grows without end must
    not look like one that is short.
    """

    is_commutative = True

    @classmethod
    def eval(cls, work: sympy.Expr, load: sympy.Expr) -> sympy.Expr | None:
        """Return the wait for a load that is a number; None, as it stands, for others."""
        if load in (sympy.nan, sympy.zoo) or work is sympy.nan:
            return sympy.nan
        if not load.is_number:
            return None
        if not load.is_extended_real:
            return sympy.nan
        if load >= 1:
            return sympy.oo
        return work / (1 - load)

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Return the derivative by the work (1) or by the load (2)."""
        work, load = self.args
        one = Waiting(sympy.S.One, load)
        return one if argindex == 1 else Waiting(work, load) * one

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        return self.func(*(argument._evalf(prec) for argument in self.args))  # noqa: SLF001 - sympy's protocol

    def _sympystr(self, printer: Any) -> str:
        work, load = self.args
        above = printer.parenthesize(work, 50)
        return f"{above}/(1 - {printer.parenthesize(load, 45)})"


class QueueFunction(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """A function of numbers; `numeric` gives its value in floats, the subclass says of what.

    `grows` tells of each number whether the function rises with it (1), falls (-1), or may do
    either (0): so its bounds over a range are known. `lies` is between what all its values are:
    none is below zero where floats hold it no more, and so no next one rests on what cannot be.
    """

    is_commutative = True
    numeric: ClassVar[Callable[..., float]]
    word: ClassVar[str]
    grows: ClassVar[tuple[int, ...]] = ()
    lies: ClassVar[tuple[float, float]] = (0.0, inf)

    @classmethod
    def eval(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """Return the value once all arguments are numbers; None, as it stands, for others."""
        if any(argument is sympy.nan or argument is sympy.zoo for argument in arguments):
            return sympy.nan
        if not all(argument.is_number for argument in arguments):
            return None
        if not all(argument.is_extended_real for argument in arguments):
            return sympy.nan
        exact = cls.exact(*arguments)
        if exact is not None:
            return exact
        return _as_sympy(cls.numeric(*(float(argument) for argument in arguments)))

    @classmethod
    def exact(cls, *_arguments: sympy.Expr) -> sympy.Expr | None:
        """Return the value as a fraction or to forty digits, None where floats must do."""
        return None

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Return the derivative by an argument, as a quotient of small differences."""
        at = self.args[argindex - 1]
        step = at * _NUDGE
        before, behind = self.args[: argindex - 1], self.args[argindex:]
        more, less = (self.func(*before, to, *behind) for to in (at + step, at - step))
        return (more - less) / (2 * step)

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        return self.func(*(argument._evalf(prec) for argument in self.args))  # noqa: SLF001 - sympy's protocol

    def _sympystr(self, printer: Any) -> str:
        told = ", ".join(printer._print(argument) for argument in self.args)  # noqa: SLF001
        return f"{self.word}({told})"


def _as_sympy(value: float) -> sympy.Expr:
    if value != value:  # noqa: PLR0124 - not-a-number is the only one that is not itself
        return sympy.nan
    return sympy.oo if value == float("inf") else sympy.Float(value, 17)


def _fraction(value: sympy.Expr) -> Fraction | None:
    """Return a number as a fraction, None where it is none or not finite."""
    if value.is_Float and value.is_finite:
        value = sympy.Rational(str(value))
    return Fraction(int(value.p), int(value.q)) if value.is_Rational else None


def _inverse_b(servers: sympy.Expr, traffic: sympy.Expr) -> sympy.Expr | None:
    """Return 1/B for whole servers and some traffic, exact or to forty digits.

    Between whole numbers of servers where floats do not hold it.
    """
    count, offered = _fraction(servers), _fraction(traffic)
    if count is None or offered is None or offered <= 0 or count < 0:
        return None
    if count.denominator != 1:
        if numbers.inverse_erlang_b(float(count), float(offered)) < inf:
            return None
        return sympy.Float(numbers.vast_inverse_erlang_b(count, offered), _EXACT_DIGITS)
    if count <= _MOST_EXACT and servers.is_Rational and traffic.is_Rational:
        told = numbers.exact_inverse_erlang_b(int(count), offered)
        return sympy.Rational(told.numerator, told.denominator)
    return sympy.Float(numbers.long_inverse_erlang_b(int(count), offered), _EXACT_DIGITS)


class ErlangB(QueueFunction):
    """Share of calls lost, of so many servers and so much traffic in erlang."""

    numeric = staticmethod(numbers.erlang_b)
    word = "erlang_b"
    grows = (-1, 1)
    lies = (0.0, 1.0)

    @classmethod
    def exact(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """Return the value by the recursion of Erlang's formula."""
        inverse = _inverse_b(*arguments)
        return None if inverse is None else 1 / inverse

    def _eval_is_positive(self) -> bool | None:
        # Some calls are lost, however many servers there are: no float need tell so.
        servers, traffic = self.args
        return True if servers.is_nonnegative and traffic.is_positive else None


class ErlangC(QueueFunction):
    """Share of calls that wait, of so many servers and so much traffic in erlang."""

    numeric = staticmethod(numbers.erlang_c)
    word = "erlang_c"
    grows = (-1, 1)
    lies = (0.0, 1.0)

    @classmethod
    def exact(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """Return the value by the recursion of Erlang's formula."""
        servers, traffic = arguments
        if servers <= 0 or traffic < 0:
            return sympy.nan
        if traffic >= servers:
            return sympy.S.One
        inverse = _inverse_b(servers, traffic)
        return None if inverse is None else 1 / (inverse - traffic / servers * (inverse - 1))

    def expanded(self) -> sympy.Expr | None:
        """Return the rational function of the traffic below saturation, for a few servers."""
        servers, traffic = self.args
        if not servers.is_Integer or not 1 <= servers <= _MOST_RATIONAL:
            return None
        inverse: sympy.Expr = sympy.S.One
        for k in range(1, int(servers) + 1):
            inverse = 1 + inverse * k / traffic
        return 1 / (inverse - traffic / servers * (inverse - 1))


class PeriodicWait(QueueFunction):
    """Mean wait of N D/D/1 in service times, of N and the load; infinite from load 1 on."""

    numeric = staticmethod(numbers.periodic_wait)
    word = "periodic_wait"
    grows = (1, 1)

    @classmethod
    def exact(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """Return the value by Erlang's recursion, for a whole number of flows."""
        flows, load = arguments
        if load < 0:
            return sympy.nan
        if load >= 1:
            return sympy.oo
        if flows <= 1 or load.is_zero:  # a float that is zero is not equal to it
            return sympy.S.Zero
        inverse = _inverse_b(flows - 1, flows / load)
        return None if inverse is None else (inverse - 1) / 2


class MD1Tail(QueueFunction):
    """Share of visits that wait longer than so many service times in M/D/1, of load and time."""

    numeric = staticmethod(numbers.md1_tail)
    word = "md1_tail"
    grows = (1, -1)
    lies = (0.0, 1.0)


class MD1Quantile(QueueFunction):
    """Wait of M/D/1 that a share of the visits does not exceed, of load and share."""

    numeric = staticmethod(numbers.md1_quantile)
    word = "md1_quantile"
    grows = (1, 1)


class BatchQuantile(QueueFunction):
    """Wait in a batch of M[X]/D/1 that a share does not exceed, in batches, of load and share."""

    numeric = staticmethod(numbers.batch_quantile)
    word = "batch_quantile"
    grows = (1, 1)


class PeriodicTail(QueueFunction):
    """Share of visits that wait longer in N D/D/1, of flows, load and time in service times."""

    numeric = staticmethod(numbers.periodic_tail)
    word = "periodic_tail"
    grows = (1, 1, -1)
    lies = (0.0, 1.0)


class PeriodicQuantile(QueueFunction):
    """Wait of N D/D/1 that a share of the visits does not exceed, of flows, load and share."""

    numeric = staticmethod(numbers.periodic_quantile)
    word = "periodic_quantile"
    grows = (1, 1, 1)


class SojournQuantile(QueueFunction):
    """Quantile of wait and exponential service, of the share that waits, its rate, the level."""

    numeric = staticmethod(numbers.sojourn_quantile)
    word = "sojourn_quantile"
    grows = (1, -1, 1)


class GammaQuantile(QueueFunction):
    """Upper bound of the quantile of wait and gamma service, of load, variation squared, share."""

    numeric = staticmethod(numbers.gamma_quantile)
    word = "gamma_quantile"
    grows = (1, 0, 1)


class NormalTail(QueueFunction):
    """Share of a normal law above so many deviations."""

    numeric = staticmethod(numbers.normal_tail)
    word = "normal_tail"
    grows = (-1,)
    lies = (0.0, 1.0)


class NormalQuantile(QueueFunction):
    """How many deviations above the mean a normal law has a share below."""

    numeric = staticmethod(numbers.normal_quantile)
    word = "normal_quantile"
    grows = (1,)
    lies = (-inf, inf)


QUEUE_FUNCTIONS: tuple[type[QueueFunction], ...] = (
    ErlangB,
    ErlangC,
    PeriodicWait,
    MD1Tail,
    MD1Quantile,
    BatchQuantile,
    PeriodicTail,
    PeriodicQuantile,
    SojournQuantile,
    GammaQuantile,
    NormalTail,
    NormalQuantile,
)
