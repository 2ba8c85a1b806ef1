"""Matrices of two versions of a spec: which configurations gain or lose capacity, which are new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.extras import need_arrow
from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import quantity

if TYPE_CHECKING:
    from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
    from qps.solver.matrix.row_tables import TableColumn

MOST_ROWS = 10_000
"""Configurations of a matrix that are solved for a comparison."""
_MOST_REPORTED = 10

_Key: TypeAlias = tuple[tuple[str, object], ...]
_Row: TypeAlias = tuple[str, int | None]
"""A configuration in words, and how many it carries."""


class RowChange(Struct, frozen=True, kw_only=True):
    """A configuration and its capacity; null if no user is supported, or without a result."""

    configuration: str
    before: int | None
    after: int | None

    @property
    def difference(self) -> int:
        """How many more it carries."""
        return (self.after or 0) - (self.before or 0)


class MatrixChange(Struct, frozen=True, kw_only=True):
    """A matrix in one or both versions, with the number of rows by outcome.

    `rows` are the rows with the largest changes, the worst first. If rows are not compared,
    `reason` has the reason.
    """

    name: str
    reason: str = ""
    worse: int = 0
    better: int = 0
    same: int = 0
    new: int = 0
    gone: int = 0
    rows: tuple[RowChange, ...] = ()

    @property
    def is_moved(self) -> bool:
        """True if there is anything to report."""
        return bool(self.reason or self.worse or self.better or self.new or self.gone)

    @property
    def text(self) -> str:
        """What became of the rows, in words."""
        if self.reason:
            return self.reason
        counts = {
            (phrase("review.loses_capacity"), phrase("review.lose_capacity")): self.worse,
            (phrase("review.gains_capacity"), phrase("review.gain_capacity")): self.better,
            (phrase("term.is_new"), phrase("review.are_new")): self.new,
            (phrase("review.was_removed"), phrase("review.were_removed")): self.gone,
            (phrase("review.is_unchanged"), phrase("review.are_unchanged")): self.same,
        }
        words = [f"{count:,} {form[count != 1]}" for form, count in counts.items() if count]
        return f"{sum(counts.values()):,} configurations: {', '.join(words)}"

    @property
    def table(self) -> Table:
        """The rows that moved most."""
        rows = tuple(
            (row.configuration, _count(row.before), _count(row.after), f"{row.difference:+,}")
            for row in self.rows
        )
        headings = ("Configuration", "Before", "After", "Change")
        return Table(headings, rows, frozenset([1, 2, 3]), long=frozenset([0]))


def _count(users: int | None) -> str:
    return "none" if users is None else f"{users:,}"


def matrix_changes(old: ir.Model, new: ir.Model) -> tuple[MatrixChange, ...]:
    """Return what became of each matrix, by name."""
    before = {matrix.name: matrix for matrix in old.matrices}
    after = {matrix.name: matrix for matrix in new.matrices}
    return tuple(
        _changed(name, (old, before.get(name)), (new, after.get(name)))
        for name in dict.fromkeys([*after, *before])
    )


def _changed(
    name: str, old: tuple[ir.Model, ir.Matrix | None], new: tuple[ir.Model, ir.Matrix | None]
) -> MatrixChange:
    if old[1] is None or new[1] is None:
        return MatrixChange(
            name=name,
            reason=phrase("term.is_new") if old[1] is None else phrase("review.was_removed"),
        )
    try:
        before, after = (_solved(model, matrix) for model, matrix in (old, new) if matrix)
    except QpsError as error:
        return MatrixChange(
            name=name,
            reason=phrase("review.not_compared_because", message=error.diagnostics[0].message),
        )
    if isinstance(before, str) or isinstance(after, str):
        why = before if isinstance(before, str) else after
        return MatrixChange(name=name, reason=phrase("review.not_compared_because", message=why))
    both = [key for key in after if key in before]
    moved = [
        RowChange(configuration=after[key][0], before=before[key][1], after=after[key][1])
        for key in both
        if before[key][1] != after[key][1]
    ]
    worse = sorted((row for row in moved if row.difference < 0), key=lambda r: r.difference)
    better = sorted((row for row in moved if row.difference >= 0), key=lambda r: -r.difference)
    shown = worse[: max(_MOST_REPORTED // 2, _MOST_REPORTED - len(better))]
    return MatrixChange(
        name=name,
        worse=len(worse),
        better=len(better),
        same=len(both) - len(moved),
        new=len(after) - len(both),
        gone=len(before) - len(both),
        rows=(*shown, *better[: _MOST_REPORTED - len(shown)]),
    )


def _solved(model: ir.Model, matrix: ir.Matrix) -> Mapping[_Key, _Row] | str:
    """Return how many each configuration carries; a text that says why nobody knows."""
    need_arrow(f"matrix `{matrix.name}`", matrix.span)
    from qps.solver.matrix.matrix_compiler import compile_matrix  # noqa: PLC0415 - imports the algebra
    from qps.solver.uncertainty.confidence_interface import model_at_confidence  # noqa: PLC0415
    from qps.solver.uncertainty.sampled_rows import drawn_in_rows  # noqa: PLC0415

    # All that is reported of a configuration here is how many it carries, whatever is selected.
    plain = replace(matrix, selected=(), order=())
    compiled = compile_matrix(model, plain, drawn=drawn_in_rows, at_confidence=model_at_confidence)
    if compiled.size > MOST_ROWS:
        return phrase("review.matrix_too_large", size=compiled.size, most=MOST_ROWS)
    return dict(_rows(compiled))


def _rows(compiled: CompiledMatrix) -> Iterator[tuple[_Key, _Row]]:
    from qps.solver.matrix.row_tables import LARGEST, Tabulator, columns_of  # noqa: PLC0415

    columns = columns_of(compiled)
    carried = next(c.name for c in columns if (c.answer or c.name) == LARGEST and not c.is_axis)
    axes = [column for column in columns if column.is_axis]
    for row in Tabulator(compiled).table(0, compiled.size).to_pylist():
        users = row[carried]
        words = ", ".join(f"{axis.name} = {_value(row[axis.name], axis)}" for axis in axes)
        key = tuple((axis.name, row[axis.name]) for axis in axes)
        yield key, (words, None if users is None else int(users))


def _value(value: object, axis: TableColumn) -> str:
    if isinstance(value, float):
        return quantity(value, axis.dimension, share=axis.is_share)
    return str(value)
