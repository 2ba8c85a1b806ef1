"""The capacities that a population requires, in sentences: the result, and how it is known."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isnan

from qps.compiler.diagnostics.render import printable
from qps.reports.text.words.certainty_marks import (
    ALL_EXACT,
    OTHERS_EXACT,
    because,
    by_switch,
    known_numbers,
    marked,
    marked_value,
)
from qps.reports.text.words.mode_words import in_mode
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    in_percent,
    joined_words,
    quantity,
    rounded_in,
    scale_of,
    side_of,
    with_unit,
)
from qps.solver.answers.solution import QUALITY
from qps.solver.what_if.growth import Growth
from qps.solver.what_if.sizing_result import FailingThere, ResourceCapacity, ResourceNeed, Sizing

DIGITS = 4
_SMALL_SHARE = 1e-9
_TIMES = phrase("sizing.largest_multiple")


def sizing_known(sizing: Sizing) -> list[str]:
    """Return how it is known whether they are supported, and each number that is not exact."""
    found = {one.criterion.name: one.known for one in (*sizing.fails_whatever, *sizing.fails_still)}
    found |= {phrase("sizing.size_of", resource=one.resource): one.known for one in sizing.needed}
    found |= {
        phrase("sizing.fix_of", resources=fix.resources[0]): fix.known for fix in sizing.fixes
    }
    found[phrase("sizing.fixes")] = sizing.fixes_known
    if sizing.growth is not None:
        found[phrase("sizing.server_count")] = sizing.growth.known
    numbers = known_numbers(found, sizing.ports)
    if sizing.known.is_exact:
        return numbers
    what = sizing_as_known(sizing)
    verdict = f"{what[0].upper()}{what[1:]}{because(sizing.known.reasons, sizing.ports)}."
    return [verdict, *(OTHERS_EXACT if line == ALL_EXACT else line for line in numbers)]


def sizing_as_known(sizing: Sizing) -> str:
    """Return what a size is: optimistic where more may be required, conservative where less."""
    return phrase(f"sizing.known.{sizing.known.kind.value}")


def sizing_answer(sizing: Sizing) -> str:
    """Return in words whether the required capacities support a population, and what fails else.

    With whether that is so without model error only.
    """
    answer = _nominal_answer(sizing)
    if sizing.reliability is None or sizing.reliability.is_supported:
        return answer
    return phrase("sizing.without_error", answer=answer.removesuffix("."))


def _nominal_answer(sizing: Sizing) -> str:
    users = counted(sizing.at, sizing.population)
    are = "is" if sizing.at == 1 else "are"
    short = [
        one.resource for one in by_shortage(sizing) if not one.suffices and one.takes is not None
    ]
    names = joined_words(by_switch(short, sizing.ports))
    what = phrase("sizing.with_more", names=names) if short else phrase("sizing.without_changes")
    if sizing.is_supported:
        return _to_buy(sizing) or f"{users} {are} supported {what}."
    growth = sizing.growth
    more = growth is not None and bool(growth.machines)
    said = [_more_machines(sizing, growth)] if growth is not None and more else []
    none = "" if growth is None or more else _not_found(growth)
    if sizing.fails_whatever:
        named = joined_words([_failing(one) for one in _without_quality(sizing.fails_whatever)])
        enough = (
            phrase("sizing.even_with", times=_TIMES)
            if more
            else phrase("sizing.not_supported", users=users, are=are, times=_TIMES)
        )
        said.append(f"{enough}, {named}{none and f'; {none}'}.")
    if sizing.fails_still and sizing.has_fixes:
        named = joined_words([_failing(one) for one in _without_quality(sizing.fails_still)])
        fixes = [
            f"{joined_words(fix.resources)} to "
            f"{marked(rounded_up(fix.takes, fix.capacity), fix.known)}"
            for fix in sizing.fixes
        ]
        otherwise = phrase("sizing.several")
        if not sizing.fixes_known.is_exact:
            otherwise = phrase("sizing.unknown_fix")
        fix = phrase("sizing.raise", names=" or ".join(fixes)) if fixes else otherwise
        said.append(f"{_for_utilization(sizing)}, {named}; {fix}.")
    if not sizing.fails_whatever and not sizing.fails_still:
        said.append(phrase("sizing.smaller_fails", users=users, are=are, what=what))
    return " ".join(said)


def _to_buy(sizing: Sizing) -> str:
    """Return what is to be bought: `2,188 users need 5 cores of web.cpu (now 4), or 3 servers`.

    Empty where nothing is, or more than a sentence names.
    """
    lacking = [one for one in by_shortage(sizing) if not one.suffices and one.takes is not None]
    if not 0 < len(lacking) <= _MOST_SHOWN or any(isnan(one.capacity.has) for one in lacking):
        return ""
    capacities = [_required(one) for one in lacking]
    users = counted(sizing.at, sizing.population)
    needs = f"{users} {'needs' if sizing.at == 1 else 'need'} {joined_words(capacities)}"
    machines: dict[str, int] = {}
    for one in lacking:
        if one.machines is None or one.machines_mode is not None:
            return f"{needs}."
        machines[one.place] = max(one.machines.takes, machines.get(one.place, 0))
    if len(machines) == 1:
        (count,) = machines.values()
        return phrase("sizing.or_count", needs=needs, count=count)
    counts = [f"{count:,} {place}" for place, count in machines.items()]
    return phrase("sizing.or_servers", needs=needs, names=joined_words(counts))


_MOST_SHOWN = 2


def _required(one: ResourceNeed) -> str:
    """Return the capacity that is required, beside what there is: `5 cores of web.cpu (now 4)`."""
    assert one.takes is not None
    takes = rounded_up(one.takes, one.capacity)
    has, unit = quantity(one.capacity.has, one.capacity.dimension), takes.partition(" ")[2]
    same = unit.removesuffix("s") == has.partition(" ")[2].removesuffix("s")
    if unit and unit == one.resource.rpartition(".")[2]:
        count, now = takes.partition(" ")[0], has.partition(" ")[0]
        return phrase("sizing.count_now", count=count, resource=one.resource, now=now)
    return phrase(
        "sizing.value_now",
        takes=takes,
        resource=one.resource,
        now=has.partition(" ")[0] if same else has,
    )


def _for_utilization(sizing: Sizing) -> str:
    """Return in words that each resource has what keeps its own utilization to its target."""
    loads = (one.for_load or one for one in by_shortage(sizing))
    short = [one.resource for one in loads if not one.suffices and one.takes is not None]
    names = joined_words(by_switch(short, sizing.ports))
    only = phrase("sizing.meets_target")
    if len(short) > 1:
        only = phrase("sizing.meet_targets")
    return f"If {names} {only}" if short else phrase("sizing.without_changes_first")


def _more_machines(sizing: Sizing, growth: Growth) -> str:
    """Return in words how many machines are enough."""
    links = phrase("sizing.and_links", names=joined_words(growth.links)) if growth.links else ""
    more = [
        phrase(
            "sizing.servers_now",
            count=marked(f"{m.takes:,}", growth.known),
            names=joined_words(m.nodes),
            now=m.now,
        )
        for m in growth.machines
    ]
    users = counted(sizing.at, sizing.population)
    are = "is" if sizing.at == 1 else "are"
    fewer = "" if growth.are_least else phrase("sizing.fewer")
    return phrase(
        "sizing.supported", users=users, are=are, names=joined_words(more), links=links, fewer=fewer
    )


def _not_found(growth: Growth) -> str:
    """Return in words how many machines were tried."""
    tried = joined_words(growth.candidates)
    return phrase("sizing.servers_not_enough", up_to=f"{growth.up_to:,}", tried=tried)


def _without_quality(failing: Sequence[FailingThere]) -> list[FailingThere]:
    """Return what fails, without quality where an axis of it fails."""
    if any(one.criterion.axis is not None for one in failing):
        return [one for one in failing if one.criterion.name != QUALITY]
    return list(failing)


def _failing(one: FailingThere) -> str:
    criterion = one.criterion
    share = in_percent(criterion)
    value, limit = (
        quantity(v, criterion.dimension, DIGITS, share=share) for v in (one.value, one.limit)
    )
    mode = in_mode(one.mode)
    value_text = marked_value(value, one.value, one.known)
    return f"{printable(criterion.name)} is {value_text}{mode} ({side_of(criterion)} {limit})"


def by_shortage(sizing: Sizing) -> list[ResourceNeed]:
    """Return the resources, those that are shortest of capacity first."""
    return sorted(sizing.needed, key=lambda one: (one.suffices, -one.load / one.target))


def rounded_up(amount: float, capacity: ResourceCapacity) -> str:
    """Return an amount of a capacity, its digits rounded up; of what is counted whole ones."""
    if capacity.is_whole or capacity.is_count:
        return with_unit(f"{ceil(amount - _SMALL_SHARE):,}", str(capacity.dimension))
    factor, _ = scale_of(amount, capacity.dimension)
    shown = rounded_in(amount, factor, DIGITS, is_up=True)
    return quantity(shown, capacity.dimension, DIGITS)
