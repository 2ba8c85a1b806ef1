"""Bursts as stages of a sum: what is waited for while more flows are on than on average.

Two things make items wait longer. Where all that are on are served, the queue is one of random
arrivals, loaded more at some times than at others: by second moments, of rates whose squared
variation is v and which are forgotten after a time m, waits are longer by the part

    v/((1 - load)^2 + r/m),  r what is left of a service

which is v/(1 - load)^2 where bursts are long (the mean of the waits at each load) and v m/r where
they are short (that of arrivals with an index of dispersion; Sriram and Whitt 1986). Where more is
on than is served, it piles up as a fluid, and is waited for by a share of the items, for a time
taken as exponential: between that of the slowest decay of Anick, Mitra and Sondhi (1982) and that
of many flows, of which the sum is normal. Of both parts, where there are both, the shorter counts.

In a row of queues the same flows pile up before the slowest of them: at each only what it lets
through later than those before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from qps.compiler.lower.queues.on_off_sources import BurstLoad, burst_and_batch_factor
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.engine.expressions.formulas import ONE, Formula, maximum, minimum, number

_LEAST = number(Fraction(1, 10**9))
_OF_MANY = number(5)
"""How many times as long as of many flows what piles up is waited for: fitted to simulations."""


def stage_of(queue: Queue, own: QueueVisit) -> StageLaw | None:
    """Return the law of what items make each other wait and of the service."""
    found, bursts = queue.stage(own), queue.bursts
    if found is None or bursts is None:
        return found
    longer = queue.longer_in_bursts(own, bursts, _mean_wait(found))
    return found.lasting(1 + longer)


def behind(part: LatencyPart) -> StageLaw | None:
    """Return the law of what piles up where a stage waits, beyond that at the queues before it."""
    queue, own = part.queue, part.visit
    bursts = None if queue is None else queue.bursts
    if queue is None or own is None or bursts is None:
        return None
    plain = queue.stage(own)
    if plain is None:
        return None
    is_of_them = own.burst is not None
    piled = queue.beyond_passed(bursts.piled(is_of_them=is_of_them), is_of_them=is_of_them)
    both = burst_and_batch_factor(
        queue.load, minimum(_mean_wait(plain), piled, bursts.flows.burst.lasting)
    )
    mean, tail = piled + both, bursts.tail(_OF_MANY)
    return StageLaw(waits=minimum(ONE, mean / tail), work=maximum(mean, tail))


def passed_bursts(queues: Mapping[str, Queue], queue: Queue) -> tuple[BurstLoad, ...]:
    """Return what bursts come to at the queues that all of a queue's have passed before.

    At those queues there are no other bursts, whose piles would say nothing of what comes here.
    """
    flows = [visit for visit in queue.visits if visit.burst is not None]
    if not flows or not queue.law.counts_bursts:
        return ()
    here, found = {visit.of[0] for visit in flows}, []
    for name in dict.fromkeys(flows[0].after):
        before = queues.get(name)
        if before is None or name == queue.resource or before.bursts is None:
            continue
        there = {visit.of[0] for visit in before.visits if visit.burst is not None}
        if there <= here and all(name in visit.after for visit in flows):
            found.append(before.bursts)
    return tuple(found)


def _mean_wait(stage: StageLaw) -> Formula:
    """Return the mean wait of a stage; near its saturation not infinite."""
    rest = stage.work * (1 + stage.spread) / 2 / stage.servers
    return stage.waits * rest / maximum(_LEAST, 1 - stage.load)
