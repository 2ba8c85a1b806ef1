"""Measures of a model in expressions: of streams, of places, and of the whole system."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import (
    Declared,
    IndexedDeclaration,
    kind_of,
    lookup,
    named_in,
    names_of,
    owner_in,
)
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.places import resource_name, resource_words
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_traces import TraceChecker, trace_of
from qps.compiler.check.values.definitions import Definitions, ValueOf
from qps.compiler.check.values.values import Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.suggest import did_you_mean, offered
from qps.compiler.ir.measure_names import (
    CAPACITY,
    FORMER,
    UTILIZATION,
    current_name,
    percentile_level,
    percentile_word,
    resource_in,
    utilization_of,
)
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

_LEAST_LEVEL = Fraction(1, 1000)
"""What is reported for samples: quantiles nearer to an end are not."""
_STREAM_MEASURES = {
    "latency": (ir.MeasureKind.LATENCY, TIME),
    "jitter": (ir.MeasureKind.JITTER, TIME * TIME),
    "buffer": (ir.MeasureKind.BUFFER, TIME),
    "wait": (ir.MeasureKind.WAIT, TIME),
    "queue": (ir.MeasureKind.QUEUE, DIMENSIONLESS),
    "max_wait": (ir.MeasureKind.MAX_WAIT, TIME),
    "loss": (ir.MeasureKind.LOSS, DIMENSIONLESS),
    "voluntary_loss": (ir.MeasureKind.VOLUNTARY_LOSS, DIMENSIONLESS),
    "saturation_loss": (ir.MeasureKind.SATURATION_LOSS, DIMENSIONLESS),
    "transmission_loss": (ir.MeasureKind.TRANSMISSION_LOSS, DIMENSIONLESS),
    "throughput": (ir.MeasureKind.THROUGHPUT, DATA_RATE),
}
_PLACE_MEASURES = {
    UTILIZATION: (ir.MeasureKind.LOAD, DIMENSIONLESS),
    "wait": (ir.MeasureKind.WAIT, TIME),
    "queue": (ir.MeasureKind.QUEUE, DIMENSIONLESS),
    "throughput": (ir.MeasureKind.THROUGHPUT, DATA_RATE),
}
_SYSTEM_MEASURES = {
    "holds_until": (ir.MeasureKind.HOLDS_UNTIL, DIMENSIONLESS),
    "availability": (ir.MeasureKind.AVAILABILITY, DIMENSIONLESS),
    "lowest_cost": (ir.MeasureKind.LOWEST_COST, MONEY),
    "lowest_running_cost": (ir.MeasureKind.LOWEST_RUNNING_COST, MONEY / TIME),
    "quality": (ir.MeasureKind.QUALITY, DIMENSIONLESS),
    "cost": (ir.MeasureKind.COST, MONEY),
    "running_cost": (ir.MeasureKind.RUNNING_COST, MONEY / TIME),
}


_ANSWERS = {CAPACITY, *_SYSTEM_MEASURES}
_PERCENTILES = ("p50", "p95", "p99", "p99_9")
"""Percentiles of a latency that are offered; any other one can be named."""


def measures_of(kind: type) -> dict[str, Dimension]:
    """Return the measures of a stream, or of a place, with their dimensions.

    >>> measures_of(ast.Node)["utilization"] == DIMENSIONLESS, "p99" in measures_of(ast.Stream)
    (True, True)
    """
    is_stream = issubclass(kind, ast.Stream)
    found = _STREAM_MEASURES if is_stream else _PLACE_MEASURES
    measures = {name: dimension for name, (_, dimension) in found.items()}
    return measures | dict.fromkeys(_PERCENTILES, TIME) if is_stream else measures


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


class MeasureChecker(Struct, frozen=True):
    """Tells which measure a dotted name stands for; `value` checks what streams emit."""

    sink: Sink
    value: ValueOf
    traces: TraceChecker
    definitions: Definitions

    def measure(self, expr: ast.Reference, scope: Scope, wanted: str) -> Value | None:
        """Return a measure such as `voice.latency` or `station.cpu.utilization`."""
        module = scope.module
        owner, rest = owner_in(module, expr.name)
        if owner is None and current_name(expr.name.parts[0]) in _ANSWERS:
            module.note(Meaning.WORD, expr.name)
            return self._answer(expr)
        found = None if owner is None else owner.declaration
        if owner is not None and isinstance(found, ast.Stream) and len(rest) == 1:
            return self._stream_measure(owner, found, rest[0], expr)
        if owner is not None and isinstance(found, ast.Stream) and rest[:-1] == ("wait",):
            return self._wait_quantile(owner.qualified, expr)
        if owner is not None and isinstance(found, ast.Stream) and rest[-1:] == ("latency",):
            return self._call_latency(owner, found, rest[:-1], expr)
        if owner is not None and rest and isinstance(found, ast.Node | ast.Link):
            return self._load(owner, rest, expr)
        if owner is not None and isinstance(found, IndexedDeclaration):
            behind = () if len(found.keys[0]) > 1 else rest[len(rest) - 1 :]
            one = ".".join((found.names[0], *behind))
            self.sink.report(
                codes.WRONG_KIND,
                expr.name.span,
                f"`{expr.name.text}` is ambiguous: it names {kind_of(found)}",
                secondary=[Label(found.name.span, "declared here")],
                hint=instead(
                    expr.name.text,
                    f"max({expr.name.text})",
                    *(".".join((name, *behind)) for name in found.names[:_OFFERED]),
                    words=f"name one, such as `{one}`, or combine them: `max({expr.name.text})`",
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

    def _answer(self, expr: ast.Reference) -> Value | None:
        """Return what is demanded of the whole system: `capacity`, `cost`."""
        first, *rest = expr.name.parts
        word = current_name(first)
        if rest and word == CAPACITY:
            return self._quantile_of_answer(expr, rest)
        if rest:
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.name.span,
                f"`{expr.name.text}` is not a measure",
                hint=instead(expr.name.text, word),
            )
            return None
        if word == CAPACITY:
            return leaf(
                ir.Measured(kind=ir.MeasureKind.LARGEST, subject=""), DIMENSIONLESS, expr.span
            )
        kind, dimension = _SYSTEM_MEASURES[word]
        return leaf(ir.Measured(kind=kind, subject=""), dimension, expr.span)

    def _quantile_of_answer(self, expr: ast.Reference, rest: list[str]) -> Value | None:
        """Return `capacity.p05`: that of which 95 of 100 samples have no less."""
        level = percentile_level(rest[0]) if len(rest) == 1 else None
        if level is None or not _LEAST_LEVEL <= level <= 1 - _LEAST_LEVEL:
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"unknown quantile `{expr.name.text}`",
                hint="write `capacity.p05` for the capacity at 95 % confidence; "
                "p0_1 to p99_9 are possible",
            )
            return None
        measure = ir.Measured(kind=ir.MeasureKind.LARGEST, subject="", level=level)
        return leaf(measure, DIMENSIONLESS, expr.span)

    def _no_part_of_latency(self, expr: ast.Reference) -> None:
        """Report `page.latency.p99`: a latency is a mean, a percentile is one of the stream."""
        latency, last = ".".join(expr.name.parts[:-1]), expr.name.parts[-1]
        stream = ".".join(expr.name.parts[:-2])
        digits = re.fullmatch(r"p([1-9]\d)_?(\d*)", last)
        level = Fraction("0.99" if digits is None else f"0.{digits[1]}{digits[2]}")
        word = percentile_word(level) or "p99"
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.span,
            f"a latency has no component `{last}`",
            hint=instead(
                expr.name.text,
                f"{stream}.{word}",
                words=f"for this percentile, write `{stream}.{word}`; `{latency}` is the mean",
            ),
        )

    def _load(self, owner: Declared, rest: tuple[str, ...], expr: ast.Reference) -> Value | None:
        """Return the load, or what is carried, of a node, a link, or one of its resources."""
        name = ".".join(expr.name.parts[: len(expr.name.parts) - len(rest)])
        words = resource_words(owner)
        if rest[-2:-1] == ("wait",) and (words is None or rest[0] in (*words, "wait")):
            return self._wait_quantile(resource_name(owner, rest[:-2]), expr)
        is_known = len(rest) == 1 or words is None or rest[0] in words
        word = current_name(rest[-1])
        if word in _PLACE_MEASURES and is_known:
            kind, dimension = _PLACE_MEASURES[word]
            subject = resource_name(owner, rest[:-1])
            return leaf(ir.Measured(kind=kind, subject=subject), dimension, expr.span)
        loads = [utilization_of(name), *(utilization_of(f"{name}.{word}") for word in words or ())]
        former = {f"{resource_in(load)}.{FORMER[UTILIZATION]}": load for load in loads}
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.name.span,
            f"unknown measure `{expr.name.text}`",
            hint=did_you_mean(expr.name.text, loads, former) or f"write `{loads[-1]}`",
        )
        return None

    def _wait_quantile(self, subject: str, expr: ast.Reference) -> Value | None:
        """Return `web.cpu.wait.p95`: what 95 of 100 items do not wait longer than."""
        level = percentile_level(expr.name.parts[-1])
        if level is not None:
            quantile = ir.Measured(kind=ir.MeasureKind.WAIT_QUANTILE, subject=subject, level=level)
            return leaf(quantile, TIME, expr.span)
        wait = ".".join(expr.name.parts[:-1])
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.span,
            f"unknown percentile `{expr.name.parts[-1]}` of a wait",
            hint=instead(expr.name.text, f"{wait}.p95", wait),
        )
        return None

    def _stream_measure(
        self, owner: Declared, stream: ast.Stream, word: str, expr: ast.Reference
    ) -> Value | None:
        level = percentile_level(word)
        if level is not None:
            quantile = ir.Measured(
                kind=ir.MeasureKind.QUANTILE, subject=owner.qualified, level=level
            )
            return leaf(quantile, TIME, expr.span)
        if word == "rate":
            dimension = self._rate_dimension(owner, stream)
            kind = ir.MeasureKind.RATE
        elif word in _STREAM_MEASURES:
            kind, dimension = _STREAM_MEASURES[word]
        else:
            names = [*measures_of(ast.Stream), "rate"]
            self.sink.report(
                codes.UNKNOWN_NAME,
                expr.span,
                f"a stream has no measure `{word}`",
                hint=offered(word, names),
            )
            return None
        if dimension is None:
            return None
        return leaf(ir.Measured(kind=kind, subject=owner.qualified), dimension, expr.span)

    def _call_latency(
        self, owner: Declared, stream: ast.Stream, called: tuple[str, ...], expr: ast.Reference
    ) -> Value | None:
        """Return `browse.auth.latency`: the time of a call from its request to its answer."""
        written = [name for item in stream.items for name in _called(item)]
        nodes = {found.qualified for name in written if (found := lookup(owner.module, name))}
        node = named_in(owner.module, called)
        if node is not None and node.qualified in nodes:
            measured = ir.Measured(
                kind=ir.MeasureKind.LATENCY, subject=owner.qualified, component=node.qualified
            )
            return leaf(measured, TIME, expr.span)
        before = ".".join(expr.name.parts[: -len(called) - 1])
        names = [f"{before}.{name.text}.latency" for name in written]
        self.sink.report(
            codes.UNKNOWN_NAME,
            expr.span,
            f"`{before}` does not call `{'.'.join(called)}`",
            hint=offered(expr.name.text, list(dict.fromkeys(names)))
            if names
            else f"it makes no calls; write `{before}.latency`",
        )
        return None

    def _rate_dimension(self, owner: Declared, stream: ast.Stream) -> Dimension | None:
        """Return the dimension of a stream's rate: of its first item, else of its bytes."""
        emission = next((i for i in stream.items if isinstance(i, ast.Emission)), None)
        if emission is None:
            return None
        if any(open_.is_same(owner) for open_ in self.definitions.open):
            return DATA_RATE  # it emits what it measures: that is reported where it stands
        self.definitions.open.append(owner)
        try:
            return self._dimension_of(emission, Scope(owner.module))
        finally:
            if self.definitions.open:
                self.definitions.open.pop()

    def _dimension_of(self, emission: ast.Emission, scope: Scope) -> Dimension | None:
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
    if isinstance(item, ast.At | ast.CallStep | ast.CallOthers | ast.Together | ast.Chance):
        for step in item.steps:
            yield from _called(step)
    if isinstance(item, ast.Alternatives):
        for branch in item.branches:
            yield from _called(branch)


def _others(scope: Scope, name: ast.Name) -> list[str]:
    """Return what can stand in an expression and is declared nowhere: formals, measures, units."""
    found = list(scope.formals)
    if AllowedNames.ANSWERS in scope.allowed:
        found.append(CAPACITY)
    for owner in names_of(scope.module, (ast.Stream,)):
        found += [f"{owner}.{measure}" for measure in (*measures_of(ast.Stream), "rate")]
    found += map(utilization_of, names_of(scope.module, (ast.Node, ast.Link)))
    return found if len(name.parts) > 1 else [*found, *units.BUILT_IN]
