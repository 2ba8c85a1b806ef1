"""Parameters with several values: average, least, largest, and by kind.

A parameter by kinds is on average the mean of what its kinds are on average, each counted by
its share; at least the least, at most the largest of all of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of


class Unstated(Struct, frozen=True):
    """A case that a parameter does not state, and where it was requested."""

    name: str
    case: ir.Case
    requested_at: Span | None


def report_unstated(unstated: Unstated, model: ir.Model, sink: Sink) -> None:
    """Report a case that a parameter does not state, where it was requested."""
    parameter = next(p for p in model.parameters if p.name == unstated.name)
    case, stated_at = unstated.case.value, parameter.value_span
    there = unstated.requested_at
    label = Label(stated_at, f"`{parameter.name}` declared here")
    sink.report(
        codes.MISSING_PART,
        there or stated_at,
        f"`{parameter.name}` has no value for case {case}",
        secondary=[label] if there else (),
        hint=f"add `{case} …` to its values"
        + ("; `average` is the default case" if there is None else ""),
    )


def varies_by_case(expr: ir.Expr) -> bool:
    """Return whether a parameter's value has several cases itself."""
    return any(isinstance(part, ir.ByCase | ir.Mixture) for part in parts_of(expr))


def mixed(classes: Sequence[ir.Class], values: Sequence[Fraction], case: ir.Case) -> Fraction:
    """Return what a parameter by kinds is in a case, of what its kinds are in that case."""
    if case is ir.Case.LEAST:
        return min(values)
    if case is ir.Case.LARGEST:
        return max(values)
    return sum((k.share * v for k, v in zip(classes, values, strict=True)), Fraction(0))


def scaled(
    parameters: Mapping[str, ir.Expr], name: str, factor: Fraction, span: Span
) -> tuple[ir.SetParameter, ...]:
    """Return the changes that multiply a parameter in every case and of every kind.

    Empty where it is not made of numbers.
    """
    value = parameters[name]
    if isinstance(value, ir.Mixture):
        each = [scaled(parameters, kind.parameter, factor, span) for kind in value.classes]
        return tuple(change for changes in each for change in changes) if all(each) else ()
    if isinstance(value, ir.Constant):
        return (ir.SetParameter(name, ir.Constant(value.value * factor), span),)
    if not isinstance(value, ir.ByCase):
        return ()
    moved = tuple(
        replace(stated, value=ir.Constant(stated.value.value * factor))
        for stated in value.values
        if isinstance(stated.value, ir.Constant)
    )
    return (
        (ir.SetParameter(name, ir.ByCase(moved), span),) if len(moved) == len(value.values) else ()
    )
