"""Loads, with how far off they are where that was measured on random networks."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.lower.label_doubts import Gate
from qps.compiler.lower.labels.operating_points import OperatingPoints
from qps.compiler.lower.load_graph import ResourceLoad
from qps.compiler.quantities.certainty import Kind


def with_load_errors(points: OperatingPoints, gate: Gate) -> dict[str, ResourceLoad]:
    """Return resources with how their loads are known, each with its error."""
    return {
        name: replace(one, known=gate.load_known(name, one.known, points.of))
        if one.known.kind is Kind.APPROXIMATION
        else one
        for name, one in points.resources.items()
    }
