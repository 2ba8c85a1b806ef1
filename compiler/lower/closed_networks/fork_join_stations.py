"""Closed networks with calls made together, as the operations of the engine take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stations import ClosedStation
from qps.engine.expressions.formulas import ZERO, Formula, number
from qps.engine.queueing_networks.fork_join_operands import BRANCH, GROUP, OWN, STATION


class ForkJoin(Struct, frozen=True, kw_only=True):
    """Calls that a cycle makes together so `often`: what each branch is."""

    number: int
    often: Formula
    branches: tuple[ForkJoinBranch, ...]


class Own(Struct, frozen=True):
    """A machine of each holder's own: what a cycle demands of it, and how often."""

    demand: Formula
    often: Formula


class ForkJoinBranch(Struct, frozen=True, kw_only=True):
    """One of them: what it takes besides its stations, and the calls made together within.

    A cycle makes it so `often`, and all times are those of a cycle.
    """

    often: Formula
    delay: Formula
    own: tuple[Own, ...]
    stations: tuple[str, ...]
    forks: tuple[ForkJoin, ...]


class Forked(Struct, frozen=True):
    """The operands of a network, and which group of them is a station or a fork."""

    operands: tuple[Formula, ...]
    places: dict[str | int, Formula]


def every(forks: Sequence[ForkJoin]) -> Iterator[ForkJoin]:
    """Yield all calls made together, those within others, too."""
    for fork in forks:
        yield fork
        for branch in fork.branches:
            yield from every(branch.forks)


def forked(
    stations: Sequence[ClosedStation], forks: Sequence[ForkJoin], often: Mapping[str, Formula]
) -> Forked:
    """Return a network as the operations of the engine take it."""
    by_name = {one.resource: one for one in stations}
    within = stations_within(forks)
    groups: list[tuple[Formula, ...]] = []
    places: dict[str | int, Formula] = {}

    def add_station(name: str) -> None:
        one = by_name[name]
        places[name] = number(len(groups))
        operands = (one.demands[0], one.servers, one.open_load, one.copies, often[name])
        groups.append((number(STATION), *operands))

    def add_fork(fork: ForkJoin) -> None:
        at = len(groups)
        places[fork.number] = number(at)
        groups.append(())
        for branch in fork.branches:
            groups.append((number(BRANCH), branch.delay, *[ZERO] * (GROUP - 3), branch.often))
            groups.extend(
                (number(OWN), one.demand, ZERO, ZERO, ZERO, one.often) for one in branch.own
            )
            for name in branch.stations:
                add_station(name)
            for one in branch.forks:
                add_fork(one)
        groups[at] = (number(len(groups) - at - 1), *[ZERO] * (GROUP - 2), fork.often)

    for name in by_name:
        if name not in within:
            add_station(name)
    for fork in forks:
        add_fork(fork)
    return Forked(tuple(one for group in groups for one in group), places)


def stations_within(forks: Sequence[ForkJoin]) -> set[str]:
    """Return the stations that are visited while calls are made together."""
    return {n for fork in every(forks) for branch in fork.branches for n in branch.stations}


def longest_alone(
    forks: Sequence[ForkJoin], demands: Mapping[str, float], value: Callable[[Formula], float]
) -> float:
    """Return what calls made together take at least where nobody else is: as their longest does."""
    return sum(
        max(
            value(branch.delay)
            + sum(value(one.demand) for one in branch.own)
            + sum(demands[name] for name in branch.stations)
            + longest_alone(branch.forks, demands, value)
            for branch in fork.branches
        )
        for fork in forks
    )
