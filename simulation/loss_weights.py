"""What an item that is lost would have become: the weight of each loss on an itinerary."""

from __future__ import annotations

from msgspec.structs import replace

from qps.simulation.simulated_model import (
    Call,
    Choose,
    Copy,
    FanOut,
    Fork,
    Gather,
    Lose,
    Recovery,
    Serve,
    Step,
    Thin,
)


def with_loss_weights(steps: tuple[Step, ...], behind: float = 1.0) -> tuple[Step, ...]:
    """Return a way on which each loss knows what it would have become."""
    found: list[Step] = []
    for step in reversed(steps):
        match step:
            case Copy():
                found.append(step)
                behind *= step.number
            case Thin():
                found.append(step)
                behind *= step.share
            case Lose():
                found.append(replace(step, worth=behind))
            case Serve():
                parts: list[tuple[float, Lose | Thin | None]] = []
                for mean, lot in reversed(step.parts):
                    if isinstance(lot, Lose):
                        parts.append((mean, replace(lot, worth=behind)))
                        continue
                    behind *= 1.0 if lot is None else lot.share
                    parts.append((mean, lot))
                found.append(replace(step, parts=tuple(reversed(parts)), worth=behind))
            case Call():
                found.append(Call(step.times, with_loss_weights(step.steps, behind)))
            case Choose():
                ways = ((share, with_loss_weights(way, behind)) for share, way in step.branches)
                found.append(Choose(tuple(ways)))
            case Gather():
                found.append(Gather(step.number, with_loss_weights(step.steps, behind)))
            case FanOut():
                found.append(replace(step, steps=with_loss_weights(step.steps, behind)))
            case Recovery():
                found.append(Recovery(with_loss_weights(step.steps, behind), step.share))
            case Fork():
                branches = tuple(with_loss_weights(branch, behind) for branch in step.branches)
                found.append(Fork(branches))
            case _:
                found.append(step)
    return tuple(reversed(found))
