"""How often calls are made, and the sizes of their requests and answers."""

from __future__ import annotations

import re

from qps.compiler import ir
from qps.compiler.check.names.declarations import lookup
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import insertion_after_hint, instead
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION
from qps.compiler.quantities.written_shares import more_than_all
from qps.compiler.syntax import ast

_OFTEN = re.compile(r"\s*\*\s*[\d._]+\s*%?$")


class CallSizeChecker(DeclarationChecker, frozen=True, kw_only=True):
    """Checks the numbers of the calls of one stream, of such an `emission`."""

    emission: ir.Emission | None

    def times(self, written: ast.Expr) -> ir.Quantity | None:
        """Return how often a call is made for each item of the stream."""
        if self._is_more_than_all(written):
            return None
        scope = Scope(self.main, AllowedNames.FLOWS)
        return self.expressions.quantity(written, scope, DIMENSIONLESS, "the number of calls")

    def fan_out(self, item: ast.FanOut) -> ir.FanOut | None:
        """Return how often a call is made at once; None where that is no number."""
        fixed = Scope(self.main, AllowedNames.NOTHING)
        what = "the number of parallel calls"
        count = self.expressions.quantity(item.count, fixed, DIMENSIONLESS, what)
        if item.answers is None:
            return None if count is None else ir.FanOut(count=count)
        what = "the number of answers to wait for"
        answers = self.expressions.quantity(item.answers, fixed, DIMENSIONLESS, what)
        if count is None or answers is None:
            return None
        return ir.FanOut(count=count, answers=answers)

    def _is_more_than_all(self, times: ast.Expr) -> bool:
        """Return whether a share of more than all is written, which is reported.

        What parameters come to is looked at in each configuration.
        """
        named = lookup(self.main, times.name) if isinstance(times, ast.Reference) else None
        declared = None if named is None else named.declaration
        value = declared.value.span if isinstance(declared, ast.Let) else times.span
        found = more_than_all(value.text)
        if found is None:
            return False
        share, often = found
        self.sink.report(
            codes.OUT_OF_RANGE,
            times.span,
            f"the share {share} is above 100 %",
            secondary=[Label(value, "stated here")] if value is not times.span else [],
            hint=instead(
                share,
                often,
                at=value,
                words=f"for {often} calls per request write `{often}`",
            ),
        )
        return True

    def _says_how_often(self, written: ast.Expr, word: str) -> bool:
        """Return whether a size ends in what looks like how often a call is made; reported."""
        often = _OFTEN.search(written.span.text)
        if often is None:
            return False
        size = " ".join(written.span.text[: often.start()].split())
        self.sink.report(
            codes.MISPLACED,
            written.span,
            "the number of calls must come before the sizes",
            hint=f"write `call node {often[0].strip()}, {word} {size} {{ … }}`",
        )
        return True

    def size(self, written: ast.Expr | None, word: str) -> ir.Quantity | None:
        """Return the size of a request or of an answer: so much for each item of the stream."""
        if written is None or self._says_how_often(written, word):
            return None
        size = self.expressions.quantity(written, Scope(self.main, AllowedNames.FLOWS))
        item = None if self.emission is None else self.emission.primary
        if size is None or self.emission is None:
            return None
        if item is None:
            self.sink.report(
                codes.MISSING_ITEM,
                size.span,
                "the stream has bytes but no requests, so that calls have no size",
                secondary=[Label(self.emission.span, "traffic of the stream")],
                hint="add requests to the traffic: `traffic 10 request/s, 2 kB/request`",
            )
            return None
        wanted = (INFORMATION / size.dimension).single_base
        if wanted == item:
            return size
        is_plain = size.dimension in (DIMENSIONLESS, INFORMATION)
        unit = f"byte/{item}" if size.dimension == DIMENSIONLESS else f"/{item}"
        text = " ".join(written.span.text.split())
        filled = f"{' ' * (unit[0] != '/')}{unit}"
        self.sink.report(
            codes.WRONG_DIMENSION,
            size.span,
            f"`{word}` must be a size per {item}, not {size.dimension.in_words}",
            hint=insertion_after_hint(written.span, filled, text=f"write `{word} {text}{filled}`")
            if is_plain and not text.endswith("%")
            else f"write a size such as `{word} 300 byte/{item}`",
        )
        return None
