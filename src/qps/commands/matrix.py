"""`qps matrix`: every configuration of a matrix, as a table or in a file."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import ExitStack
from typing import TYPE_CHECKING

from qps.commands.cache.matrix_run_cache import FinishedRun, finished, key_of
from qps.commands.cache.spec_cache import load
from qps.commands.matrices.matrix_choice import (
    changed_matrix,
    check_place,
    chosen_matrix,
    output_path,
)
from qps.commands.matrices.matrix_files import ELSEWHERE, MatrixFile, folder_of_parts
from qps.commands.matrices.matrix_pages import write_page
from qps.commands.matrices.matrix_plan import LARGE, planned
from qps.commands.matrices.matrix_screen import print_rows
from qps.commands.matrices.matrix_work import MatrixWork
from qps.commands.terminal.console import Exit, complain, show
from qps.commands.terminal.output_files import refuse_inputs
from qps.commands.terminal.progress import Progress
from qps.commands.terminal.signals import ended_in_order
from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.extras import need_arrow
from qps.compiler.pipeline import Spec
from qps.links import resolved_path
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    from qps.solver.matrix.row_tables import Counts


def run(arguments: Namespace) -> Exit:
    """Solve one matrix."""
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    matrix = changed_matrix(spec, chosen_matrix(spec.model, arguments.name), arguments.set)
    output = output_path(arguments)
    if output is not None:
        refuse_inputs(output, spec.files)
    check_place(arguments)
    key = "" if output is None else key_of(spec, matrix.name, arguments.set, output)
    if arguments.resume and output is not None and not folder_of_parts(output).exists():
        before = finished(key, output)
        if before is not None:
            return _report_finished(before, matrix, arguments)
    need_arrow(f"matrix `{matrix.name}`", matrix.span)
    from qps.solver.matrix.matrix_compiler import compile_matrix  # noqa: PLC0415 - imports the algebra
    from qps.solver.uncertainty.confidence_interface import model_at_confidence  # noqa: PLC0415
    from qps.solver.uncertainty.sampled_rows import drawn_in_rows  # noqa: PLC0415

    with Progress(total=None, quiet=arguments.quiet, unit=None, label="compiling"):
        compiled = compile_matrix(
            spec.model, matrix, drawn=drawn_in_rows, at_confidence=model_at_confidence
        )
    _warn_unlimited(matrix, compiled.unlimited, compiled.size, arguments)
    work = MatrixWork(compiled=compiled, arguments=arguments)
    is_file = output is not None and output.suffix == ".parquet"
    if is_file and compiled.size >= LARGE and not (arguments.quiet or arguments.resume):
        print(planned(compiled), file=sys.stderr)
    with ended_in_order():
        counts = (
            print_rows(work, spec)
            if output is None
            else _written(work, spec, MatrixFile(work=work, output=output, key=key))
        )
    return _status(counts, arguments)


def _report_finished(run: FinishedRun, matrix: ir.Matrix, arguments: Namespace) -> Exit:
    """Tell what a run that has ended came to, as it did."""
    _warn_unlimited(matrix, run.unlimited, run.size, arguments)
    if not arguments.quiet:
        print(
            phrase("matrix.up_to_date", summary=run.summary, output=arguments.output),
            file=sys.stderr,
        )
    return Exit.YES if run.supports_users else Exit.NO


def _written(work: MatrixWork, spec: Spec, file: MatrixFile) -> Counts:
    """Write a file that no other run writes meanwhile."""
    from qps.atomic_files import LockedError, lock  # noqa: PLC0415

    output = file.output
    with ExitStack() as locks:
        try:
            locks.enter_context(lock(resolved_path(output)))
        except LockedError as error:
            raise complain(
                f"`{output}` is being written by another run: {error}",
                "wait until it ends, or write to another file",
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise complain(f"cannot write `{output}`: {reason}", ELSEWHERE) from error
        return write_page(work, spec, output) if output.suffix == ".html" else file.write()


def _status(counts: Counts, arguments: Namespace) -> Exit:
    """Return no where nothing was kept that carries anybody; a fault of ours is reported as one."""
    if not counts.faults:
        return Exit.NO if counts.rows == counts.none_supported else Exit.YES
    from qps.reports.text.matrix_output import faults_in_words  # noqa: PLC0415

    print(
        phrase(
            "matrix.faults",
            version=arguments.version,
            faults=faults_in_words(counts.faults),
        ),
        file=sys.stderr,
    )
    return Exit.FAULT


def _warn_unlimited(matrix: ir.Matrix, unlimited: int, size: int, arguments: Namespace) -> None:
    """Warn of configurations that carry any number of users since they do nothing at all."""
    if unlimited:
        sink = Sink()
        sink.report(
            codes.NO_USERS,
            matrix.span,
            f"{unlimited:,} of {size:,} configurations have no load and no requirement: "
            "their capacity is unlimited",
            hint="drop them with `exclude`, or add requirements: `require { … }`",
        )
        show(sink.found, arguments)
