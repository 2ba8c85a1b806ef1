"""The course of an incident in few points: of many steps the means of rates, and the most waits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import ceil, isfinite

from msgspec import Struct

from qps.solver.answers.solution import SolverFault
from qps.solver.incidents.incident_system import CoursePoint

MOST_POINTS = 240


class StepRecord(Struct, kw_only=True):
    """What happened in a step: amounts of requests, and the state at its end."""

    offered: float
    retries: float
    machines: tuple[int, ...]
    hit_rates: tuple[float, ...]
    answered: float = 0.0
    failed: float = 0.0
    wait: float = 0.0
    backlogs: tuple[float, ...] = ()
    loads: list[float]
    capacities: tuple[float, ...] = ()
    utilizations: tuple[float, ...] = ()

    @property
    def is_finite(self) -> bool:
        """Whether all of its numbers are."""
        rates = (self.offered, self.retries, self.answered, self.failed, self.wait)
        by_place = (self.backlogs, self.loads, self.capacities, self.utilizations)
        return all(map(isfinite, (*rates, *self.hit_rates, *chain(*by_place))))


def summarized(records: Sequence[StepRecord], step: float) -> tuple[CoursePoint, ...]:
    """Return steps as points, each of which stands for as many of them.

    SolverFault for one that has no value: it must not be drawn as nothing, nor count as over.
    """
    for number, record in enumerate(records):
        if not record.is_finite:
            raise SolverFault(f"an incident has no value at {number * step:.6g} s: {record}")
    many = max(1, ceil(len(records) / MOST_POINTS))
    found = []
    for first in range(0, len(records), many):
        part = records[first : first + many]
        seconds = len(part) * step
        found.append(
            CoursePoint(
                at=first * step,
                offered=sum(one.offered for one in part) / seconds,
                retries=sum(one.retries for one in part) / seconds,
                answered=sum(one.answered for one in part) / seconds,
                failed=sum(one.failed for one in part) / seconds,
                wait=max(one.wait for one in part),
                backlogs=tuple(map(max, zip(*(one.backlogs for one in part), strict=True))),
                loads=_means([one.loads for one in part]),
                capacities=_means([one.capacities for one in part]),
                utilizations=_means([one.utilizations for one in part]),
                machines=part[-1].machines,
                hit_rates=tuple(map(min, zip(*(one.hit_rates for one in part), strict=True))),
            )
        )
    return tuple(found)


def _means(values: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(each) / len(values) for each in zip(*values, strict=True))
