"""`qps report`: one self-contained HTML file, and its answer on the screen."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.console import Exit, complain
from qps.commands.solving import solved
from qps.compiler import ir
from qps.compiler.suggest import did_you_mean, listed
from qps.reports.html import render_html
from qps.reports.page import page_view
from qps.reports.text import solve_text, title_of
from qps.solver.claims import Laboratory
from qps.solver.figures import draw


def run(arguments: Namespace) -> Exit:
    """Write the report of one spec."""
    if arguments.output is not None:
        _refuse_other_endings(arguments.output)
    found = solved(arguments)
    chosen = _figures(found.model, arguments.figure)
    laboratory = Laboratory(found.model)
    claims = () if arguments.figure else laboratory.results()
    figures = [draw(laboratory, figure) for figure in chosen]
    output = arguments.output or Path(f"{found.model.name}.html")
    page = page_view(
        found.model,
        found.configuration,
        found.view,
        found.solution,
        claims,
        figures,
        figures_only=bool(arguments.figure),
    )
    try:
        output.write_text(render_html(page), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"`{output}` cannot be written: {reason}", "choose another place") from error
    if arguments.figure:
        print(f"{len(figures)} figure{'s' * (len(figures) > 1)} written to {output}")
        return Exit.YES
    if not arguments.quiet:
        sys.stdout.write(solve_text(found.view, found.solution, title_of(found.model)))
        print(f"\nreport written to {output}", file=sys.stderr)
    return Exit.NO if found.solution.largest_acceptable is None else Exit.YES


def _refuse_other_endings(output: Path) -> None:
    """Refuse a file whose ending promises something else than a page."""
    if output.suffix.lower() not in (".html", ".htm", ""):
        raise complain(
            f"a report is an HTML page: `{output}` would be no {output.suffix[1:].upper()} file",
            f"write `-o {output.with_suffix('.html')}`; a browser prints that, as PDF too",
        )


def _figures(model: ir.Model, names: list[str]) -> list[ir.Figure]:
    """Return the figures of a model, or those that were asked for."""
    known = {figure.name: figure for figure in model.figures}
    for name in names:
        if name not in known:
            raise complain(
                f"{model.file} has no figure `{name}`",
                did_you_mean(name, list(known)) or f"there is {listed(list(known), 'and')}"
                if known
                else "declare one: `figure name { over N in 2..100; line station.cpu.load }`",
            )
    return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())
