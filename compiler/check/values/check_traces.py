"""Recorded traces: files read once, and what `night.variance` and `night.gaps(50 ms)` stand for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.declarations import DeclaredAs, LoadedModule, named_in
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.values import Arithmetic, Value, leaf
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.measurement.recordings import Recording, recording_of
from qps.compiler.measurement.trace_files import TraceError, read_columns
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer

MOST_ROWS = 500_000
"""Lines of a trace that a spec names; `qps trace` reads longer ones."""

DeclaredTrace = DeclaredAs[ast.Trace]
_VARIANCE = TIME * TIME
_FIXED: dict[str, tuple[Dimension, Callable[[Recording], Fraction]]] = {
    "variance": (_VARIANCE, lambda r: r.variance),
    "range": (TIME, lambda r: r.range),
    "longest": (TIME, lambda r: r.longest),
    "mean": (TIME, lambda r: r.mean),
    "absolute_deviation": (TIME, lambda r: r.absolute_deviation),
    "area": (TIME, lambda r: r.area),
    "loss": (DIMENSIONLESS, lambda r: r.loss),
    "packets": (DIMENSIONLESS, lambda r: Fraction(r.sent)),
    "period": (TIME, lambda r: r.period * r.tick),
}
"""Measures without an argument, and their dimensions."""

_ROOT = "standard_deviation"
_MEASURES: dict[
    str, tuple[Dimension, Dimension, str, Callable[[Recording, Fraction], Fraction | None]]
] = {
    "gaps": (TIME, DIMENSIONLESS, "50 ms", Recording.gaps),
    "late": (TIME, DIMENSIONLESS, "50 ms", Recording.late),
    "area": (TIME, TIME, "230 ms", Recording.area_within),
    "buffer": (DIMENSIONLESS, TIME, "1 %", Recording.buffer),
}
"""Measures with an argument: its dimension, their own, and an example of the argument."""


def trace_of(module: LoadedModule, name: ast.Name) -> DeclaredTrace | None:
    """Return the trace in front of the last part of a name, None where there is none."""
    if len(name.parts) < 2:  # noqa: PLR2004 - a trace and its measure
        return None
    declared = named_in(module, name.parts[:-1])
    if declared is None or not isinstance(declared.declaration, ast.Trace):
        return None
    module.note(Meaning.OWNED, name)
    return DeclaredAs(declared.module, declared.declaration)


class TraceChecker(Struct, frozen=True, kw_only=True):
    """Reads the traces of a program, each once, and has their measures."""

    sink: Sink
    arithmetic: Arithmetic
    importer: Importer | None
    number: Callable[[ast.Expr, Scope, str, Dimension], Fraction | None]
    value: Callable[[ast.Expr, Scope], Value | None]
    known: dict[str, Recording | None]

    def recording(self, declared: DeclaredTrace) -> Recording | None:
        """Return what a declared trace recorded, None where that was reported."""
        if declared.qualified not in self.known:
            self.known[declared.qualified] = None  # what it names in a circle has no value
            self.known[declared.qualified] = self._read(declared.module, declared.declaration)
        return self.known[declared.qualified]

    def _read(self, module: LoadedModule, trace: ast.Trace) -> Recording | None:
        fixed = Scope(module, AllowedNames.NOTHING)
        period = unit = None
        if trace.period is not None:
            period = self._time(trace.period, fixed, "the period of a trace")
        if trace.unit is not None:
            unit = self._time(trace.unit, fixed, "the unit of a trace")
        if (trace.period is not None and period is None) or (trace.unit is not None and not unit):
            return None
        if self.importer is None:
            return None
        text = self.importer.data(trace.file, module.syntax.source)
        self.sink.add_all(text.diagnostics)
        if text.value is None:
            return None
        try:
            return recording_of(read_columns(text.value, unit, MOST_ROWS), period)
        except TraceError as error:
            line = "" if error.line is None else f", line {error.line}"
            self.sink.report(
                codes.BAD_DATA,
                trace.file.span,
                f"`{trace.file.value}`{line}: {error.message}",
                hint=_in_a_spec(error.hint),
            )
            return None

    def _time(self, expr: ast.Expr, scope: Scope, what: str) -> Fraction | None:
        time = self.number(expr, scope, what, TIME)
        if time is not None and time <= 0:
            self.sink.report(
                codes.OUT_OF_RANGE, expr.span, f"{what} must be above zero", hint="write `160 ms`"
            )
            return None
        return time

    # -- measures ------------------------------------------------------------------------

    def measure(self, declared: DeclaredTrace, expr: ast.Reference) -> Value | None:
        """Return a measure such as `night.variance`; the name in front is a trace."""
        word = expr.name.parts[-1]
        if word not in _FIXED and word != _ROOT:
            self._unknown(declared, expr)
            return None
        recording = self.recording(declared)
        if recording is None:
            return None
        if word == _ROOT:
            variance = self._value(declared, recording, "variance", expr.span)
            return self.arithmetic.combined(
                expr.span,
                ir.Power(variance.expr, ir.Constant(Fraction(1, 2))),
                TIME,
                [variance],
            )
        return self._value(declared, recording, word, expr.span)

    def _value(self, declared: DeclaredTrace, recording: Recording, word: str, span: Span) -> Value:
        dimension, of = _FIXED[word]
        name = f"{declared.qualified}.{word}"
        return leaf(_recorded(declared, name, dimension, of(recording)), dimension, span)

    def call(self, declared: DeclaredTrace, expr: ast.Call, scope: Scope) -> Value | None:
        """Return a measure with an argument, such as `night.gaps(50 ms)`."""
        word = expr.name.parts[-1]
        if word not in _MEASURES:
            self._unknown(declared, expr)
            return None
        wanted, dimension, example, of = _MEASURES[word]
        if len(expr.arguments) != 1:
            self.sink.report(
                codes.ARGUMENT_COUNT,
                expr.span,
                f"`{expr.name.text}` takes 1 argument",
                hint=f"write `{expr.name.text}({example})`",
            )
            return None
        recording = self.recording(declared)
        argument = self.value(expr.arguments[0], scope)
        if recording is None or argument is None:
            return None
        if not self._is_fixed(argument, wanted, f"the argument of `{expr.name.text}`", example):
            return None
        table = ir.RecordedTable(
            expr.name.text,
            partial(
                _lookup,
                declared,
                f"{declared.qualified}.{word}",
                wanted,
                dimension,
                of,
                recording,
            ),
            _FAULTS[wanted],
        )
        if not isinstance(argument.expr, ir.Constant):
            looked_up = ir.Lookup(table, argument.expr, expr.span)
            return self.arithmetic.combined(expr.span, looked_up, dimension, [argument])
        value = table.at(argument.expr.value)
        if value is None:
            self._no_value(declared, recording, expr)
            return None
        return leaf(value, dimension, expr.span)

    def _is_fixed(self, argument: Value, wanted: Dimension, what: str, example: str) -> bool:
        if not self.arithmetic.free.agree(argument.dimension, wanted):
            have = self.arithmetic.free.resolved(argument.dimension)
            advised = advice(argument, lambda other: other == wanted, f"write `{example}`")
            self.sink.report(
                codes.WRONG_DIMENSION,
                argument.span,
                f"{what} must be {wanted.in_words}, not {have.in_words}",
                label=f"this is {have.in_words}",
                secondary=advised.labels,
                hint=advised.hint,
            )
            return False
        if argument.mentions & ~AllowedNames.FORMALS:
            self.sink.report(
                codes.VARIES,
                argument.span,
                f"{what} must not depend on the population or a measure",
                hint="declare it as a `param`",
            )
            return False
        return True

    def _no_value(self, declared: DeclaredTrace, recording: Recording, expr: ast.Call) -> None:
        argument = expr.arguments[0]
        lost = float(recording.loss) * 100
        self.sink.report(
            codes.OUT_OF_RANGE,
            argument.span,
            f"`{expr.name.text}` has no value for {_FAULTS[_MEASURES[expr.name.parts[-1]][0]]}",
            label=f"{lost:.4g} % were lost" if recording.loss else "",
            secondary=[Label(declared.declaration.name.span, "recorded here")],
            hint="allow at least the share of lost packets; no buffer recovers them"
            if recording.loss
            else "a share must be between 0 and 100 %",
        )

    def _unknown(self, declared: DeclaredTrace, expr: ast.Reference | ast.Call) -> None:
        """Report what is no measure of a trace, or one that is written without its argument."""
        name = expr.name
        word, trace = name.parts[-1], ".".join(name.parts[:-1])
        hint = None
        if word in _MEASURES:
            call_text = f"{name.text}({_MEASURES[word][2]})"
            hint = instead(
                expr.span.text, call_text, at=expr.span, words=f"add the argument: `{call_text}`"
            )
        elif word in (*_FIXED, _ROOT):
            help_text = f"write `{name.text}` without parentheses"
            hint = instead(expr.span.text, name.text, at=expr.span, words=help_text)
        known = [f"{trace}.{m}" for m in (*_FIXED, _ROOT, *_MEASURES)]
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"a trace has no measure `{word}`" + (" in this form" if hint else ""),
            secondary=[Label(declared.declaration.name.span, "the trace")],
            hint=hint or did_you_mean(name.text, known) or f"write `{trace}.variance`",
        )


_FAULTS = {
    TIME: "a buffer below zero",
    DIMENSIONLESS: "a share of gaps below the share of lost packets",
}


def _lookup(
    declared: DeclaredTrace,
    name: str,
    wanted: Dimension,
    dimension: Dimension,
    of: Callable[[Recording, Fraction], Fraction | None],
    recording: Recording,
    argument: Fraction,
) -> ir.Recorded | None:
    """Return a measure for an argument, None where it has no value."""
    if argument < 0 or (wanted == DIMENSIONLESS and argument > 1):
        return None
    value = of(recording, argument)
    if value is None:
        return None
    return _recorded(declared, f"{name}({_shown(argument, wanted)})", dimension, value)


def _recorded(
    declared: DeclaredTrace, name: str, dimension: Dimension, value: Fraction
) -> ir.Recorded:
    trace = declared.declaration
    said = f": {trace.source.value}" if trace.source is not None else ""
    return ir.Recorded(
        name=name,
        value=value,
        dimension=dimension,
        text=_shown(value, dimension),
        span=trace.name.span,
        source=f"{trace.file.value}{said}",
    )


def _shown(value: Fraction, dimension: Dimension) -> str:
    """Return a measured value as a spec would write it."""
    if dimension == TIME:
        return f"{float(value * 1000):.6g} ms"
    if dimension == _VARIANCE:
        return f"{float(value * 10**6):.6g} ms^2"
    return f"{float(value * 100):.6g} %" if value <= 1 else f"{float(value):,g}"


def _in_a_spec(hint: str) -> str:
    """Return how to fix a file, in the words of the spec that names it."""
    return hint.replace("add the period", "add the period, such as `period 160 ms`").replace(
        "or beside the file", "or in the spec, such as `in ms`"
    )
