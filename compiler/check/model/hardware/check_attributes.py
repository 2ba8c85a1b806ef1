"""What machines and networks have alike: a jitter law, a price, a queue."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.hardware.check_families import Member
from qps.compiler.check.model.hardware.check_queueing import QueueingChecker
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_dates import calendar_of, checked_date, end_of
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.ir.measure_names import FORMER, UTILIZATION
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.calendar_dates import CalendarDate, months_between
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    MONEY,
    TIME,
)
from qps.compiler.syntax import ast


class AttributeChecker(DeclarationChecker, frozen=True):
    """Checks what a machine or a network may have."""

    @property
    def queueing(self) -> QueueingChecker:
        """What checks how work waits."""
        return QueueingChecker(self.expressions)

    def jitter(
        self, law: ast.Expr, formal: str, stated: ir.Quantity | None, scope: Scope
    ) -> ir.Quantity | None:
        """Return a jitter law: a variance that may depend on the load of what has it.

        It may name a rate or a rating, too, by its formal name: what counts is the one that the
        place has, be it set there, but where a condition requests it (see `has_condition`).
        """
        own = ir.Measured(kind=ir.MeasureKind.LOAD, subject=ir.OWN)
        known = dict.fromkeys(
            _load_names(scope),
            ir.Quantity(expr=own, dimension=DIMENSIONLESS, span=law.span),
        )
        if stated is not None:
            known[formal] = stated
        checked = self._law(law, Scope(scope.module, AllowedNames.MEASURES, known))
        for part in parts_of(checked.expr) if checked is not None else ():
            if isinstance(part, ir.Measured) and part != own:
                self.sink.report(
                    codes.MISPLACED,
                    law.span,
                    "a jitter model can depend only on the utilization of its own resource",
                    hint="name it `utilization`",
                )
                return None
        is_fixed = stated is None or not isinstance(stated.expr, ir.Constant)
        if checked is None or stated is None or is_fixed or self.has_condition(law, formal):
            return checked
        known[formal] = replace(stated, expr=ir.Measured(kind=ir.MeasureKind.RATE, subject=ir.OWN))
        return self._law(law, Scope(scope.module, AllowedNames.MEASURES, known))

    def _law(self, law: ast.Expr, inside: Scope) -> ir.Quantity | None:
        quantity = self.expressions.quantity(law, inside, TIME * TIME, "a jitter (a variance)")
        return None if quantity is None else replace(quantity, bound="")

    @staticmethod
    def has_condition(law: ast.Expr, formal: str) -> bool:
        """Return whether a jitter law decides by its rate or rating, which is fixed then."""
        words = re.findall(r"\w+", law.span.text)
        return formal in words and "if" in words

    def price_of(
        self, line: Sequence[Member[ast.Machine]] | Sequence[Member[ast.Network]]
    ) -> tuple[ir.Quantity | None, CalendarDate | None]:
        """Return the price of a family, once or for each time, and its date.

        None where there is none, or where it was reported.
        """
        for member in line:
            if member.own.price is not None:
                date = member.own.price_date
                stated = None if date is None else self._price_date(date)
                return self._price(member.own.price, member.scope), stated
        return None, None

    def _price_date(self, date: ast.Date) -> CalendarDate | None:
        """Return when a price was stated; that is not after the end of a plan."""
        found = checked_date(date, self.sink)
        calendar = calendar_of(self.main.syntax)
        end = None if calendar is None else end_of(calendar)
        if found is None or end is None or months_between(end, found) < 1:
            return found
        self.sink.report(
            codes.OUT_OF_RANGE,
            date.span,
            f"`{date.text}` is after the end of the calendar",
            hint="the date of a price is when it was stated; for a price that changes, write "
            "`price if date >= 2027-06 then 80 $/month else 90 $/month`",
            secondary=[Label(calendar.name.span, "this calendar")] if calendar is not None else [],
        )
        return None

    def _price(self, price: ast.Expr, scope: Scope) -> ir.Quantity | None:
        quantity = self.expressions.quantity(price, scope)
        if quantity is None or quantity.dimension in (MONEY, MONEY / TIME):
            return quantity
        once = quantity.dimension
        unit = once if once.is_item else once * TIME
        if not unit.is_item:
            self.expressions.wrong_dimension(quantity, MONEY, "a price")
            return None
        currency = unit.single_base
        self.sink.report(
            codes.WRONG_DIMENSION,
            price.span,
            f"a price in `{currency}` cannot be added to prices in `$`",
            hint="multiply it by an exchange rate: "
            f'`param exchange = 1.08 $/{currency} source "…"`',
        )
        return None

    def failures(self, stated: ast.Failing | None, scope: Scope) -> ir.FailureTimes | None:
        """Return how often one fails, and for how long; None where that was reported."""
        if stated is None:
            return None
        every = self.expressions.quantity(stated.every, scope, TIME, "a time until a failure")
        repair = self.expressions.quantity(stated.repair, scope, TIME, "a time of repair")
        if every is None or repair is None:
            return None
        return ir.FailureTimes(every=every, repair=repair)


def _load_names(scope: Scope) -> list[str]:
    """Return what the utilization of a resource is called in its law: by its former name, too.

    A spec that calls something of its own so means that.
    """
    own = scope.module.names.get(UTILIZATION)
    return [FORMER[UTILIZATION], *([] if own is not None else [UTILIZATION])]
