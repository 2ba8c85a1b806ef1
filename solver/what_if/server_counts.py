"""How many machines support a population: each count that is reported was tried with the whole.

What keeps a resource to its own target may be too few for the times that are required, and for
the machines that are left after a failure: each count is judged by all requirements, in all modes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.solver.answers.answer_certainty import least_known
from qps.solver.what_if.growth import Countable, Counts, Growth, MoreMachines, grown
from qps.solver.what_if.mode_sizing import SizedMode
from qps.solver.what_if.sizing_result import FailingThere, Machines, ResourceNeed

NOT_ALL_TRIED = known_by("smaller-numbers-untried")

Times = Mapping[str, Fraction]
"""So many times what each number is now."""


class _Found(Struct, frozen=True):
    """Counts that were tried, and how it is known that fewer are not enough."""

    counts: Counts
    times: Times
    are_least: bool
    known: Certainty


class ServerCounts:
    """Machines in place of larger capacities: the counts with which all that is required holds.

    `raised` are the capacities that keep all resources to their targets, and `numbers` those that
    turn the capacity of each resource, in all modes.
    """

    def __init__(
        self,
        modes: Sequence[SizedMode],
        raised: Times,
        needed: Sequence[ResourceNeed],
        numbers: Mapping[str, Collection[str]],
    ) -> None:
        self._modes, self._raised = modes, raised
        self._needed, self._numbers = needed, numbers
        self._countables = _countables(modes)
        self._now = {one.number: one.now for one in self._countables}
        self.grown: Times = {}
        """What the numbers of the growth that was found are times what they are now."""
        self._failing: dict[tuple[int, frozenset[tuple[str, Fraction]]], list[FailingThere]] = {}

    def growth(self) -> Growth | None:
        """Return how many machines support the population, with links as they are, or larger.

        None where no number of machines can be chosen.
        """
        places = tuple(place for one in self._countables for place in one.places)
        if not places:
            return None
        wires = {number for mode in self._modes for number in mode.link_numbers}
        larger = {n: times for n, times in self._raised.items() if n in wires and times > 1}
        for links in ({}, larger) if larger else ({},):
            found = self._found(links)
            if found is None:
                continue
            self.grown = found.times
            names = [one.resource for one in self._lacking() if links and one.is_link]
            return Growth(
                machines=tuple(self._more(found.counts)),
                links=tuple(names),
                are_least=found.are_least,
                candidates=places,
                known=found.known,
            )
        return Growth(machines=(), links=(), are_least=False, candidates=places)

    def with_growth(self, growth: Growth | None) -> Iterator[ResourceNeed]:
        """Yield what is needed, with the machines that support the population, or none."""
        more = {node: one for one in (growth.machines if growth else ()) for node in one.nodes}
        for one in self._needed:
            found = more.get(one.place)
            if growth is not None and found is not None:
                yield one if _has_as_many(one, found) else _with(one, found, growth.known)
            else:
                yield one if one.suffices else replace(one, machines=None, machines_mode=None)

    def in_place_of_capacities(self) -> Iterator[ResourceNeed]:
        """Yield what is needed, with the machines that do in place of capacities that do as well.

        Together with what is required of resources whose machines cannot be chosen.
        """
        replaced = [one for one in self._lacking() if self._is_countable(one)]
        own = {number for one in replaced for number in self._numbers[one.resource]}
        others = {
            number
            for one in self._lacking()
            if one not in replaced
            for number in self._numbers[one.resource]
        }
        rest = {n: times for n, times in self._raised.items() if n in others or n not in own}
        found = self._found(rest) if replaced else None
        machines = () if found is None else self._more(found.counts)
        more = {node: one for one in machines for node in one.nodes}
        most: dict[str, int] = {}
        for one in replaced:
            if one.machines is not None:
                most[one.place] = max(one.machines.takes, most.get(one.place, 0))
        for one in self._needed:
            if one.suffices or one.machines is None:
                yield one
            elif found is not None and one in replaced and one.place in more:
                with_all = more[one.place]
                # Fewer for one resource only where another of the place has as many as it takes.
                is_enough = _has_as_many(one, with_all) or (
                    most[one.place] >= with_all.takes and self._is_enough_alone(one)
                )
                yield one if is_enough else _with(one, with_all, found.known)
            elif not self._is_countable(one) and self._is_enough_alone(one):
                yield one
            else:
                yield replace(one, machines=None, machines_mode=None)

    def _lacking(self) -> list[ResourceNeed]:
        return [one for one in self._needed if not one.suffices]

    def _is_countable(self, one: ResourceNeed) -> bool:
        turn = one.machine_turn
        return turn is not None and one.machines_mode is None and turn.number in self._now

    def _found(self, others: Times) -> _Found | None:
        """Return counts with which all holds, beside other numbers."""
        at_least = dict(self._now)
        for one in self._needed:
            turn = one.machine_turn
            if turn is not None and turn.number in at_least and one.machines_mode is None:
                at_least[turn.number] = max(at_least[turn.number], turn.takes)

        def times(counts: Counts) -> Times:
            now = self._now
            turned = {n: Fraction(count, now[n]) for n, count in counts.items() if count != now[n]}
            return {**others, **turned}

        found = grown(self._countables, lambda counts: self._holds(times(counts)), at_least)
        if found is None or not self._support(times(found.counts)):
            return None
        fewer = [
            found.counts | {n: count - 1}
            for n, count in found.counts.items()
            if count > self._now[n]
        ]
        known = least_known(
            [
                [one for at in range(len(self._modes)) for one in self._fails(at, times(counts))]
                for counts in fewer
            ],
            [one for mode in self._modes for one in mode.criteria(dict(times(found.counts)))],
        )
        known = known if found.are_least else together(known, NOT_ALL_TRIED)
        return _Found(found.counts, times(found.counts), found.are_least, known)

    def _is_enough_alone(self, one: ResourceNeed) -> bool:
        """Return whether all holds with the machines of one resource, and the rest as required."""
        turn = one.machine_turn
        if turn is None:
            return False
        own = self._numbers[one.resource]
        rest = {number: times for number, times in self._raised.items() if number not in own}
        turned = {**rest, **turn.times}
        every = [
            turned
            if mode.turns(one.place, turn) and one.machines_mode in (None, mode.name)
            else self._raised
            for mode in self._modes
        ]
        return not any(self._fails(at, times) for at, times in enumerate(every)) and all(
            mode.supports(dict(times)) for mode, times in zip(self._modes, every, strict=True)
        )

    def _holds(self, times: Times) -> bool:
        return not any(self._fails(at, times) for at in range(len(self._modes)))

    def _support(self, times: Times) -> bool:
        return all(mode.supports(dict(times)) for mode in self._modes)

    def _fails(self, at: int, times: Times) -> list[FailingThere]:
        key = at, frozenset(times.items())
        if key not in self._failing:
            self._failing[key] = self._modes[at].failing(dict(times))
        return self._failing[key]

    def _more(self, counts: Counts) -> Iterator[MoreMachines]:
        """Yield how many machines there are and will be, with the nodes of which that is so."""
        for one in self._countables:
            if counts[one.number] <= one.now:
                continue
            mode = self._modes[0]
            nodes: dict[tuple[int, int], tuple[str, ...]] = {}
            for place in one.places:
                both = mode.built(place, one.now), mode.built(place, counts[one.number])
                nodes[both] = (*nodes.get(both, ()), place)
            for (has, takes), places in nodes.items():
                yield MoreMachines(places, has, takes)


def _has_as_many(one: ResourceNeed, more: MoreMachines) -> bool:
    return one.machines is None or more.takes <= one.machines.takes


def _with(one: ResourceNeed, more: MoreMachines, known: Certainty) -> ResourceNeed:
    """Return what a resource needs, with as many machines as support the population."""
    has = one.machines
    assert has is not None
    price = None if has.price is None else has.price * more.takes / has.takes
    machines = Machines(has.now, more.takes, price, has.unit)
    return replace(one, machines=machines, machines_mode=None, machines_known=known)


def _countables(modes: Sequence[SizedMode]) -> list[Countable]:
    """Return the numbers of machines that can be chosen, where all modes begin with the same."""
    found: dict[str, Countable] = {}
    differing: set[str] = set()
    for mode in modes:
        for one in mode.countables():
            if found.setdefault(one.number, one) != one:
                differing.add(one.number)
    return [one for number, one in found.items() if number not in differing]
