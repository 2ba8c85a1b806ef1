"""How long to play: at first, and each episode of what goes by a clock."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf, log2, pi

from msgspec import Struct

from qps.simulation.simulated_model import (
    Call,
    Choose,
    Copy,
    Delay,
    FanOut,
    Fork,
    Gather,
    Lose,
    Recovery,
    Serve,
    SimulatedNetwork,
    Station,
    Step,
    StreamSource,
    Take,
    Thin,
    burst_cycles,
    goes_on,
    served,
)

_EVENTS = 15_000
"""Of the first length of a run: a fraction of a second."""
_MOST = 40
"""How many times as many events there may be, for something seldom to happen at all."""
_ITEMS = 200
"""Of each stream, where that is not too long."""
_FORGETTING = 20.0
"""How many times as long as it takes a queue to forget how it was, the least length is."""
_RELAXING = 25.0
_CYCLES = 15
"""Of each user who waits for answers: first all think, then many send requests together."""
_PERIODS = 4
_BURSTS = 8


class RunLengths(Struct, frozen=True):
    """How long each run is, in s of the model.

    `first` takes a moment, what is shorter than `least` has not reached a steady state, `fair` is
    what most need where nobody looks at the time.
    """

    first: float
    least: float
    fair: float


def lengths_of(network: SimulatedNetwork) -> RunLengths:
    """Return how long each run is."""
    busy = sum(source.rate * (1 + events(source.steps)) for source in network.sources)
    if busy <= 0:
        return RunLengths(1.0, 1.0, 1.0)
    slowest = min(source.rate for source in network.sources)
    bursts = [cycle for source in network.sources for cycle in burst_cycles(source.steps)]
    rounds = [_CYCLES * one.customers / one.rate for one in network.sources]
    wanted = max(_EVENTS / busy, _ITEMS / slowest, *rounds, *(_ITEMS * cycle for cycle in bursts))
    fair = min(wanted, _MOST * _EVENTS / busy)
    lengths = rounds + [_BURSTS * cycle for cycle in bursts]
    if any(source.customers for source in network.sources):
        lengths += _of_closed(network)
    else:
        lengths += [_FORGETTING * memory for memory in _memories(network)]
    longest = max(fair, *lengths)
    first = longest / 2 ** max(0, ceil(log2(longest * busy / _EVENTS) - 1e-9))
    return RunLengths(first, max(lengths), fair)


def _of_closed(network: SimulatedNetwork) -> Iterator[float]:
    """Yield how long it takes until stations forget that all users were thinking.

    Those who are under way wander from one full station to another: that takes as long as a random
    walk over all of them, of steps as long as a visit; open traffic there makes these longer.
    Stations that no user comes to forget as where all traffic is open.
    """
    closed = [source for source in network.sources if source.customers]
    under_way = sum(max(0.0, one.customers - one.rate * one.think) for one in closed)
    memories = _memories(network, tuple(one for one in network.sources if not one.customers))
    steps = dict[int, float]()
    for source in closed:
        for visit, _ in served(source.steps):
            station = network.stations[visit.station]
            least = visit.mean / (station.fastest * station.copies)
            known = steps.get(visit.station, memories[visit.station])
            steps[visit.station] = max(known, least)
    yield (1 + under_way) ** 2 * max(steps.values(), default=0.0) / 2
    for number, memory in enumerate(memories):
        if number not in steps:
            yield _FORGETTING * memory


def memories_of(network: SimulatedNetwork) -> dict[str, float]:
    """Return how long the slowest queue on the way of each stream knows how it was, in s.

    What lasts so long is seen by all that come meanwhile. Where users wait for answers nothing is
    known of that.
    """
    found = dict.fromkeys(network.flows, 0.0)
    if any(source.customers for source in network.sources):
        return found
    memories = _memories(network)
    for source in network.sources:
        own = [memories[visit.station] for visit, _ in served(source.steps)]
        if source.stream in found:
            found[source.stream] = max(found[source.stream], *own, 0.0)
    return found


def lead_of(network: SimulatedNetwork) -> float:
    """Return the time in which the first items are on their way, twice over."""
    return 2 * max((_path_length(source.steps) for source in network.sources), default=0.0)


def episode_of(network: SimulatedNetwork) -> tuple[float, float] | None:
    """Return how long an episode warms up, and how long it is counted; None for no clock.

    What comes in fixed cycles alone is in a cycle itself as soon as each queue has been empty
    once; where other traffic comes at random, it takes as long as a queue needs to forget.
    """
    cycles = [source.flows / source.rate for source in network.sources if source.is_periodic]
    if not cycles:
        return None
    stages = max(len(served(source.steps)) for source in network.sources)
    warm = (2 + stages) * max(cycles) + lead_of(network)
    bursts = [cycle for source in network.sources for cycle in burst_cycles(source.steps)]
    if not bursts and all(source.is_periodic for source in network.sources):
        return warm, _PERIODS * max(cycles)
    warm = max(warm, _RELAXING * max(_memories(network)), *(_BURSTS * cycle for cycle in bursts))
    return warm, 4 * warm


def events(steps: tuple[Step, ...]) -> float:
    """Return how many things happen to an item on its way, on average."""
    found, often = 0.0, 1.0
    for step in steps:
        match step:
            case Delay() | Take():
                found += often
            case Serve():
                found += often
                for _, lot in step.parts:
                    often *= 1.0 if lot is None else goes_on(lot)
            case Thin() | Lose():
                often *= goes_on(step)
            case Copy():
                often *= step.number
            case Call():
                found += often * step.times * (1 + events(step.steps))
            case Gather():
                found += often * step.number * (1 + events(step.steps))
            case FanOut():
                found += often * step.count * (1 + events(step.steps))
            case Recovery():
                found += often * events(step.steps)
            case Fork():
                found += often * sum(map(events, step.branches))
            case Choose():
                found += often * sum(share * events(branch) for share, branch in step.branches)
            case _:
                pass
    return found


def _path_length(steps: tuple[Step, ...]) -> float:
    """Return how long a way takes without waiting."""
    delays = _delays(steps)
    return delays + sum(visit.mean * often for visit, often in served(steps))


def _delays(steps: tuple[Step, ...]) -> float:
    found = 0.0
    for step in steps:
        match step:
            case Delay():
                found += step.time
            case Call():
                found += step.times * _delays(step.steps)
            case Recovery() | Gather() | FanOut():
                found += _delays(step.steps)
            case Fork():
                found += max(map(_delays, step.branches))
            case Choose():
                found += sum(share * _delays(branch) for share, branch in step.branches)
            case _:
                pass
    return found


def _memories(
    network: SimulatedNetwork, sources: tuple[StreamSource, ...] | None = None
) -> list[float]:
    """Return the times in which queues forget how they were: longer the fuller they are.

    A service that has begun goes on the longer the more services vary, as those of a gamma law.
    """
    loads = [station.background for station in network.stations]
    longest = [0.0] * len(network.stations)
    for source in network.sources if sources is None else sources:
        for visit, often in served(source.steps):
            station = network.stations[visit.station]
            each = source.rate * often * visit.mean / (station.fastest * station.copies)
            loads[visit.station] += each
            lasting = visit.mean * max(1.0, station.variation**2)
            longest[visit.station] = max(longest[visit.station], lasting)
    found = [
        mean * max(1.0, 1 / (max(1.0, station.servers) * max(1e-3, 1 - load) ** 2))
        for load, mean, station in zip(loads, longest, network.stations, strict=True)
    ]
    # Under a CPU limit what is left of a period goes on in the next one.
    for number, station in enumerate(network.stations):
        if station.period is not None:
            found[number] += station.period / max(1e-3, 1 - loads[number])
    # Where there is room for few, nothing older than these is remembered.
    for number, station in enumerate(network.stations):
        if station.room < inf:
            found[number] = min(found[number], longest[number] * _services_in_room(station))
    return found or [0.0]


def _services_in_room(station: Station) -> float:
    """Return how many services a full room is remembered for at most.

    Those who are served leave within one. The number of those who wait is a random walk between
    none and all places, which forgets in (places / pi)^2 steps of it where as many come as leave,
    sooner elsewhere (Morse 1955), and each server makes one in a service.
    """
    places = max(0.0, station.room - station.servers) + 2
    return 1 + (places / pi) ** 2 / station.servers
