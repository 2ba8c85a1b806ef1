"""Axes along which more than all of the requests would make a call."""

from __future__ import annotations

import re

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.quantities.written_shares import more_than_all

_IN_PERCENT = re.compile(r"[\d._]+\s*%")


def report_shares_of_axes(model: ir.Model, sink: Sink) -> None:
    """Report the axes of matrices that have a share of more than all among their values."""
    calls = [call for stream in model.streams for call in stream.calls if call.times is not None]
    called = {
        call.times.expr.name: call
        for call in calls
        if call.times is not None and isinstance(call.times.expr, ir.ParameterValue)
    }
    for matrix in model.matrices:
        for axis in matrix.axes:
            if axis.kind is not ir.AxisKind.PARAMETER or axis.name not in called:
                continue
            written = _IN_PERCENT.findall(axis.span.text)
            found = next(filter(None, map(more_than_all, written)), None)
            if found is not None:
                share, often = found
                sink.report(
                    codes.OUT_OF_RANGE,
                    axis.span,
                    f"the share {share} is above 100 %",
                    secondary=[
                        Label(called[axis.name].span, f"`{axis.name}` is the share of this call")
                    ],
                    hint=instead(
                        share,
                        often,
                        words=f"for {often} calls per request write `{often}`",
                    ),
                )
