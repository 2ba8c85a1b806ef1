"""`qps explain`: a number taken apart, or the meaning of a diagnostic's code."""

from __future__ import annotations

import re
import sys
from argparse import Namespace

from qps.commands.console import Exit, complain, print_json, show
from qps.commands.kept_specs import load
from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.lower.certainty_asked import as_stated
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec
from qps.reports.text.explaining import explain
from qps.reports.text.explanation import explanation_text
from qps.reports.text.figure_text import figure_json, figure_text
from qps.reports.text.view import as_json
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw
from qps.solver.odds.promising import promising


def run(arguments: Namespace) -> Exit:
    """Explain a load, measure or axis of a spec."""
    if arguments.name is None:
        return _explain_code(str(arguments.file))
    spec = load(arguments.file).with_machines_of(arguments.set)
    show(spec.warnings, arguments)
    drawn = {figure.name: figure for figure in spec.model.figures}
    if arguments.name in drawn:
        return _explain_figure(spec, drawn[arguments.name], arguments)
    configuration = spec.configuration(arguments.scenario, arguments.set)
    graph = lower(as_stated(spec.model, configuration), configuration)
    at = arguments.at
    if at is None:
        # What users need may differ by mode: then the worst one is what the answer is about.
        solution = solve_model(promising(spec.model, configuration), configuration)
        graph, at = solution.graph, solution.at
    elif not graph.low <= at <= graph.high:
        raise complain(
            f"{graph.population} = {at} lies outside the range {graph.low}..{graph.high}"
        )
    modes = tuple(mode.name for mode in spec.model.modes)
    explanation = explain(graph, arguments.name, at, modes)
    if arguments.format == "json":
        print_json(as_json(explanation))
    else:
        markdown = arguments.format == "markdown"
        sys.stdout.write(explanation_text(explanation, markdown=markdown))
    return Exit.YES


def _explain_figure(spec: Spec, figure: ir.Figure, arguments: Namespace) -> Exit:
    """Tell a figure in numbers: which load leads from where to where, and its lines."""
    if arguments.set or arguments.scenario or arguments.at is not None:
        raise complain(
            "a figure says itself what changes along it: `--set`, `--scenario` and `--at` do not",
            "add a line to the figure, such as `line … with deletion = off`",
        )
    drawn = draw(ClaimRunner(model=spec.model), figure)
    population = spec.model.population.name
    if arguments.format == "json":
        print_json(as_json(figure_json(drawn, population)))
    else:
        markdown = arguments.format == "markdown"
        sys.stdout.write(figure_text(drawn, population, markdown=markdown))
    return Exit.YES


def _explain_code(word: str) -> Exit:
    """Tell what a code such as QPS0301 means."""
    for code in codes.ALL:
        if word.upper() == code.id or word == code.slug:
            print(f"{code.id} {code.slug} ({code.severity.value})\n  {code.summary}")
            return Exit.YES
    if re.fullmatch(r"(?i)qps\d+", word):
        raise complain(f"there is no diagnostic `{word}`", "docs/errors.md lists them all")
    raise complain(
        "what is to be explained?",
        f"name it: `qps explain {word} station.cpu`, or give a code: `qps explain QPS0301`",
    )
