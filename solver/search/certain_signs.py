"""The sign of a formula at a point: certain, or undecided.

What the engine cannot decide with the most digits is a diagnostic here: nothing is taken for the
sign of noise.
"""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, QpsError
from qps.compiler.diagnostics.source import Span
from qps.engine.expressions import point_values
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.signs import range_of


class UndecidedLimitError(QpsError):
    """A number is so near to zero that the most digits do not determine on which side it lies."""

    def __init__(self, what: str = "a value", span: Span | None = None) -> None:
        message = (
            f"{what} is too close to its limit to decide with "
            f"{point_values.BITS[-1]:,} binary digits"
        )
        hint = "change the limit slightly, or narrow the range"
        primary = None if span is None else Label(span, "")
        super().__init__(
            [Diagnostic(code=codes.UNDECIDED, message=message, primary=primary, hints=(hint,))]
        )

    def of(self, name: str, span: Span | None) -> UndecidedLimitError:
        """Return the same of a requirement that has a name and a place."""
        return UndecidedLimitError(f"`{name}`", span)


def sign_at(formula: Formula, symbol: Formula, at: Fraction) -> int | None:
    """Return the sign of a formula of one symbol at a point; None where it has no finite value.

    NoSignError where it is so near to zero that no digits decide.
    """
    return sign_of(formula, point_values.point_of(symbol, at))


def sign_of(formula: Formula, point: point_values.EvaluationPoint) -> int | None:
    """Return the sign of a formula where all its symbols have values; as `sign_at` else."""
    try:
        return point.sign(formula)
    except point_values.NoSignError:
        # What is too large for any digits may have its sign by its parts.
        side = range_of(point.constant(formula), {}, by_sign=False)
        if side.low > 0 or side.high < 0:
            return 1 if side.low > 0 else -1
        raise UndecidedLimitError from None
