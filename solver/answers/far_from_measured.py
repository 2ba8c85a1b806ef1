"""Costs that are used far from the load at which they were measured."""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.lower.load_graph import LoadGraph

_FAR = 2.0
"""By how much a load may leave the range in which a cost was measured, before it is told.

Work in batches makes an item cheaper as load rises: a Linux forwarder needs 840 ns a packet at low
load, 236 ns near saturation; so a load that is off by a factor of two may mean a third of the cost.
"""


def report_far_from_measured(graph: LoadGraph, loads: Mapping[str, float], sink: Sink) -> None:
    """Warn of costs that are used far from the load at which they were measured."""
    for found in graph.calibrations:
        load = loads[found.resource]
        if found.low / _FAR <= load <= found.high * _FAR:
            continue
        is_above = load > found.high
        nearest = found.high if is_above else found.low
        sink.report(
            codes.FAR_FROM_MEASURED,
            found.span,
            f"`{found.component}` was measured at {nearest * 100:.3g} % load of "
            f"{found.resource}, which is loaded {load * 100:.3g} % at the answer",
            hint="under load an item often costs less, as work is done in batches: "
            f"the answer may be too {'small' if is_above else 'large'}; measure nearer to it",
        )
