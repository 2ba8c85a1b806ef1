"""Times that pass where nobody waits any more, or yet: they are added, nothing need happen then.

What comes at random, or by a clock of any phase, comes so a fixed time later, too: what is before
the first wait of a way, and behind the last one, takes its time without an event.
"""

from __future__ import annotations

from collections.abc import Iterator

from qps.simulation.simulated_model import (
    BackgroundLoad,
    Call,
    Choose,
    Delay,
    FanOut,
    Fork,
    Gather,
    Give,
    Recovery,
    Serve,
    Shift,
    Step,
    Take,
)


def shifted(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return a way of a source whose items do not wait for each other's answers."""
    waits = [number for number, step in enumerate(steps) if _waits(step)]
    if not waits:
        return tuple(_without_delays(steps))
    first, last = waits[0], waits[-1] + 1
    before, behind = _without_delays(steps[:first]), _without_delays(steps[last:])
    return (*before, *steps[first:last], *behind)


def _waits(step: Step) -> bool:
    """Return whether anybody may wait in a step, or holds something while others do."""
    match step:
        case Serve() | Take() | Give():
            return True
        case Call() | Recovery() | Gather() | FanOut():
            return any(map(_waits, step.steps))
        case Fork():
            return any(map(_waits, (inner for branch in step.branches for inner in branch)))
        case Choose():
            return any(map(_waits, (inner for _, branch in step.branches for inner in branch)))
        case _:
            return False


def _without_delays(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield steps in which nobody waits; what they take is added at their end."""
    time = 0.0
    for step in steps:
        match step:
            case Delay():
                time += step.time
            case Gather():
                for inner in step.steps:
                    if isinstance(inner, BackgroundLoad):
                        yield BackgroundLoad(inner.station, inner.amount * step.number)
                    elif isinstance(inner, Delay):
                        time += inner.time
            case Recovery():
                yield Recovery(tuple(_without_delays(step.steps)), step.share)
            case _:
                yield step
    if time > 0:
        yield Shift(time)
