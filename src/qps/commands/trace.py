"""`qps trace`: recorded packets, their jitter, and the buffers that make up for it."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.terminal.console import Exit, print_json, width_of
from qps.reports.text.measurements.trace_limits import read_limits, read_time, read_unit
from qps.reports.text.measurements.trace_text import traces_text
from qps.reports.text.schemas.json_encoding import as_json
from qps.solver.traces.recorded_jitter import load_trace
from qps.solver.traces.trace_answers import trace_answers


def run(arguments: Namespace) -> Exit:
    """Tell the jitter of traces; status 1 where limits were given that no buffer meets."""
    limits = read_limits(arguments.latency, arguments.gaps, arguments.buffer, arguments.threshold)
    period, unit = read_time(arguments.period, "--period"), read_unit(arguments.unit)
    view = trace_answers([load_trace(path, period, unit) for path in arguments.files], limits)
    if arguments.format == "json":
        print_json(as_json(view))
    else:
        is_markdown = arguments.format == "markdown"
        sys.stdout.write(traces_text(view, markdown=is_markdown, width=width_of(sys.stdout)))
    is_checked = arguments.latency is not None or arguments.gaps is not None
    return Exit.NO if is_checked and not view.acceptable else Exit.YES
