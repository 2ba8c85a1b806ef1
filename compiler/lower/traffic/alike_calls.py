"""Calls that are made together and are all alike, to one machine: as one that is made many times.

They come there together, as a batch: what is known of batches holds for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.network.itinerary import At, Call, Cross, Delay, Fork, Serve
from qps.engine.expressions.formulas import ONE, number

_PLAIN = (At, Cross, Delay, Serve)


def calls_of(fork: Fork) -> list[Call]:
    """Return the calls that are made together, one for each branch."""
    nodes = (node for branch in fork.branches for node in branch.nodes)
    return [node for node in nodes if isinstance(node, Call)]


def as_batch(fork: Fork) -> Fork:
    """Return calls that are all alike as a fan-out; others as they are.

    So are calls whose steps may lose items, hold a pool or make calls of their own.
    """
    calls = calls_of(fork)
    if fork.count is not None or len(calls) < 2 or not _are_alike(calls):  # noqa: PLR2004 - one is no batch
        return fork
    return replace(fork, branches=fork.branches[:1], count=number(len(calls)))


def _are_alike(calls: Sequence[Call]) -> bool:
    first, *others = (_placed(call, calls[0].span) for call in calls)
    nodes = first.body.nodes
    if first.times is not None or not all(isinstance(node, _PLAIN) for node in nodes):
        return False
    places = [node for node in nodes if isinstance(node, At) and node.node == first.node]
    return all(at.copies is ONE for at in places) and all(one == first for one in others)


def _placed(call: Call, where: Span) -> Call:
    """Return a call without its number, and as if all of it stood at a place of the text."""
    nodes = (
        replace(node, span=where) if isinstance(node, Serve) else node for node in call.body.nodes
    )
    return replace(call, number=0, span=where, body=replace(call.body, nodes=tuple(nodes)))
