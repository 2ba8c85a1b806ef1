"""Columns of numbers and texts as files: Parquet or CSV, by the ending of a name."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path

from qps.atomic_files import whole_file
from qps.commands.terminal.console import complain
from qps.commands.terminal.output_files import refuse_inputs, write_text
from qps.compiler.diagnostics.extras import need_arrow
from qps.compiler.diagnostics.suggest import listed

Columns = Mapping[str, Sequence[object]]


def check_columns_file(output: Path, endings: Sequence[str], read: Iterable[Path]) -> None:
    """Refuse a file of another type than those of some endings, or one that was read."""
    if output.suffix.lower() not in endings:
        raise complain(
            f"unknown file type: `{output}`", f"use the extension {listed([*endings], 'or')}"
        )
    if output.suffix.lower() == ".parquet":
        need_arrow(f"`{output}`")
    refuse_inputs(output, read)


def write_columns(output: Path, columns: Columns) -> None:
    """Write columns of one length: as CSV, or as Parquet by any other ending."""
    if output.suffix.lower() == ".csv":
        write_text(output, _as_csv(columns))
    else:
        _write_parquet(output, columns)


def _as_csv(columns: Columns) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _write_parquet(output: Path, columns: Columns) -> None:
    import pyarrow as pa  # noqa: PLC0415 - for these files alone
    from pyarrow import parquet  # noqa: PLC0415

    content = BytesIO()
    parquet.write_table(pa.table(dict(columns)), content, compression="zstd")
    try:
        with whole_file(output) as file:
            file.write(content.getvalue())
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"cannot write `{output}`: {reason}", "choose another path") from error
