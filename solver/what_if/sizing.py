"""What it takes to carry a population: the capacity that each resource must have.

Each capacity is turned by itself, all else as it stands; the load of a resource rests on no other
capacity but where an elastic parameter takes what is left. Then all that is too small is made as
large as stated, and the whole is solved again: the answer says whether that supports them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, uncertain_in_any_mode
from qps.compiler.lower.certainty_requirements import refuse_confidence
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, together
from qps.solver.answers.answer_certainty import least_known, verdict_known
from qps.solver.what_if.inverse_unknown import refuse_outside
from qps.solver.what_if.least_multiples import whole_above
from qps.solver.what_if.mode_sizing import SizedMode
from qps.solver.what_if.model_error import sizing_reliability
from qps.solver.what_if.server_counts import ServerCounts
from qps.solver.what_if.sizing_result import ResourceNeed, Sizing, SizingFix

_ENOUGH = Fraction(10**4)
"""So many times what there is counts as any capacity whatever."""


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

    def modes_of(model: ir.Model) -> list[SizedMode]:
        every = in_each_mode(model, configuration)
        return [SizedMode(model, each, outside, population) for each in every]

    modes = modes_of(model)
    needed, raised, numbers = _needed(modes)
    whatever = [f for mode in modes for f in mode.failing(dict.fromkeys(mode.numbers, _ENOUGH))]
    unfixable = {(f.criterion.name, f.mode) for f in whatever}
    still = [
        failing
        for mode in modes
        for failing in mode.failing(raised)
        if (failing.criterion.name, failing.mode) not in unfixable
    ]
    is_carried = not whatever and not still and all(mode.supports(raised) for mode in modes)
    servers = ServerCounts(modes, raised, tuple(needed.values()), numbers)
    growth = None if is_carried else servers.growth()
    is_possible = is_carried or (growth is not None and bool(growth.machines))
    has_fixes = with_fixes or not is_possible
    every = [criterion for mode in modes for criterion in mode.criteria(raised)]
    reliability = None
    if is_possible:
        proposed = raised if is_carried else servers.grown
        reliability = sizing_reliability(model, modes, modes_of, population, proposed)
    fixes, fixes_known = _fixes(modes, raised, unfixable) if still and has_fixes else ((), EXACT)
    return Sizing(
        population=model.population.name,
        at=population,
        needed=tuple(
            _for_all(one, fixes)
            for one in (
                servers.in_place_of_capacities() if is_carried else servers.with_growth(growth)
            )
        ),
        fails_whatever=tuple(whatever),
        fails_still=tuple(still),
        fixes=fixes,
        fixes_known=fixes_known,
        has_fixes=has_fixes,
        is_supported=is_carried,
        growth=growth,
        known=verdict_known([*whatever, *still], every, is_possible=is_possible),
        ports=modes[0].ports,
        reliability=reliability,
        nominal_inputs=tuple(uncertain_in_any_mode(model, configuration)),
    )


def _needed(
    modes: Sequence[SizedMode],
) -> tuple[dict[str, ResourceNeed], dict[str, Fraction], dict[str, set[str]]]:
    """Return what each resource needs, the numbers that are raised for it, and its numbers."""
    needed: dict[str, ResourceNeed] = {}
    raised: dict[str, Fraction] = {}
    numbers: dict[str, set[str]] = {}
    for mode in modes:
        for one, number, times in mode.needed():
            before = needed.get(one.resource)
            needed[one.resource] = one if before is None else _worse(before, one)
            numbers.setdefault(one.resource, set()).add(number)
            if times is not None:
                raised[number] = max(times, raised.get(number, Fraction(1)))
    return needed, raised, numbers


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


def _for_all(one: ResourceNeed, fixes: Sequence[SizingFix]) -> ResourceNeed:
    """Return what a resource takes for all that is required, where more than for its own load.

    Where any of several capacities would fix what fails, each keeps what its load takes.
    """
    fix = fixes[0] if len(fixes) == 1 and one.resource in fixes[0].resources else None
    if fix is None or fix.takes <= (one.exact or 0):
        return one
    takes = float(whole_above(fix.takes)) if one.capacity.is_whole else fix.takes
    load = replace(one, for_load=None)
    return replace(one, takes=takes, exact=fix.takes, known=fix.known, for_load=load)


def _worse(one: ResourceNeed, other: ResourceNeed) -> ResourceNeed:
    """Return what takes more of two modes, with the machines of that which takes more of these."""
    worse = other if _rank(other) > _rank(one) else one
    most = max((one, other), key=_machines_rank)
    return replace(
        worse,
        machines=most.machines,
        machine_turn=most.machine_turn,
        machines_mode=most.machines_mode,
    )


def _machines_rank(one: ResourceNeed) -> tuple[int, bool]:
    return one.machines.takes if one.machines else 0, one.machines_mode is not None


def _rank(one: ResourceNeed) -> tuple[float, float]:
    takes = float("inf") if one.takes is None else one.takes / one.capacity.has
    return takes, one.load / one.target
