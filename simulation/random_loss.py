"""Who goes on by chance, and what becomes of the others."""

from __future__ import annotations

from qps.compiler.lower.response_time.response_parts import LossKind
from qps.simulation.items import Go, Item, Joined
from qps.simulation.pool_holds import release_all
from qps.simulation.run_state import SimulationState, StreamHandlers
from qps.simulation.simulated_model import Lose, Thin, goes_on
from qps.simulation.sources import OnOffFlows


def with_random_loss(state: SimulationState, step: Lose | Thin, then: Go, of: StreamHandlers) -> Go:
    """Let a share of the items go on."""
    share = goes_on(step)
    if share >= 1:
        return then
    random, gone = state.random.random, gone_of(state, step, of)
    if isinstance(step, Thin) and step.lasting is not None:
        is_on = OnOffFlows(step.share, step.lasting, state.clock, state.random).is_on

        def burst(item: Item) -> None:
            if is_on(item.flow):
                then(item)
            else:
                gone(item)

        return burst

    def lot(item: Item) -> None:
        if random() < share:
            then(item)
        else:
            gone(item)

    return lot


def gone_of(state: SimulationState, step: Lose | Thin, of: StreamHandlers) -> Go:
    """Return what becomes of an item that is lost, or that nobody misses."""
    over, clock, busy = of.over, state.clock, state.busy
    if isinstance(step, Thin):

        def missed(item: Item) -> None:
            release_all(item, clock, busy)
            if over is not None:
                over()

        return missed
    lost, kind, worth, random = state.counts[of.stream].lost, step.kind, step.worth, state.random
    safe = of.recoveries if step.kind == LossKind.TRANSMISSION.value else ()

    def gone(item: Item) -> None:
        for shelter in reversed(safe):
            if random.random() < shelter.share:
                item.is_dropped = True
                shelter.then(item)
                return
        release_all(item, clock, busy)
        joined = [one for one in item.open if isinstance(one, Joined)]
        if not any(one.is_lost for one in joined):
            lost[kind] += worth
            if over is not None:
                over()
        for one in joined:
            if not one.is_lost:
                # Who made the calls together goes no further, and holds nothing any longer.
                release_all(one.item, clock, busy)
            one.is_lost = True

    return gone
