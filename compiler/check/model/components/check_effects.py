"""Effects of a component: what it does to a stream besides what it costs."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.model.fits.check_scalability import ScalabilityChecker
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import removal_with_word_hint
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    INFORMATION,
    TIME,
    Dimension,
    is_free,
)
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast


class EffectChecker(DeclarationChecker, frozen=True):
    """Checks what components do to streams: keep, emit, queue, drop, delay, recover, be active."""

    def effect(self, item: ast.Effect, scope: Scope) -> ir.Effect | None:
        """Return an effect, None where it was reported."""
        kind = ir.EFFECTS[item.kind]
        if item.value is None:
            return ir.Effect(kind, None, item.span)
        if isinstance(item.value, ast.Fit):
            return self._fitted(kind, item, item.value, scope)
        wider = Scope(scope.module, AllowedNames.FLOWS, scope.formals)
        if kind.traits.dimension is None:
            quantity = self.expressions.quantity(item.value, wider)
            if quantity is None or self._cannot_be(kind, quantity):
                return None
        else:
            wanted = kind.traits.dimension
            quantity = self.expressions.quantity(item.value, wider, wanted, f"`{item.kind}`")
        if item.lasting is None:
            return None if quantity is None else ir.Effect(kind, quantity, item.span)
        return self._burst(kind, quantity, item, wider)

    def _fitted(
        self, kind: ir.EffectKind, item: ast.Effect, fit: ast.Fit, scope: Scope
    ) -> ir.Effect | None:
        """Return the delay of a closed load test; nothing else of an effect can be fitted."""
        if kind is not ir.EffectKind.DELAY or fit.by is None or item.lasting is not None:
            self.sink.report(
                codes.MISPLACED,
                fit.span,
                "only a service demand or a `delay` can be fitted, a delay to the throughput of a "
                "closed load test",
                hint='write `delay fit "runs.csv" by threads`, or a number',
            )
            return None
        checker = ScalabilityChecker(self.expressions)
        found = checker.station(fit, scope.module)
        return None if found is None else ir.Effect(kind, checker.delay(found, fit), item.span)

    def _burst(
        self, kind: ir.EffectKind, share: ir.Quantity | None, item: ast.Effect, scope: Scope
    ) -> ir.Effect | None:
        """Return how much of the time flows are active, and for how long at a time."""
        assert item.lasting is not None
        if kind is not ir.EffectKind.ACTIVE:
            self.sink.report(
                codes.MISPLACED,
                item.lasting.span,
                f"`{item.kind}` has no duration; only `active` does",
                hint=removal_with_word_hint(
                    item.lasting.span,
                    "for on-off flows, write `active 1/3 for 1 s`; otherwise remove `for`",
                ),
            )
            return None
        lasting = self.expressions.quantity(item.lasting, scope, TIME, "the burst duration")
        if share is None or lasting is None:
            return None
        return ir.Effect(kind, share, item.span, lasting)

    def _cannot_be(self, kind: ir.EffectKind, quantity: ir.Quantity) -> bool:
        """Return whether a size or a queue has the wrong dimension, which is reported."""
        dimension = self.expressions.resolved(quantity.dimension)
        is_wanted = _is_emitted if kind is ir.EffectKind.EMIT else _decides_jitter
        if is_wanted(dimension) or any(map(is_free, dimension.bases)):
            return False
        if kind is ir.EffectKind.EMIT:
            message = f"`emit` takes a share or a size, not {dimension.in_words}"
            hint = "write `emit 30 %` or `emit 500 byte/frame`"
        else:
            message = f"`queue` holds items or bytes, not {dimension.in_words}"
            hint = "write `queue 60 frame` or `queue 64 kB`"
            if dimension == TIME:
                hint += "; the time follows from the arrival rate"
        advised = advice(quantity, is_wanted, hint)
        self.sink.report(
            codes.WRONG_DIMENSION,
            quantity.span,
            message,
            hint=advised,
        )
        return True


def _is_emitted(dimension: Dimension) -> bool:
    return dimension == DIMENSIONLESS or (INFORMATION / dimension).is_item


def _decides_jitter(dimension: Dimension) -> bool:
    return dimension == INFORMATION or dimension.is_item
