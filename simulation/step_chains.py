"""Ways as chains of functions, each of which lets an item do a step and go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from msgspec.structs import replace

from qps.simulation.item_calls import (
    call_of,
    choose_of,
    copy_of,
    fan_out_of,
    fork_of,
    gather_of,
    pick_of,
)
from qps.simulation.items import Go, Item, of_item
from qps.simulation.pool_holds import acquisition_of, release_of
from qps.simulation.random_loss import with_random_loss
from qps.simulation.run_state import LossRecovery, SimulationState, StreamHandlers
from qps.simulation.service_steps import serve
from qps.simulation.simulated_model import (
    BackgroundLoad,
    Call,
    Choose,
    Copy,
    Delay,
    FanOut,
    Fork,
    Gather,
    Give,
    Lose,
    NormalJitter,
    Pick,
    Reach,
    Recovery,
    Serve,
    Shift,
    Step,
    StreamSource,
    Take,
    Thin,
    stood,
)
from qps.simulation.sources import at_random, by_clock, customers, schedule_of, unevenly
from qps.simulation.stations import NORMAL, Happening, QueuelessResource


def prepare(state: SimulationState) -> None:
    """Let a state have its stations, of which nothing is used yet."""
    stations = state.network.stations
    state.random = Random(f"{state.name}/stations")  # noqa: S311 - no secret
    state.schedule = schedule_of(state.clock)
    state.queues = [{} for _ in stations]
    state.locks = [{} for _ in stations]
    state.places = [{} for _ in stations]
    state.several = frozenset(
        node
        for source in state.network.sources
        for node, station in stood(source.steps)
        if node is not None and stations[station].copies > 1
    )


def begin(state: SimulationState) -> None:
    """Let all sources begin, as if they had been sending for ever."""
    prepare(state)
    for number, source in enumerate(state.network.sources):
        random = Random(f"{state.name}/{source.stream}/{number}")  # noqa: S311
        way = partial(_path, state, source)
        if source.customers:
            customers(source, way, state.clock, random)
        elif source.variation is not None:
            unevenly(source, way(None), state.clock, random)
        elif source.is_periodic:
            by_clock(source, way(None), state.clock, random)
        else:
            at_random(source, way(None), state.clock, random)


def _path(state: SimulationState, source: StreamSource, over: Callable[[], None] | None) -> Go:
    """Return the way of an item of a source, and what is to be done when it is over."""
    of = StreamHandlers(source.stream, over)
    return chained(state, source.steps, _finish(state, of), of)


def _finish(state: SimulationState, of: StreamHandlers) -> Go:
    clock, counts, over = state.clock, state.counts[of.stream], of.over
    ends, latency, waits = counts.ends.append, counts.latency.append, counts.waits.append

    def finish(item: Item) -> None:
        counts.done += 1
        if not item.is_dropped:
            now = clock.now
            took = now - item.created
            counts.sum += took
            ends(now)
            latency(took)
            waits(item.wait_time)
        if over is not None:
            over()

    return finish


def chained(state: SimulationState, steps: Sequence[Step], then: Go, of: StreamHandlers) -> Go:
    """Return what lets an item do steps, and go on behind them."""
    for step in reversed(steps):
        then = _step(state, step, then, of)
    return then


def _step(state: SimulationState, step: Step, then: Go, of: StreamHandlers) -> Go:
    match step:
        case Serve():
            return serve(state, step, then, of)
        case BackgroundLoad():
            return _use(state, step, then)
        case Delay():
            return _delay(state, step.time, then)
        case Thin() | Lose():
            return with_random_loss(state, step, then, of)
        case Pick() | Reach():
            return pick_of(state, step, then) if step.node in state.several else then
        case Take():
            return acquisition_of(state, step, then)
        case Give():
            return release_of(state, step, then)
        case Copy():
            return copy_of(state, step.number, then)
        case Shift() | NormalJitter():
            return _later(state, step, then)
        case _:
            return _branched(state, step, then, of)


def _branched(
    state: SimulationState,
    step: Call | Choose | FanOut | Fork | Gather | Recovery,
    then: Go,
    of: StreamHandlers,
) -> Go:
    """Let an item do a step that has steps of its own."""
    match step:
        case Call():
            return call_of(state, step, then, of, partial(chained, state))
        case Choose():
            return choose_of(state, step, then, of, partial(chained, state))
        case Fork():
            return fork_of(step, then, of, partial(chained, state))
        case FanOut():
            return fan_out_of(state, step, then, of, partial(chained, state))
        case Gather():
            return gather_of(state, step, then, of, partial(chained, state))
        case Recovery():
            recoveries = (*of.recoveries, LossRecovery(step.share, then))
            return chained(state, step.steps, then, replace(of, recoveries=recoveries))


def _delay(state: SimulationState, time: float, then: Go) -> Go:
    if time <= 0:
        return then
    schedule, after = state.schedule, (of_item(then),)

    def wait(item: Item) -> None:
        schedule(Happening(after, item), NORMAL, time)

    return wait


def _later(state: SimulationState, step: Shift | NormalJitter, then: Go) -> Go:
    """Let an item have taken longer, or less: nothing behind it sees that."""
    if isinstance(step, Shift):
        time = step.time

        def shift(item: Item) -> None:
            item.created -= time
            then(item)

        return shift
    normal, deviation = state.random.gauss, step.deviation

    def shake(item: Item) -> None:
        item.created -= normal(0.0, deviation)
        then(item)

    return shake


def _use(state: SimulationState, step: BackgroundLoad, then: Go) -> Go:
    busy, station, amount = state.busy, step.station, step.amount
    if state.shared and amount > 0:
        return state.shared[station].entrance(then, lambda: amount, overlaps=True)

    def use(item: Item) -> None:
        busy[station] += amount
        then(item)

    limit = _limit_of(state, station)
    if limit is None or amount <= 0:
        return use
    limit.is_for(amount)
    schedule, begin = state.schedule, (of_item(use),)

    def wait(item: Item) -> None:
        schedule(Happening(begin, item), NORMAL, limit.waits(amount))

    return wait


def _limit_of(state: SimulationState, number: int) -> QueuelessResource | None:
    """Return the delay at a station without a queue whose demand is above its capacity.

    Open traffic demands less, or it is not played: only users who wait for their answers may demand
    for more, and are answered so much later that they do not.
    """
    if not any(source.customers for source in state.network.sources):
        return None
    known = state.network.stations[number]
    left = known.servers * known.copies * (1 - known.background)
    if number not in state.limits and left > 0:
        state.limits[number] = QueuelessResource(state.clock, left)
    return state.limits.get(number)
