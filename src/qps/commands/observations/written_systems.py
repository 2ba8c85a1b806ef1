"""A system that was observed, by traces or by metrics: as a new spec, or into one that is there."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from qps.commands.observations.update_spec import existing_spec, update
from qps.commands.observations.written_specs import laid_out, refuse_existing
from qps.commands.terminal.console import Exit, complain, width_of
from qps.commands.terminal.output_files import write_text
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces.call_graph import CallGraph
from qps.compiler.measurement.traces.cpu_costs import CpuCosts
from qps.compiler.syntax import ast
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.systems.observed_system import observed_system
from qps.reports.text.systems.system_spec import system_spec, system_text
from qps.reports.text.systems.updates.known_names import known_names
from qps.reports.text.systems.updates.request_spreads import spreads_of
from qps.reports.text.systems.updates.spec_update import SpecUpdate, spec_update
from qps.reports.text.words.phrases import phrase


def write_system(graph: CallGraph, costs: CpuCosts | None, arguments: Namespace) -> Exit:
    """Write the spec of a graph, and print what was read; or bring an existing spec up to date."""
    refuse_existing(arguments.output)
    module = existing_spec(arguments)
    names = [file.name for file in arguments.files]
    if module is not None:
        _explain(graph, costs, arguments)
        return update(_updated(module, graph, names, costs, arguments), arguments)
    text = laid_out(system_spec(graph, names, costs))
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)
    _explain(graph, costs, arguments)
    return Exit.YES


def _updated(
    module: ast.Module,
    graph: CallGraph,
    files: Sequence[str],
    costs: CpuCosts | None,
    arguments: Namespace,
) -> SpecUpdate:
    """Return the spec with the numbers of new traces, under the names that it has."""
    system = observed_system(graph, tuple(map(shortened, files)), costs, known_names(module, graph))
    text = laid_out(system_text(system))
    try:
        return spec_update(module, text, spreads_of(system), arguments.replace)
    except DataError as error:
        raise complain(error.message, error.hint) from error


def _explain(graph: CallGraph, costs: CpuCosts | None, arguments: Namespace) -> None:
    """Print what was read, what is wrong with it, and what to do next."""
    notes = [*graph.notes, *(() if costs is None else costs.notes)]
    if arguments.output is not None:
        services, routes = len(graph.services), len(graph.routes)
        notes += [
            phrase(
                "observe.system_written",
                output=arguments.output,
                services=services,
                s="s" * (services != 1),
                routes=routes,
                rs="s" * (routes != 1),
            )
        ]
    for note in notes:
        if not arguments.quiet or note.startswith("warning"):
            lines = wrapped(note, width_of(sys.stderr), "", "  ")
            print("\n".join(lines if sys.stderr.isatty() else [note]), file=sys.stderr)
