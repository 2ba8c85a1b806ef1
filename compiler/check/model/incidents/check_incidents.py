"""Incidents, autoscalers and clients that retry are checked."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.model.incidents.named_settings import SettingKind, SettingsChecker
from qps.compiler.check.names.declarations import keyword, lookup, repeated
from qps.compiler.check.names.failure_states import whole_number
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import sound
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
from qps.compiler.syntax import ast

_RETRYING = {
    "timeout": SettingKind(
        what="the timeout", example="timeout 2 s", dimension=TIME, is_required=True
    ),
    "retries": SettingKind(what="the number of retries", example="retries 3", is_required=True),
    "backoff": SettingKind(what="the backoff", example="backoff 1 s", dimension=TIME),
    "budget": SettingKind(what="the retry budget", example="budget 10 %"),
}
_AUTOSCALING = {
    "target": SettingKind(what="the target utilization", example="target 70 %", is_required=True),
    "startup": SettingKind(what="the startup time", example="startup 60 s", dimension=TIME),
    "sync": SettingKind(what="the sync period", example="sync 15 s", dimension=TIME),
    "stabilization": SettingKind(
        what="the stabilization window", example="stabilization 300 s", dimension=TIME
    ),
    "tolerance": SettingKind(what="the tolerance", example="tolerance 10 %"),
    "step": SettingKind(what="the number of machines added in a period", example="step 4"),
    "growth": SettingKind(what="the growth in a period", example="growth 100 %"),
    "period": SettingKind(what="the period", example="period 15 s", dimension=TIME),
}
_EXAMPLES = {
    ir.DisturbanceKind.LOSE: "lose {} for 10 minute",
    ir.DisturbanceKind.SLOW: "slow {} by 50 % for 10 minute",
    ir.DisturbanceKind.SURGE: "surge {} by 100 % for 10 minute",
    ir.DisturbanceKind.EMPTY: "empty {}",
    ir.DisturbanceKind.FAIL: "fail {} for 10 minute",
}
_TAKES: dict[ir.DisturbanceKind, type[ast.Shared]] = {
    ir.DisturbanceKind.LOSE: ast.Node,
    ir.DisturbanceKind.SLOW: ast.Node,
    ir.DisturbanceKind.SURGE: ast.Stream,
    ir.DisturbanceKind.EMPTY: ast.Param,
    ir.DisturbanceKind.FAIL: ast.Node,
}


class IncidentChecker(SettingsChecker, frozen=True):
    """Checks what happens to a system for a time."""

    def autoscalers(self) -> tuple[ir.Autoscaler, ...]:
        """Return the autoscalers of the spec that are sound."""
        declared = self.main.syntax.every(ast.Autoscaler)
        named = [(one, self._name(one.node, ast.Node)) for one in declared]
        self._report_twice([one.node for one in declared], "has two autoscalers")
        return sound(self._autoscaler(one, node) for one, node in named if node is not None)

    def retrying(self) -> tuple[ir.Retrying, ...]:
        """Return what the clients of streams do, where that is sound."""
        declared = self.main.syntax.every(ast.Retrying)
        named = [(one, self._name(one.stream, ast.Stream)) for one in declared]
        self._report_twice([one.stream for one in declared], "has two `retry` blocks")
        return sound(self._retrying(one, stream) for one, stream in named if stream is not None)

    def incidents(self) -> tuple[ir.Incident, ...]:
        """Return the incidents of the spec with those of their disturbances that are sound."""
        declared = self.main.syntax.every(ast.Incident)
        self.are_distinct(
            declared, "incident {} is declared twice", "first declared here", "rename one of them"
        )
        return tuple(map(self._incident, declared))

    # -- autoscalers and clients -------------------------------------------------------------

    def _autoscaler(self, declared: ast.Autoscaler, node: str) -> ir.Autoscaler | None:
        settings = self.quantities(declared.settings, _AUTOSCALING, declared.span)
        scope = Scope(self.main, AllowedNames.NOTHING)
        ends = (declared.range.low, declared.range.high)
        least, most = (
            self.expressions.quantity(end, scope, DIMENSIONLESS, "a number of machines")
            for end in ends
        )
        if settings is None or least is None or most is None:
            return None
        low, high = least.expr, most.expr
        is_turned = False
        if isinstance(low, ir.Constant) and isinstance(high, ir.Constant):
            is_turned = low.value > high.value
        if is_turned:
            self.sink.report(
                codes.OUT_OF_RANGE,
                declared.range.span,
                "this range ends before it starts",
                hint="state the smallest number of machines first",
            )
            return None
        return ir.Autoscaler(
            node=node, least=least, most=most, settings=settings, span=declared.span
        )

    def _retrying(self, declared: ast.Retrying, stream: str) -> ir.Retrying | None:
        settings = self.quantities(declared.settings, _RETRYING, declared.span)
        if settings is None:
            return None
        return ir.Retrying(stream=stream, settings=settings, span=declared.span)

    def _report_twice(self, names: list[ast.Name], text: str) -> None:
        for again, earlier in repeated(names, lambda name: name.text):
            self.sink.report(
                codes.DUPLICATE_NAME,
                again.span,
                f"`{again.text}` {text}",
                secondary=[Label(earlier.span, "first declared here")],
                hint="remove one of them",
            )

    def _name(self, name: ast.Name, kind: type[ast.Shared]) -> str | None:
        """Return what the model calls something; None where there is nothing of that kind."""
        declared = lookup(self.main, name)
        if declared is None or not isinstance(declared.declaration, kind):
            report_name(self.sink, self.main, name, keyword(kind), (kind,))
            return None
        return declared.qualified

    # -- incidents ---------------------------------------------------------------------------

    def _incident(self, declared: ast.Incident) -> ir.Incident:
        if not declared.disturbances:
            self.sink.report(
                codes.MISSING_PART,
                declared.name.span,
                f"nothing happens in incident `{declared.name.text}`",
                hint="say what happens, such as `lose db for 10 minute`",
            )
        return ir.Incident(
            name=declared.name.text,
            disturbances=sound(map(self._disturbance, declared.disturbances)),
            span=declared.name.span,
            doc=declared.doc,
        )

    def _disturbance(self, stated: ast.Disturbance) -> ir.Disturbance | None:
        kind = ir.DisturbanceKind(stated.kind)
        target = self._target(kind, stated.name)
        if target is None or not self._has_its_parts(kind, stated):
            return None
        count = None if stated.count is None else whole_number(stated.count)
        if stated.count is not None and count is None:
            self.sink.report(
                codes.OUT_OF_RANGE,
                stated.count.span,
                "a number of machines is a whole number of at least 1",
                hint=f"write `{kind} 1 of {stated.name.text} for 10 minute`",
            )
            return None
        scope = Scope(self.main, AllowedNames.NOTHING)
        parts = (
            (stated.amount, DIMENSIONLESS, "a part"),
            (stated.start, TIME, "a start"),
            (stated.length, TIME, "a duration"),
        )
        found: list[ir.Quantity | None] = []
        for expr, dimension, what in parts:
            if expr is None:
                found.append(None)
                continue
            value = self.expressions.quantity(expr, scope, dimension, what)
            if value is None:
                return None
            found.append(value)
        amount, start, length = found
        return ir.Disturbance(
            kind=kind,
            target=target,
            span=stated.span,
            count=count,
            amount=amount,
            start=start,
            length=length,
        )

    def _target(self, kind: ir.DisturbanceKind, name: ast.Name) -> str | None:
        """Return what a disturbance happens to; None where there is no such thing."""
        if kind is not ir.DisturbanceKind.EMPTY:
            return self._name(name, _TAKES[kind])
        declared = lookup(self.main, name)
        param = None if declared is None else declared.declaration
        if not isinstance(param, ast.Param) or param.cache is None:
            self.sink.report(
                codes.UNKNOWN_NAME,
                name.span,
                f"`{name.text}` is not a cache",
                hint="declare it: `cache hits { items 1_000_000; zipf 0.8; size 50_000 }`",
            )
            return None
        assert declared is not None
        return declared.qualified

    def _has_its_parts(self, kind: ir.DisturbanceKind, stated: ast.Disturbance) -> bool:
        """Return whether a disturbance has what its kind takes, and nothing else."""
        is_lost = kind in (ir.DisturbanceKind.LOSE, ir.DisturbanceKind.FAIL)
        is_emptied = kind is ir.DisturbanceKind.EMPTY
        takes_amount = not is_lost and not is_emptied
        wrong: tuple[Span, str] | None = None
        if stated.count is not None and not is_lost:
            wrong = stated.count.span, f"`{kind}` takes no number of machines"
        elif stated.amount is not None and not takes_amount:
            wrong = stated.amount.span, f"`{kind}` takes no `by`"
        elif stated.length is not None and is_emptied:
            wrong = stated.length.span, "a cache is emptied at one time: it takes no `for`"
        if wrong is not None:
            span, message = wrong
            self.sink.report(
                codes.MISPLACED,
                span,
                message,
                hint=f"write `{_EXAMPLES[kind].format(stated.name.text)}`",
            )
            return False
        missing = "by" if takes_amount and stated.amount is None else ""
        missing = missing or ("for" if not is_emptied and stated.length is None else "")
        if missing:
            what = "how much" if missing == "by" else "for how long"
            self.sink.report(
                codes.MISSING_PART,
                stated.span,
                f"`{kind}` needs `{missing}`: {what}",
                hint=f"write `{_EXAMPLES[kind].format(stated.name.text)}`",
            )
        return not missing
