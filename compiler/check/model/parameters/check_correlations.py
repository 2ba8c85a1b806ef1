"""How uncertain numbers go together: `correlation reply, seek = 0.8`."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler import ir
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.syntax import ast


class CorrelationChecker(DeclarationChecker, frozen=True):
    """Checks the correlations that all modules state."""

    def correlations(self, parameters: Sequence[ir.Parameter]) -> tuple[ir.Correlation, ...]:
        """Return the correlations of uncertain parameters, all together those of some numbers."""
        uncertain = {one.name for one in parameters if isinstance(one.value, ir.Uncertain)}
        found: dict[frozenset[str], ir.Correlation] = {}
        for module in self.program.modules:
            for declared in module.syntax.declarations:
                if not isinstance(declared, ast.Correlation):
                    continue
                stated = self._one(declared, module, uncertain)
                if stated is None:
                    continue
                pair = frozenset((stated.one, stated.other))
                if pair in found:
                    first = [Label(found[pair].span, "first specified here")]
                    self.sink.report(
                        codes.DUPLICATE_NAME,
                        declared.span,
                        f"the correlation of `{stated.one}` and `{stated.other}` is set twice",
                        secondary=first,
                        hint=single_statement_hint(declared.span),
                    )
                    continue
                found[pair] = stated
        known = tuple(found.values())
        if _can_be(known):
            return known
        *before, last = known
        self.sink.report(
            codes.SPREAD,
            last.span,
            "these correlations contradict each other",
            secondary=[Label(one.span, "and this") for one in before],
            hint="two parameters that both correlate with a third are also correlated; a "
            "missing correlation is 0",
        )
        return ()

    def _one(
        self, declared: ast.Correlation, module: LoadedModule, uncertain: set[str]
    ) -> ir.Correlation | None:
        both = declared.one, declared.other
        names = [self._parameter(name, module, uncertain) for name in both]
        fixed = Scope(module, AllowedNames.NOTHING)
        value = self.expressions.number(declared.value, fixed, "a correlation")
        if value is None or None in names:
            return None
        one, other = (name or "" for name in names)
        if one == other:
            self.sink.report(
                codes.SPREAD,
                declared.other.span,
                f"`{one}` cannot be correlated with itself",
                hint="name two different parameters",
            )
            return None
        if not -1 < value < 1:
            self.sink.report(
                codes.SPREAD,
                declared.value.span,
                "a correlation must be between -1 and 1",
                hint="for exact dependence, write `let b = 2 * a`",
            )
            return None
        return ir.Correlation(one=one, other=other, value=value, span=declared.span)

    def _parameter(self, name: ast.Name, module: LoadedModule, uncertain: set[str]) -> str | None:
        """Return the parameter of a name, where it is uncertain by itself."""
        declared = self.named(module, name, ast.Param)
        if declared is None:
            return None
        if declared.qualified in uncertain:
            return declared.qualified
        self.sink.report(
            codes.SPREAD,
            name.span,
            f"`{name.text}` has no uncertainty to correlate",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=f"make it uncertain: `param {name.text} = … +- 10 %`",
        )
        return None


def _can_be(stated: Sequence[ir.Correlation]) -> bool:
    """Return whether there are numbers that are correlated so."""
    names = dict.fromkeys(name for one in stated for name in (one.one, one.other))
    members = {name: i for i, name in enumerate(names)}
    return ir.correlated_weights(members, stated) is not None
