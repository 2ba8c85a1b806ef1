"""Conditions on the rows of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from qps.compiler import ir
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.declarations import (
    CHOOSING,
    Declared,
    LoadedModule,
    chooses,
    lookup,
    names_of,
    owner_in,
)
from qps.compiler.check.names.expression_text import text_in_model
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.places import PlacedHardware, resource_name
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.part import whole
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.ir.measure_names import UTILIZATION, current_name, utilization_of
from qps.compiler.ir.parts import operands_of, parts_of
from qps.compiler.syntax import ast


class RowConditions(OfChanges, frozen=True):
    """Checks conditions on the rows of a matrix: also what stands in a place, what limits."""

    def input_condition(
        self,
        expr: ast.Expr,
        scope: Scope,
        instead: str = "write `where` with the condition for rows to keep",
    ) -> ir.Condition | None:
        """Return a condition by which rows are left out before anything is solved.

        `instead` is what to write where it is about a result.
        """
        condition = self.condition(expr, scope, is_result=False)
        results = ir.Measured | ir.Population
        if condition is None or not any(isinstance(p, results) for p in _compared(condition)):
            return condition
        self.sink.report(
            codes.VARIES,
            expr.span,
            "`exclude` is evaluated before solving and cannot use a result",
            hint=instead,
        )
        return None

    def condition(
        self, expr: ast.Expr, scope: Scope, *, is_result: bool = True
    ) -> ir.Condition | None:
        """Return a condition; `is_result` where it may name what solving gives."""
        match expr:
            case ast.Not():
                inner = self.condition(expr.operand, scope, is_result=is_result)
                return None if inner is None else ir.Negated(inner)
            case ast.Junction():
                parts: tuple[ir.Condition, ...] | None = whole(
                    [self.condition(part, scope, is_result=is_result) for part in expr.operands]
                )
                if parts is None:
                    return None
                return ir.AllOf(parts) if expr.operator == "and" else ir.AnyOf(parts)
            case ast.Comparison(operands=(ast.Reference(name=name), *_)):
                check = self._word_check(name, is_result=is_result)
                if check is not None:
                    return self._word(expr, name, check)
        found = self.expressions.condition(expr, scope)
        if found is not None and is_refused(self.sink, expr.span, _compared(found)):
            return None
        return found

    def _word_check(
        self, name: ast.Name, *, is_result: bool
    ) -> Callable[[ast.Reference | ast.Call], str | None] | None:
        """Return how the words of a column are checked; None where it holds no words."""
        text = name.text
        if chooses(self.main, name):
            names = list(self.known.scenarios if text == "scenario" else self.known.modes)
            return lambda value: self._one_of(value, names, text)
        named = lookup(self.main, name)
        if is_result and named is None and text in ("limited_by", "bottleneck"):
            self.main.note(Meaning.WORD, name)
            return self._requirement if text == "limited_by" else self._resource
        if named is not None and isinstance(named.declaration, ast.Node | ast.Link):
            return lambda value: self._kind(value, named)
        return None

    def _word(
        self,
        expr: ast.Comparison,
        name: ast.Name,
        check: Callable[[ast.Reference | ast.Call], str | None],
    ) -> ir.Condition | None:
        value = expr.operands[-1]
        is_fit = len(expr.operands) == 2 and expr.operators[0] in ("==", "!=")  # noqa: PLR2004
        owner = lookup(self.main, name)
        is_node = owner is not None and isinstance(owner.declaration, ast.Node)
        named = (ast.Reference, ast.Call) if is_node else ast.Reference
        if not is_fit or not isinstance(value, named):
            self.sink.report(
                codes.NOT_A_CONDITION,
                expr.span,
                f"`{name.text}` can only be compared with a name, by `==` or `!=`",
                hint=f"write `{name.text} == name`"
                + (f", or `count({name.text})` for the number of machines" if is_node else ""),
            )
            return None
        word = check(value)
        if word is None:
            return None
        condition = ir.RowIs(name.text, word)
        return condition if expr.operators[0] == "==" else ir.Negated(condition)

    def _one_of(
        self, value: ast.Reference | ast.Call, known: Iterable[str], what: str
    ) -> str | None:
        names = list(known)
        if value.name.text in names:
            if what in CHOOSING:
                self.main.note(Meaning.CHOSEN, value.name)
            return value.name.text
        self.sink.report(
            codes.UNKNOWN_NAME,
            value.span,
            f"unknown {what} `{value.name.text}`",
            hint=offered(value.name.text, names, f"no {what} is declared"),
        )
        return None

    def _kind(self, value: ast.Reference | ast.Call, declared: Declared) -> str | None:
        """Return the machine or network that a node or link is compared with."""
        is_node = isinstance(declared.declaration, ast.Node)
        read = PlacedHardware(value, None)
        return self.changes.places.kind(read, self.main, is_node=is_node)

    def _requirement(self, value: ast.Reference | ast.Call) -> str | None:
        """Return the requirement that `limited_by` is compared with."""
        if current_name(value.name.parts[-1]) == UTILIZATION:
            owner = ast.Reference(value.span, ast.Name(value.name.span, value.name.parts[:-1]))
            resource = self._resource(owner)
            owner_in(self.main, value.name)
            return resource and utilization_of(resource)
        if value.name.text == "quality":
            self.main.note(Meaning.WORD, value.name)
        elif lookup(self.main, value.name) is None:
            owner_in(self.main, value.name)
        required = [
            _measure_text(requirement.condition, system)
            for system in self.program.systems
            for d in system.syntax.declarations
            if isinstance(d, ast.Require | ast.Mode)
            for requirement in d.requirements
        ]
        return self._one_of(value, [*required, "quality"], "requirement")

    def _resource(self, value: ast.Reference | ast.Call) -> str | None:
        """Return the resource that `bottleneck` is compared with."""
        owner, rest = owner_in(self.main, value.name)
        if owner is not None and isinstance(owner.declaration, ast.Node | ast.Link):
            return resource_name(owner, rest)
        places = names_of(self.main, (ast.Node, ast.Link))
        return self._one_of(value, places, "resource")


def is_refused(sink: Sink, span: Span, parts: Iterable[ir.Expr]) -> bool:
    """Report what a row of a matrix cannot have: a `with` of its own, how likely something is."""
    changed = next((part for part in parts if isinstance(part, ir.Changed)), None)
    if isinstance(changed, ir.Chance):
        sink.report(
            codes.MISPLACED,
            span,
            "a matrix cannot contain probabilities",
            hint="`capacity.p05 >= 500` means a capacity of 500 at 95 % confidence; "
            "for measures use an `expect`: `probability(…) >= 95 % with …`",
        )
    elif changed is not None:
        _refuse_changes(sink, span)
    return changed is not None


def _refuse_changes(sink: Sink, span: Span) -> None:
    sink.report(
        codes.MISPLACED,
        span,
        "a row of a matrix cannot have its own `with`",
        hint="use an axis, or change all rows: `matrix name with … {`",
    )


def _compared(condition: ir.Condition) -> Iterator[ir.Expr]:
    """Yield what is compared in a condition, and all that it is made of."""
    for compared in operands_of(condition):
        yield from parts_of(compared)


def _measure_text(condition: ast.Expr, module: LoadedModule) -> str:
    """Return how the left side of a requirement is written: its name."""
    if isinstance(condition, ast.Comparison):
        return " ".join(text_in_model(condition.operands[0], module).split())
    return condition.span.text
