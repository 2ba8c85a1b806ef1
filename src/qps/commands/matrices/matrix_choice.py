"""The request of the command line of `qps matrix`: the matrix, its changes, file and workers."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

from msgspec.structs import replace

from qps.commands.arguments.named_declaration import named_declaration
from qps.commands.matrices.result_page import RESULTS
from qps.commands.terminal.console import complain
from qps.compiler import ir
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.pipeline import Spec

_CLUSTER = re.compile(r"dask://[^\s/:]+:[0-9]{1,5}|dask://\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}")
"""The address of a scheduler, by its name or number; in brackets where that has colons."""


def chosen_matrix(model: ir.Model, name: str | None) -> ir.Matrix:
    """Return the matrix that was named, or the only one."""
    missing = complain(
        f"{model.file} has no matrix", "declare one: `matrix name { station in [a, b] }`"
    )
    return named_declaration(
        model, model.matrices, name, called=("matrix", "matrices"), missing=missing
    )


def changed_matrix(spec: Spec, matrix: ir.Matrix, settings: list[str]) -> ir.Matrix:
    """Return a matrix with what is set besides it."""
    changes = spec.changes(settings)
    axes = {axis.name for axis in matrix.axes}
    for change in changes:
        if not isinstance(change, ir.SetPopulation | ir.SetCase) and change.name in axes:
            raise complain(
                f"`{change.name}` is an axis of matrix `{matrix.name}`",
                "set a value that is not an axis, or filter rows with `where`",
            )
    parts = (*matrix.parts, *(("with", setting) for setting in settings))
    return replace(matrix, changes=(*matrix.changes, *changes), parts=parts)


def output_path(arguments: Namespace) -> Path | None:
    """Return the file to write, None for the screen."""
    output: Path | None = arguments.output
    if output is None:
        if arguments.resume:
            raise complain("`--resume` requires `-o FILE`", "add `-o results.parquet`")
        return None
    if output.suffix not in (*RESULTS, ".html"):
        raise complain(
            f"unknown file type: `{output}`",
            f"use the extension {listed([*RESULTS, '.html'], 'or')}",
        )
    if arguments.resume and output.suffix == ".html":
        raise complain(
            "`--resume` does not support HTML pages",
            "write a `.parquet` file, then run `qps report` on it",
        )
    if not output.parent.is_dir():
        raise complain(
            f"`{output.parent}` is not a folder", "create it first, or choose another path"
        )
    if output.is_dir():
        raise complain(f"`{output}` is a folder", "name a file")
    return output


def check_place(arguments: Namespace) -> None:
    """Refuse a place of work that there cannot be."""
    where, workers = arguments.on, arguments.workers
    if workers is not None and workers < 1:
        raise complain(
            f"`--workers` must be at least 1, not {workers}", "leave it out to use all cores"
        )
    if where not in ("cores", "dask") and not _CLUSTER.fullmatch(where):
        raise complain(
            f"unknown value `{where}` of `--on`",
            "use `cores`, `dask` or an address such as `dask://10.0.0.5:8786`",
        )
