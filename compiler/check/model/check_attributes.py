"""What machines and networks have alike: a jitter law, a price, a queue."""

from __future__ import annotations

import re

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.check_queueing import QueueingChecker
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.part import Part
from qps.compiler.diagnostics import codes
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    MONEY,
    TIME,
)
from qps.compiler.syntax import ast


class AttributeChecker(Part, frozen=True):
    """Checks what a machine or a network may have."""

    @property
    def queueing(self) -> QueueingChecker:
        """What checks how work waits."""
        return QueueingChecker(self.expressions)

    def jitter(
        self, law: ast.Expr, formals: dict[str, ir.Quantity], scope: Scope
    ) -> ir.Quantity | None:
        """Return a jitter law: a variance that may depend on the load of what has it."""
        own = ir.Measured(ir.MeasureKind.LOAD, ir.OWN)
        known = {"load": ir.Quantity(expr=own, dimension=DIMENSIONLESS, span=law.span), **formals}
        inside = Scope(scope.module, Allowed.MEASURES, known)
        quantity = self.expressions.quantity(law, inside, TIME * TIME, "a jitter (a variance)")
        for part in parts_of(quantity.expr) if quantity is not None else ():
            if isinstance(part, ir.Measured) and part != own:
                self.sink.report(
                    codes.MISPLACED,
                    law.span,
                    "a jitter law depends on the load of its own resource only",
                    hint="name it `load`",
                )
                return None
        return None if quantity is None else replace(quantity, bound="")

    @staticmethod
    def law_names(law: ast.Expr, formal: str) -> bool:
        """Return whether a jitter law names what it may name besides its load."""
        return formal in re.findall(r"\w+", law.span.text)

    def price(self, price: ast.Expr | None, scope: Scope) -> ir.Quantity | None:
        """Return a price, once or for each time; None where there is none or it was reported."""
        if price is None:
            return None
        quantity = self.expressions.quantity(price, scope)
        if quantity is not None and quantity.dimension not in (MONEY, MONEY / TIME):
            self.expressions.wrong_dimension(quantity, MONEY, "a price")
            return None
        return quantity
