"""What may vary is checked: options, parameters, their kinds and the shares of these."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.declarations import DeclaredAs, InstanceArgument, LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_conditions import choices_of
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead, swapping_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import origin


class ParameterChecker(DeclarationChecker, frozen=True):
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
                    f"option `{option.name.text}` has only one choice",
                    hint=f"list all choices, the default first: `option {option.name.text} = "
                    f"{words[0]} or …`",
                )
            for index, choice in enumerate(option.choices):
                if choice.text in words[:index]:
                    self.sink.report(
                        codes.DUPLICATE_NAME,
                        choice.span,
                        f"`{choice.text}` is listed twice",
                        hint="remove one of them",
                    )
            chosen = self._chosen(declared, choices)
            source = option.source.value if option.source else None
            built.append(
                ir.Option(
                    name=declared.qualified,
                    choices=chosen,
                    span=option.name.span,
                    doc=option.doc,
                    source=source,
                )
            )
        return tuple(built)

    def choices(self, declared: DeclaredAs[ast.Option]) -> tuple[str, ...]:
        """Return the choices of an option, the one first that is in force."""
        return self._chosen(declared, choices_of(declared))

    def _chosen(
        self, declared: DeclaredAs[ast.Option], choices: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return choices with the one first that is in force: an instance may choose another."""
        given = declared.module.arguments.get(declared.declaration.name.text)
        if given is None:
            return choices
        value = given.value
        word = value.name.text if isinstance(value, ast.Reference) else value.span.text
        if word in choices:
            return (word, *(choice for choice in choices if choice != word))
        own = declared.declaration.name
        message = f"option `{given.change.name.text}` has no choice `{word}`"
        self.sink.report(
            codes.BAD_SETTING,
            value.span,
            message,
            secondary=[Label(own.span, "declared here")],
            hint=offered(word, choices),
        )
        return choices

    def parameters(self) -> tuple[ir.Parameter, ...]:
        """Return the parameters of all modules, with those of each kind and the shares of kinds."""
        built = list(self._shares())
        for declared in self.program.everywhere(ast.Param):
            param, name = declared.declaration, declared.qualified
            scope = Scope(declared.module, AllowedNames.NOTHING)
            own = self._stated(param, scope, declared.qualified)
            given = declared.module.arguments.get(param.name.text)
            value = own if own is None or given is None else self._instance_value(given, own)
            if own is not None and value is None:
                self.known.values[name] = None  # nothing more is said of what rests on it
            if value is None:
                continue
            source, fitted = (param.source, param.fitted) if given is None else (None, None)
            self.known.dimensions[name] = value.dimension
            low = high = None
            if param.range is not None:
                high = self._bound(param.range.high, None, value, scope)
                low = high and self._bound(param.range.low, param.range.high, value, scope)
                high = low and high
                if low is not None and high is not None:
                    self._check_order(low, high, param)
            priority = None
            if param.priority is not None:
                role = "a priority"  # one that failed is reported: the rest goes on without it
                priority = self.expressions.quantity(param.priority, scope, DIMENSIONLESS, role)
            built.append(
                ir.Parameter(
                    name=name,
                    value=value.expr,
                    dimension=value.dimension,
                    low=low.expr if low else None,
                    high=high.expr if high else None,
                    span=param.name.span,
                    value_span=value.span,
                    source=origin(source, fitted) or value.source,
                    doc=param.doc,
                    is_elastic=param.is_elastic and given is None,
                    least_text=_least_text(param) if param.is_elastic and given is None else "",
                    priority=priority,
                    fitted=fitted.value if fitted else None,
                    is_own=any(declared.module is system for system in self.program.systems),
                )
            )
            built += self._each_kind(built[-1], param, declared.module)
        return tuple(built)

    def _stated(self, param: ast.Param, scope: Scope, name: str) -> ir.Quantity | None:
        """Return the value of a parameter: the largest of a profile, the hit rate of a cache."""
        if param.cache is not None:
            return self._hit_rate(param, param.cache, scope, name)
        if param.shape is None:
            return self.expressions.stated(param.value, scope, instead=_as_let(param))
        from qps.compiler.check.model.parameters.check_profiles import ProfileChecker  # noqa: PLC0415 - of few specs

        profile = ProfileChecker(self.expressions).profile(param, param.shape, scope.module, name)
        if profile is None:
            self.known.values[name] = None
            return None
        if param.name.text not in scope.module.arguments:
            self.known.profiles[name] = profile
        largest = ir.Constant(max(one.value for one in profile.periods))
        return ir.Quantity(expr=largest, dimension=DIMENSIONLESS, span=param.shape.span)

    def _hit_rate(
        self, param: ast.Param, shape: ast.CacheShape, scope: Scope, name: str
    ) -> ir.Quantity | None:
        """Return the hit rate of a cache in steady state."""
        from qps.compiler.check.model.incidents.check_caches import CacheChecker, hit_rate  # noqa: PLC0415 - of few specs

        cache = CacheChecker(self.expressions).cache(param, shape, scope.module, name)
        if cache is None:
            self.known.values[name] = None
            return None
        if param.name.text not in scope.module.arguments:
            self.known.caches[name] = cache
        return ir.Quantity(
            expr=ir.Constant(hit_rate(cache)), dimension=DIMENSIONLESS, span=shape.span
        )

    def _instance_value(self, argument: InstanceArgument, own: ir.Quantity) -> ir.Quantity | None:
        """Return the value that an instance gives a parameter; its own value says of what kind."""
        scope, name = Scope(argument.module, AllowedNames.NOTHING), argument.change.name.text
        quantity = self.expressions.quantity(argument.value, scope, own.dimension, f"`{name}`")
        return quantity and replace(quantity, span=argument.value.span)

    def _each_kind(
        self, whole: ir.Parameter, param: ast.Param, module: LoadedModule
    ) -> Iterator[ir.Parameter]:
        """Yield what a parameter is for each of its kinds, as a parameter: `frame_size.I`.

        Where an instance has one value for all of them, each kind has that.
        """
        for entry in param.value.entries if isinstance(param.value, ast.KindTable) else ():
            key = f"{param.name.text}.{entry.name.text}"
            value = self.expressions.quantity(entry.value, Scope(module, AllowedNames.NOTHING))
            if value is not None and key in module.arguments:
                value = self._instance_value(module.arguments[key], value)
            if value is not None:
                name = f"{whole.name}.{entry.name.text}"
                self.known.dimensions[name] = value.dimension
                is_alike = param.name.text in module.arguments and key not in module.arguments
                yield replace(
                    whole,
                    name=name,
                    value=ir.ParameterValue(whole.name) if is_alike else value.expr,
                    span=entry.name.span,
                    value_span=whole.value_span if is_alike else value.span,
                    is_own=False,
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

    def _check_order(self, low: ir.Quantity, high: ir.Quantity, param: ast.Param) -> None:
        bounds = param.range
        assert bounds is not None
        if param.is_calendar and not isinstance(bounds.low, ast.Date):
            return  # what is no date is reported with the calendar
        ends = [end.expr.value for end in (low, high) if isinstance(end.expr, ir.Constant)]
        if len(ends) > 1 and ends[0] > ends[1]:
            self.sink.report(
                codes.OUT_OF_RANGE,
                bounds.span,
                "the end of this range is below its start",
                hint=swapping_hint(
                    bounds.low.span, bounds.high.span, "write the smaller end first"
                ),
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
    hint = (
        f"for a computed value, write `let {param.name.text} = …`; a parameter must be a "
        "number that can be set"
    )
    word = Span(param.span.source, param.span.start, param.span.start + len("param"))
    return instead("param", "let", at=word, words=hint)


def _least_text(param: ast.Param) -> str:
    """Return how the spec writes the least of an elastic parameter: 3 frame/s of 3..30 frame/s."""
    assert param.range is not None
    low, high = param.range.low, param.range.high
    if not ast.is_plain(low):
        return low.span.text
    return re.sub(r"^[\d_.]+(\s*/\s*[\d_.]+)*", low.span.text, high.span.text)
