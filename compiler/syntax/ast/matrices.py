"""Matrices of configurations."""

from __future__ import annotations

from typing import ClassVar

from qps.compiler.syntax.ast.base_node import Name, Named, Presentation, Written
from qps.compiler.syntax.ast.claims import Remark
from qps.compiler.syntax.ast.expressions import Change, Expr, Listed, Number, Range, Text
from qps.compiler.syntax.ast.requirements import Percentiles


class Spaced(Written, frozen=True, kw_only=True):
    """Values along a range: so far apart, so many times the one before, or so many of them."""

    range: Range
    step: Expr | None = None
    factor: Expr | None = None
    count: Number | None = None
    is_logarithmic: bool = False


class Axis(Written, frozen=True):
    """`station in [ws.ipx, ws.alpha]`: what a matrix varies, and the values of it."""

    name: Name
    values: Listed | Spaced  # of machines also ranges of their number


class Derived(Written, frozen=True):
    """`column margin = 230 ms - voice.latency`."""

    name: Name
    value: Expr


class SortKey(Written, frozen=True):
    """A column to sort by."""

    name: Name
    is_descending: bool


class Matrix(Named, frozen=True, kw_only=True):
    """Many configurations of the model: the product of axes, of which some are wanted."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a matrix", symbol_kind="Array", color="enum", tag="module"
    )
    needs_solution: ClassVar[bool] = True
    is_of_main_file: ClassVar[bool] = True

    title: Text | None
    changes: tuple[Change, ...]
    axes: tuple[Axis, ...] = ()
    included: tuple[tuple[Change, ...], ...] = ()
    excluded: tuple[Expr, ...] = ()
    wanted: tuple[Expr, ...] = ()
    order: tuple[SortKey, ...] = ()
    at: Change | None = None
    columns: tuple[Derived, ...] = ()
    percentiles: tuple[Percentiles, ...] = ()
    selected: tuple[Name, ...] = ()
    source: Text | None = None
    remarks: tuple[Remark, ...] = ()


class Choose(Named, frozen=True, kw_only=True):
    """What may be bought, built or set: of all combinations the cheapest is searched."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a choice", symbol_kind="Array", color="enum", tag="module"
    )
    needs_solution: ClassVar[bool] = True
    is_of_main_file: ClassVar[bool] = True

    title: Text | None
    changes: tuple[Change, ...]
    axes: tuple[Axis, ...] = ()
    excluded: tuple[Expr, ...] = ()
    objective: Expr | None = None
    source: Text | None = None
    remarks: tuple[Remark, ...] = ()
