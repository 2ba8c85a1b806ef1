"""Groups of users: how many flows they hold, and how many receive each of them.

The users are divided into groups of k; where there are fewer than k users, they are one group.
"""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, minimum


def flows_in_each(stream: str, each: ir.InEachGroup, expressions: ExpressionLowering) -> Formula:
    """Return the flows of a stream that has so many in each group, at most one for a member."""
    flows = expressions.symbol(f"{stream}.flows", each.flows)
    members = expressions.members(each.group)
    if flows is not members:
        flows = flows if flows is ONE else minimum(flows, members)
    return flows * expressions.groups(each.group)


def flows_of_pairs(pairs: ir.EachPair, expressions: ExpressionLowering) -> Formula:
    """Return how many flows there are between each two of n: n (n - 1), by halves both ways."""
    if pairs.group is not None:
        members, groups = expressions.members(pairs.group), expressions.groups(pairs.group)
    else:
        assert pairs.node is not None
        members, groups = expressions.counted(pairs.node), ONE
    flows = groups * members * (members - 1)
    return flows if pairs.is_ordered else flows / 2


def receivers_in(
    spread: ir.Spread, stream: str, flows: Formula, expressions: ExpressionLowering
) -> Formula:
    """Return how many members of its group receive each of some `flows`, on average.

    Of v flows in a group of m, the v members who send get min(n, v - 1) others each, the m - v
    who do not get min(n, v): over v, that is min(n, v - 1) + (m - v) * min(1, n / v).
    """
    assert spread.group is not None
    members = expressions.members(spread.group)
    if spread.kind is ir.SpreadKind.ALL:
        return members
    if spread.most is None:
        return members - 1
    most = expressions.symbol(f"{stream}.most", spread.most)
    sent = flows / expressions.groups(spread.group)
    silent = members - sent
    if silent is ZERO:
        return minimum(most, sent - 1)
    return minimum(most, sent - 1) + silent * minimum(1, apply("ratio", most, sent))
