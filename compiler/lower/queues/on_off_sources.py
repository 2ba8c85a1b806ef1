"""Flows that are on and off: what those that are on at once keep waiting.

Where more flows are on than a queue serves, what it cannot serve piles up until some of them are
off again, as a fluid does (Anick, Mitra and Sondhi 1982, in the table of operations). To that comes
what items wait as if flows were always on, each less: the part of single items. Load that is not on
and off leaves so much less to be served.

Flows that differ count as equal ones with the same load, the same sum and the same variance of what
they send at once, and the same time in which that is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)

_BOTH = number(Fraction(7, 2))
"""How much longer, of the shorter of both waits and of the load that is left."""

_NEXT_TO_NOTHING = number(Fraction(1, 10**9))


class Burst(Struct, frozen=True):
    """How a flow is on and off: a share of the time, for so long at a time on average, in s."""

    share: Formula
    lasting: Formula


class BurstyFlows(Struct, frozen=True):
    """Some flows at a queue, as parts of what it serves: `peak` is one that is on."""

    burst: Burst
    sources: Formula
    peak: Formula

    @property
    def load(self) -> Formula:
        """What they request on average."""
        return self.sources * self.burst.share * self.peak


class BurstLoad(Struct, frozen=True):
    """What bursts come to at a queue of which other loads leave `spare`."""

    flows: BurstyFlows
    spare: Formula

    @property
    def _peak(self) -> Formula:
        return self.flows.peak / self.spare

    @property
    def _long(self) -> Formula:
        return self.flows.burst.lasting * self.spare

    def wait(self, *, is_of_them: bool) -> Formula:
        """Return the mean wait behind bursts, for an item of them or for another one."""
        flows = self.flows
        found = self._long * apply("burst_wait", flows.sources, flows.burst.share, self._peak)
        return found if is_of_them else found * flows.load / self.spare

    def quantile(self, level: Fraction | Formula, *, is_of_them: bool) -> Formula:
        """Return what a share `level` of the items waits no longer than behind bursts."""
        flows = self.flows
        if not is_of_them:
            # Others come at any time, items of bursts where there are bursts.
            level = maximum(ZERO, 1 - apply("ratio", 1 - level, flows.load / self.spare))
        row = apply("burst_quantile", flows.sources, flows.burst.share, self._peak, level)
        return self._long * row

    def longer(self, load: Formula, left: Formula, wait: Formula, *, is_of_them: bool) -> Formula:
        """Return by which part of it what is `wait` for other items is longer.

        A queue of such a load, in which so long is `left` of a service, is loaded more while more
        flows are on than on average (`on_off_stages.py` has the formula). Where more are on than it
        serves, what piles up is reported already.
        """
        flows, spare = self.flows, maximum(ZERO, 1 - load)
        off = 1 - flows.burst.share
        varies = off * flows.peak * flows.load / maximum(_NEXT_TO_NOTHING, load) ** 2
        memory = flows.burst.lasting * off
        least = maximum(_NEXT_TO_NOTHING * flows.burst.lasting, left)
        found = varies * memory / (spare**2 * memory + least)
        if not is_of_them:
            found = found * minimum(ONE, load)
        piled = self.piled(is_of_them=is_of_them)
        return found / (1 + found * piled / maximum(_NEXT_TO_NOTHING**3, wait))

    def piled(self, *, is_of_them: bool) -> Formula:
        """Return the mean wait behind bursts; of a queue that is full a long one, not infinite."""
        return minimum(self.wait(is_of_them=is_of_them), self._slowest)

    def tail(self, of_many: Formula) -> Formula:
        """Return how long is waited on average behind bursts by those who wait at all: not zero.

        Half the harmonic mean of what the slowest decay says, of any number of flows, and of how
        long the sum of many, which is normal, stays above what is served: `of_many` times that.
        """
        over, spread = self._over, self._spread
        both = self._spare * over + of_many * spread
        found = self._memory * of_many * over * spread
        least = _NEXT_TO_NOTHING * self.flows.burst.lasting
        return maximum(least, found / (self._spare * maximum(_NEXT_TO_NOTHING**3, both)))

    @property
    def _slowest(self) -> Formula:
        """One over the slowest of the decays that the wait is a mixture of."""
        return self._memory * self._over / self._spare

    @property
    def _memory(self) -> Formula:
        """How long it is remembered which flows are on."""
        return self._long * (1 - self.flows.burst.share)

    @property
    def _over(self) -> Formula:
        """What all flows at once would be above what is served, for each of them."""
        sources = self.flows.sources
        return maximum(ZERO, sources * self._peak - 1) / maximum(_NEXT_TO_NOTHING, sources)

    @property
    def _spread(self) -> Formula:
        """The third power of the deviation of what is on at once, in parts of what is served."""
        variance = self.flows.load / self.spare * self._peak * (1 - self.flows.burst.share)
        return variance * square_root(variance)

    @property
    def _spare(self) -> Formula:
        """What is served beyond what they request, of what other loads leave."""
        return maximum(_NEXT_TO_NOTHING, 1 - self.flows.load / self.spare)


def bursts_of(flows: Sequence[BurstyFlows], others: Formula) -> BurstLoad | None:
    """Return what bursts come to beside other loads; None where there are none."""
    if not flows:
        return None
    spare = ONE if others is ZERO else maximum(1 - others, _NEXT_TO_NOTHING)
    kinds = {(one.burst, one.peak) for one in flows}
    first = flows[0]
    if len(kinds) == 1:
        sources = total(one.sources for one in flows)
        return BurstLoad(BurstyFlows(first.burst, sources, first.peak), spare)
    return BurstLoad(_alike(flows), spare)


def _alike(flows: Sequence[BurstyFlows]) -> BurstyFlows:
    """Return equal flows for some that differ: four of their moments are the same."""
    load = total(one.load for one in flows)
    together = total(one.sources * one.peak for one in flows)
    variances = [one.load * one.peak * (1 - one.burst.share) for one in flows]
    # What is on now is forgotten at the rate at which flows go on and off.
    memories = [
        variance * one.burst.lasting * (1 - one.burst.share)
        for one, variance in zip(flows, variances, strict=True)
    ]
    share = apply("mean", load, together)
    off = maximum(1 - share, _NEXT_TO_NOTHING)
    peak = apply("mean", total(variances), load) / off
    memory = apply("mean", total(memories), total(variances))
    return BurstyFlows(Burst(share, memory / off), apply("mean", together, peak), peak)


def burst_and_batch_factor(load: Formula, shorter: Formula) -> Formula:
    """Return how much longer than for single items and behind bursts is waited for both.

    It is so much of the `shorter` of both, or of a burst: fitted to simulations (docs/traffic.md).
    """
    return _BOTH * maximum(ZERO, 1 - load) * shorter
