"""The work of a matrix: where its rows are solved, in which order they come, their count."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.commands.terminal.console import complain
from qps.commands.terminal.progress import Progress
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
    from qps.solver.matrix.execution.matrix_run import Parts, Work
    from qps.solver.matrix.row_tables import Counts

_MOST_SORTED = 50_000_000


class MatrixWork(Struct, frozen=True, kw_only=True):
    """The configurations of a matrix to solve, on this machine or on workers."""

    compiled: CompiledMatrix
    arguments: Namespace

    def solved(self) -> Generator[pa.Table]:
        """Yield all rows in their order, none of them kept."""
        from qps.solver.matrix.execution.matrix_run import (  # noqa: PLC0415
            Parts,
            as_done,
            content_bytes,
            in_turn,
            read_part,
        )

        parts = Parts(self.compiled, self.fingerprint, Path())
        try:
            with self.executor(parts, None) as work, self.progress() as progress:
                for (start, stop), made in in_turn(as_done(work, parts.places())):
                    yield read_part(content_bytes(made))
                    progress.advance(stop - start)
        except OSError as error:
            raise complain(
                f"cannot store partial results in `{gettempdir()}`: {error.strerror or error}",
                "free disk space, or set `TMPDIR` to another folder",
            ) from error

    def summary(self, counts: Counts) -> str:
        """Return in words how many rows there are, and what was left out."""
        from qps.reports.text.matrix_output import summary  # noqa: PLC0415 - imports Arrow

        return summary(self.compiled, counts)

    def counted(self) -> CountedRows:
        """Return what counts the rows, of which there are none yet."""
        from qps.solver.matrix.row_tables import Counts  # noqa: PLC0415

        return CountedRows(Counts())

    def in_order(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield tables sorted as the matrix requests, which needs all of them in memory."""
        import pyarrow as pa  # noqa: PLC0415

        from qps.solver.matrix.row_tables import in_order, one_by_one_in, statistics_table  # noqa: PLC0415

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
        yield statistics_table(found, sum(map(one_by_one_in, gathered)))

    @property
    def fingerprint(self) -> str:
        """Tells parts of this matrix, as this version solves it, from all others."""
        from qps.build import build  # noqa: PLC0415

        return f"{build()}:{self.compiled.fingerprint}"

    def progress(self) -> Progress:
        """Return the progress over all configurations."""
        return Progress(total=self.compiled.size, quiet=self.arguments.quiet)

    @contextmanager
    def executor(self, parts: Parts, folder: Path | None) -> Iterator[Work]:
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
            hint = phrase("matrix.worker_memory") if on_cores else phrase("matrix.start_workers")
            stored = (
                phrase("matrix.continue_with_resume", stored=parts_stored(parts))
                if folder is not None and parts.part_count
                else ""
            )
            raise complain(
                f"{where} that solve parts of {parts.size:,} rows: {error}", hint + stored
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


def parts_stored(parts: Parts) -> str:
    """Return how many parts are there, in words."""
    return (
        phrase("matrix.part_stored")
        if parts.part_count == 1
        else phrase("matrix.parts_stored", count=parts.part_count)
    )


class CountedRows(Struct):
    """Counts rows on their way."""

    counts: Counts

    def count(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Yield tables as they are, counted."""
        from qps.solver.matrix.row_tables import counts_of  # noqa: PLC0415

        for table in tables:
            self.counts += counts_of(table)
            yield table
