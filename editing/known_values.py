"""Values that a spec has as it stands, whatever the population: without solving it."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.fold import CircleError, Folder, TooLargeError, UnstatedCaseError
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.quantities.scales import quantity
from qps.engine.exactness import NoValueError


def value_text(spec: Spec, expr: ir.Expr, dimension: Dimension) -> str | None:
    """Return the value of an expression with its unit; None where it has none by itself.

    What rests on the population, or on what only an answer tells, has none.
    """
    if spec.program.is_module:
        return None
    try:
        configuration = spec.configuration()
        values = [
            Folder(configuration=configuration, population=Fraction(users)).fold(expr)
            for users in (1, 2)
        ]
        if values[0] is None or values[0] != values[1]:
            return None
        return quantity(float(values[0]), dimension)
    except (TooLargeError, NoValueError, CircleError, UnstatedCaseError, OverflowError, QpsError):
        return None
