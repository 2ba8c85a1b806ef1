"""Limits of playout, as people write them: `230 ms`, `6 %`."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.measurement.trace_files import UNITS
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
from qps.compiler.quantities.quantity import read_quantity
from qps.solver.traces.replay import Thresholds
from qps.solver.traces.trace_answers import PlayoutLimits


def read_limits(
    latency: str | None, gaps: str | None, buffer: str | None, threshold: str | None
) -> PlayoutLimits:
    """Return limits as they were written; what was not is as usual. QpsError on mistakes."""
    usual = PlayoutLimits()
    share = usual.gaps
    if gaps is not None:
        share = read_quantity(gaps, DIMENSIONLESS, "--gaps", "6 %")
        if not 0 < share <= 1:
            raise _wrong(
                f"`--gaps {gaps}` is not a share above zero",
                "write one such as `--gaps 6%`; the curve shows the buffer for every packet",
            )
    longest = read_time(threshold, "--threshold") or usual.thresholds.longest
    return PlayoutLimits(
        read_time(latency, "--latency") or usual.latency,
        share,
        read_time(buffer, "--buffer", or_none=True),
        Thresholds(longest, min(longest, usual.thresholds.shortest)),
    )


def read_time(text: str | None, flag: str, *, or_none: bool = False) -> Fraction | None:
    """Return a time in s; it must be above zero, or may be zero with `or_none`."""
    if text is None:
        return None
    time = read_quantity(text, TIME, flag, "160 ms")
    if time < 0 or (time == 0 and not or_none):
        raise _wrong(
            f"`{flag}` must {'not be below' if or_none else 'be above'} zero",
            f"such as `{flag} 160ms`",
        )
    return time


def read_unit(text: str | None) -> Fraction | None:
    """Return the unit of times in s."""
    if text is not None and text not in UNITS:
        raise _wrong(f"`{text}` is not a unit of time here", f"available: {listed(UNITS, 'and')}")
    return None if text is None else UNITS[text]


def _wrong(message: str, hint: str) -> QpsError:
    return QpsError.single(codes.COMMAND_LINE, None, message, hint=hint)
