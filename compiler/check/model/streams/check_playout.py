"""The playout buffer of a stream."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
from qps.compiler.syntax import ast

_BEFORE_BUFFER = (ir.MeasureKind.JITTER, ir.MeasureKind.MAX_WAIT)
_COSTS = (ir.MeasureKind.COST, ir.MeasureKind.RUNNING_COST)


class PlayoutChecker(DeclarationChecker, frozen=True):
    """Checks the playout buffers of streams."""

    def playout(self, declaration: ast.Stream) -> ir.Playout | None:
        """Return the playout buffer; it rests on jitter and loads, what is late also on itself."""
        stated = [item for item in declaration.items if isinstance(item, ast.Playout)]
        buffer = self.first(stated, "a stream has only one playout buffer", "remove one of them")
        if buffer is None:
            return None
        scope = Scope(self.main, AllowedNames.MODEL)
        delay = self.cited(
            self.expressions.quantity(buffer.delay, scope, TIME, "a playout delay"), buffer.source
        )
        name = self.main.qualified(declaration.name.text)
        if delay is None or self._goes_round(delay, name, _BEFORE_BUFFER):
            return None
        dropping = None
        if buffer.dropping is not None:
            what = "the share that is dropped"
            dropping = self.cited(
                self.expressions.quantity(buffer.dropping, scope, DIMENSIONLESS, what),
                buffer.source,
            )
            known = (*_BEFORE_BUFFER, ir.MeasureKind.BUFFER)
            if dropping is None or self._goes_round(dropping, name, known):
                return None
        return ir.Playout(delay, dropping, buffer.span)

    def _goes_round(
        self, quantity: ir.Quantity, stream: str, known: tuple[ir.MeasureKind, ...]
    ) -> bool:
        """Return whether a buffer rests on what rests on it; then it is reported."""
        for part in parts_of(quantity.expr):
            if not isinstance(part, ir.Measured) or part.kind in (ir.MeasureKind.LOAD, *_COSTS):
                continue
            if part.subject == stream and part.kind in known:
                continue
            measure_name = f"{part.subject}.{part.kind.value}" if part.subject else part.kind.value
            self.sink.report(
                codes.DEFINITION_CYCLE,
                quantity.span,
                f"a playout buffer cannot depend on `{measure_name}`",
                hint=f"use `{stream}.jitter`, `{stream}.max_wait`, utilization or parameters",
            )
            return True
        return False
