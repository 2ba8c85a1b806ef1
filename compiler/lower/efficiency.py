"""What the cores of a processor do together, where each doubling gives less than twice as much.

With an efficiency e for each doubling, c cores do the work of c · e^(log2 c) (docs/language.md).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from qps.compiler.quantities.cores_together import effective_cores


class Effective(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """c · e^(log2 c) of a number of cores and their efficiency: as it stands, until both are known.

    A fraction for fractions, exact for powers of two, so that a limit is met where it is met.
    """

    is_commutative = True

    @classmethod
    def eval(cls, cores: sympy.Expr, efficiency: sympy.Expr) -> sympy.Expr | None:
        """Return the value for two numbers; None, which leaves it as it stands, for others."""
        if cores.is_Rational and efficiency.is_Rational and cores > 0:
            found = effective_cores(
                Fraction(cores.p, cores.q), Fraction(efficiency.p, efficiency.q)
            )
            return sympy.Rational(found.numerator, found.denominator)
        if cores.is_number and efficiency.is_number:
            return cls._written_out(cores, efficiency).evalf(17)
        return None

    @staticmethod
    def _written_out(cores: sympy.Expr, efficiency: sympy.Expr) -> sympy.Expr:
        return cores * efficiency ** (sympy.log(cores) / sympy.log(2))

    def written_out(self) -> sympy.Expr:
        """Return it as a product with a power."""
        return self._written_out(*self.args)

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """Return the derivative by the cores (1) or by the efficiency (2)."""
        cores, efficiency = self.args
        if argindex == 1:
            return self / cores * (1 + sympy.log(efficiency) / sympy.log(2))
        return self / efficiency * sympy.log(cores) / sympy.log(2)

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        return self.func(*(argument._evalf(prec) for argument in self.args))  # noqa: SLF001 - sympy's protocol

    def _printed(self, printer: Any, log2_of: str) -> str:
        cores, efficiency = (printer._print(argument) for argument in self.args)  # noqa: SLF001
        return f"(({cores})*({efficiency})**{log2_of}({cores}))"

    def _pythoncode(self, printer: Any) -> str:
        return self._printed(printer, printer._module_format("math.log2"))  # noqa: SLF001

    def _numpycode(self, printer: Any) -> str:
        return self._printed(printer, printer._module_format("numpy.log2"))  # noqa: SLF001

    def _sympystr(self, printer: Any) -> str:
        cores, efficiency = (printer._print(argument) for argument in self.args)  # noqa: SLF001
        return f"({cores}*{efficiency}^log2({cores}))"
