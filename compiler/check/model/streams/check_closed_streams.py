"""Streams of users who wait for their answer: who they are, and what has no meaning for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import insertion_after_hint, removal_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.syntax import ast

_EFFECTS = {
    ir.EffectKind.MERGE: (
        "merges flows, but in a closed stream, each user waits for one response",
        "remove the `merge`, or use an open stream with a rate",
    ),
    ir.EffectKind.ACTIVE: (
        "is on and off, but a closed stream sends only after an answer",
        "set the pause with `think`, and remove `active`",
    ),
    ir.EffectKind.QUEUE: (
        "has a bounded queue, but a closed stream is bounded by its users",
        "remove `queue`",
    ),
}
"""Effects that have no meaning in a cycle: what they do, and what is to be done."""


def report_no_users(declaration: ast.Stream, starts: Sequence[ir.Node], sink: Sink) -> None:
    """Report that nobody is said to wait for the answers of a stream."""
    name = declaration.name.text
    each = "".join(f"`stream {name} for each {node.name}`, " for node in starts[:1])
    sink.report(
        codes.WHOSE,
        declaration.name.span,
        f"closed stream `{name}` names no users",
        hint=insertion_after_hint(
            declaration.name.span,
            " for each user",
            *(f" for each {node.name}" for node in starts[:1]),
            " in all",
            text=f"`stream {name} for each user`, {each}or `stream {name} in all` for a single one",
        ),
    )


def report_unclosed(stream: ir.Stream, sink: Sink) -> None:
    """Report what has no meaning where each item comes back to who has sent it."""
    think = stream.emission.think
    if think is None:
        return
    for span, what, fix in _meaningless(stream):
        sink.report(
            codes.CLOSED_STREAM,
            span,
            f"`{stream.name}` {what}",
            secondary=[Label(think.span, "closed: users wait for a response, then think")],
            hint=fix,
        )


def _meaningless(stream: ir.Stream) -> Iterator[tuple[Span, str, str]]:
    """Yield what has no meaning for a closed stream: where, what it does, and what to do."""
    for leg in stream.legs:
        if not isinstance(leg, ir.Visit):
            continue
        for step in leg.steps:
            if step.spread is not None and step.spread.kind is not ir.SpreadKind.ONE:
                yield (
                    step.span,
                    "closed stream is forwarded to several receivers",
                    f"send it `to one`, or call them: `call {leg.node} * 3 {{ … }}`",
                )
            for effect in step.component.effects:
                if effect.kind in _EFFECTS:
                    what, fix = _EFFECTS[effect.kind]
                    hint = removal_hint(effect.span, fix)
                    yield step.span, f"{what}: `{step.component.name}`", hint
    playout = stream.playout
    for delay in () if playout is None else (playout.delay, playout.dropping):
        if delay is not None and any(isinstance(p, ir.Measured) for p in parts_of(delay.expr)):
            yield (
                delay.span,
                "playout buffer depends on the stream's own behavior",
                "set a fixed time: `playout 60 ms`",
            )
