"""What it takes to carry a population: the capacity that each resource must have.

Each capacity is turned by itself, all else as it stands; the load of a resource rests on no other
capacity but where an elastic parameter takes what is left. Then all that is too small is made as
large as stated, and the whole is solved again: the answer says whether that supports them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, uncertain_in_any_mode
from qps.compiler.lower.certainty_requirements import refuse_confidence
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, together
from qps.compiler.quantities.methods import known_by
from qps.solver.answers.answer_certainty import least_known, verdict_known
from qps.solver.what_if.growth import Countable, Counts, Growth, MoreMachines, grown
from qps.solver.what_if.inverse_unknown import refuse_outside
from qps.solver.what_if.least_multiples import whole_above
from qps.solver.what_if.mode_sizing import SizedMode
from qps.solver.what_if.sizing_result import Machines, ResourceNeed, Sizing, SizingFix

_ENOUGH = Fraction(10**4)
"""So many times what there is counts as any capacity whatever."""

NOT_ALL_TRIED = known_by("smaller-numbers-untried")


def size(
    model: ir.Model, configuration: Configuration, population: int, *, with_fixes: bool = True
) -> Sizing:
    """Return what each resource must have to carry a population, in the mode that takes most.

    Capacities that fix what fails still take longest to find: without `with_fixes`, they are
    searched only where no number of machines supports the population. QpsError where the
    population lies outside its range.
    """
    refuse_confidence(model, configuration)
    refuse_outside(model, configuration, population)
    outside = replace(configuration, mode=None, mode_changes=())
    every_mode = in_each_mode(model, configuration)
    modes = [SizedMode(model, each, outside, population) for each in every_mode]
    needed: dict[str, ResourceNeed] = {}
    raised: dict[str, Fraction] = {}
    for mode in modes:
        for one, number, times in mode.needed():
            before = needed.get(one.resource)
            needed[one.resource] = one if before is None else _worse(before, one)
            if number is not None and times is not None:
                raised[number] = max(times, raised.get(number, Fraction(1)))
    whatever = [f for mode in modes for f in mode.failing(dict.fromkeys(mode.numbers, _ENOUGH))]
    unfixable = {(f.criterion.name, f.mode) for f in whatever}
    still = [
        failing
        for mode in modes
        for failing in mode.failing(raised)
        if (failing.criterion.name, failing.mode) not in unfixable
    ]
    is_carried = not whatever and not still and all(mode.supports(raised) for mode in modes)
    growth = None if is_carried else _growth(modes, raised, needed.values())
    if is_carried and not _machines_do(modes, raised, needed.values()):
        more = _growth(modes, raised, needed.values())
        needed = {name: _with_machines(one, more, needed) for name, one in needed.items()}
    is_possible = is_carried or (growth is not None and bool(growth.machines))
    has_fixes = with_fixes or not is_possible
    every = [criterion for mode in modes for criterion in mode.criteria(raised)]
    fixes, fixes_known = _fixes(modes, raised, unfixable) if still and has_fixes else ((), EXACT)
    return Sizing(
        population=model.population.name,
        at=population,
        needed=tuple(_for_all(one, fixes, growth) for one in needed.values()),
        fails_whatever=tuple(whatever),
        fails_still=tuple(still),
        fixes=fixes,
        fixes_known=fixes_known,
        has_fixes=has_fixes,
        is_supported=is_carried,
        growth=growth,
        known=verdict_known([*whatever, *still], every, is_possible=is_possible),
        ports=modes[0].ports,
        nominal_inputs=tuple(uncertain_in_any_mode(model, configuration)),
    )


def _growth(
    modes: list[SizedMode], raised: dict[str, Fraction], needed: Iterable[ResourceNeed]
) -> Growth | None:
    """Return how many machines carry the population, in all modes; links as they are, or larger."""
    countables = _countables(modes)
    looked_at = tuple(place for one in countables for place in one.places)
    if not countables:
        return None
    now = {one.number: one.now for one in countables}
    wires = {number for mode in modes for number in mode.link_numbers}
    larger = {n: times for n, times in raised.items() if n in wires and times > 1}
    for links in ({}, larger) if larger else ({},):

        def times(counts: Counts, links: dict[str, Fraction] = links) -> dict[str, Fraction]:
            turned = {n: Fraction(count, now[n]) for n, count in counts.items() if count != now[n]}
            return links | turned

        found = grown(countables, lambda c: not any(mode.failing(times(c)) for mode in modes))
        if found is None or not all(mode.supports(times(found.counts)) for mode in modes):
            continue
        machines = tuple(
            MoreMachines(places, has, takes)
            for one in countables
            if found.counts[one.number] > one.now
            for (has, takes), places in _built(modes[0], one, found.counts[one.number]).items()
        )
        names = [one.resource for one in needed if links and one.is_link and not one.suffices]
        fewer = [found.counts | {n: c - 1} for n, c in found.counts.items() if c > now[n]]
        known = least_known(
            [[one for mode in modes for one in mode.failing(times(counts))] for counts in fewer],
            [one for mode in modes for one in mode.criteria(times(found.counts))],
        )
        known = known if found.are_least else together(known, NOT_ALL_TRIED)
        return Growth(
            machines=machines,
            links=tuple(names),
            are_least=found.are_least,
            candidates=looked_at,
            known=known,
        )
    return Growth(machines=(), links=(), are_least=False, candidates=looked_at)


def _machines_do(
    modes: list[SizedMode], raised: dict[str, Fraction], needed: Iterable[ResourceNeed]
) -> bool:
    """Return whether as many machines as loads take, in place of larger ones, carry all.

    Links are as large as they are with larger ones. Of machines that only some mode has, nothing
    is said: a number that a mode sets is not turned.
    """
    takes: dict[str, int] = {}
    for one in needed:
        if one.machines is not None and not one.suffices:
            if one.machines_mode is not None:
                return True
            takes[one.place] = max(one.machines.takes, takes.get(one.place, 0))
    wires = {number for mode in modes for number in mode.link_numbers}
    times = {number: factor for number, factor in raised.items() if number in wires}
    for each in _countables(modes):
        own = {place: takes.pop(place) for place in each.places if place in takes}
        count = max([each.now, *own.values()])
        if any(modes[0].built(place, count) > max(many, each.now) for place, many in own.items()):
            return False  # a number of another kind
        if count != each.now:
            times[each.number] = Fraction(count, each.now)
    return not takes and not any(mode.failing(times) for mode in modes)


def _with_machines(
    one: ResourceNeed, growth: Growth | None, needed: Mapping[str, ResourceNeed]
) -> ResourceNeed:
    """Return a resource with as many machines as carry all, without any where others grow too."""
    lacking = {other.place for other in needed.values() if not other.suffices}
    grown_places = {place for more in growth.machines for place in more.nodes} if growth else set()
    if one.machines is None or one.suffices:
        return one
    if not grown_places or not grown_places <= lacking or (growth is not None and growth.links):
        return replace(one, machines=None, machines_mode=None)
    return _for_all(one, (), growth)


def _built(mode: SizedMode, one: Countable, count: int) -> dict[tuple[int, int], tuple[str, ...]]:
    """Return how many machines there are and will be, with the nodes of which that is so."""
    found: dict[tuple[int, int], tuple[str, ...]] = {}
    for place in one.places:
        both = mode.built(place, one.now), mode.built(place, count)
        found[both] = (*found.get(both, ()), place)
    return found


def _countables(modes: list[SizedMode]) -> list[Countable]:
    """Return the numbers of machines that can be chosen, where all modes begin with the same."""
    found: dict[str, Countable] = {}
    differing: set[str] = set()
    for mode in modes:
        for one in mode.countables():
            if found.setdefault(one.number, one) != one:
                differing.add(one.number)
    return [one for number, one in found.items() if number not in differing]


def _fixes(
    modes: list[SizedMode], raised: dict[str, Fraction], unfixable: set[tuple[str, str | None]]
) -> tuple[tuple[SizingFix, ...], Certainty]:
    """Return the capacities each of which fixes what still fails, in all modes.

    And how it is known that no other does.
    """
    found: list[SizingFix] = []
    others: list[Certainty] = []
    for number in dict.fromkeys(number for mode in modes for number in mode.numbers):
        tried = [mode.sufficient_multiple(number, raised, unfixable) for mode in modes]
        resources = {n: c for mode in modes for n, c in mode.turned_by(number).items()}
        least = [one for one in tried if one is not None]
        times = [one.times for one in least if one.times is not None]
        if resources and len(times) == len(tried):
            most = max(times)
            below = [over for one in least if one.times == most for over in one.below]
            there = raised | {number: most * raised.get(number, 1)}
            every = [criterion for mode in modes for criterion in mode.criteria(there)]
            known = together(least_known([below], every), *(one.seen for one in least))
            capacity = next(iter(resources.values()))
            found.append(SizingFix(tuple(resources), capacity, float(most) * capacity.has, known))
        else:
            others += [one.seen for one in least if one.times is None]
    reasons = together(*others).because
    return tuple(found), approximation(*reasons) if reasons else EXACT


def _for_all(one: ResourceNeed, fixes: Sequence[SizingFix], growth: Growth | None) -> ResourceNeed:
    """Return what a resource takes for all that is required, where more than for its own load.

    Where any of several capacities would fix what fails, each keeps what its load takes.
    """
    fix = fixes[0] if len(fixes) == 1 and one.resource in fixes[0].resources else None
    if fix is not None and fix.takes > (one.exact or 0):
        takes = float(whole_above(fix.takes)) if one.capacity.is_whole else fix.takes
        load = replace(one, for_load=None)
        one = replace(one, takes=takes, exact=fix.takes, known=fix.known, for_load=load)
    more = [more for more in growth.machines if one.place in more.nodes] if growth else []
    if one.machines is None or not more or more[0].takes <= one.machines.takes:
        return one
    (grown_to, *_), price = more, one.machines.price
    price = None if price is None else price * grown_to.takes / one.machines.takes
    machines = Machines(one.machines.now, grown_to.takes, price, one.machines.unit)
    known = EXACT if growth is None else growth.known
    return replace(one, machines=machines, machines_mode=None, machines_known=known)


def _worse(one: ResourceNeed, other: ResourceNeed) -> ResourceNeed:
    """Return what takes more of two modes, with the machines of that which takes more of these."""
    worse = other if _rank(other) > _rank(one) else one
    most = max((one, other), key=_machines_rank)
    return replace(worse, machines=most.machines, machines_mode=most.machines_mode)


def _machines_rank(one: ResourceNeed) -> tuple[int, bool]:
    return one.machines.takes if one.machines else 0, one.machines_mode is not None


def _rank(one: ResourceNeed) -> tuple[float, float]:
    takes = float("inf") if one.takes is None else one.takes / one.capacity.has
    return takes, one.load / one.target
