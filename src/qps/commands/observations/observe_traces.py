"""`qps observe traces`: the system that distributed traces show, as a spec."""

from __future__ import annotations

from argparse import Namespace

from qps.commands.observations.update_spec import existing_spec
from qps.commands.observations.written_specs import refuse_existing
from qps.commands.observations.written_systems import write_system
from qps.commands.terminal.console import Exit, complain
from qps.commands.terminal.progress import Progress
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces.call_graph import CallGraph
from qps.compiler.measurement.traces.cpu_costs import CpuCosts, cpu_costs
from qps.compiler.measurement.traces.cpu_tables import cpu_table
from qps.compiler.measurement.traces.observed_traces import observed_traces
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Write the spec of a system."""
    refuse_existing(arguments.output)
    existing_spec(arguments)  # errors before files are read, which may take long
    try:
        with Progress(total=None, quiet=arguments.quiet, unit=None) as progress:
            graph = observed_traces(
                arguments.files,
                clients=arguments.client,
                advance=lambda spans: progress.advance(
                    spans, phrase("observe.spans_read", spans=int(progress.done))
                ),
            )
        costs = _costs(graph, arguments)
    except DataError as error:
        raise complain(error.message, error.hint) from error
    return write_system(graph, costs, arguments)


def _costs(graph: CallGraph, arguments: Namespace) -> CpuCosts | None:
    """Return the processor time of each service, where a table says it."""
    if arguments.cpu is None:
        if arguments.cpu_unit is not None:
            raise complain("`--cpu-unit` requires `--cpu FILE.csv`", "add `--cpu FILE.csv`")
        return None
    services = [one.name for one in graph.services]
    costs = cpu_costs(cpu_table(arguments.cpu, arguments.cpu_unit), services)
    if not costs.services:
        names = listed(services[:5], "or")
        raise DataError(
            f"`{costs.file}` has no CPU and requests of a service in the traces, such as {names}",
            "name services there as the traces do",
        )
    return costs
