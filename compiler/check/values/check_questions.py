"""Calls that query the model: `count(node)`, `share(…)`, `quantile(…)`, `probability(…)`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import Declared, lookup_as, owner_in
from qps.compiler.check.names.places import has_resource, resource_name
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.definitions import ValueOf
from qps.compiler.check.values.values import Arithmetic, Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import LocatedHint, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands_of, parts_of
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
from qps.compiler.syntax import ast

ConditionOf = Callable[[ast.Expr, Scope], ir.Condition | None]

NAME_FUNCTIONS = ("count", "members", "share", "saturation")
"""Functions whose arguments are names of the spec."""
_BY_COMPONENT = ("component", ast.Component)


class QuestionChecker(Struct, frozen=True, kw_only=True):
    """Checks calls that query the model.

    Only one that `may_query` takes questions of changed models, and of samples of them.
    """

    sink: Sink
    arithmetic: Arithmetic
    value: ValueOf
    condition: ConditionOf
    may_query: bool

    def time_share(self, expr: ast.Call, scope: Scope) -> Value | None:
        """Return `share(page.latency > 2 s)`, the share of items by a time that each takes.

        Also `share(call.wait <= 20 s)`: by the time that it waits, at a station or in all.
        """
        compared = expr.arguments[0]
        problem = self._wrong_times(compared)
        if problem is not None:
            self.sink.report(codes.WRONG_KIND, problem[0], problem[1], hint=problem[2])
            return None
        assert isinstance(compared, ast.Comparison)
        left, right = compared.operands
        time, limit = self.value(left, scope), self.value(right, scope)
        if time is None or limit is None:
            return None
        if not self.arithmetic.free.agree(time.dimension, limit.dimension):
            self.arithmetic.mismatch(limit, time, "compare")
            return None
        kinds = (ir.MeasureKind.LATENCY, ir.MeasureKind.WAIT)
        time_expr = time.expr
        if (
            not isinstance(time_expr, ir.Measured)
            or time_expr.kind not in kinds
            or time_expr.component is not None
        ):
            self.sink.report(
                codes.WRONG_KIND,
                left.span,
                f"`{left.span.text}` is not a latency or waiting time",
                hint="name the latency or the wait: `share(page.latency > 2 s)`, "
                "`share(web.cpu.wait <= 20 ms)`",
            )
            return None
        if AllowedNames.FORMALS in limit.mentions:
            return None  # a call gives it
        if not isinstance(limit.expr, ir.Constant):
            self.sink.report(
                codes.VARIES,
                right.span,
                "the time limit of a share must be a literal number",
                hint=f"write it, such as `share({left.span.text} {compared.operators[0]} 2 s)`",
            )
            return None
        if limit.expr.value < 0:
            self.sink.report(
                codes.OUT_OF_RANGE,
                right.span,
                "a time is never negative",
                hint="use a limit of 0 s or more",
            )
            return None
        times = ir.TimeLimit(
            seconds=limit.expr.value,
            is_wait=time_expr.kind is ir.MeasureKind.WAIT,
            is_longer=compared.operators[0] == ">",
        )
        found = ir.Measured(kind=ir.MeasureKind.TIME_SHARE, subject=time_expr.subject, times=times)
        return leaf(found, DIMENSIONLESS, expr.span)

    def _wrong_times(self, compared: ast.Expr) -> tuple[Span, str, LocatedHint | str] | None:
        """Return what is wrong with the condition of a share: its place, the reason, the fix."""
        if not isinstance(compared, ast.Comparison) or len(compared.operators) != 1:
            return (
                compared.span,
                "`share` takes one comparison of a time with its limit",
                "write `share(page.latency > 2 s)` or `share(page.latency <= 2 s)`",
            )
        (operator,), (left, right) = compared.operators, compared.operands
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
        closed = {">=": ">", "<": "<="}
        is_turned = isinstance(right, ast.Reference) and not isinstance(left, ast.Reference)
        if is_turned:
            operator = turned
            left, right = right, left
        written = f"{left.span.text} {closed.get(operator, operator)} {right.span.text}"
        if is_turned:
            reason = "`share` needs the time on the left and its limit on the right"
        elif operator in closed:
            reason = f"`share` uses `>` or `<=`, not `{operator}`"
        elif operator not in (">", "<="):
            reason = f"`share` compares with `>` or `<=`, not `{operator}`"
            written = f"{left.span.text} <= {right.span.text}"
        else:
            return None
        return compared.span, reason, instead(compared.span.text, written, at=compared.span)

    def of_names(self, word: str, expr: ast.Call, scope: Scope) -> Value | None:
        """Return `count(web)`, `members(room)`, `share(db, web.cpu)` or `saturation(web.cpu)`."""
        conditions = (ast.Comparison, ast.Junction, ast.Not)
        if (
            word == "share"
            and len(expr.arguments) == 1
            and isinstance(expr.arguments[0], conditions)
        ):
            return self.time_share(expr, scope)
        names = [a.name if isinstance(a, ast.Reference) else None for a in expr.arguments]
        wanted = {
            "count": "count(node)",
            "members": "members(group)",
            "share": "share(component, node.resource)`, `share(stream, link)` or "
            "`share(page.latency > 2 s)",
            "saturation": "saturation(node.resource)",
        }[word]
        if None in names or len(names) != (2 if word == "share" else 1):
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                f"`{word}` takes names of the spec",
                hint=f"write `{wanted}`",
            )
            return None
        last = names[-1]
        assert last is not None
        if word == "members" or self._is_group(last, scope):
            return self._group(word, last, expr.span, scope)
        owner, rest = owner_in(scope.module, last)
        if owner is None or not isinstance(owner.declaration, ast.Node | ast.Link):
            report_name(self.sink, scope.module, last, "node or link", (ast.Node, ast.Link))
            return None
        if not has_resource(self.sink, owner, rest, last):
            return None
        if word == "count":
            return leaf(ir.NodeCount(owner.qualified), DIMENSIONLESS, expr.span)
        resource = resource_name(owner, rest)
        if word == "saturation":
            measured = ir.Measured(kind=ir.MeasureKind.SATURATION, subject=resource)
            return leaf(measured, DIMENSIONLESS, expr.span)
        is_link = isinstance(owner.declaration, ast.Link)
        by, kind = ("stream", ast.Stream) if is_link else _BY_COMPONENT
        return self._share((names[0], by, kind), resource, expr.span, scope)

    def probability(self, expr: ast.Call, scope: Scope) -> Value | None:
        """Return `probability(voice.latency <= 230 ms)`, of numbers that are not known."""
        if AllowedNames.ANSWERS not in scope.allowed or not self.may_query:
            self.sink.report(
                codes.MISPLACED,
                expr.span,
                "`probability` can be used only in expectations",
                hint="in a requirement write `voice.latency <= 230 ms with 95 % certainty`",
            )
            return None
        if len(expr.arguments) != 1:
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                "`probability` takes one condition",
                hint="write `probability(voice.latency <= 230 ms) >= 95 % with N = 20`",
            )
            return None
        condition = self.condition(expr.arguments[0], scope)
        if condition is None:
            return None
        sides = tuple(operands_of(condition))
        if any(isinstance(part, ir.Changed) for side in sides for part in parts_of(side)):
            self.sink.report(
                codes.MISPLACED,
                expr.span,
                "the condition of a probability cannot have `with`",
                hint="write it after the claim: `probability(…) >= 95 % with N = 20`",
            )
            return None
        # It is an answer, whatever it is of: nothing but a claim can name it.
        value = ir.Sum((*sides, ir.Measured(kind=ir.MeasureKind.LARGEST, subject="")))
        chance = ir.Chance(value=value, changes=(), condition=condition)
        return leaf(chance, DIMENSIONLESS, expr.span)

    def quantile(self, expr: ast.Call, scope: Scope) -> Value | None:
        """Return `quantile(voice.latency, 99.9 %)`: what so many items do not exceed."""
        operand, level = (*expr.arguments, None, None)[:2]
        owner: Declared | None = None
        rest: tuple[str, ...] = ()
        if isinstance(operand, ast.Reference):
            owner, rest = owner_in(scope.module, operand.name)
        if len(expr.arguments) != 2 or len(rest) != 1 or level is None:  # noqa: PLR2004
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                "`quantile` takes the latency of a stream and a share",
                hint="write `voice.p99_9`, or `quantile(voice.latency, 99.9 %)`",
            )
            return None
        assert isinstance(operand, ast.Reference)
        stream = ast.Name(operand.name.span, operand.name.parts[:-1])
        if owner is None or not isinstance(owner.declaration, ast.Stream):
            report_name(self.sink, scope.module, stream, "stream", (ast.Stream,))
            return None
        if rest[0] != "latency":
            self.sink.report(
                codes.WRONG_KIND,
                operand.span,
                f"`quantile` needs a latency, not `{operand.name.text}`",
                hint=instead(
                    operand.name.text,
                    f"{stream.text}.latency",
                    words=f"write `{stream.text}.p99_9`",
                ),
            )
            return None
        share = self.value(level, scope)
        if share is None:
            return None
        is_plain = self.arithmetic.free.agree(share.dimension, DIMENSIONLESS)
        if is_plain and AllowedNames.FORMALS in share.mentions:
            return None  # a call gives the share
        if not is_plain or not isinstance(share.expr, ir.Constant):
            self.sink.report(
                codes.VARIES,
                level.span,
                "the share of a quantile must be a literal number",
                hint="write `99.9 %`",
            )
            return None
        if not 0 <= share.expr.value < 1:
            self.sink.report(
                codes.OUT_OF_RANGE,
                level.span,
                "the share of a quantile must be from 0 to below 100 %",
                hint="write `99.9 %`",
            )
            return None
        quantile = ir.MeasureKind.QUANTILE
        return leaf(
            ir.Measured(kind=quantile, subject=owner.qualified, level=share.expr.value),
            TIME,
            expr.span,
        )

    def _is_group(self, name: ast.Name, scope: Scope) -> bool:
        return lookup_as(scope.module, name, ast.Group) is not None

    def _group(self, word: str, name: ast.Name, span: Span, scope: Scope) -> Value | None:
        """Return how many members each group has, or how many groups there are."""
        declared, is_function = (
            lookup_as(scope.module, name, ast.Group),
            word in ("count", "members"),
        )
        if declared is None or not is_function:
            kind, wanted = (ast.Group, "group") if is_function else (ast.Node, "node or link")
            report_name(self.sink, scope.module, name, wanted, (kind,))
            return None
        expression_class = ir.GroupCount if word == "count" else ir.Members
        return leaf(expression_class(declared.qualified), DIMENSIONLESS, span)

    def _share(
        self,
        by: tuple[ast.Name | None, str, type[ast.Component | ast.Stream]],
        resource: str,
        span: Span,
        scope: Scope,
    ) -> Value | None:
        """Return the share of a component in the load of a machine, of a stream in a link's."""
        name, word, kind = by
        assert name is not None
        declared = lookup_as(scope.module, name, kind)
        if declared is None:
            report_name(self.sink, scope.module, name, word, (kind,))
            return None
        measured = ir.Measured(
            kind=ir.MeasureKind.SHARE, subject=resource, component=declared.qualified
        )
        return leaf(measured, DIMENSIONLESS, span)
