"""Solved rows as Arrow record batches: the columns that people and programs get."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from qps.compiler import ir
from qps.compiler.ir.measure_names import CAPACITY, UTILIZATION
from qps.compiler.quantities.calendar_dates import date_after
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import DIMENSIONLESS, MONEY, TIME, Dimension
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.matrix_request import request_of
from qps.solver.matrix.row_ranges import MatrixSolver
from qps.solver.matrix.rows.row_block import NONE, RowBlock
from qps.solver.matrix.rows.row_conditions import condition_rows
from qps.solver.matrix.rows.scalar_fallback import FAULT

SCHEMA = "qps/matrix/5"
SAME_COLUMNS = ("qps/matrix/2", "qps/matrix/3", "qps/matrix/4")
"""Of results with the same columns; only keys of their counts have other names."""
FORMER_SCHEMA = "qps/matrix/1"
"""Of results that name columns by the former names of measures."""
LARGEST, KNOWN = CAPACITY, f"{CAPACITY}_known"
LIMITED = "limited_by"
LOAD, SATURATION = f"{UTILIZATION}:", "saturates_at:"
NOT_BELOW = "saturates_not_below"
FROM_START, STAYS_FULL = "saturated_from_start", "stays_full"
LEFT_OUT = "samples_left_out"
"""Beside quantiles: the share of the samples that have no answer; nothing where all have one."""
ONE_BY_ONE = "solved_individually"
_FORMER_KEY = b"one_by_one"
"""How many configurations arrays did not decide wholly: stated in a table with any such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column: its name, its Arrow type, and the dimension of its values.

    A share is written and read in per cent. `answer` is which answer it holds, None for what has
    its name from the spec. `known` is how its values are known, of all rows together; that of the
    largest acceptable population is a column of its own.
    """

    name: str
    type: Any
    dimension: Dimension = DIMENSIONLESS
    is_axis: bool = False
    is_share: bool = False
    answer: str | None = None
    known: Certainty = EXACT

    @property
    def field(self) -> pa.Field:
        """The column as a field of a schema."""
        role = {"role": "axis"} if self.is_axis else {}
        metadata = {"unit": str(self.dimension)} | role
        metadata |= {"told": "share"} if self.is_share else {}
        if not self.known.is_exact:
            metadata |= {"known": self.known.kind.value, "because": "; ".join(self.known.reasons)}
        return pa.field(self.name, self.type, metadata=metadata)


def columns_of(compiled: CompiledMatrix) -> list[TableColumn]:
    """Return the columns of a matrix, in their order, each with a name of its own.

    An axis keeps its name, whatever that is: an answer of the same name gives way.
    """
    matrix, number = compiled.matrix, pa.float64()
    axes = [
        TableColumn(
            name=axis.name,
            type=number,
            dimension=axis.dimension,
            is_axis=True,
            is_share="%" in axis.span.text,
        )
        if axis.kind is ir.AxisKind.PARAMETER and not _is_date(axis, compiled.model)
        else TableColumn(name=axis.name, type=pa.string(), is_axis=True)
        for axis in matrix.axes
    ]
    answers = [
        TableColumn(name=LARGEST, type=pa.int64()),
        TableColumn(name=KNOWN, type=pa.string()),
        TableColumn(name=LIMITED, type=pa.string()),
        TableColumn(name="bottleneck", type=pa.string()),
        TableColumn(name="saturates_at", type=number),
        TableColumn(name=NOT_BELOW, type=number),
        TableColumn(name=FROM_START, type=pa.string()),
        TableColumn(name=STAYS_FULL, type=pa.string()),
        *(TableColumn(name=SATURATION + name, type=number) for name in compiled.resources),
        TableColumn(name="at", type=pa.int64()),
        TableColumn(name="quality_at", type=number, known=compiled.known.quality),
        *(TableColumn(name=LOAD + name, type=number) for name in compiled.resources),
        TableColumn(name="cost", type=number, dimension=MONEY),
        TableColumn(name="cost_per_user", type=number, dimension=MONEY),
    ]
    if compiled.has_running_cost or "running_cost" in " ".join(matrix.selected):
        answers.append(TableColumn(name="running_cost", type=number, dimension=MONEY / TIME))
        answers.append(
            TableColumn(name="running_cost_per_user", type=number, dimension=MONEY / TIME)
        )
    if compiled.quantiles:
        answers.append(TableColumn(name=LEFT_OUT, type=number, is_share=True))
    own_known = compiled.known.own or (EXACT,) * len(matrix.columns)
    own = [
        TableColumn(name=c.name, type=number, dimension=c.value.dimension, known=known)
        for c, known in zip(matrix.columns, own_known, strict=True)
    ]
    modes = [TableColumn(name="mode", type=pa.string())] if compiled.model.modes else []
    if any(axis.kind is ir.AxisKind.MODE for axis in matrix.axes):
        modes = []
    taken = {column.name for column in (*axes, *own)}
    found = [*_named(answers, taken), *own, *_named(modes, taken)]
    if matrix.selected:
        by_name = {column.name: column for column in found}
        by_name |= {column.answer or column.name: column for column in (*found, *own)}
        # What rows are sorted by is reported, too: without it their order would be a riddle.
        with_them = [LEFT_OUT] if compiled.quantiles else []
        wanted = (*_selected(matrix), *with_them, *(key.column for key in matrix.order))
        chosen = [name for name in wanted if all(axis.name != name for axis in axes)]
        found = [by_name[name] for name in dict.fromkeys(chosen)]
    return [*axes, *found, *_named([TableColumn(name="reason", type=pa.string())], taken)]


def _named(answers: Sequence[TableColumn], names: Container[str]) -> list[TableColumn]:
    """Return answers under names that nothing else has."""
    return [
        replace(c, name=ir.ANSWER + c.name if c.name in names else c.name, answer=c.name)
        for c in answers
    ]


def _selected(matrix: ir.Matrix) -> list[str]:
    """Return the columns that were chosen; no answer goes without what it is to be read with."""
    chosen = list(matrix.selected)
    own = {axis.name for axis in matrix.axes} | {column.name for column in matrix.columns}
    answer = ir.ANSWER + LARGEST if LARGEST in own else LARGEST
    if answer in chosen and KNOWN not in chosen:
        chosen.insert(chosen.index(answer) + 1, KNOWN)
    saturations = [i for i, name in enumerate(chosen) if name.startswith("saturates_at")]
    if saturations:
        behind = saturations[-1] + 1
        with_them = (NOT_BELOW, FROM_START, STAYS_FULL)
        chosen[behind:behind] = [name for name in with_them if name not in chosen]
    return chosen


def schema_of(compiled: CompiledMatrix) -> pa.Schema:
    """Return the Arrow schema; each field has its unit, and the whole its request."""
    about = {
        "schema": SCHEMA,
        "model": compiled.model.name,
        "matrix": compiled.matrix.name,
        "request": request_of(compiled).as_text,
    }
    return pa.schema([column.field for column in columns_of(compiled)], metadata=about)


def layout_of(schema: pa.Schema) -> dict[str, Any]:
    """Return how Parquet files are laid out: words by dictionaries, which numbers do not repay."""
    words = [field.name for field in schema if field.type == pa.string()]
    return {"compression": "zstd", "use_dictionary": words}


@dataclass
class Tabulator:
    """Solves stretches of a matrix and makes record batches of them."""

    compiled: CompiledMatrix

    def __post_init__(self) -> None:
        self._solver = MatrixSolver(self.compiled)
        self._columns = columns_of(self.compiled)
        self._schema = schema_of(self.compiled)

    def table(self, start: int, stop: int) -> pa.Table:
        """Return the rows of a stretch that are wanted, with how many were solved one by one."""
        stretches = self._solver.row_blocks(start, stop)
        table = pa.Table.from_batches(map(self._batch, stretches), self._schema)
        masks = (rows.one_by_one & rows.included for rows in stretches)
        return statistics_table(table, sum(int(np.count_nonzero(each)) for each in masks))

    def _batch(self, rows: RowBlock) -> pa.RecordBatch:
        is_included = rows.included
        if self.compiled.matrix.wanted is not None:
            # Of a row that a fault of ours left without an answer nobody knows what it is.
            is_included = is_included & (
                condition_rows(rows, self.compiled.matrix.wanted) | rows.faulted
            )
        arrays = [self._array(column, rows) for column in self._columns]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        return batch if is_included.all() else batch.filter(pa.array(is_included))

    def _array(self, column: TableColumn, rows: RowBlock) -> pa.Array:
        name = column.answer
        if name is None:
            return self._own(column.name, rows)
        if name.startswith(LOAD) and name.removeprefix(LOAD) in rows.loads:
            return _numbers(rows.loads[name.removeprefix(LOAD)])
        if name.startswith(SATURATION):
            return _numbers(rows.saturates[name.removeprefix(SATURATION)])
        return self._answer(name, rows)

    def _own(self, name: str, rows: RowBlock) -> pa.Array:
        """Return what has its name from the spec: an axis, or a column of its own."""
        for axis, index in zip(self._axes(rows), rows.index, strict=True):
            if axis.name == name:
                return _axis(axis, index, self.compiled.model)
        columns = zip(self.compiled.matrix.columns, rows.columns, strict=True)
        return _numbers(next(values for own, values in columns if own.name == name))

    def _axes(self, rows: RowBlock) -> Sequence[ir.Axis]:
        return self.compiled.blocks[rows.block].structure.axes

    def _answer(self, name: str, rows: RowBlock) -> pa.Array:
        """Return one of the columns that every matrix has."""
        refused = rows.at == 0
        words = {
            KNOWN: rows.known,
            LIMITED: rows.limited,
            "bottleneck": rows.bottleneck,
            FROM_START: rows.from_start,
            STAYS_FULL: rows.stays_full,
        }
        if name in words:
            return _words(rows, words[name])
        match name:
            case _ if name == LARGEST:
                return pa.array(rows.largest, mask=rows.largest == NONE)
            case "at":
                return pa.array(rows.at, mask=refused)
            case "saturates_at":
                return _numbers(rows.saturates_at)
            case _ if name == LEFT_OUT:
                return _numbers(rows.left_out)
            case _ if name == NOT_BELOW:
                return _numbers(rows.saturates_not_below)
            case "quality_at":
                return _numbers(rows.quality)
            case "mode":
                modes = pa.array([mode.name for mode in self.compiled.model.modes])
                return modes.take(pa.array(rows.mode, mask=refused))
            case "reason":
                return self._reasons(rows)
        per_user = name.endswith("_per_user")
        values = rows.running_cost if name.startswith("running") else rows.cost
        return _numbers(values / np.maximum(rows.at, 1) if per_user else values)

    def _reasons(self, rows: RowBlock) -> pa.Array:
        """Return why there is no answer: what is wrong, or what fails from the start."""
        texts: dict[str, int] = {}
        numbers = np.full(rows.count, NONE, dtype=np.int64)

        def note(where: Any, text: str) -> None:
            numbers[where] = texts.setdefault(text, len(texts))

        nowhere = (rows.largest == NONE) & (rows.at > 0)
        groups = self.compiled.blocks[rows.block].groups
        lows = np.array([group.low for group in groups])[rows.group]
        for limited, low in {*zip(rows.limited[nowhere], lows[nowhere], strict=True)}:
            what, population = rows.words[limited], self.compiled.model.population.name
            where = nowhere & (rows.limited == limited) & (lows == low)
            note(where, f"{what} is not met at {population} = {low}")
        for reason in np.unique(rows.reason[rows.reason > 0]):
            note(rows.reason == reason, rows.words[reason])
        for row, text in rows.texts.items():
            note(row, text)
        return pa.array(list(texts), pa.string()).take(pa.array(numbers, mask=numbers == NONE))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows there are, and how many of them have no answer.

    `none_supported` carry nobody, or cannot be; `faults` are left without an answer by faults of
    ours. `one_by_one` are the configurations, kept or not, that arrays did not decide wholly.
    """

    rows: int = 0
    none_supported: int = 0
    faults: int = 0
    one_by_one: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.rows + other.rows,
            self.none_supported + other.none_supported,
            self.faults + other.faults,
            self.one_by_one + other.one_by_one,
        )


def counts_of(table: pa.Table) -> Counts:
    """Return how many rows of a table have an answer."""
    names = table.schema.names
    reason = table.column(ir.ANSWER + "reason" if ir.ANSWER + "reason" in names else "reason")
    faults = compute.sum(compute.starts_with(reason, FAULT)).as_py() or 0
    nobody = len(table) - reason.null_count - faults
    return Counts(len(table), nobody, faults, one_by_one_in(table))


def one_by_one_in(table: pa.Table) -> int:
    """Return how many configurations of a table were answered one by one."""
    about = table.schema.metadata or {}
    text = about.get(ONE_BY_ONE.encode(), about.get(_FORMER_KEY, b"0"))
    return int(text) if text.isdigit() and len(text) < _MOST_DIGITS else 0


def statistics_table(table: pa.Table, one_by_one: int) -> pa.Table:
    """Return a table that says how many configurations were answered one by one."""
    about = table.schema.metadata or {}
    count = {ONE_BY_ONE.encode(): str(one_by_one).encode()} if one_by_one else {}
    return table.replace_schema_metadata(about | count)


_MOST_DIGITS = 19


def in_order(compiled: CompiledMatrix, table: pa.Table) -> pa.Table:
    """Return rows sorted as the matrix requests; what has no value comes last."""
    order = compiled.matrix.order
    if not order:
        return table
    keys = [(key.column, "descending" if key.is_descending else "ascending") for key in order]
    return table.sort_by(keys)


def _words(rows: RowBlock, numbers: Any) -> pa.Array:
    return pa.array(rows.words).take(pa.array(numbers, mask=numbers == 0))


def _is_date(axis: ir.Axis, model: ir.Model) -> bool:
    """Return whether the values of an axis are dates: they are stored as texts."""
    return model.calendar is not None and axis.name == model.calendar.name


def _axis(axis: ir.Axis, index: Any, model: ir.Model) -> pa.Array:
    if model.calendar is not None and _is_date(axis, model):
        dates = [date_after(model.calendar.start, months).iso for months in numbers_of(axis)]
        return pa.array(dates).take(pa.array(index))
    if axis.kind is ir.AxisKind.PARAMETER:
        return pa.array(numbers_of(axis)[index])
    return pa.array(axis.labels).take(pa.array(index))


def _numbers(values: Any) -> pa.Array:
    """Return numbers; what is infinite or has no value is null."""
    return pa.array(values, pa.float64(), mask=~np.isfinite(values))
