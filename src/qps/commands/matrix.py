"""`qps matrix`: every configuration of a matrix, as a table or in a file."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from qps.commands.cache.matrix_run_cache import FinishedRun, finished, keep, key_of
from qps.commands.cache.spec_cache import load
from qps.commands.result_page import RESULTS, too_many
from qps.commands.revisions.provenance import made_line
from qps.commands.terminal.console import Exit, complain, show, width_of
from qps.commands.terminal.output_files import refuse_inputs, write_text
from qps.commands.terminal.progress import Progress
from qps.commands.terminal.signals import ended_in_order
from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.extras import need_arrow
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.pipeline import Spec
from qps.links import resolved_path

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
    from qps.solver.matrix.execution.matrix_run import Parts, Work
    from qps.solver.matrix.row_tables import Counts

_SHOWN = 50
_MOST_COMPARED = 100_000
"""Rows among which the cheapest and the best are looked for before any are printed."""
_ELSEWHERE = "choose another path"
_CLUSTER = re.compile(r"dask://[^\s/:]+:[0-9]{1,5}|dask://\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}")
"""The address of a scheduler, by its name or number; in brackets where that has colons."""
_MOST_SORTED = 50_000_000


def run(arguments: Namespace) -> Exit:
    """Solve one matrix."""
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    matrix = _changed(spec, _chosen(spec.model, arguments.name), arguments.set)
    output = _output(arguments)
    if output is not None:
        refuse_inputs(output, spec.files)
    _check_place(arguments)
    key = "" if output is None else key_of(spec, matrix.name, arguments.set, output)
    if arguments.resume and output is not None and not _folder_of_parts(output).exists():
        before = finished(key, output)
        if before is not None:
            return _told_again(before, matrix, arguments)
    need_arrow(f"matrix `{matrix.name}`", matrix.span)
    from qps.solver.matrix.matrix_compiler import compile_matrix  # noqa: PLC0415 - imports the algebra
    from qps.solver.uncertainty.confidence_interface import promising  # noqa: PLC0415
    from qps.solver.uncertainty.sampled_rows import drawn_in_rows  # noqa: PLC0415

    with Progress(total=None, quiet=arguments.quiet, unit=None, label="compiling"):
        compiled = compile_matrix(spec.model, matrix, drawn=drawn_in_rows, promising=promising)
    _tell_unlimited(matrix, compiled.unlimited, compiled.size, arguments)
    job = _Job(compiled=compiled, arguments=arguments, output=output, key=key, spec=spec)
    with ended_in_order():
        counts = job.show() if output is None else _written(job, output)
    return _status(counts, arguments)


def _told_again(run: FinishedRun, matrix: ir.Matrix, arguments: Namespace) -> Exit:
    """Tell what a run that has ended came to, as it did."""
    _tell_unlimited(matrix, run.unlimited, run.size, arguments)
    if not arguments.quiet:
        print(f"{run.summary}\n{arguments.output} is up to date", file=sys.stderr)
    return Exit.YES if run.carries_anybody else Exit.NO


def _folder_of_parts(output: Path) -> Path:
    return output.with_name(output.name + ".parts")


def _written(job: _Job, output: Path) -> Counts:
    """Write a file that no other run writes meanwhile."""
    from qps.whole_files import LockedError, lock  # noqa: PLC0415

    with ExitStack() as held:
        try:
            held.enter_context(lock(resolved_path(output)))
        except LockedError as error:
            raise complain(
                f"`{output}` is being written by another run: {error}",
                "wait until it ends, or write to another file",
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise complain(f"cannot write `{output}`: {reason}", _ELSEWHERE) from error
        return job.write_page(output) if output.suffix == ".html" else job.write(output)


def _status(counts: Counts, arguments: Namespace) -> Exit:
    """Return no where nothing was kept that carries anybody; a fault of ours is told as one."""
    if not counts.faults:
        return Exit.NO if counts.rows == counts.nobody else Exit.YES
    from qps.reports.text.matrix_output import faults_in_words  # noqa: PLC0415

    print(
        f"qps {arguments.version} failed: {faults_in_words(counts.faults)}.\nAll other "
        "rows are correct. Please report it with the spec and this message.",
        file=sys.stderr,
    )
    return Exit.FAULT


def _tell_unlimited(matrix: ir.Matrix, unlimited: int, size: int, arguments: Namespace) -> None:
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


def _chosen(model: ir.Model, name: str | None) -> ir.Matrix:
    """Return the matrix that was named, or the only one."""
    names = [matrix.name for matrix in model.matrices]
    if not names:
        raise complain(
            f"{model.file} has no matrix",
            "declare one: `matrix name { station in [a, b] }`",
        )
    if name is None and len(names) > 1:
        raise complain(f"{model.file} has several matrices", f"choose {listed(names, 'or')}")
    for matrix in model.matrices:
        if name in (None, matrix.name):
            return matrix
    raise complain(
        f"{model.file} has no matrix named `{name}`",
        did_you_mean(name or "", names) or f"choose {listed(names, 'or')}",
    )


def _changed(spec: Spec, matrix: ir.Matrix, settings: list[str]) -> ir.Matrix:
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


def _output(arguments: Namespace) -> Path | None:
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


def _check_place(arguments: Namespace) -> None:
    """Refuse a place of work that there cannot be."""
    where, workers = arguments.on, arguments.workers
    if workers is not None and workers < 1:
        raise complain(
            f"`--workers` must be at least 1, not {workers}", "leave it out to use all cores"
        )
    if where not in ("cores", "dask") and not _CLUSTER.fullmatch(where):
        raise complain(
            f"unknown value `{where}` of `--on`",
            "use `local_processes`, `dask` or an address such as `dask://10.0.0.5:8786`",
        )


class _Job(Struct, kw_only=True):
    """One matrix of a spec to solve, and where its rows go; `key` tells the run from all others."""

    compiled: CompiledMatrix
    arguments: Namespace
    output: Path | None
    key: str
    spec: Spec

    # -- a table on the screen -----------------------------------------------------------

    def show(self) -> Counts:
        """Print rows: as a table the first ones, in other formats all of them."""
        from qps.reports.text.matrix_output import csv_text, json_texts  # noqa: PLC0415

        counted = self._counted()
        tables = counted.count(self._sorted(self._solved()))
        if self.arguments.format == "json":
            for text in json_texts(self.compiled, tables):
                sys.stdout.write(text)
        elif self.arguments.format == "csv":
            for data in csv_text(self.compiled, tables):
                sys.stdout.write(data.decode())
        else:
            self._print_table(tables, counted)
        return counted.counts

    def _print_table(self, tables: Iterable[pa.Table], counted: _Counted) -> None:
        import pyarrow as pa  # noqa: PLC0415

        from qps.reports.pages.matrices.matrix_facts import matrix_facts  # noqa: PLC0415
        from qps.reports.text.matrix_output import matrix_layout  # noqa: PLC0415
        from qps.reports.text.words.labels import labels_of  # noqa: PLC0415
        from qps.solver.matrix.row_tables import schema_of, telling  # noqa: PLC0415

        schema = schema_of(self.compiled)
        gathered, count = [schema.empty_table()], 0
        for table in tables:
            if count < _SHOWN or count + len(table) <= _MOST_COMPARED:
                gathered.append(table.cast(schema))
            count += len(table)
        found = pa.concat_tables(gathered)
        first, counts = found.slice(0, _SHOWN), counted.counts
        is_whole = len(found) == counts.rows
        facts = [("Result", self._summary(counts))]
        if is_whole:
            facts = matrix_facts(telling(found, counts.one_by_one), self.compiled.model.file)
        is_markdown, width = self.arguments.format == "markdown", width_of(sys.stdout)
        layout = matrix_layout(
            self.compiled,
            first,
            facts=facts,
            left=counts.rows - len(first),
            labels=self.spec.model.once(labels_of),
            width=None if is_markdown else width,
        )
        sys.stdout.write(layout.printed(markdown=is_markdown, width=width))

    def _solved(self) -> Generator[pa.Table]:
        """Yield all rows in their order, none of them kept."""
        from qps.solver.matrix.execution.matrix_run import Parts, as_done, in_turn, read_part, taken  # noqa: PLC0415

        parts = Parts(self.compiled, self._fingerprint, Path())
        try:
            with self._work(parts, None) as work, self._progress() as progress:
                for (start, stop), made in in_turn(as_done(work, parts.places())):
                    yield read_part(taken(made))
                    progress.advance(stop - start)
        except OSError as error:
            raise complain(
                f"cannot store partial results in `{gettempdir()}`: {error.strerror or error}",
                "free disk space, or set `TMPDIR` to another folder",
            ) from error

    # -- a file --------------------------------------------------------------------------

    def write(self, output: Path) -> Counts:
        """Write all rows to a file, part by part where there are many."""
        from qps.reports.text.matrix_output import write  # noqa: PLC0415
        from qps.solver.matrix.execution.matrix_run import Parts  # noqa: PLC0415

        folder = _folder_of_parts(output)
        parts = Parts(self.compiled, self._fingerprint, folder)
        counted = self._counted()
        if parts.count == 1 and not folder.exists():
            tables = self._solved()
        else:
            self._refuse_others(parts)
            tables = self._kept(parts)
        try:
            with closing(tables):
                write(self.compiled, counted.count(self._sorted(tables)), output)
        except OSError as error:
            raise self._unwritable(output, error, parts) from error
        except KeyboardInterrupt:
            if folder.exists():
                print(
                    f"interrupted: {parts.kept:,} of {parts.count:,} parts are stored in "
                    f"{folder}\nto continue, repeat the command with `--resume`",
                    file=sys.stderr,
                )
            raise
        parts.remove()
        self._keep_that_it_ended(output, counted.counts)
        if not self.arguments.quiet:
            told = self._summary(counted.counts)
            print(f"{told}\nwritten to {output}", file=sys.stderr)
        return counted.counts

    def _keep_that_it_ended(self, output: Path, counts: Counts) -> None:
        """Keep it for `--resume`, while nobody else writes the file; a fault is looked at anew."""
        if not counts.faults:
            run = FinishedRun(
                size=self.compiled.size,
                unlimited=self.compiled.unlimited,
                summary=self._summary(counts),
                carries_anybody=counts.rows != counts.nobody,
            )
            keep(self.key, output, run)

    def write_page(self, output: Path) -> Counts:
        """Write a page of all rows; where they are more than a page holds, none."""
        from qps.reports.pages.html_page import render_matrix  # noqa: PLC0415
        from qps.reports.pages.matrices.matrix_page import matrix_page  # noqa: PLC0415

        counted = self._counted()
        page = matrix_page(self._few_rows(counted), self.compiled.model.file)
        write_text(output, render_matrix(page, made_line([self.spec])))
        if not self.arguments.quiet:
            print("\n".join([page.answer, *page.leads()]), file=sys.stderr)
            print(f"written to {output}", file=sys.stderr)
        return counted.counts

    def _few_rows(self, counted: _Counted) -> pa.Table:
        """Return all rows in order, as many as a page holds; no more are solved than that."""
        import pyarrow as pa  # noqa: PLC0415

        from qps.reports.pages.matrices.matrix_page import MOST_ROWS  # noqa: PLC0415
        from qps.solver.matrix.row_tables import in_order, schema_of, telling  # noqa: PLC0415

        matrix, schema = self.compiled.matrix, schema_of(self.compiled)
        if self.compiled.size > MOST_ROWS and matrix.wanted is None and not matrix.excluded:
            raise too_many(MOST_ROWS)
        gathered = [schema.empty_table()]
        for table in counted.count(self._solved()):
            gathered.append(table.cast(schema))
            if counted.counts.rows > MOST_ROWS:
                raise too_many(MOST_ROWS)
        found = in_order(self.compiled, pa.concat_tables(gathered))
        return telling(found, counted.counts.one_by_one)

    def _refuse_others(self, parts: Parts) -> None:
        """Refuse to mix what is there with what comes."""
        if parts.kept and not self.arguments.resume:
            raise complain(
                f"`{parts.folder}` belongs to an interrupted run: {_kept(parts)}",
                "continue with `--resume`, or delete the folder",
            )

    def _kept(self, parts: Parts) -> Generator[pa.Table]:
        """Yield all rows in their order; each part is kept until the whole is written."""
        from qps.solver.matrix.execution.matrix_run import (  # noqa: PLC0415
            DamagedPartError,
            ForeignPartError,
            in_turn,
            read_part,
            solved_parts,
        )

        try:
            parts.folder.mkdir(parents=True, exist_ok=True)
            parts.clear()
            with self._work(parts, parts.folder) as work, self._progress() as progress:
                for (start, stop), path in in_turn(solved_parts(parts, work, self._tell_damaged)):
                    yield read_part(path)
                    progress.advance(stop - start)
        except ForeignPartError as foreign:
            raise complain(
                f"`{foreign.path}` belongs to another matrix, or the spec has changed",
                f"delete `{parts.folder}` and run again without `--resume`",
            ) from foreign
        except DamagedPartError as damaged:
            raise complain(
                f"`{damaged}` is damaged",
                "check the disk, then continue with `--resume`",
            ) from damaged
        except OSError as error:
            raise self._unwritable(parts.folder, error, parts) from error
        finally:
            with suppress(OSError):
                parts.folder.rmdir()  # where nothing is kept in it

    @staticmethod
    def _tell_damaged(path: Path) -> None:
        # Also where little is to be told: what was written was not what the disk gave back.
        print(f"{path} is damaged and is computed again", file=sys.stderr)

    def _unwritable(self, path: Path, error: OSError, parts: Parts) -> QpsError:
        reason = error.strerror or str(error)
        hint = _ELSEWHERE
        if not parts.kept:
            parts.remove()  # what stays behind would only puzzle
        else:
            hint = f"{_kept(parts)}: free disk space, then continue with `--resume`"
        return complain(f"cannot write `{path}`: {reason}", hint)

    # -- what all need ------------------------------------------------------------------

    def _summary(self, counts: Counts) -> str:
        from qps.reports.text.matrix_output import summary  # noqa: PLC0415 - imports Arrow

        return summary(self.compiled, counts)

    def _counted(self) -> _Counted:
        from qps.solver.matrix.row_tables import Counts  # noqa: PLC0415

        return _Counted(Counts())

    def _sorted(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield tables sorted as the matrix asks for, which needs all of them in memory."""
        import pyarrow as pa  # noqa: PLC0415

        from qps.solver.matrix.row_tables import in_order, one_by_one_in, telling  # noqa: PLC0415

        if not self.compiled.matrix.order:
            yield from tables
            return
        gathered: list[pa.Table] = []
        for table in tables:
            gathered.append(table)
            if sum(map(len, gathered)) > _MOST_SORTED:
                raise QpsError.single(
                    codes.NO_ANSWER,
                    self.compiled.matrix.span,
                    f"cannot sort more than {_MOST_SORTED:,} rows in memory",
                    hint="remove `order by`, or filter rows with `where`",
                )
        found = in_order(self.compiled, pa.concat_tables(gathered))
        yield telling(found, sum(map(one_by_one_in, gathered)))

    @property
    def _fingerprint(self) -> str:
        """Tells parts of this matrix, as this version solves it, from all others."""
        from qps.build import build  # noqa: PLC0415

        return f"{build()}:{self.compiled.fingerprint}"

    def _progress(self) -> Progress:
        return Progress(total=self.compiled.size, quiet=self.arguments.quiet)

    @contextmanager
    def _work(self, parts: Parts, folder: Path | None) -> Iterator[Work]:
        """Return where the rows are solved; processes of this machine put them into the folder."""
        from qps.solver.matrix.execution.dask_cluster import ClusterError  # noqa: PLC0415
        from qps.worker_processes import WorkersLostError  # noqa: PLC0415

        on_cores = self.arguments.on == "cores"
        try:
            with self._on_cores(parts, folder) if on_cores else self._on_dask(parts) as work:
                yield work
        except ClusterError as error:
            raise complain(str(error), "or remove `--on` to use this machine") from error
        except WorkersLostError as error:
            where = "processes" if on_cores else "workers"
            hint = (
                "memory is the most common cause: use fewer with `--workers`"
                if on_cores
                else "start workers of this version, or remove `--on` to use this machine"
            )
            kept = (
                f"; {_kept(parts)}, continue with `--resume`"
                if folder is not None and parts.kept
                else ""
            )
            raise complain(
                f"{where} that solve parts of {parts.size:,} rows: {error}", hint + kept
            ) from error

    def _on_cores(self, parts: Parts, folder: Path | None) -> AbstractContextManager[Work]:
        from qps.solver.matrix.execution.local_processes import on_this_machine  # noqa: PLC0415

        workers = self.arguments.workers
        return on_this_machine(self.compiled, parts.fingerprint, workers, parts.size, folder)

    def _on_dask(self, parts: Parts) -> AbstractContextManager[Work]:
        from qps.solver.matrix.execution.dask_cluster import on_dask  # noqa: PLC0415

        where, workers = self.arguments.on, self.arguments.workers
        address = None if where == "dask" else "tcp://" + where.removeprefix("dask://")
        return on_dask(self.compiled, parts.fingerprint, address, workers, _warn)


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


def _kept(parts: Parts) -> str:
    """Return how many parts are there, in words."""
    return "1 part is stored" if parts.kept == 1 else f"{parts.kept:,} parts are stored"


class _Counted(Struct):
    """Counts rows on their way."""

    counts: Counts

    def count(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Yield tables as they are, counted."""
        from qps.solver.matrix.row_tables import counts_of  # noqa: PLC0415

        for table in tables:
            self.counts += counts_of(table)
            yield table
