"""A value that a model states, with what it is called and what it may be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import VARYING
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.allowed_values import Bound
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension


class Bounded(Struct, frozen=True, kw_only=True, dict=True):
    """An expression with what it is called, what it may be, its dimension, and who needs it so.

    A `hint` of its own says how to fix it, a `code` which diagnostic it is, and `needs`, for a
    difference of two counts, what must be there.
    """

    expr: ir.Expr
    span: Span
    what: str
    bound: Bound
    dimension: Dimension = DIMENSIONLESS
    because: Label | None = None
    hint: str = ""
    code: Code = codes.OUT_OF_RANGE
    needs: str = ""

    @property
    def requirement(self) -> str:
        """The sentence that must be true of the value."""
        return self.needs or f"{self.what} must be {self.bound.value}"

    @cached_property
    def varies(self) -> bool:
        """True where the value may depend on the population."""
        return varies(self.expr)


def bounded(
    quantity: ir.Quantity | None, what: str, bound: Bound, hint: str = ""
) -> Iterator[Bounded]:
    """Yield a quantity as a value with its bounds, where it is stated."""
    if quantity is not None:
        yield Bounded(
            expr=quantity.expr,
            span=quantity.span,
            what=what,
            bound=bound,
            dimension=quantity.dimension,
            hint=hint,
        )


def varies(expr: ir.Expr) -> bool:
    """Return whether a value may depend on the population."""
    # Most values are plain numbers, and all of them are looked at in every configuration.
    return not isinstance(expr, ir.Constant) and any(
        isinstance(part, VARYING) for part in parts_of(expr)
    )
