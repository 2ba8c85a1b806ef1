"""A matrix from Python: its columns, and its rows as Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qps.reports.text.layout.notebook import NotebookView, ShowsItself

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix


@dataclass(frozen=True)
class MatrixResult(ShowsItself):
    """A matrix of a spec. Iterate over it to get Arrow record batches, solved on demand.

    Values are in base units; each field of `schema` states its unit. Rows are in the order of the
    axes. To sort them by `order by`, use `to_arrow()`.
    """

    compiled: CompiledMatrix

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of a matrix: no row is solved for that."""
        rows = f"{len(self):,} configuration{'s' * (len(self) != 1)}"
        return NotebookView(
            title=f"matrix {self.compiled.matrix.name} ({self.compiled.model.file})",
            answer=rows,
            facts=(
                ("columns", ", ".join(self.schema.names)),
                (
                    "rows",
                    "`to_arrow()` solves all of them, iteration solves them on demand",
                ),
            ),
        )

    def __len__(self) -> int:
        """Return the number of configurations before `exclude` and `where`."""
        return self.compiled.size

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        from qps.solver.matrix.row_tables import schema_of  # noqa: PLC0415

        return schema_of(self.compiled)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for table in self._tables():
            yield from table.replace_schema_metadata(self.schema.metadata).to_batches()

    def _tables(self) -> Iterator[pa.Table]:
        from qps.solver.matrix.execution.matrix_run import PART  # noqa: PLC0415
        from qps.solver.matrix.row_tables import Tabulator  # noqa: PLC0415

        tabulator, size = Tabulator(self.compiled), self.compiled.size
        for start in range(0, size, PART):
            yield tabulator.table(start, min(size, start + PART))

    def to_arrow(self) -> pa.Table:
        """Return all rows as one table, sorted by the `order by` of the matrix.

        Its metadata states how many configurations were `solved_individually`, if any.
        """
        import pyarrow as pa  # noqa: PLC0415

        from qps.solver.matrix.row_tables import in_order, one_by_one_in, statistics_table  # noqa: PLC0415

        tables = [self.schema.empty_table(), *self._tables()]
        found = in_order(self.compiled, pa.concat_tables(tables))
        return statistics_table(found, sum(map(one_by_one_in, tables)))
