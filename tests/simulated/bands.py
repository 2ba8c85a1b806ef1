"""Of what kind a number is, in bands: what errors of approximations are measured by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from qps.compiler.quantities.disciplines import Service
from qps.simulation.replications import Simulation
from qps.simulation.simulated_model import (
    Call,
    Choose,
    Fork,
    Gather,
    Recovery,
    SimulatedNetwork,
    Station,
    Step,
    Take,
    served,
)


def _band(value: float, ends: Sequence[tuple[float, str]]) -> str:
    return next(name for end, name in ends if value <= end)


_SERVERS = ((1, "1"), (4, "2-4"), (16, "5-16"), (inf, "17+"))
_LOADS = ((0.5, "to 50 %"), (0.8, "50-80 %"), (0.9, "80-90 %"), (inf, "from 90 %"))
_VARIATIONS = ((0.0, "0"), (1.0, "to 1"), (2.0, "1-2"), (inf, "from 2"))
_COUNTS = ((0, "0"), (1, "1"), (3, "2-3"), (inf, "4+"))


def bands_of(played: SimulatedNetwork, expected: Simulation, subject: str) -> dict[str, str]:
    """Return the bands of a stream, by all stations on its way, or of a resource."""
    own = [one for one in played.sources if one.stream == subject]
    visits = [visit for source in own for visit, _ in served(source.steps)]
    stations = [played.stations[visit.station] for visit in visits]
    if not own:
        stations = [one for one in played.stations if one.name == subject]
    come = {"closed" if one.customers else "open" for one in played.sources}
    variations = [_variation(one) for one in stations]
    variations += [one.variation for one in own if one.variation is not None]
    return {
        "servers": _band(max((one.servers for one in stations), default=1), _SERVERS),
        "load": _band(
            max((expected.loads[one.name].mean for one in stations), default=0.0), _LOADS
        ),
        "cv": _band(max(variations, default=1.0), _VARIATIONS),
        "copies": _band(max((one.copies for one in stations), default=1), _SERVERS),
        "holds": _band(sum(1 for source in own for _ in _taken(source.steps)), _COUNTS),
        "depth": _band(len(visits), _COUNTS),
        "users": " and ".join(sorted(come)),
    }


def _variation(station: Station) -> float:
    """Return how services vary as far as it counts: where all are served at once it does not."""
    return 1.0 if station.service is Service.SHARED else station.variation


def _taken(steps: Sequence[Step]) -> Iterator[Take]:
    for step in steps:
        match step:
            case Take():
                yield step
            case Call() | Recovery() | Gather():
                yield from _taken(step.steps)
            case Fork():
                for branch in step.branches:
                    yield from _taken(branch)
            case Choose():
                yield from _taken(step.branches[0][1])
            case _:
                pass
