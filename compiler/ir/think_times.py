"""Rates that are one over a stated time: users with such a think time."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME

_MEDIA = frozenset({INFORMATION_BASE, "packet", "frame"})
"""What a source sends by a clock, whether or not something comes back."""


def think_time(model: ir.Model, stream: ir.Stream) -> ir.Parameter | None:
    """Return the time by which the rate of a stream divides, None where it has no such time."""
    if stream.emission.primary is None or stream.emission.primary in _MEDIA:
        return None
    times = {p.name: p for p in model.parameters if p.dimension == TIME}
    below = _below(stream.emission.values[0].expr)
    return next((times[name] for name in below if name in times), None)


def _below(expr: ir.Expr) -> Iterator[str]:
    """Yield the parameters by which an expression divides."""
    for part in parts_of(expr):
        match part:
            case ir.Power(base, ir.Constant(exponent)) if exponent < 0:
                for inner in parts_of(base):
                    if isinstance(inner, ir.ParameterValue):
                        yield inner.name
