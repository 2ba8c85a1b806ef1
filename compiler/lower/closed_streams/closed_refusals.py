"""What is not told of users who wait for their answers."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.diagnostics.source import Span


def refused(
    stream: ir.Stream,
    why: str,
    hint: str = "use an open workload with a rate",
    *,
    at: Span | None = None,
    secondary: Sequence[Label] = (),
) -> QpsError:
    """Return that it is not told how long the users of a stream wait."""
    return QpsError.single(
        codes.NO_ANSWER,
        at or stream.span,
        f"no response time for closed stream `{stream.name}`: {why}",
        secondary=secondary,
        hint=hint,
    )
