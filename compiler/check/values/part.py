"""A part of the checks: all of them are functions of one context."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.check.names.declarations import Module
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.check.values.context import Known
from qps.compiler.diagnostics.diagnostic import Sink


class Part(Struct, frozen=True):
    """Checks some declarations, by what their expressions come to."""

    expressions: ExpressionChecker

    @property
    def sink(self) -> Sink:
        """Where mistakes go."""
        return self.expressions.context.sink

    @property
    def main(self) -> Module:
        """The module of the spec itself."""
        return self.expressions.context.main

    @property
    def known(self) -> Known:
        """What was made of declarations so far."""
        return self.expressions.context.known
