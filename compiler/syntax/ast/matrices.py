"""Matrices of configurations."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.claims import Remark
from qps.compiler.syntax.ast.expressions import Change, Expr, Name, Number, Range, Text


class Spaced(Struct, frozen=True, kw_only=True):
    """Values along a range: so far apart, so many times the one before, or so many of them."""

    span: Span
    range: Range
    step: Expr | None = None
    factor: Expr | None = None
    count: Number | None = None
    is_logarithmic: bool = False


class Axis(Struct, frozen=True):
    """`station in [ws.ipx, ws.alpha]`: what a matrix varies, and the values of it."""

    span: Span
    name: Name
    values: tuple[Expr, ...] | Spaced
    values_span: Span


class Derived(Struct, frozen=True):
    """`column margin = 230 ms - voice.latency`."""

    span: Span
    name: Name
    value: Expr


class SortKey(Struct, frozen=True):
    """A column to sort by."""

    span: Span
    name: Name
    is_descending: bool


class Rows(Struct, frozen=True, kw_only=True):
    """Which configurations a matrix has, which of them are wanted, and in which order."""

    axes: tuple[Axis, ...]
    included: tuple[tuple[Change, ...], ...]
    excluded: tuple[Expr, ...]
    wanted: tuple[Expr, ...]
    order: tuple[SortKey, ...]


class Matrix(Struct, frozen=True, kw_only=True):
    """Many configurations of the model: the product of axes."""

    span: Span
    name: Name
    title: Text | None
    changes: tuple[Change, ...]
    rows: Rows
    at: Change | None
    columns: tuple[Derived, ...]
    selected: tuple[Name, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    doc: str | None = None
