"""How what arrives at a resource waits: the discipline that a machine or network states."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.part import Part
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_WORDS = {discipline.value: discipline for discipline in ir.Discipline}


class QueueingChecker(Part, frozen=True):
    """Checks what stands behind `queueing`."""

    def of_resource(
        self, name: ast.Name, stated: ast.Queueing, kind: ir.ResourceKind, scope: Scope
    ) -> ir.Queueing | None:
        """Return how work waits for a resource of a machine; None where it does not."""
        queueing = self._checked(stated, scope)
        if queueing is None:
            return None
        if kind is ir.ResourceKind.STORE and queueing.that_waits is None:
            return queueing
        if kind is ir.ResourceKind.STORE:
            self.sink.report(
                codes.MISPLACED,
                queueing.span,
                f"nothing waits for `{name.text}`: it is a room that is held, not served",
                hint="state the queueing of what serves items: a processor, a rate or a network",
            )
            return None
        if kind is not ir.ResourceKind.PROCESSOR:
            return self._one_server(queueing, f"`{name.text}`")
        return queueing

    def of_network(self, stated: ast.Queueing, scope: Scope) -> ir.Queueing | None:
        """Return how packets wait for a port of a network; None where they do not."""
        queueing = self._checked(stated, scope)
        return None if queueing is None else self._one_server(queueing, "a port of a network")

    def stated(self, wait: ast.Wait, scope: Scope, *, is_link: bool) -> ir.Queueing | None:
        """Return how what arrives waits for resources that a spec names, or for links."""
        queueing = self._checked(wait, scope)
        if queueing is None or not is_link:
            return queueing
        return self._one_server(queueing, "a port of a network")

    def _one_server(self, queueing: ir.Queueing, what: str) -> ir.Queueing | None:
        if not queueing.has_equal_servers:
            return queueing
        self.sink.report(
            codes.MISPLACED,
            queueing.span,
            f"`{queueing.discipline.value}` is for the cores of a processor; {what} is one server",
            hint="write `mm1`",
        )
        return None

    def _checked(self, stated: ast.Queueing | ast.Wait, scope: Scope) -> ir.Queueing | None:
        word = stated.discipline.text
        discipline = _WORDS.get(word)
        if discipline is None:
            self.sink.report(
                codes.UNKNOWN_NAME,
                stated.discipline.span,
                f"unknown queueing discipline `{word}`",
                hint=offered(word, _WORDS),
            )
            return None
        variation = None
        if stated.variation is not None:
            variation = self.expressions.quantity(
                stated.variation, scope, DIMENSIONLESS, "a coefficient of variation"
            )
            if variation is None:
                return None
        if (discipline.traits.variation is None) != (variation is not None):
            self._wrong_variation(stated, discipline)
            return None
        return ir.Queueing(discipline, variation, stated.span)

    def _wrong_variation(self, stated: ast.Queueing | ast.Wait, discipline: ir.Discipline) -> None:
        word = discipline.value
        if discipline.traits.variation is None:
            self.sink.report(
                codes.BAD_HARDWARE,
                stated.span,
                f"`{word}` does not say how much service times vary",
                hint=f"give their standard deviation over their mean: `queueing {word} cv 1.2`",
            )
            return
        assert stated.variation is not None
        self.sink.report(
            codes.MISPLACED,
            stated.variation.span,
            f"`{word}` takes no coefficient of variation",
            hint="only `mg1` does: in `mm1` and `mmc` it is 1, in `md1` and `periodic` 0",
        )
