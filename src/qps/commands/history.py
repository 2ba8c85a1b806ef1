"""`qps history`: the answer of a spec over the revisions of its repository."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path, PurePosixPath

from qps.commands.cache.spec_cache import check_file
from qps.commands.terminal.console import Exit, complain, print_json, width_of
from qps.commands.terminal.output import style
from qps.commands.terminal.output_files import refuse_inputs, write_text
from qps.commands.terminal.progress import Progress
from qps.links import resolved_path
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import PLAIN, labels_of
from qps.reviewing.git_command import refused
from qps.reviewing.history_picture import history_page, history_svg
from qps.reviewing.history_view import RevisionState, history_text
from qps.reviewing.repository import top_for
from qps.reviewing.revisions import history


def run(arguments: Namespace) -> Exit:
    """Tell what a spec answered at each revision that may have moved it."""
    output: Path | None = arguments.output
    if output is not None and output.suffix not in (".svg", ".html"):
        raise complain(f"cannot draw to `{output}`", "write `-o history.svg` or `-o history.html`")
    if arguments.most < 1:
        raise complain("`--limit` must be at least 1", "such as `--limit 20`")
    file: Path = arguments.file
    own = resolved_path(file.absolute().parent) / file.name
    top = top_for([own])
    if top is None or not own.is_relative_to(top):
        raise refused(
            f"`{file}` is not in a git repository",
            "`qps history` reads the Git history of the file",
        )
    if output is not None:
        refuse_inputs(output, [file])
    way = PurePosixPath(own.relative_to(top).as_posix())
    with Progress(total=None, quiet=arguments.quiet, unit=None, label="revisions"):
        found = history(top, way, arguments.since, arguments.most)
    if output is not None:
        write_text(output, history_svg(found) if output.suffix == ".svg" else history_page(found))
    if arguments.format == "json":
        print_json(as_json(found))
    else:
        spec = check_file(file).value
        labels = PLAIN if spec is None else spec.model.derived(labels_of)
        is_markdown, width = arguments.format == "markdown", width_of(sys.stdout)
        text = history_text(found, labels=labels, markdown=is_markdown, width=width)
        style(sys.stdout, text)
    has_any = any(point.state is RevisionState.ANSWERS for point in found.points)
    return Exit.YES if has_any else Exit.NO
