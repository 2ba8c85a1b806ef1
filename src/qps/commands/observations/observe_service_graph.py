"""`qps observe service-graph`: the system that metrics of a service mesh or of Tempo show."""

from __future__ import annotations

from argparse import Namespace

from qps.commands.observations.written_systems import write_system
from qps.commands.terminal.console import Exit, complain
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.service_graphs.metric_graph import metric_system


def run(arguments: Namespace) -> Exit:
    """Write the spec of a system, or bring one up to date."""
    try:
        found = metric_system(arguments.files, arguments.client)
    except DataError as error:
        raise complain(error.message, error.hint) from error
    return write_system(found.graph, found.costs, arguments)
