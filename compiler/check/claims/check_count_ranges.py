"""Ranges of the number of machines in an axis: `web in [small * 1..40]`."""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.declarations import lookup
from qps.compiler.check.names.places import place_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

MOST_COUNTS = 10_000
"""How many machines a range may go over: each number of them is an option."""


class CountRangeChecker(OfChanges, frozen=True):
    """Checks ranges of the number of machines or networks in a place."""

    def changes_of(self, name: ast.Name, item: ast.Range) -> dict[str, ir.Change] | None:
        """Return a change for each number of machines, by its label; None where it was reported."""
        declared = lookup(self.main, name)
        is_place = declared is not None and isinstance(declared.declaration, ast.Node | ast.Link)
        read = place_of(item.low, self.main) or place_of(item.high, self.main)
        if not is_place or read is None:
            what = f"`{name.text}` is chosen by name" if not is_place else "a range counts machines"
            hint = "list names: `[a, b]`" if not is_place else f"write `{name.text} in [vm * 1..8]`"
            self.refuse(codes.BAD_SETTING, item.span, what, hint)
            return None
        is_first = place_of(item.low, self.main) is not None
        low = self._number(read.count if is_first else item.low, item.span)
        high = self._number(item.high if is_first else read.count, item.span)
        if low is None or high is None:
            return None
        if not 0 <= low < high or high - low >= MOST_COUNTS:
            self.refuse(
                codes.OUT_OF_RANGE,
                item.span,
                "this range must go up, from zero or more machines"
                if not 0 <= low < high
                else f"this range has more than {MOST_COUNTS:,} numbers of machines",
                "write the smaller number first: `vm * 1..8`"
                if not 0 <= low < high
                else "use a shorter range",
            )
            return None
        span = item.span
        one = ast.Product(span, ((False, read.stands), (False, ast.Number(span, Fraction(high)))))
        change = self.changes.one(ast.Change(span, name, one), self.main)
        if not isinstance(change, ir.SetPlace):
            return None
        kind = " ".join(read.stands.span.text.split())
        return {
            f"{kind} * {count}": replace(change, count=ir.Constant(Fraction(count)))
            for count in range(low, high + 1)
        }

    def _number(self, value: ast.Expr | None, span: Span) -> int | None:
        """Return a number of machines; None where it was reported."""
        if isinstance(value, ast.Number) and value.value.denominator == 1:
            return int(value.value)
        self.refuse(
            codes.BAD_SETTING,
            span if value is None else value.span,
            "the ends of a range of machines are whole numbers",
            "write `vm * 1..8`",
        )
        return None
