"""Who there is to receive what streams send to some others, or from one of a pair to the other."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded, varies
from qps.compiler.configure.conditional_paths import PathTest, legs_of
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.validation_cache import names_in
from qps.compiler.ir.streams import MOST_OTHERS
from qps.compiler.quantities.allowed_values import Bound

_LESS = ir.Constant(Fraction(-1))


def rooms_for(stream: ir.Stream, configuration: Configuration, test: PathTest) -> Iterator[Bounded]:
    """Yield how many others get nothing of a stream, and how many machines it has pairs of.

    Those who grow with the population may be few where that is small: then all of them count.
    """
    legs = legs_of(stream, test)
    pairs = stream.flows_from
    if legs and isinstance(pairs, ir.EachPair):
        yield from _of_pairs(stream, pairs, configuration)
    for leg in legs:
        if isinstance(leg, ir.CallMark) and leg.point is ir.CallPoint.BEGINS:
            if leg.call.others is not None:
                yield from _of_called(leg.call, leg.call.others, configuration)
            continue
        for step in leg.steps if isinstance(leg, ir.Visit) else ():
            is_there = step.condition is None or test.holds(step.condition) is not False
            if is_there and step.spread is not None and step.spread.count is not None:
                yield from _of_others(step.spread, step.spread.count, configuration)


def names_of_receivers(stream: ir.Stream) -> frozenset[str]:
    """Return the names that these rest on, none where nothing goes to some others or in pairs."""
    pairs, found = stream.flows_from, frozenset[str]()
    if isinstance(pairs, ir.EachPair):
        found |= {name for name in (pairs.node, pairs.group) if name is not None}
    for leg in stream.legs:
        for step in leg.steps if isinstance(leg, ir.Visit) else ():
            if step.spread is not None and step.spread.count is not None:
                sent = {name for name in (step.spread.target, step.spread.group) if name}
                found |= names_in(step.spread.count.expr, step.condition) | sent
    for call in stream.calls:
        if call.others is not None:
            found |= names_in(call.others.expr) | {call.node}
    return found


def _of_others(
    spread: ir.Spread, count: ir.Quantity, configuration: Configuration
) -> Iterator[Bounded]:
    if spread.group is not None:
        name, member = spread.group, "member"
        there, whom = configuration.groups[name].size.expr, f"members of `{name}`"
    else:
        assert spread.target is not None
        name, member = spread.target, "node"
        there, whom = configuration.nodes[name].count, f"others at `{name}`"
    if varies(there) or varies(count.expr):
        return
    yield Bounded(
        expr=ir.Sum((there, _LESS, ir.Product((_LESS, count.expr)))),
        span=count.span,
        what=f"the number of {whom} without a copy",
        bound=Bound.NOT_NEGATIVE,
        needs=f"`{name}` needs one {member} for the sender and one for each copy",
        hint=f"there are fewer {whom}: send to fewer, or write `to others`",
    )


def _of_called(
    call: ir.Call, count: ir.Quantity, configuration: Configuration
) -> Iterator[Bounded]:
    there, whom = configuration.nodes[call.node].count, f"others at `{call.node}`"
    called = ir.Product((_LESS, count.expr))
    yield Bounded(
        expr=ir.Sum((there, _LESS, called)),
        span=count.span,
        what=f"the number of {whom} that are not called",
        bound=Bound.NOT_NEGATIVE,
        needs=f"`{call.node}` needs one node for the caller and one for each parallel call",
        hint=f"there are fewer {whom}: call fewer",
    )
    yield Bounded(
        expr=ir.Sum((ir.Constant(Fraction(MOST_OTHERS)), called)),
        span=count.span,
        what=f"{MOST_OTHERS} minus the number of parallel calls",
        bound=Bound.NOT_NEGATIVE,
        hint=f"call at most {MOST_OTHERS}; `send to 20 others` does not wait for answers",
    )


def _of_pairs(
    stream: ir.Stream, pairs: ir.EachPair, configuration: Configuration
) -> Iterator[Bounded]:
    name = pairs.node or pairs.group
    assert name is not None
    if pairs.node is not None:
        what, there = "count", configuration.nodes[name].count
    else:
        what, there = "size", configuration.groups[name].size.expr
    if not varies(there):
        yield Bounded(
            expr=there,
            span=pairs.span,
            what=f"the {what} of `{name}`, with a flow of `{stream.name}` for each pair,",
            bound=Bound.SEVERAL,
            hint="pairs need at least two: increase the number",
        )
