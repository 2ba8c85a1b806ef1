"""What is said of a closed load test whose columns contradict each other, or cannot be read."""

from __future__ import annotations

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.measurement.scalability.closed_tables import ClosedTable

CONTRADICTION_HINT = (
    "check the unit of the response times, and that the column counts all clients; the test "
    "must be closed (no fixed request rate) and count only answered requests"
)
MISSED_TIME_HINT = "name the columns `latency in ms` and `p99 in ms`, or remove them"
CPU_HINT = "remove the column, or measure the resource that is busy at the peak"


def contradiction_text(table: ClosedTable) -> str:
    """Return which response time contradicts Little's law."""
    run = table.contradiction
    assert run is not None
    return (
        f"throughput and response time in `{table.file}` contradict each other: in line "
        f"{run.line}, {run.clients:,} {table.by} imply a response time of "
        f"{_milliseconds(run.expected)} (Little's law, minus think time), but the table has "
        f"{_milliseconds(run.measured)}; the fit uses only the throughput"
    )


def missed_text(table: ClosedTable) -> str:
    """Return which columns look like response times and were not used."""
    one = len(table.missed) == 1
    named = listed(table.missed, "and")
    verb = "looks like a response time and is" if one else "look like response times and are"
    return f"column{'s' * (not one)} {named} of `{table.file}` {verb} not used"


def cpu_text(table: ClosedTable) -> str:
    """Return that processor times were not used, and why."""
    return (
        f"processor time per {table.item} in `{table.file}` does not explain the throughput: "
        "another resource is the bottleneck, and the fit uses only the throughput"
    )


def _milliseconds(time: float) -> str:
    """Return a time with three digits.

    >>> _milliseconds(39.7), _milliseconds(0.00123)
    ('39,700 ms', '1.23 ms')
    """
    return f"{float(f'{time * 1e3:.3g}'):,.12g} ms"
