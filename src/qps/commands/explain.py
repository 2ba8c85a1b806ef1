"""`qps explain`: a number taken apart, or the meaning of a diagnostic's code."""

from __future__ import annotations

import re
import sys
from argparse import Namespace

from qps.commands.console import Exit, complain, print_json, show
from qps.compiler import codes
from qps.compiler.lower import lower
from qps.compiler.pipeline import load
from qps.reports.explain import explain
from qps.reports.text import explanation_text
from qps.reports.view import as_json
from qps.solver.modes import solve_model


def run(arguments: Namespace) -> Exit:
    """Explain a load, measure or axis of a spec."""
    if arguments.name is None:
        return _explain_code(str(arguments.file))
    spec = load(arguments.file)
    show(spec.warnings, arguments)
    configuration = spec.configuration(arguments.scenario, arguments.set)
    graph = lower(spec.model, configuration)
    at = arguments.at
    if at is None:
        # What users need may differ by mode: then the worst one is what the answer is about.
        solution = solve_model(spec.model, configuration)
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
