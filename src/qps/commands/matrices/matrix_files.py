"""Files of the rows of a matrix, and their parts, which an interrupted run leaves for the next."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.commands.cache.matrix_run_cache import FinishedRun, store_run
from qps.commands.matrices.matrix_work import MatrixWork, parts_stored
from qps.commands.terminal.console import complain
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    import pyarrow as pa

    from qps.solver.matrix.execution.matrix_run import Parts
    from qps.solver.matrix.row_tables import Counts

ELSEWHERE = phrase("matrix.choose_another")


def folder_of_parts(output: Path) -> Path:
    """Return where the parts of a file are stored until it is written as a whole."""
    return output.with_name(output.name + ".parts")


class MatrixFile(Struct, frozen=True, kw_only=True):
    """A file of all rows of a matrix; `key` distinguishes its run from all others."""

    work: MatrixWork
    output: Path
    key: str

    def write(self) -> Counts:
        """Write all rows to a file, part by part where there are many."""
        from qps.reports.text.matrix_output import write  # noqa: PLC0415
        from qps.solver.matrix.execution.matrix_run import Parts  # noqa: PLC0415

        folder = folder_of_parts(self.output)
        parts = Parts(self.work.compiled, self.work.fingerprint, folder)
        counted = self.work.counted()
        if parts.count == 1 and not folder.exists():
            tables = self.work.solved()
        else:
            self._refuse_others(parts)
            tables = self._stored(parts)
        try:
            with closing(tables):
                write(self.work.compiled, counted.count(self.work.in_order(tables)), self.output)
        except OSError as error:
            raise self._unwritable(self.output, error, parts) from error
        except KeyboardInterrupt:
            if folder.exists():
                print(
                    phrase(
                        "matrix.interrupted",
                        done=parts.part_count,
                        count=parts.count,
                        folder=folder,
                    ),
                    file=sys.stderr,
                )
            raise
        parts.remove()
        self._keep_finished(counted.counts)
        if not self.work.arguments.quiet:
            summary = self.work.summary(counted.counts)
            print(
                phrase("matrix.summary_written", summary=summary, output=self.output),
                file=sys.stderr,
            )
        return counted.counts

    def _keep_finished(self, counts: Counts) -> None:
        """Keep it for `--resume`, while nobody else writes the file; a fault is looked at anew."""
        if not counts.faults:
            run = FinishedRun(
                size=self.work.compiled.size,
                unlimited=self.work.compiled.unlimited,
                summary=self.work.summary(counts),
                supports_users=counts.rows != counts.none_supported,
            )
            store_run(self.key, self.output, run)

    def _refuse_others(self, parts: Parts) -> None:
        """Refuse to mix what is there with what comes."""
        if parts.part_count and not self.work.arguments.resume:
            raise complain(
                f"`{parts.folder}` belongs to an interrupted run: {parts_stored(parts)}",
                "continue with `--resume`, or delete the folder",
            )

    def _stored(self, parts: Parts) -> Generator[pa.Table]:
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
            with self.work.executor(parts, parts.folder) as work, self.work.progress() as progress:
                for (start, stop), path in in_turn(solved_parts(parts, work, self._report_damaged)):
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
    def _report_damaged(path: Path) -> None:
        # Also where little is to be reported: what was written was not what the disk gave back.
        print(phrase("matrix.damaged_part", path=path), file=sys.stderr)

    def _unwritable(self, path: Path, error: OSError, parts: Parts) -> QpsError:
        reason = error.strerror or str(error)
        hint = ELSEWHERE
        if not parts.part_count:
            parts.remove()  # what stays behind would only puzzle
        else:
            hint = phrase("matrix.free_disk_space", stored=parts_stored(parts))
        return complain(f"cannot write `{path}`: {reason}", hint)
