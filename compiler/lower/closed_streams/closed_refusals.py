"""What closed streams cannot have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.engine.expressions.formulas import ZERO, Formula


def refused(
    stream: ir.Stream,
    why: str,
    hint: str = "use an open workload with a rate",
    *,
    at: Span | None = None,
    secondary: Sequence[Label] = (),
) -> QpsError:
    """Return that it is not known how long the users of a stream wait."""
    return QpsError.single(
        codes.NO_ANSWER,
        at or stream.span,
        f"no response time for closed stream `{stream.name}`: {why}",
        secondary=secondary,
        hint=hint,
    )


def refuse_no_time(
    stream: ir.Stream, times: Iterable[Formula], expressions: ExpressionLowering
) -> None:
    """Refuse a cycle of which all parts take no time: it would go round without end."""
    for value in map(expressions.put_in, times):
        if not value.is_constant or compare(">", value, ZERO):
            return
    raise QpsError.single(
        codes.NO_ANSWER,
        stream.span,
        f"a cycle of closed stream `{stream.name}` takes no time",
        hint="add a think time, or a step with a service demand",
    )


def refuse_queueing(
    stream: ir.Stream, name: str, queueing: ir.Queueing | None, open_load: Formula
) -> None:
    """Refuse a discipline of a resource at which closed streams are not known."""
    if queueing is None:
        return
    if queueing.speeds and open_load is not ZERO:
        raise refused(
            stream,
            f"{name} has load-dependent speeds and other traffic",
            "use `ps` or `mmc` with one speed",
        )
    if not queueing.traits.may_be_closed:
        raise refused(
            stream,
            f"`{queueing.written}` at {name} supports only open workloads",
            "use `ps`, `mm1` or `mmc`, or an open workload with a rate",
        )
    if queueing.traits.has_ranks and not queueing.is_preemptive:
        raise refused(
            stream,
            f"at {name}, high priority waits for the residual service of low priority",
            f"make it preemptive: `queueing {name} priority preemptive`",
        )
