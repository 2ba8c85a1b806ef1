"""How long to play: at first, and each episode of what goes by a clock."""

from __future__ import annotations

from qps.simulation.played import (
    Call,
    Delay,
    Fork,
    Played,
    Recovery,
    Step,
    burst_cycles,
    served,
)

_EVENTS = 15_000
"""Of the first length of a run: a fraction of a second."""
_MOST = 40
"""How many times as many events there may be, for something seldom to happen at all."""
_ITEMS = 200
"""Of each stream in the first length, where that is not too long."""
_RELAXING = 25.0
_CYCLES = 15
"""Of each user who waits for answers: at first all of them think, and then many ask together."""
_PERIODS = 4
_BURSTS = 8


def first_length(played: Played) -> float:
    """Return how long each run is at first, in s of the model."""
    busy = sum(source.rate * (1 + _events(source.steps)) for source in played.sources)
    if busy <= 0:
        return 1.0
    slowest = min(source.rate for source in played.sources)
    bursts = [cycle for source in played.sources for cycle in burst_cycles(source.steps)]
    rounds = [source.customers / source.rate for source in played.sources]
    wanted = max(
        _EVENTS / busy,
        _ITEMS / slowest,
        *(_ITEMS * cycle for cycle in bursts),
        *(_CYCLES * time for time in rounds),
    )
    return min(wanted, _MOST * _EVENTS / busy)


def lead_of(played: Played) -> float:
    """Return the time in which the first items are on their way, twice over."""
    return 2 * max((_way(source.steps) for source in played.sources), default=0.0)


def episode_of(played: Played) -> tuple[float, float] | None:
    """Return how long an episode warms up, and how long it is counted; None for no clock.

    What comes in fixed cycles alone is in a cycle itself as soon as each queue has been empty
    once; where other traffic comes at random, it takes as long as a queue needs to forget.
    """
    cycles = [source.flows / source.rate for source in played.sources if source.is_periodic]
    if not cycles:
        return None
    stages = max(len(served(source.steps)) for source in played.sources)
    warm = (2 + stages) * max(cycles) + lead_of(played)
    bursts = [cycle for source in played.sources for cycle in burst_cycles(source.steps)]
    if not bursts and all(source.is_periodic for source in played.sources):
        return warm, _PERIODS * max(cycles)
    warm = max(warm, _RELAXING * max(_memories(played)), *(_BURSTS * cycle for cycle in bursts))
    return warm, 4 * warm


def _events(steps: tuple[Step, ...]) -> float:
    return sum(often for _, often in served(steps)) + sum(isinstance(s, Delay) for s in steps)


def _way(steps: tuple[Step, ...]) -> float:
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
            case Recovery():
                found += _delays(step.steps)
            case Fork():
                found += max(map(_delays, step.branches))
            case _:
                pass
    return found


def _memories(played: Played) -> list[float]:
    """Return the times in which queues forget how they were: longer the fuller they are."""
    loads = [0.0] * len(played.stations)
    longest = [0.0] * len(played.stations)
    for source in played.sources:
        for visit, often in served(source.steps):
            station = played.stations[visit.station]
            each = source.rate * often * visit.mean / (station.servers * station.copies)
            loads[visit.station] += each
            longest[visit.station] = max(longest[visit.station], visit.mean)
    return [mean / max(1e-3, 1 - load) ** 2 for load, mean in zip(loads, longest, strict=True)] or [
        0.0
    ]
