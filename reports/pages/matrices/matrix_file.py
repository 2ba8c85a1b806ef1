"""A matrix result that was written earlier, read again: Parquet, CSV or JSON, from a stranger."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
from pyarrow import compute, csv, parquet

from qps.compiler.check.claims.check_matrices import ANSWERS, WORDS
from qps.compiler.ir.matrices import ANSWER
from qps.compiler.ir.measure_names import FORMER, UTILIZATION, current_column
from qps.compiler.measurement.sheet_cells import WRITTEN, of_cell
from qps.compiler.quantities.certainty import CertaintyKind
from qps.solver.matrix.row_tables import (
    FORMER_SCHEMA,
    LARGEST,
    LIMITED,
    LOAD,
    ONE_BY_ONE,
    SAME_COLUMNS,
    SATURATION,
    SCHEMA,
)

MOST_BYTES = 256 * 2**20
MOST_COLUMNS = 1000


class ResultError(Exception):
    """Raised for a file that is no result of a matrix; says what is wrong with it."""


def read_result(path: Path, most: int) -> pa.Table:
    """Return the rows of a file, with its notes on its columns in the schema.

    ResultError where it is none, OSError where it cannot be read; `most` rows are read at most.
    """
    reader = {".parquet": _parquet, ".csv": _csv, ".json": _json}[path.suffix]
    if path.stat().st_size > MOST_BYTES:
        _refuse(f"is larger than {MOST_BYTES // 2**20} MB")
    try:
        return _checked(reader(path, most), most)
    except (pa.ArrowException, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        _refuse(f"cannot be read: {reason}")


def _refuse(reason: str) -> NoReturn:
    raise ResultError(reason)


def _refuse_more(rows: int, most: int) -> None:
    if rows > most:
        _refuse(f"has {rows:,} rows; the limit of a page is {most:,}")


def _parquet(path: Path, most: int) -> pa.Table:
    with parquet.ParquetFile(path) as file:
        about = file.metadata
        _refuse_more(about.num_rows, most)
        # What is packed small may be large.
        if (
            sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            > MOST_BYTES
        ):
            _refuse(f"expands to more than {MOST_BYTES // 2**20} MB")
        # What was counted when all rows were known stands behind them.
        count = (about.metadata or {}).get(ONE_BY_ONE.encode())
        table = file.read()
        more = {} if count is None else {ONE_BY_ONE.encode(): count}
        return table.replace_schema_metadata((table.schema.metadata or {}) | more)


def _csv(path: Path, most: int) -> pa.Table:
    # Names such as `true` and `NA` are choices of the spec like any other.
    options = csv.ConvertOptions(
        null_values=[""], strings_can_be_null=True, true_values=[], false_values=[]
    )
    # In one block: of several, the first would settle the types, be it all without a value.
    whole = csv.ReadOptions(block_size=path.stat().st_size + 1)
    table = csv.read_csv(path, read_options=whole, convert_options=options)
    _refuse_more(len(table), most)
    columns = [_texts(c) if pa.types.is_string(c.type) else c for c in table.columns]
    return pa.table(columns, names=[of_cell(name) for name in table.column_names])


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return what the cells of a column say, as `of_cell` does."""
    return compute.replace_substring_regex(column, WRITTEN, r"\1")


def _json(path: Path, most: int) -> pa.Table:
    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    rows = found.get("rows") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        _refuse("has no list `rows`")
    _refuse_more(len(rows), most)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if any(len(row) != len(names) for row in rows):
        _refuse("has rows with different columns")
    arrays = [pa.array([row[name] for row in rows]) for name in names]
    fields = [
        pa.field(name, array.type, metadata=_column_notes(found, name))
        for name, array in zip(names, arrays, strict=True)
    ]
    request = found.get("request", found.get("asked"))  # its name before qps/matrix/5
    about = {"request": json.dumps(request)} if isinstance(request, dict) else {}
    counts = found.get("counts")
    if isinstance(counts, dict) and ONE_BY_ONE in counts:
        about[ONE_BY_ONE] = str(counts[ONE_BY_ONE])
    return pa.table(
        arrays, pa.schema(fields, metadata=about | {"schema": str(found.get("schema"))})
    )


def _refuse_constant(text: str) -> NoReturn:
    _refuse(f"contains {text}, which is not a JSON number")


def _column_notes(found: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return the notes of a file on a column."""
    units, axes, shares = (found.get(key) for key in ("units", "axes", "shares"))
    notes = {}
    if isinstance(units, dict) and isinstance(units.get(name), str):
        notes["unit"] = units[name]
    if isinstance(axes, list) and name in axes:
        notes["role"] = "axis"
    if isinstance(shares, list) and name in shares:
        notes["told"] = "share"
    known = found.get("known")
    kind, reasons = _known(known.get(name) if isinstance(known, dict) else None)
    return notes | ({"known": kind, "because": "; ".join(reasons)} if kind else {})


def _known(note: object) -> tuple[str, list[str]]:
    """Return how a column is known, and why no better; nothing where a file does not say."""
    kind = note.get("kind") if isinstance(note, dict) else None
    reasons = note.get("reasons") if isinstance(note, dict) else None
    if kind not in {each.value for each in CertaintyKind} or not isinstance(reasons, list):
        return "", []
    return str(kind), [reason for reason in reasons if isinstance(reason, str)]


# -- is it a result ----------------------------------------------------------------------


def _checked(table: pa.Table, most: int) -> pa.Table:
    """Return a table whose columns are those of a result, each of a type that rows have."""
    _refuse_more(len(table), most)
    table = _with_current_columns(table)
    names = table.schema.names
    if len(names) > MOST_COLUMNS:
        _refuse(f"has {len(names):,} columns")
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        _refuse(f"has two columns `{twice[0][:100]}`")
    schema = (table.schema.metadata or {}).get(b"schema", SCHEMA.encode()).decode(errors="replace")
    if schema not in (SCHEMA, *SAME_COLUMNS):
        _refuse(f"has the schema `{schema[:40]}`, not `{SCHEMA}`")
    answers = [_answer(name, names) for name in names]
    if "reason" not in answers or not any(_is_answer(name) for name in answers):
        _refuse("has no columns `reason` and `capacity`")
    if not len(table):
        _refuse("has no rows")
    fields = [_as_axis(field, names) for field in table.schema]
    about = table.schema.metadata
    return table.cast(pa.schema(fields, metadata=about))


def _with_current_columns(table: pa.Table) -> pa.Table:
    """Return a table that was written with the former names of measures with the current ones."""
    about, names = table.schema.metadata or {}, table.schema.names
    stated = about.get(b"schema")
    if stated != FORMER_SCHEMA.encode() and (stated is not None or LARGEST in names):
        return table
    called = [
        f"{ANSWER * name.startswith(ANSWER)}{current_column(name.removeprefix(ANSWER))}"
        for name in names
    ]
    called = [
        ANSWER + new if new != old and new in names else new
        for new, old in zip(called, names, strict=True)
    ]
    table = table.rename_columns(called)
    if stated is not None:
        about = about | {b"schema": SCHEMA.encode()}
    for index, name in enumerate(called):
        if name.removeprefix(ANSWER) == LIMITED and pa.types.is_string(table.column(index).type):
            limited = compute.replace_substring_regex(
                table.column(index), rf"\.{FORMER[UTILIZATION]}$", f".{UTILIZATION}"
            )
            table = table.set_column(index, table.schema.field(index), limited)
    return table.replace_schema_metadata(about)


def _as_axis(field: pa.Field, names: list[str]) -> pa.Field:
    """Return a column as a result has it: words, whole numbers or numbers.

    Where a file does not say which columns are axes, those before the first answer are.
    """
    metadata = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
    first = next(index for index, name in enumerate(names) if _is_answer(_answer(name, names)))
    if not metadata and names.index(field.name) < first:
        metadata = {"role": "axis"}
    return pa.field(field.name, _type_of(field, _answer(field.name, names)), metadata=metadata)


def _answer(name: str, names: Sequence[str]) -> str:
    """Return which answer a column holds: none where an answer has given way to its name."""
    return "" if ANSWER + name in names else name.removeprefix(ANSWER)


def _type_of(field: pa.Field, name: str) -> pa.DataType:
    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if name in ("reason", "mode", *WORDS) and pa.types.is_null(kind):
        return pa.string()
    if name in (LARGEST, "at") and pa.types.is_null(kind):
        return pa.int64()
    if pa.types.is_null(kind):
        return pa.float64()
    is_word = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if name == "reason" and not is_word:
        _refuse("has numbers in the column `reason`, which is text")
    if is_word:
        if _is_number(name):
            _refuse(f"has text in the column `{field.name[:100]}`, which is numeric")
        return pa.string()
    if name in (LARGEST, "at"):
        return pa.int64()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pa.float64()
    what = f"`{field.name[:100]}` of type {str(kind)[:40]}"
    return _refuse(f"has a column {what}, not numbers or text")


def _is_answer(name: str) -> bool:
    return name in ANSWERS or name.startswith((LOAD, SATURATION))


def _is_number(name: str) -> bool:
    return _is_answer(name) and name not in WORDS
