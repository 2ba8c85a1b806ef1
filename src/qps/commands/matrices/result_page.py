"""`qps report` of a matrix result that was written earlier: a page of its rows."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.revisions.provenance import origin_line
from qps.commands.terminal.console import Exit, complain
from qps.commands.terminal.output_files import write_text
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.extras import need_arrow
from qps.compiler.diagnostics.suggest import listed

RESULTS = (".parquet", ".csv", ".json")


def is_result(path: Path) -> bool:
    """Return whether a file is a matrix result, by its ending."""
    return path.suffix in RESULTS


def run(arguments: Namespace) -> Exit:
    """Write the page of one result."""
    path = _only(arguments)
    need_arrow(f"`{path}`")
    from qps.reports.pages.html_page import render_matrix  # noqa: PLC0415 - imports Arrow
    from qps.reports.pages.matrices.matrix_file import ResultError, read_result  # noqa: PLC0415
    from qps.reports.pages.matrices.matrix_page import MOST_ROWS, matrix_page  # noqa: PLC0415

    try:
        table = read_result(path, MOST_ROWS)
    except ResultError as error:
        raise complain(
            f"`{path}` {error}",
            "name a result of `qps matrix SPEC -o FILE`; use `where` in the matrix for fewer rows",
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"cannot read `{path}`: {reason}", "check the path") from error
    page = matrix_page(table, path.name)
    output: Path = arguments.output or Path(path.with_suffix(".html").name)
    write_text(output, render_matrix(page, origin_line(())))
    if not arguments.quiet:
        print("\n".join([page.answer, *page.leads()]))
        print(f"\n{output} written", file=sys.stderr)
    return Exit.YES if page.is_answered else Exit.NO


def _only(arguments: Namespace) -> Path:
    """Return the file, which stands alone: a result has been solved."""
    if len(arguments.files) > 1:
        raise complain(
            "a matrix result cannot be combined with other files",
            "name one file, such as `rows.parquet`",
        )
    given = {
        "--scenario": arguments.scenario,
        "--set": arguments.set,
        "--figure": arguments.figure,
    }
    wrong = [flag for flag, value in given.items() if value]
    if wrong:
        raise complain(
            f"{listed(wrong, 'and')} cannot be used with a matrix result",
            "change the matrix in the spec and run `qps matrix` again",
        )
    path: Path = arguments.files[0]
    return path


def too_many(most: int) -> QpsError:
    """Return the error for more rows than a page holds."""
    return complain(
        f"a page holds at most {most:,} rows, and the matrix has more",
        "filter rows with `where` or `exclude`, or write `-o results.parquet`",
    )
