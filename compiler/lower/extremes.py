"""Maxima and minima that stay as they stand until numbers are put in.

sympy's own compare every pair of their arguments symbolically, again whenever anything is put
in, which takes longer than all the rest; and they forget the order in which they were written.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import sympy


class _Extreme(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """A function that chooses one of its arguments once all of them are numbers."""

    is_commutative = True
    _word: str

    @classmethod
    def eval(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """Return the chosen argument; None, which leaves it as it stands, where one is open."""
        if len(arguments) == 1:
            return arguments[0]
        if not all(argument.is_number for argument in arguments):
            return None
        if not all(argument.is_extended_real for argument in arguments):
            return sympy.nan
        chosen, *others = ((_valued(a), a) for a in (settled(a) for a in arguments))
        for other in others:
            if cls._beats(other[0], chosen[0]):
                chosen = other
        return chosen[1]

    @classmethod
    def _beats(cls, one: sympy.Expr, other: sympy.Expr) -> bool:
        raise NotImplementedError

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        return self.func(*(argument._evalf(prec) for argument in self.args))  # noqa: SLF001 - sympy's protocol

    def _printed(self, printer: Any, joined: str) -> str:
        told = [printer._print(argument) for argument in self.args]  # noqa: SLF001 - sympy's protocol
        text = str(told[-1])
        for argument in reversed(told[:-1]):
            text = f"{joined}({argument}, {text})"
        return text

    def _pythoncode(self, printer: Any) -> str:
        return self._printed(printer, self._word)

    def _numpycode(self, printer: Any) -> str:
        return self._printed(printer, printer._module_format(f"numpy.{self._word}imum"))  # noqa: SLF001

    def _sympystr(self, printer: Any) -> str:
        told = ", ".join(printer._print(argument) for argument in self.flat())  # noqa: SLF001
        return f"{self._word}({told})"

    def flat(self) -> list[sympy.Expr]:
        """Return the arguments, those of an argument of the same kind in its place."""
        return [
            inner
            for argument in self.args
            for inner in (argument.flat() if isinstance(argument, type(self)) else [argument])
        ]


_READABLE_PARTS = 16
_DIGITS = 40


def settled(number: sympy.Expr) -> sympy.Expr:
    """Return a number as it is written, or to forty digits where it takes many parts to write.

    What is chosen is used again in what is made of it, and each use evaluates all its parts: a
    few formulas inside each other would take longer than anybody waits.
    """
    if number.is_Rational or number.is_Float or not number.args:
        return number
    parts = sum(1 for _ in islice(sympy.preorder_traversal(number), _READABLE_PARTS))
    return number if parts < _READABLE_PARTS else number.evalf(_DIGITS)


def _valued(number: sympy.Expr) -> sympy.Expr:
    """Return a number to compare: sympy would look for ever more digits of two equal ones."""
    return number if number.is_Rational or not number.is_finite else number.evalf(_DIGITS)


class Maximum(_Extreme):
    """The largest of its arguments."""

    _word = "max"

    @classmethod
    def _beats(cls, one: sympy.Expr, other: sympy.Expr) -> bool:
        return bool(one > other)


class Minimum(_Extreme):
    """The smallest of its arguments."""

    _word = "min"

    @classmethod
    def _beats(cls, one: sympy.Expr, other: sympy.Expr) -> bool:
        return bool(one < other)


class Ratio(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """A quotient that is infinite, not undefined, where its divisor vanishes.

    What is left of a capacity for something that takes none of it has no bound.
    """

    is_commutative = True

    @classmethod
    def eval(cls, above: sympy.Expr, below: sympy.Expr) -> sympy.Expr | None:
        """Return the quotient of two numbers; None, which leaves it as it stands, for others."""
        if not below.is_number:
            return None
        if below != 0:
            return above / below
        return sympy.oo if above.is_number else None

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Return the derivative by the dividend (1) or the divisor (2)."""
        above, below = self.args
        return 1 / below if argindex == 1 else -above / below**2

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        return self.func(*(argument._evalf(prec) for argument in self.args))  # noqa: SLF001 - sympy's protocol

    def _printed(self, printer: Any) -> str:
        above, below = (printer._print(argument) for argument in self.args)  # noqa: SLF001
        return f"(({above})/({below}))"

    _pythoncode = _numpycode = _sympystr = _printed


class Mean(Ratio):
    """A mean over what there is: 0 where there is nothing, and nothing to divide by."""

    @classmethod
    def eval(cls, above: sympy.Expr, below: sympy.Expr) -> sympy.Expr | None:
        """Return the quotient of two numbers; None, which leaves it as it stands, for others."""
        if not below.is_number:
            return None
        return sympy.S.Zero if below == 0 else above / below
