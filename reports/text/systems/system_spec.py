"""A spec of the system that traces show: what they hold with its source, what not as a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.traces.call_graph import CallGraph
from qps.compiler.measurement.traces.cpu_costs import CpuCosts
from qps.reports.text.systems.claim_lines import claim_lines
from qps.reports.text.systems.machine_lines import (
    component_lines,
    machine_lines,
    processor_time_lines,
    topology_lines,
)
from qps.reports.text.systems.observed_system import System, observed_system
from qps.reports.text.systems.stream_lines import StreamLines
from qps.reports.text.systems.traffic_lines import head_lines, traffic_lines


def system_spec(graph: CallGraph, files: Sequence[str], costs: CpuCosts | None = None) -> str:
    """Return the text of a spec, to be laid out by `qps.compiler.syntax.format`."""
    return system_text(observed_system(graph, tuple(map(shortened, files)), costs))


def system_text(system: System) -> str:
    """Return the text of the spec of a system."""
    return "\n".join(_lines(system)) + "\n"


def _lines(system: System) -> Iterator[str]:
    yield from head_lines(system)
    yield from traffic_lines(system)
    yield from processor_time_lines(system)
    yield from machine_lines(system)
    yield from component_lines(system)
    yield from topology_lines(system)
    streams = StreamLines(system.graph, system.names)
    for number in range(len(system.graph.routes)):
        yield ""
        yield from streams.lines(number)
    yield from claim_lines(system)
