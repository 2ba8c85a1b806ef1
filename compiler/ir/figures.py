"""Figures over the population or a parameter."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Change
from qps.compiler.ir.parameters import Quantity
from qps.compiler.quantities.dimension import Dimension


class Curve(Struct, frozen=True):
    """A value along the horizontal axis of a figure, in the model as changed."""

    label: str
    value: Quantity
    changes: tuple[Change, ...]
    span: Span


class LoadCurves(Struct, frozen=True):
    """The load of every resource along the axis of a figure, in the model as changed."""

    label: str
    changes: tuple[Change, ...]
    span: Span


class Figure(Struct, frozen=True, kw_only=True):
    """Curves over the population (`parameter` None) or over a parameter, from low to high."""

    name: str
    title: str | None
    parameter: str | None
    low: Fraction
    high: Fraction
    dimension: Dimension
    curves: tuple[Curve, ...]
    loads: tuple[LoadCurves, ...]
    logarithmic: frozenset[str]
    source: str | None
    note: str | None
    span: Span
    axis_span: Span
