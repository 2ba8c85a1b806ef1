"""`qps explain --network FILE`: the queueing network of a spec."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.arguments.planned_load import at_month
from qps.commands.cache.spec_cache import load
from qps.commands.terminal.console import Exit, complain, outside_range, print_json, show, width_of
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.lowering import lower
from qps.reports.text.explanations.network_text import network_text
from qps.reports.text.explanations.network_view import network_view
from qps.reports.text.schemas.json_encoding import as_json
from qps.solver.answers.worst_mode import at_worst_moment


def explain_network(arguments: Namespace) -> Exit:
    """Print the network of a spec in one configuration; nothing is solved for it."""
    if arguments.name is not None:
        raise complain(
            f"`--network` explains a whole spec, not `{arguments.name}`",
            f"either `qps explain --network {arguments.file}`, or without `--network`",
        )
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    arguments = at_month(spec, arguments)
    configuration = spec.configuration(arguments.scenario, arguments.set)
    at: int | None = arguments.at
    if at is not None:
        configuration = at_worst_moment(spec.model, configuration, at)
    graph = lower(as_stated(spec.model, configuration), configuration)
    if at is not None and not graph.low <= at <= graph.high:
        raise outside_range(str(graph.population), at, graph.low, graph.high)
    if arguments.format == "json":
        print_json(as_json(network_view(graph, spec.model.file, at)))
    else:
        scenarios = [f"scenario {name}" for name in arguments.scenario]
        place = ", ".join([spec.model.file, *scenarios, *arguments.set])
        markdown = arguments.format == "markdown"
        sys.stdout.write(
            network_text(graph, place, at, markdown=markdown, width=width_of(sys.stdout))
        )
    return Exit.YES
