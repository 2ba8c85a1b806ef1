"""Threads that several costs share: one name means one thread of a node's processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead

_WORDS = ("capacity", "cores", "efficiency", "idle", "load", "rating", "speed", "throughput")
"""What is requested of a processor by name: `server.cpu.load` is no thread."""


def check_threads(streams: Iterable[ir.Stream], sink: Sink) -> None:
    """Report threads whose name means something else at the same processor of a node.

    A component whose `single_thread` names none has a thread that is called as it is.
    """
    steps = list(dict.fromkeys(_threaded(streams)))
    own = {
        (node, cost.resource, component): cost
        for node, component, cost in steps
        if cost.thread is None
    }
    for node, _, cost in steps:
        if cost.thread is None:
            continue
        if cost.thread in _WORDS:
            sink.report(
                codes.RESERVED_WORD,
                cost.span,
                f"a thread cannot be named `{cost.thread}`: "
                f"`{node}.{cost.resource}.{cost.thread}` has another meaning",
                hint=instead(
                    cost.thread,
                    f"{cost.thread}_",
                    words=f"rename it, for example to `{cost.thread}_`",
                ),
            )
        other = own.get((node, cost.resource, cost.thread))
        if other is not None:
            sink.report(
                codes.DUPLICATE_NAME,
                cost.span,
                f"`{node}.{cost.resource}.{cost.thread}` is already the thread of "
                f"component `{cost.thread}`",
                secondary=[Label(other.span, "this component has its own thread")],
                hint=f"rename the thread, or share it in both: `single_thread {cost.thread}`",
            )


def _threaded(streams: Iterable[ir.Stream]) -> Iterator[tuple[str, str, ir.Cost]]:
    """Yield node, component and cost of each step that runs on one thread."""
    visits = (leg for stream in streams for leg in stream.legs if isinstance(leg, ir.Visit))
    for visit in visits:
        for step in visit.steps:
            for cost in step.component.costs:
                if cost.single_thread:
                    yield visit.node, step.component.name, cost
