"""What a stream sends on: it arrives where it is sent to, and nothing is called after that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames
from qps.compiler.check.values.values import mentions_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink

_OTHER_USERS = (
    "to send to the other users of a meeting, declare a group (`group room of 10 users`) and write "
    "`to others in room`; to reach everyone, `to all {node}`"
)
"""What is usually meant where a server sends on `to others`."""


def check_sends(legs: Sequence[ir.Leg], nodes: Mapping[str, ir.Node], sink: Sink) -> None:
    """Check that what is sent to somebody arrives there: one spread a visit, then a visit."""
    reported = _sent_before_calls(legs, sink)
    visits = [leg for leg in legs if isinstance(leg, ir.Visit)]
    for visit, following in zip_longest(visits, visits[1:]):
        assert visit is not None
        spreads = [step for step in visit.steps if step.spread is not None]
        if len(spreads) > 1 and not all(step.condition for step in spreads):
            sink.report(
                codes.STREAM_ORDER,
                spreads[1].span,
                "the stream is forwarded twice from the same place",
                secondary=[Label(spreads[0].span, "first forwarded here")],
                hint="add a condition to each, or declare two streams",
            )
        for step in spreads if visit not in reported else ():
            _arrival(step, visit, following, nodes, sink)


def _sent_before_calls(legs: Sequence[ir.Leg], sink: Sink) -> list[ir.Visit]:
    """Report what is sent on and then calls: what has left makes no call; return where."""
    found = []
    for leg, following in pairwise(legs):
        if not isinstance(leg, ir.Visit) or not isinstance(following, ir.CallMark):
            continue
        spread = next((step.spread for step in leg.steps if step.spread is not None), None)
        if spread is None or following.point is not ir.CallPoint.BEGINS:
            continue
        found.append(leg)
        called = following.call
        sink.report(
            codes.STREAM_ORDER,
            called.span,
            f"`{called.node}` is called from `{leg.node}` after the stream was forwarded",
            secondary=[Label(spread.span, "forwarded here")],
            hint="move the call before the send, or to the destination",
        )
    return found


def _arrival(
    step: ir.Step,
    visit: ir.Visit,
    following: ir.Visit | None,
    nodes: Mapping[str, ir.Node],
    sink: Sink,
) -> None:
    assert step.spread is not None
    target = step.spread.target
    if following is None:
        sink.report(
            codes.STREAM_ORDER,
            step.spread.span,
            "the stream is forwarded but ends here",
            hint=f"add the destination: `at {target or 'node'} {{ … }}`",
        )
    elif target is not None and following.node != target:
        is_others = target == visit.node
        what = f"the others at `{visit.node}`" if is_others else f"`{target}`"
        sink.report(
            codes.STREAM_ORDER,
            following.span,
            f"this is sent to {what}, but the stream continues at `{following.node}`",
            secondary=[Label(step.spread.span, "forwarded here")],
            hint=_OTHER_USERS.format(node=following.node)
            if is_others and _grows(following.node, nodes)
            else f"continue `at {target}`, or send it `to all {following.node}`",
        )


def _grows(node: str, nodes: Mapping[str, ir.Node]) -> bool:
    declared = nodes.get(node)
    return declared is not None and AllowedNames.POPULATION in mentions_of(declared.count)
