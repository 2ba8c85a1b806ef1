"""What a large matrix takes, estimated from a few of its rows before all of them are solved."""

from __future__ import annotations

from io import BytesIO
from time import process_time
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.commands.terminal.progress import duration
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix

LARGE = 5_000_000
"""Configurations from which on a matrix is worth an estimate."""
_COUNTS = (8, 64, 512, 4096, 8192)
"""Rows that are solved, one stretch after the other, until there is time enough in one."""
_ENOUGH = 0.5  # s of processor
_KB = 1000


class MatrixPlan(Struct, frozen=True, kw_only=True):
    """What all configurations take, in s of processor, and their file in bytes."""

    count: int
    seconds: float
    size: float
    sampled: int

    def __str__(self) -> str:
        return phrase(
            "matrix.plan",
            count=f"{self.count:,}",
            time=duration(self.seconds),
            size=_in_bytes(self.size),
            sampled=f"{self.sampled:,}",
        )


def planned(compiled: CompiledMatrix) -> MatrixPlan:
    """Return what a matrix takes by stretches from all over it, each larger than the one before."""
    from qps.solver.matrix.row_tables import Tabulator  # noqa: PLC0415 - imports Arrow

    tabulator = Tabulator(compiled)
    tabulator.table(0, 1)  # what is done once
    for number, rows in enumerate(_COUNTS, 1):
        count = min(rows, compiled.size)
        start = (compiled.size - count) * number // (len(_COUNTS) + 1)
        before = process_time()
        table = tabulator.table(start, start + count)
        seconds = process_time() - before
        if seconds >= _ENOUGH:
            break
    size = _written(table) - _written(table.slice(0, 0))
    per_row = compiled.size / count
    return MatrixPlan(
        count=compiled.size, seconds=seconds * per_row, size=size * per_row, sampled=count
    )


def _written(table: pa.Table) -> int:
    from pyarrow import parquet  # noqa: PLC0415

    from qps.solver.matrix.row_tables import layout_of  # noqa: PLC0415

    output = BytesIO()
    parquet.write_table(table, output, **layout_of(table.schema))
    return len(output.getvalue())


def _in_bytes(size: float) -> str:
    for unit in ("kB", "MB", "GB"):
        size /= _KB
        if size < _KB:
            return f"{size:,.2g} {unit}" if size < 100 else f"{size:,.0f} {unit}"  # noqa: PLR2004
    return f"{size / _KB:,.2g} TB"
