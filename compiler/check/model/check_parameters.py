"""What may vary is checked: options, parameters, their kinds and the shares of these."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_conditions import choices_of
from qps.compiler.check.values.part import Part
from qps.compiler.diagnostics import codes
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import origin


class ParameterChecker(Part, frozen=True):
    """Checks what may vary in a program."""

    def options(self) -> tuple[ir.Option, ...]:
        """Return the options of all modules."""
        built = []
        for declared in self.program.everywhere(ast.Option):
            option = declared.declaration
            words = [choice.text for choice in option.choices]
            choices = choices_of(declared)
            if len(choices) == 1:
                self.sink.report(
                    codes.MISSING_PART,
                    option.name.span,
                    f"option `{option.name.text}` has one choice only",
                    hint=f"list them all, the usual one first: "
                    f"`option {option.name.text} = {words[0]} or …`",
                )
            for index, choice in enumerate(option.choices):
                if choice.text in words[:index]:
                    self.sink.report(
                        codes.DUPLICATE_NAME,
                        choice.span,
                        f"`{choice.text}` is listed twice",
                        hint="list it once",
                    )
            built.append(ir.Option(declared.qualified, choices, option.name.span, option.doc))
        return tuple(built)

    def parameters(self) -> tuple[ir.Parameter, ...]:
        """Return the parameters of all modules, with those of each kind and the shares of kinds."""
        built = list(self._shares())
        for declared in self.program.everywhere(ast.Param):
            param, name = declared.declaration, declared.qualified
            scope = Scope(declared.module, Allowed.NOTHING)
            value = self.expressions.quantity(param.value, scope, instead=_as_let(param))
            if value is None:
                continue
            self.known.dimensions[name] = value.dimension
            low = high = None
            if param.range is not None:
                high = self._bound(param.range.high, None, value, scope)
                low = high and self._bound(param.range.low, param.range.high, value, scope)
                high = low and high
                if low is not None and high is not None:
                    self._check_order(low, high, param.range)
            priority = None
            if param.priority is not None:
                asked = "a priority"  # one that failed is reported: the rest goes on without it
                priority = self.expressions.quantity(param.priority, scope, DIMENSIONLESS, asked)
            built.append(
                ir.Parameter(
                    name=name,
                    value=value.expr,
                    dimension=value.dimension,
                    low=low.expr if low else None,
                    high=high.expr if high else None,
                    span=param.name.span,
                    value_span=param.value.span,
                    source=origin(param.source, param.fitted),
                    doc=param.doc,
                    is_elastic=param.is_elastic,
                    least_text=_least_text(param) if param.is_elastic else "",
                    priority=priority,
                    fitted=param.fitted.value if param.fitted else None,
                )
            )
            built += self._each_kind(built[-1], param, scope)
        return tuple(built)

    def _each_kind(
        self, whole: ir.Parameter, param: ast.Param, scope: Scope
    ) -> Iterator[ir.Parameter]:
        """Yield what a parameter is for each of its kinds, as a parameter: `frame_size.I`."""
        for entry in param.value.entries if isinstance(param.value, ast.KindTable) else ():
            value = self.expressions.quantity(entry.value, scope)
            if value is not None:
                name = f"{whole.name}.{entry.name.text}"
                self.known.dimensions[name] = value.dimension
                yield replace(
                    whole,
                    name=name,
                    value=value.expr,
                    span=entry.name.span,
                    value_span=entry.value.span,
                )

    def _shares(self) -> Iterator[ir.Parameter]:
        """Yield the share of each kind as a parameter: `film.I`."""
        for declared in self.program.everywhere(ast.Kinds):
            shares, kinds = self.expressions.classes.shares(declared), declared.declaration
            source = kinds.source.value if kinds.source else None
            for kind, share in shares.of.items() if shares else ():
                yield ir.Parameter(
                    name=f"{declared.qualified}.{kind}",
                    value=ir.Constant(share.value),
                    dimension=DIMENSIONLESS,
                    low=None,
                    high=None,
                    span=share.span,
                    value_span=share.span,
                    source=source,
                    doc=kinds.doc,
                    text=shares.text(kind) if shares else "",
                    is_share=True,
                )

    def _check_order(self, low: ir.Quantity, high: ir.Quantity, bounds: ast.Range) -> None:
        ends = [end.expr.value for end in (low, high) if isinstance(end.expr, ir.Constant)]
        if len(ends) > 1 and ends[0] > ends[1]:
            self.sink.report(
                codes.OUT_OF_RANGE,
                bounds.span,
                "this range ends below its start",
                hint="write the smaller end first",
            )

    def _bound(
        self, bound: ast.Expr, other: ast.Expr | None, value: ir.Quantity, scope: Scope
    ) -> ir.Quantity | None:
        """Return a bound of a range; in `3..30 frame/s` the unit holds for both ends."""
        written = ast.with_unit_of(bound, other)
        return self.expressions.quantity(written, scope, value.dimension, "the range")


def _as_let(param: ast.Param) -> str | None:
    """Return what to write of a parameter that depends on what varies; a `let` has no kinds."""
    if isinstance(param.value, ast.KindTable):
        return None
    return f"write `let {param.name.text} = …`: a parameter is a number of its own, to be set"


def _least_text(param: ast.Param) -> str:
    """Return how the spec writes the least of an elastic parameter: 3 frame/s of 3..30 frame/s."""
    assert param.range is not None
    low, high = param.range.low, param.range.high
    if not isinstance(low, ast.Number):
        return low.span.text
    return re.sub(r"^[\d_.]+", low.span.text, high.span.text)
