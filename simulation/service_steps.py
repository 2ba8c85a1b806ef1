"""How items are served at stations, as functions that let each go on behind."""

from __future__ import annotations

import math

from msgspec.structs import replace

from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.quantities.disciplines import Service
from qps.simulation.items import Go, Item, of_item
from qps.simulation.random_loss import gone_of, with_random_loss
from qps.simulation.run_state import SimulationState, StreamHandlers
from qps.simulation.sharing_and_priorities import machine_of
from qps.simulation.simulated_model import Lose, Serve, goes_on
from qps.simulation.stations import NORMAL, Happening, InRoom, InTurn, Lock, draws
from qps.simulation.visitor import Visitor


def serve(state: SimulationState, step: Serve, then: Go, of: StreamHandlers) -> Go:
    """Let an item be served at a station."""
    known = state.network.stations[step.station]
    draw = draws(known.variation, state.random)
    servers, number, busy = int(known.servers), step.station, state.busy
    clock, schedule, overlaps = state.clock, state.schedule, step.overlaps
    at = state.queues[number]
    node = step.node if step.node in state.several else None
    if node is None and 0 not in at:
        at[0] = InTurn(clock, servers)
    if any(lot is not None for _, lot in step.parts[:-1]):
        return _serve_partly(state, step, then, of)
    mean = step.mean
    last = step.parts[-1][1]
    if last is not None:
        then = with_random_loss(state, last, then, of)
    if state.shared:
        return state.shared[number].entrance(then, lambda: draw(mean), overlaps=overlaps)
    if step.thread is not None:
        return _serve_threaded(state, step, mean, then)
    if known.room < math.inf:
        return _serve_in_room(state, step, mean, then, of)
    if known.service is not Service.IN_TURN:
        return _serve_otherwise(state, step, mean, then)
    after, note = (of_item(then),), state.note_wait(number)

    def enter(item: Item) -> None:
        key = 0 if node is None else item.picks[node]
        queue = at.get(key)
        if queue is None:
            queue = at[key] = InTurn(clock, servers)
        service = draw(mean)
        busy[number] += service
        wait = queue.begins(service)
        note(item, wait)
        schedule(Happening(after, item), NORMAL, wait if overlaps else wait + service)

    return enter


def _serve_in_room(
    state: SimulationState, step: Serve, mean: float, then: Go, of: StreamHandlers
) -> Go:
    """Serve where there is room for so many, and lose the others."""
    known, number = state.network.stations[step.station], step.station
    draw, servers, room = draws(known.variation, state.random), int(known.servers), int(known.room)
    clock, schedule, overlaps = state.clock, state.schedule, step.overlaps
    busy, rooms = state.busy, state.rooms
    node = step.node if step.node in state.several else None
    lost = gone_of(state, Lose(kind=LossKind.BLOCKED.value, share=1.0, worth=step.worth), of)
    after, note = (of_item(then),), state.note_wait(number)

    def enter(item: Item) -> None:
        key = number, 0 if node is None else item.picks[node]
        machine = rooms.get(key)
        if machine is None:
            machine = rooms[key] = InRoom(clock, servers, room)
        service = draw(mean)
        wait = machine.begins(service)
        if wait is None:
            lost(item)
            return
        busy[number] += service
        note(item, wait)
        schedule(Happening(after, item), NORMAL, wait if overlaps else wait + service)

    return enter


def _serve_otherwise(state: SimulationState, step: Serve, mean: float, then: Go) -> Go:
    """Serve by another discipline than in turn."""
    known, number, busy = state.network.stations[step.station], step.station, state.busy
    draw, overlaps, machines = draws(known.variation, state.random), step.overlaps, state.machines
    node = step.node if step.node in state.several else None
    key_of = (number,) if node is None else None
    clock, schedule, note = state.clock, state.schedule, state.note_wait(number)

    def leave(visit: tuple[Item, float]) -> None:
        item, served = visit
        note(item, max(0.0, clock.now - served))
        then(item)

    def enter(item: Item) -> None:
        key = key_of or (number, item.picks[node or ""])
        machine = machines.get(key)
        if machine is None:
            machine = machines[key] = machine_of(known, clock, schedule, state.random)
        service = draw(mean)
        busy[number] += service
        # It would have been served by then without a wait.
        visit = item, clock.now + (0.0 if overlaps else service)
        machine.enter(Visitor(visit, service, item.priority, leave, overlaps=overlaps))

    return enter


def _serve_partly(state: SimulationState, step: Serve, then: Go, of: StreamHandlers) -> Go:
    """Serve what is lost in the midst as long as it is there."""
    random = state.random.random
    done = 0.0
    lots: list[tuple[float, Go]] = []
    for mean, lot in step.parts:
        done += mean
        if lot is None:
            continue
        gone = gone_of(state, lot, of)
        short = replace(step, parts=((done, None),))
        lots.append((goes_on(lot), serve(state, short, gone, of)))
    whole = replace(step, parts=((step.mean, None),))
    full = serve(state, whole, then, of)

    def enter(item: Item) -> None:
        for share, gone in lots:
            if random() >= share:
                gone(item)
                return
        full(item)

    return enter


def _serve_threaded(state: SimulationState, step: Serve, mean: float, then: Go) -> Go:
    """Let an item have its thread first, then a core, and give both back together."""
    known = state.network.stations[step.station]
    assert step.thread is not None
    thread, number, busy = step.thread, step.station, state.busy
    draw, servers = draws(known.variation, state.random), int(known.servers)
    clock, schedule = state.clock, state.schedule
    cores, locks, note = state.queues[number], state.locks[thread], state.note_wait(number)
    node = step.node if step.node in state.several else None

    def enter(item: Item) -> None:
        key = 0 if node is None else item.picks[node]
        if key not in locks:
            locks[key] = Lock()
        if key not in cores:
            cores[key] = InTurn(clock, servers)
        locks[key].take(begin, (item, key, clock.now))

    def begin(visit: tuple[Item, int, float]) -> None:
        pair = visit[:2]
        service = draw(mean)
        busy[number] += service
        busy[thread] += service
        wait = cores[pair[1]].begins(service)
        note(pair[0], clock.now - visit[2] + wait)
        schedule(Happening((end,), pair), NORMAL, wait + service)

    def end(happening: Happening) -> None:
        item, key = happening.item
        locks[key].give()
        then(item)

    return enter
