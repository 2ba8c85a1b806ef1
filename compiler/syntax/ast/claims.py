"""Claims, observations, figures."""

from __future__ import annotations

from typing import ClassVar

from qps.compiler.syntax.ast.base_node import Name, Named, Presentation, Shared, Written
from qps.compiler.syntax.ast.expressions import (
    ArithmeticSource,
    Change,
    Expr,
    Number,
    OwnSource,
    Range,
    Text,
)


class Claim(Written, frozen=True, kw_only=True):
    """What is claimed: a condition, or a value near another (`~ … within …`).

    Where it is `simulated within …`, each measure in it is near its simulated value.
    """

    value: Expr
    claimed: Expr | None
    tolerance: Expr | None
    simulated: Expr | None
    changes: tuple[Change, ...]


class MatrixClaim(Written, frozen=True, kw_only=True):
    """`every configuration of m where …: …`; `count` stands behind `at least` and `at most`."""

    quantifier: str
    count: Number | None
    matrix: Name | None
    where: Expr | None
    condition: Expr


class Remark(Written, frozen=True):
    """`note "…"` or `fitted "…"`."""

    kind: str
    text: Text


class Expect(Named, frozen=True, kw_only=True):
    """Claims with their source: a document, or the model itself."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a claim", symbol="claim", symbol_kind="Boolean", color="event", tag="module"
    )
    is_of_main_file: ClassVar[bool] = True
    each_of: ClassVar[str] = "claims"

    title: Text | None
    claims: tuple[Claim, ...] = ()
    source: Text | OwnSource | ArithmeticSource | None = None
    remarks: tuple[Remark, ...] = ()
    matrix_claims: tuple[MatrixClaim, ...] = ()
    missed: Text | None = None


class Column(Written, frozen=True, kw_only=True):
    """A column of a table: what it sets, or what it measured."""

    name: Name
    unit: Expr | None
    target: Expr
    tolerance: Expr | None


class Observe(Named, frozen=True, kw_only=True):
    """A table of runs in a CSV file: of a document, or of our own."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="an observation", symbol="observation", symbol_kind="File", color="event"
    )
    needs_solution: ClassVar[bool] = True
    is_of_main_file: ClassVar[bool] = True

    file: Text
    changes: tuple[Change, ...]
    columns: tuple[Column, ...] = ()
    source: Text | OwnSource | ArithmeticSource | None = None
    remarks: tuple[Remark, ...] = ()
    missed: Text | None = None


class Trace(Shared, frozen=True, kw_only=True):
    """`observe trace name "file.csv" in us period 160 ms`: packets as they were recorded."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a trace", symbol_kind="File", color="event"
    )

    file: Text
    unit: Expr | None
    period: Expr | None
    source: Text | None


class Loads(Written, frozen=True):
    """`loads "label" with …` in a figure: a line for each resource."""

    label: Text | None
    changes: tuple[Change, ...]


class Curve(Written, frozen=True):
    """`line "label" value with …` in a figure."""

    label: Text | None
    value: Expr
    changes: tuple[Change, ...]


class Abscissa(Written, frozen=True):
    """`over N in 2..8`: what a figure varies along its horizontal axis."""

    name: Name
    range: Range


class Figure(Named, frozen=True, kw_only=True):
    """Curves over the population or a parameter; `logarithmic` names axes, `x` or `y`."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a figure", symbol_kind="Field", color="event", tag="module"
    )
    is_of_main_file: ClassVar[bool] = True

    title: Text | None
    abscissa: Abscissa | None = None
    curves: tuple[Curve, ...] = ()
    loads: tuple[Loads, ...] = ()
    logarithmic: tuple[Name, ...] = ()
    source: Text | None = None
    remarks: tuple[Remark, ...] = ()
