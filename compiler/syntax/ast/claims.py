"""Claims, observations, figures."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Change, Expr, Name, Number, Range, Text


class Claim(Struct, frozen=True, kw_only=True):
    """What is claimed: a condition, or a value near another (`~ … within …`)."""

    span: Span
    value: Expr
    claimed: Expr | None
    tolerance: Expr | None
    changes: tuple[Change, ...]


class MatrixClaim(Struct, frozen=True, kw_only=True):
    """`every configuration of m where …: …`; `count` stands behind `at least` and `at most`."""

    span: Span
    quantifier: str
    count: Number | None
    matrix: Name | None
    where: Expr | None
    condition: Expr


class Remark(Struct, frozen=True):
    """`note "…"` or `fitted "…"`."""

    span: Span
    kind: str
    text: Text


class Expect(Struct, frozen=True, kw_only=True):
    """Claims with their source: a document, or the model itself where they are `is_our_own`."""

    span: Span
    name: Name
    title: Text | None
    claims: tuple[Claim, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    matrix_claims: tuple[MatrixClaim, ...] = ()
    is_our_own: bool = False
    missed: Text | None = None
    doc: str | None = None


class Column(Struct, frozen=True, kw_only=True):
    """A column of a table: what it sets, or what it measured."""

    span: Span
    name: Name
    unit: Expr | None
    target: Expr
    tolerance: Expr | None


class Observe(Struct, frozen=True, kw_only=True):
    """A table of runs in a CSV file: of a document, or of our own where it is `is_our_own`."""

    span: Span
    name: Name
    file: Text
    changes: tuple[Change, ...]
    columns: tuple[Column, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    is_our_own: bool = False
    missed: Text | None = None
    doc: str | None = None


class Trace(Struct, frozen=True, kw_only=True):
    """`observe trace name "file.csv" in us period 160 ms`: packets as they were recorded."""

    span: Span
    name: Name
    file: Text
    unit: Expr | None
    period: Expr | None
    source: Text | None
    doc: str | None = None


class Loads(Struct, frozen=True):
    """`loads "label" with …` in a figure: a line for each resource."""

    span: Span
    label: Text | None
    changes: tuple[Change, ...]


class Curve(Struct, frozen=True):
    """`line "label" value with …` in a figure."""

    span: Span
    label: Text | None
    value: Expr
    changes: tuple[Change, ...]


class Abscissa(Struct, frozen=True):
    """`over N in 2..8`: what a figure varies along its horizontal axis."""

    span: Span
    name: Name
    range: Range


class Figure(Struct, frozen=True, kw_only=True):
    """Curves over the population or a parameter; `logarithmic` names axes, `x` or `y`."""

    span: Span
    name: Name
    title: Text | None
    abscissa: Abscissa | None
    curves: tuple[Curve, ...]
    loads: tuple[Loads, ...]
    logarithmic: tuple[Name, ...]
    source: Text | None
    remarks: tuple[Remark, ...]
    doc: str | None = None
