"""Calls that are made together take as long as the slowest: the mean of that.

Each branch takes what is always the same, and a time whose mean and variance follow from its
queues: that is taken as gamma distributed, which exponential ones are. Of independent branches the
table has the mean of the largest. Their requests come at the same times, so that they are late
together: such times are associated, and the largest of them is less than that on average (Baccelli,
Makowski and Shwartz 1989). Of equal queues of random arrivals and exponential service it is as
Nelson and Tantawi have it (1988): with k branches, H_k = 1 + 1/2 + ... + 1/k, and a load,

    (H_k/H_2 + 4/11 (1 - H_k/H_2) load) (12 - load)/8

times what one takes: exact for two (Flatto and Hahn 1984), and within 5 % up to 32. Where arrivals
are uneven, waits differ less: those of who comes in a burst are long at all of them. Of the wait
1 + (H_k - 1)/sqrt(1 + c^2) counts then, of the service H_k, by how the waits of heavily loaded
queues are correlated: c^2/(1 + c^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.compiler.lower.queues.visits import longest
from qps.compiler.lower.response_time.branch_moments import (
    Moments,
    has_exponential_services,
    moments_of,
    slowest_by_moments,
)
from qps.compiler.lower.response_time.response_stages import every
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    minimum,
    number,
    square_root,
    total,
)

if TYPE_CHECKING:
    from qps.compiler.lower.response_time.response_stages import LatencyPart

_MOST_ALIKE = 32
_FOUR_ELEVENTHS, _PART = number(Fraction(4, 11)), number(Fraction(1, 8))


class Slowest(Struct, frozen=True):
    """The mean of the slowest of some branches, and how it is known besides its stages.

    It `is_by_moments` where the law of the branches, if it is known, says it better. It is known by
    errors of all that is in the branches where it `has_waits_known`.
    """

    value: Formula
    known: Certainty = EXACT
    is_by_moments: bool = False
    has_waits_known: bool = False


def slowest_of(
    branches: Sequence[Sequence[LatencyPart]], nodes: Sequence[str], depth: int
) -> Slowest:
    """Return the mean of the slowest of branches: calls of nodes, which stand in `depth` others."""
    time = _time_in_network(branches, depth)
    if time is not None:
        return Slowest(time)
    means = [total(part.value for part in branch) for branch in branches]
    parts = [part for branch in branches for part in branch]
    if len(branches) < 2 or not any(_varies(part) for part in parts):  # noqa: PLR2004
        return Slowest(longest(means))
    if any(part.differs for part in every(parts)):
        return Slowest(longest(means), known_by("largest-mean", nodes), is_by_moments=True)
    found = [moments_of(branch, depth) for branch in branches]
    is_plain = all(_is_plain(part, depth) for part in parts)
    alike = _alike(branches, found) if is_plain else None
    if alike is not None:
        return alike
    begun = branches[0][0].calls[depth - 1].reached if depth else ONE
    value = slowest_by_moments(found) * begun
    method = "parallel-independent"
    if any(one.is_guessed for one in found):
        method = "parallel-estimated"
    elif any(one.returns for one in found):
        method = "parallel-repeated"
    return Slowest(value, known_by(method, nodes), is_by_moments=not is_plain)


def _time_in_network(branches: Sequence[Sequence[LatencyPart]], depth: int) -> Formula | None:
    """Return the time of closed users from their network; how, their stages know."""
    for part in every(part for branch in branches for part in branch):
        fork = part.calls[depth].fork
        if part.queue is not None and part.visit is not None and fork is not None:
            return part.queue.law.together(part.visit, fork)
    return None


def _alike(branches: Sequence[Sequence[LatencyPart]], found: Sequence[Moments]) -> Slowest | None:
    """Return the mean of the slowest of equal queues of random arrivals and exponential service."""
    first = found[0]
    if first.returns or any(one != first for one in found) or len(found) > _MOST_ALIKE:
        return None
    queues = [part.queue for branch in branches for part in branch if part.queue is not None]
    is_plain = all(
        has_exponential_services(queue) and queue.servers is ONE and len(queue.visits) == 1
        for queue in queues
    )
    if not is_plain or len(queues) != len(branches) or queues[0].background is not ZERO:
        return None
    many = sum((Fraction(1, k) for k in range(1, len(found) + 1)), Fraction(0))
    uneven, service = queues[0].arrivals, queues[0].visits[0].service
    if uneven is not ONE:
        apart = 1 + number(many - 1) / square_root(1 + uneven)
        value = first.fixed + (first.mean - service) * apart + number(many) * service
        return Slowest(value, known_by("parallel-bursty"))
    many = many / Fraction(3, 2)
    load = minimum(ONE, queues[0].load)
    scaled = number(many) + _FOUR_ELEVENTHS * number(1 - many) * load
    known = known_by("nelson-tantawi", case="two" if len(found) == 2 else "")  # noqa: PLR2004
    return Slowest(first.fixed + first.mean * scaled * (12 - load) * _PART, known)


def _varies(part: LatencyPart) -> bool:
    if part.branches:  # also what is called together within a branch
        return any(_varies(one) for one in every([part]))
    return part.queue is not None or part.differs or not _is_whole(part)


def _is_plain(part: LatencyPart, depth: int) -> bool:
    """Return whether a stage is passed a whole number of times, the same for all."""
    if part.branches or part.differs or not _is_whole(part):
        return False
    return all(call.times is ONE for call in part.calls[:depth])


def _is_whole(part: LatencyPart) -> bool:
    return all(call.is_whole for call in part.calls)
