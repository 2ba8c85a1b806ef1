"""The one value that a change gives to a parameter, or to a number that is stated in place."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast


class NewValueChecker(DeclarationChecker, frozen=True):
    """Checks that what is set is one value, of a dimension that the number may have."""

    def new_value(
        self, change: ast.Change, dimensions: Sequence[Dimension], stated: Span, example: str
    ) -> ir.Quantity | None:
        """Return the new value of what is `stated` somewhere; None where that was reported.

        It has one of the dimensions, the first of which is reported; an `example` is what it may be
        set to. Where no dimension is known, that was reported.
        """
        name, usual = change.name.text, f"write it like `{change.name.text} = {example}`"
        if isinstance(change.value, ast.Range):
            self.sink.report(
                codes.BAD_SETTING,
                change.value.span,
                f"`{name}` takes one value, not a range",
                hint=usual,
            )
            return None
        assert not isinstance(change.value, ast.Listed), "a list was reported"
        value = self.expressions.stated(change.value, Scope(self.main, AllowedNames.NOTHING))
        if value is None or not dimensions:
            return None
        if value.dimension not in dimensions:
            wanted = dimensions[0]
            self.sink.report(
                codes.WRONG_DIMENSION,
                value.span,
                f"`{name}` must be {wanted.in_words}, not {value.dimension.in_words}",
                secondary=[Label(stated, "its own value")],
                hint=advice(value, lambda other: other == wanted, usual),
            )
            return None
        return value
