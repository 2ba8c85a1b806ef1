"""Claims, observations, figures."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.ast.expressions import Change, Expr, Name, Number, Range, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed: a condition, or a value near another (`~ … within …`)."""

    span: Span
    value: Expr
    claimed: Expr | None
    tolerance: Expr | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixClaim:
    """`every configuration of m where …: …`; `count` stands behind `at least` and `at most`."""

    span: Span
    quantifier: str
    count: Number | None
    matrix: Name | None
    where: Expr | None
    condition: Expr


@dataclass(frozen=True, slots=True)
class Remark:
    """`note "…"` or `fitted "…"`."""

    span: Span
    kind: str
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table: what it sets, or what it measured."""

    span: Span
    name: Name
    unit: Expr | None
    target: Expr
    tolerance: Expr | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`observe trace name "file.csv" in us period 160 ms`: packets as they were recorded."""

    span: Span
    name: Name
    file: Text
    unit: Expr | None
    period: Expr | None
    source: Text | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Loads:
    """`loads "label" with …` in a figure: a line for each resource."""

    span: Span
    label: Text | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """`line "label" value with …` in a figure."""

    span: Span
    label: Text | None
    value: Expr
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Abscissa:
    """`over N in 2..8`: what a figure varies along its horizontal axis."""

    span: Span
    name: Name
    range: Range


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
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
