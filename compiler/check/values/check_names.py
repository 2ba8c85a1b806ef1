"""Names in expressions: units, parameters, definitions, and the measures of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.names.check_classes import CASES, ClassChecker
from qps.compiler.check.names.declarations import (
    Declared,
    Indexed,
    Module,
    is_value,
    kind_of,
    lookup,
    lookup_class,
    named_in,
    names_of,
    owner_in,
    unit_meant,
)
from qps.compiler.check.names.noting import Meaning
from qps.compiler.check.names.places import resource_name, resource_words
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.check_traces import TraceChecker, trace_of
from qps.compiler.check.values.values import Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.mends import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean, offered
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION_BASE,
    MONEY,
    TIME,
    TIME_BASE,
    Dimension,
)
from qps.compiler.syntax import ast

_OFFERED = 4
"""Names to choose from."""

ValueOf = Callable[[ast.Expr, Scope], Value | None]
DEEPEST_DEFINITIONS = 250
"""Definitions that rest on each other, beyond which they are refused."""

EVERYTHING = Allowed.MODEL | Allowed.ANSWERS | Allowed.QUALITY
_QUANTILE = re.compile(r"p([0-9]{1,2})(?:_([0-9]{1,2}))?", re.ASCII)
_LEAST_LEVEL = Fraction(1, 1000)
"""What is told of samples: quantiles nearer to an end are not."""
_STREAM_MEASURES = {
    "latency": (ir.MeasureKind.LATENCY, TIME),
    "jitter": (ir.MeasureKind.JITTER, TIME * TIME),
    "buffer": (ir.MeasureKind.BUFFER, TIME),
    "queue": (ir.MeasureKind.QUEUE, TIME),
    "loss": (ir.MeasureKind.LOSS, DIMENSIONLESS),
    "voluntary_loss": (ir.MeasureKind.VOLUNTARY_LOSS, DIMENSIONLESS),
    "saturation_loss": (ir.MeasureKind.SATURATION_LOSS, DIMENSIONLESS),
    "transmission_loss": (ir.MeasureKind.TRANSMISSION_LOSS, DIMENSIONLESS),
    "throughput": (ir.MeasureKind.THROUGHPUT, DATA_RATE),
}
_PLACE_MEASURES = {
    "load": (ir.MeasureKind.LOAD, DIMENSIONLESS),
    "throughput": (ir.MeasureKind.THROUGHPUT, DATA_RATE),
}
_SYSTEM_MEASURES = {
    "quality": (ir.MeasureKind.QUALITY, DIMENSIONLESS),
    "cost": (ir.MeasureKind.COST, MONEY),
    "running_cost": (ir.MeasureKind.RUNNING_COST, MONEY / TIME),
}


_ANSWERS = {"largest_acceptable", *_SYSTEM_MEASURES}


def measures_of(kind: type) -> dict[str, Dimension]:
    """Return the measures of a stream, or of a place, with their dimensions.

    >>> measures_of(ast.Node)["load"] == DIMENSIONLESS, "latency" in measures_of(ast.Stream)
    (True, True)
    """
    found = _STREAM_MEASURES if issubclass(kind, ast.Stream) else _PLACE_MEASURES
    return {name: dimension for name, (_, dimension) in found.items()}


_VALUES = (
    ast.Param,
    ast.Let,
    ast.Measure,
    ast.Users,
    ast.Option,
    ast.Unit,
    ast.Stream,
    ast.Node,
    ast.Link,
    ast.Group,
)
"""What can be named in an expression, or before a measure in it."""


class Definitions(Struct, kw_only=True):
    """The definitions that were checked, and those that are being followed right now."""

    sink: Sink
    known: dict[str, Value | None]
    open: list[Declared] = field(default_factory=list)
    called: set[int] = field(default_factory=set)
    """Functions whose bodies were put in somewhere."""
    also_units: set[str] = field(default_factory=set)
    """Values with the name of a unit of which that was told."""
    unsound: set[int] = field(default_factory=set)
    """Functions that nothing called yet and that are reported already."""

    def is_unsound(self, func: ast.Func) -> bool:
        """Return whether a function is reported already; what is open calls it, and is too."""
        if id(func) not in self.unsound:
            return False
        self.unsound.update(id(found.declaration) for found in self.open)
        return True

    def give_up(self) -> None:
        """Leave the definitions that are being followed without a value: they are reported."""
        for found in self.open:
            self.known[_key(found)] = None
        self.open.clear()

    def is_too_deep(self, declared: Declared) -> bool:
        """Return whether definitions rest on each other too deeply; then it is reported."""
        if len(self.open) < DEEPEST_DEFINITIONS:
            return False
        self.sink.report(
            codes.TOO_DEEP,
            declared.declaration.name.span,
            f"definitions may rest on each other {DEEPEST_DEFINITIONS} deep, this goes deeper",
            hint="state some of them by themselves",
        )
        return True

    def report_circle(self, declared: Declared) -> None:
        """Report definitions that need each other."""
        start = next(i for i, open_ in enumerate(self.open) if open_.is_same(declared))
        circle = [*self.open[start:], declared]
        names = " -> ".join(item.qualified for item in circle)
        self.sink.report(
            codes.DEFINITION_CYCLE,
            declared.stated_at,
            f"these definitions need each other: {names}",
            hint="state one of them without the others",
            secondary=[Label(item.stated_at, "and this") for item in self.open[start + 1 :]],
        )


class NameChecker(Struct, frozen=True, kw_only=True):
    """Tells what names stand for; `value` checks the expressions behind them."""

    sink: Sink
    definitions: Definitions
    classes: ClassChecker
    value: ValueOf
    traces: TraceChecker

    def reference(self, expr: ast.Reference, scope: Scope, wanted: str = "name") -> Value | None:
        """Return what a name stands for: a formal, a unit, a definition, a measure.

        `wanted` is what an unknown one is called: a unit, where it stands behind a number.
        """
        name = expr.name
        is_formal = name.text in scope.formals
        unit = unit_meant(scope.module, expr, has_value=is_formal)
        declared = lookup(scope.module, name)
        if unit is not None and (is_formal or is_value(declared)):
            self._tell_of_unit(expr, scope, None if is_formal else declared)
        if unit is not None:
            scope.module.note(Meaning.UNIT, name)
        elif is_formal:
            scope.module.note(Meaning.FORMAL, name)
        if isinstance(unit, units.Unit):
            return leaf(ir.Constant(unit.factor), unit.dimension, expr.span)
        if unit is not None:
            return self._unit(unit, unit.declaration, expr.span)
        if is_formal:
            bound = scope.formals[name.text]
            value = leaf(bound.expr, bound.dimension, expr.span, bound.divisors)
            return value if bound.source is None else replace(value, sources=(bound.source,))
        if declared is not None:
            return self._declared(declared, expr)
        divided = lookup_class(scope.module, name)
        if divided is not None:
            return self._kind(divided, expr)
        return self._measure(expr, scope, wanted)

    def _tell_of_unit(self, expr: ast.Reference, scope: Scope, declared: Declared | None) -> None:
        """Warn where a unit stands whose name is that of a value, too: once for each value."""
        word = expr.name.text
        key = f"{scope.module.prefix}({word})" if declared is None else declared.qualified
        if key in self.definitions.also_units:
            return
        self.definitions.also_units.add(key)
        what = "an argument" if declared is None else kind_of(declared.declaration)
        self.sink.report(
            codes.ALSO_A_UNIT,
            expr.span,
            f"`{word}` is the unit here, behind a number, not {what}",
            secondary=[Label(declared.declaration.name.span, "declared here")] if declared else (),
            hint=f"for the value write `* {word}` or `/ ({word})`; a name that is no unit, such "
            f"as `{word}_`, is never mistaken",
        )

    def _declared(self, declared: Declared, expr: ast.Reference) -> Value | None:
        declaration, span = declared.declaration, expr.span
        match declaration:
            case ast.Param():
                value = self._definition(declared, declaration.value)
                if value is None or value.mentions:
                    return None  # what depends on what it may not is reported where it stands
                is_elastic = declaration.is_elastic and not self._is_given(declared)
                parameter = ir.ParameterValue(declared.qualified, is_elastic)
                return leaf(parameter, value.dimension, span, value.divisors)
            case ast.Users() if self._is_given(declared):
                value = self._definition(declared, ast.Reference(span, declaration.name))
                return None if value is None else replace(value, span=span)
            case ast.Let() | ast.Measure():
                value = self._definition(declared, declaration.value)
                cited = () if declaration.source is None else (declaration.source.value,)
                sources = value and tuple(dict.fromkeys((*cited, *value.sources)))
                return None if value is None else replace(value, span=span, sources=sources or ())
            case ast.Users():
                return leaf(ir.Population(), DIMENSIONLESS, span)
            case _:
                self._not_a_value(declared, expr)
                return None

    def _is_given(self, declared: Declared) -> bool:
        """Return whether an instance is told what a name stands for."""
        return declared.declaration.name.text in declared.module.given

    def _kind(self, declared: Declared, expr: ast.Reference) -> Value | None:
        """Return the value of a parameter for one kind, or the share of a kind."""
        word, declaration = expr.name.parts[-1], declared.declaration
        one = ir.ParameterValue(f"{declared.qualified}.{word}")
        if isinstance(declaration, ast.Kinds):
            is_known = self.classes.knows(declared, expr.name)
            return leaf(one, DIMENSIONLESS, expr.span) if is_known else None
        assert isinstance(declaration, ast.Param)
        owner = declared.declaration.name.text
        table = declaration.value
        if word in CASES or not isinstance(table, ast.KindTable):
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"`{owner}` has no `{word}` that could be named"
                if word in CASES
                else f"`{owner}` has no kinds",
                secondary=[Label(declaration.name.span, "declared here")],
                hint=instead(expr.name.text, f"{word}({owner})")
                if word in CASES
                else f"name it as a whole, `{owner}`, or declare it by kinds: "
                f"`param {owner} by … {{ {word} … }}`",
            )
            return None
        value = self._definition(declared, table)
        divided = lookup(declared.module, table.kinds)
        if value is None or value.mentions or divided is None:
            return None
        if not self.classes.knows(divided, expr.name):
            return None
        return leaf(one, value.dimension, expr.span, value.divisors)

    def _not_a_value(self, declared: Declared, expr: ast.Reference) -> None:
        hints: dict[type, str] = {
            ast.Option: "compare it (`option == choice`) in an `if`",
            ast.Kinds: f"name one of them: `{expr.name.text}.kind` is its share",
            ast.Func: f"call it: `{expr.name.text}(…)`",
            ast.Stream: instead(
                expr.name.text,
                *(f"{expr.name.text}.{measure}" for measure in ("latency", "loss", "rate")),
                told=f"name what you mean: `{expr.name.text}.latency`, `.loss`, `.rate`",
            ),
            ast.Link: instead(
                expr.name.text,
                f"{expr.name.text}.load",
                told=f"name what you mean: `{expr.name.text}.load`",
            ),
            ast.Group: instead(
                expr.name.text,
                f"members({expr.name.text})",
                f"count({expr.name.text})",
                told=f"name what you mean: `members({expr.name.text})`, `count({expr.name.text})`",
            ),
            ast.Trace: f"name what you mean: `{expr.name.text}.variance`, `.gaps(50 ms)`",
            ast.Node: f"name a resource, `{expr.name.text}.cpu.load`, "
            f"or the number of machines, `count({expr.name.text})`",
        }
        kind = kind_of(declared.declaration)
        self.sink.report(
            codes.WRONG_KIND,
            expr.span,
            f"`{expr.name.text}` is {kind}, not a quantity",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=hints.get(
                type(declared.declaration), "name a number, a parameter or a measure here"
            ),
        )

    def _unit(self, declared: Declared, unit: ast.Unit, span: Span) -> Value | None:
        if unit.value is None:
            base = unit.name.text
            return leaf(ir.Constant(Fraction(1)), Dimension.of(base), span)
        value = self._definition(declared, unit.value)
        if value is not None and not isinstance(value.expr, ir.Constant):
            self.sink.report(
                codes.VARIES,
                unit.value.span,
                "a unit must be a fixed amount of another unit",
                hint="such as `unit burst = 20 packet`",
            )
            return None
        if value is not None and isinstance(value.expr, ir.Constant) and value.expr.value <= 0:
            self.sink.report(
                codes.OUT_OF_RANGE,
                unit.value.span,
                "a unit must be above zero",
                hint="such as `unit burst = 20 packet`",
            )
            return None
        return None if value is None else replace(value, span=span)

    def _definition(self, declared: Declared, body: ast.Expr) -> Value | None:
        """Return the value of a definition, checked once, in the scope where it stands."""
        key = _key(declared)
        if key in self.definitions.known:
            return self.definitions.known[key]
        if any(open_.is_same(declared) for open_ in self.definitions.open):
            self.definitions.report_circle(declared)
            self.definitions.known[key] = None
            return None
        if self.definitions.is_too_deep(declared):
            return None
        self.definitions.open.append(declared)
        stated, module = body, declared.module
        if not isinstance(declared.declaration, ast.Unit):
            stated, module = module.stated(declared.declaration.name.text, body)
        value = self.value(stated, Scope(module, EVERYTHING))
        if self.definitions.open:
            self.definitions.open.pop()
        self.definitions.known.setdefault(key, value)
        return self.definitions.known[key]

    def _quantile_of_answer(self, expr: ast.Reference) -> Value | None:
        """Return `largest_acceptable.p05`: that of which 95 of 100 samples have no less."""
        _, *rest = expr.name.parts
        found = _QUANTILE.fullmatch(rest[0]) if len(rest) == 1 else None
        level = Fraction((found[1] + "." + (found[2] or "0")) if found else 0) / 100
        if not _LEAST_LEVEL <= level <= 1 - _LEAST_LEVEL:
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"`{expr.name.text}` is no quantile of the answer",
                hint="such as `largest_acceptable.p05`, which 95 of 100 samples are not below; "
                "from p0_1 to p99_9",
            )
            return None
        asked = ir.Measured(ir.MeasureKind.LARGEST, "", level=level)
        return leaf(asked, DIMENSIONLESS, expr.span)

    def _measure(self, expr: ast.Reference, scope: Scope, wanted: str) -> Value | None:
        """Return a measure such as `voice.latency` or `station.cpu.load`."""
        parts, module = expr.name.parts, scope.module
        if parts[0] in _ANSWERS:
            module.note(Meaning.WORD, expr.name)
        if parts == ("largest_acceptable",):
            return leaf(ir.Measured(ir.MeasureKind.LARGEST, ""), DIMENSIONLESS, expr.span)
        if parts[0] == "largest_acceptable" and len(parts) > 1:
            return self._quantile_of_answer(expr)
        if len(parts) == 1 and parts[0] in _SYSTEM_MEASURES:
            kind, dimension = _SYSTEM_MEASURES[parts[0]]
            return leaf(ir.Measured(kind, ""), dimension, expr.span)
        owner, rest = owner_in(module, expr.name)
        found = None if owner is None else owner.declaration
        if owner is not None and isinstance(found, ast.Stream) and len(rest) == 1:
            return self._stream_measure(owner, found, rest[0], expr)
        if owner is not None and isinstance(found, ast.Stream) and rest[-1:] == ("latency",):
            return self._call_latency(owner, found, rest[:-1], expr)
        if owner is not None and rest and isinstance(found, ast.Node | ast.Link):
            return self._load(owner, rest, expr)
        if owner is not None and isinstance(found, Indexed):
            behind = () if len(found.keys[0]) > 1 else rest[len(rest) - 1 :]
            one = ".".join((found.names[0], *behind))
            self.sink.report(
                codes.WRONG_KIND,
                expr.name.span,
                f"`{expr.name.text}` names {kind_of(found)}: which one is meant is not said",
                secondary=[Label(found.name.span, "declared here")],
                hint=instead(
                    expr.name.text,
                    f"max({expr.name.text})",
                    *(".".join((name, *behind)) for name in found.names[:_OFFERED]),
                    told=f"name one of them, such as `{one}`, or join them: "
                    f"`max({expr.name.text})`",
                ),
            )
            return None
        trace = trace_of(module, expr.name)
        if trace is not None:
            return self.traces.measure(trace, expr)
        if owner is not None and isinstance(found, ast.Stream) and rest[:1] == ("latency",):
            self._no_part_of_latency(expr)
            return None
        kinds: tuple[type, ...] = _VALUES
        others = _others(scope, expr.name)
        if wanted.endswith("unit"):  # a stream or a place has none: `jobs` is not meant by `job`
            kinds = (ast.Param, ast.Let, ast.Unit)
            others = [other for other in others if "." not in other]
        report_name(self.sink, module, expr.name, wanted, kinds, others)
        return None

    def _no_part_of_latency(self, expr: ast.Reference) -> None:
        """Report `page.latency.p99`: a latency is a mean, and a quantile is asked for otherwise."""
        latency = ".".join(expr.name.parts[:-1])
        share = re.fullmatch(r"p([1-9]\d)(\d*)", expr.name.parts[-1])
        asked = "99" if share is None else ".".join(filter(None, share.groups()))
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.span,
            f"`{expr.name.parts[-1]}` is no part of a latency",
            hint=instead(
                expr.name.text,
                f"quantile({latency}, {asked} %)",
                told=f"`{latency}` is the mean; `quantile({latency}, {asked} %)` is what "
                f"{asked} % do not exceed",
            ),
        )

    def _load(self, owner: Declared, rest: tuple[str, ...], expr: ast.Reference) -> Value | None:
        """Return the load, or what is carried, of a node, a link, or one of its resources."""
        name = ".".join(expr.name.parts[: len(expr.name.parts) - len(rest)])
        words = resource_words(owner)
        is_known = len(rest) == 1 or words is None or rest[0] in words
        if rest[-1] in _PLACE_MEASURES and is_known:
            kind, dimension = _PLACE_MEASURES[rest[-1]]
            subject = resource_name(owner, rest[:-1])
            return leaf(ir.Measured(kind, subject), dimension, expr.span)
        loads = [f"{name}.load", *(f"{name}.{word}.load" for word in words or ())]
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.name.span,
            f"`{expr.name.text}` is no measure",
            hint=did_you_mean(expr.name.text, loads) or f"there is `{loads[-1]}`",
        )
        return None

    def _stream_measure(
        self, owner: Declared, stream: ast.Stream, word: str, expr: ast.Reference
    ) -> Value | None:
        if word == "rate":
            dimension = self._rate_dimension(stream, owner.module)
            kind = ir.MeasureKind.RATE
        elif word in _STREAM_MEASURES:
            kind, dimension = _STREAM_MEASURES[word]
        else:
            names = [*_STREAM_MEASURES, "rate"]
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"`{word}` is no measure of a stream",
                hint=offered(word, names),
            )
            return None
        if dimension is None:
            return None
        return leaf(ir.Measured(kind, owner.qualified), dimension, expr.span)

    def _call_latency(
        self, owner: Declared, stream: ast.Stream, called: tuple[str, ...], expr: ast.Reference
    ) -> Value | None:
        """Return `browse.auth.latency`: the time of a call from its request to its answer."""
        written = [name for item in stream.items for name in _called(item)]
        nodes = {found.qualified for name in written if (found := lookup(owner.module, name))}
        node = named_in(owner.module, called)
        if node is not None and node.qualified in nodes:
            measured = ir.Measured(ir.MeasureKind.LATENCY, owner.qualified, node.qualified)
            return leaf(measured, TIME, expr.span)
        before = ".".join(expr.name.parts[: -len(called) - 1])
        names = [f"{before}.{name.text}.latency" for name in written]
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.span,
            f"`{before}` does not call `{'.'.join(called)}`",
            hint=offered(expr.name.text, list(dict.fromkeys(names)))
            if names
            else f"it calls nothing: ask for `{before}.latency`",
        )
        return None

    def _rate_dimension(self, stream: ast.Stream, module: Module) -> Dimension | None:
        """Return the dimension of a stream's rate: of its first item, else of its bytes."""
        emission = next((i for i in stream.items if isinstance(i, ast.Emission)), None)
        if emission is None:
            return None
        scope = Scope(module)
        for value in emission.values:
            checked = self.value(value, scope)
            if checked is None:
                return None
            for base, _ in checked.dimension.exponents:
                if base not in (TIME_BASE, INFORMATION_BASE):
                    return Dimension.of(base) / TIME
        return DATA_RATE


def _called(item: ast.Written) -> Iterator[ast.Name]:
    """Yield the nodes that are called within a part of a stream."""
    if isinstance(item, ast.CallStep):
        yield item.node
    if isinstance(item, ast.At | ast.CallStep | ast.CallOthers | ast.Together):
        for step in item.steps:
            yield from _called(step)


def _key(declared: Declared) -> str:
    """Return by what the value of a definition is known; a unit may be called as a value."""
    is_unit = isinstance(declared.declaration, ast.Unit)
    return f"unit {declared.qualified}" if is_unit else declared.qualified


def _others(scope: Scope, name: ast.Name) -> list[str]:
    """Return what can stand in an expression and is declared nowhere: formals, measures, units."""
    found = list(scope.formals)
    for owner in names_of(scope.module, (ast.Stream,)):
        found += [f"{owner}.{measure}" for measure in (*_STREAM_MEASURES, "rate")]
    found += [f"{owner}.load" for owner in names_of(scope.module, (ast.Node, ast.Link))]
    return found if len(name.parts) > 1 else [*found, *units.BUILT_IN]
