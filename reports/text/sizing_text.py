"""What it takes to carry a population, as text and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite, isnan
from operator import attrgetter

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.text.how_known import (
    ALL_EXACT,
    OTHERS_EXACT,
    because,
    by_switch,
    known_numbers,
    marked,
    marked_value,
)
from qps.reports.text.nouns import counted
from qps.reports.text.odds_text import typical_lines
from qps.reports.text.ports import by_their_switch
from qps.reports.text.quantities import (
    in_percent,
    joined_words,
    number,
    percent,
    quantity,
    rounded_in,
    scale_of,
    side_of,
)
from qps.reports.text.table import Table, escaped, joined
from qps.solver.answers.answering import QUALITY
from qps.solver.what_if.growth import Growth
from qps.solver.what_if.sized import Capacity, FailingThere, Machines, Mend, Needed, Sizing
from qps.solver.what_if.sizing import MOST

_DIGITS = 4
_EXACT_DIGITS = 6
_HAIR = 1e-9
_AS_IS = "As it stands"


class NeededView(Struct, frozen=True, kw_only=True):
    """A resource: its utilization, target, current and required capacity, in `unit`.

    `takes` is null if no capacity is sufficient, 0 if any is; `exact` is the value before rounding
    up to whole cores. `machines` is null if their number is fixed.
    """

    name: str
    load: float
    target: float
    unit: str
    has: float
    takes: float | None
    exact: float | None
    suffices: bool
    machines: Machines | None
    mode: str | None
    known: Certainty


class FailingView(Struct, frozen=True, kw_only=True):
    """A requirement that fails there, with its mode, value and limit."""

    requirement: str
    mode: str | None
    value: float
    limit: float
    unit: str
    known: Certainty


class MendView(Struct, frozen=True):
    """A capacity of these resources that alone fixes what still fails."""

    resources: tuple[str, ...]
    takes: float
    unit: str
    known: Certainty


class SizingView(Struct, frozen=True, kw_only=True):
    """Required size of each resource for a population, in base units.

    `known` is the certainty that the population is supported: an upper bound if it may not be, a
    lower bound if it may be although a requirement fails. `mends_known` is the certainty that no
    other capacity fixes what still fails.
    """

    schema: str
    file: str
    given: dict[str, int]
    answer: str
    carried: bool
    resources: tuple[NeededView, ...]
    fails_whatever: tuple[FailingView, ...]
    fails_still: tuple[FailingView, ...]
    mends: tuple[MendView, ...]
    mends_known: Certainty
    growth: Growth | None
    known: Certainty
    typical: tuple[str, ...]


def sizing_view(sizing: Sizing, file: str) -> SizingView:
    """Return the answer as plain values."""
    return SizingView(
        schema="qps/sizing/1",
        file=file,
        given={sizing.population: sizing.at},
        answer=sizing_answer(sizing),
        carried=sizing.is_possible,
        resources=tuple(_needed(one) for one in _ordered(sizing)),
        fails_whatever=tuple(_failing_view(one) for one in sizing.fails_whatever),
        fails_still=tuple(_failing_view(one) for one in sizing.fails_still),
        mends=tuple(_mend_view(mend) for mend in sizing.mends),
        mends_known=sizing.mends_known,
        growth=sizing.growth,
        known=sizing.known,
        typical=sizing.typical,
    )


def _mend_view(mend: Mend) -> MendView:
    unit = str(mend.capacity.dimension)
    return MendView(mend.resources, mend.takes, unit, mend.known)


def _needed(one: Needed) -> NeededView:
    return NeededView(
        name=one.resource,
        load=one.load,
        target=one.target,
        unit=str(one.capacity.dimension),
        has=one.capacity.has,
        takes=one.takes,
        exact=one.exact,
        suffices=one.suffices,
        machines=one.machines,
        mode=one.mode,
        known=one.known,
    )


def _failing_view(one: FailingThere) -> FailingView:
    unit, known = str(one.criterion.dimension), one.known
    return FailingView(
        requirement=one.criterion.name,
        mode=one.mode,
        value=one.value,
        limit=one.limit,
        unit=unit,
        known=known,
    )


def sizing_text(sizing: Sizing, title: str, *, markdown: bool = False) -> str:
    """Return the answer, and a table of what each resource has and takes."""
    users = counted(sizing.at, sizing.population)
    head = f"{printable(title)}: what {users} take{'s' * (sizing.at == 1)}"
    answer = sizing_answer(sizing)
    table = _table(sizing)
    known = [*sizing_known(sizing), *typical_lines(sizing.typical)]
    if markdown:
        said = escaped(" ".join(known))
        return joined([f"### {head}", f"**{escaped(answer)}**", table.as_markdown(), said])
    lines = "".join(f"  {line}\n" for line in known)
    return joined([head, f"  {answer}", table.as_text(), lines])


def sizing_known(sizing: Sizing) -> list[str]:
    """Return how it is known whether they are carried, and each number that is not exact."""
    told = {one.criterion.name: one.known for one in (*sizing.fails_whatever, *sizing.fails_still)}
    told |= {f"{one.resource}, takes": one.known for one in sizing.needed}
    told |= {f"{mend.resources[0]}, more": mend.known for mend in sizing.mends}
    told["which capacities would do"] = sizing.mends_known
    if sizing.growth is not None:
        told["machines"] = sizing.growth.known
    numbers = known_numbers(told, sizing.ports)
    if sizing.known.is_exact:
        return numbers
    may = "may not be carried" if sizing.is_possible else "may be carried"
    users = counted(sizing.at, sizing.population)
    verdict = f"In truth {users} {may}{because(sizing.known.reasons, sizing.ports)}."
    return [verdict, *(OTHERS_EXACT if line == ALL_EXACT else line for line in numbers)]


def sizing_answer(sizing: Sizing) -> str:
    """Return in words whether what is told carries them, and what fails else."""
    users = counted(sizing.at, sizing.population)
    short = [one.resource for one in _ordered(sizing) if not one.suffices and one.takes is not None]
    what = (
        f"With what {joined_words(by_switch(short, sizing.ports))} take{'s' * (len(short) == 1)}"
        if short
        else _AS_IS
    )
    if sizing.is_carried:
        return f"{what}, {users} {'is' if sizing.at == 1 else 'are'} carried."
    growth = sizing.growth
    more = growth is not None and bool(growth.machines)
    told = [_more_machines(sizing, growth)] if growth is not None and more else []
    none = "" if growth is None or more else _not_found(growth)
    if sizing.fails_whatever:
        named = joined_words([_failing(one) for one in _told(sizing.fails_whatever)])
        enough = (
            "With 10,000 times each capacity instead"
            if more
            else f"Nothing was found that carries {users}: with 10,000 times each capacity"
        )
        told.append(f"{enough}, {named}{none and f'; {none}'}.")
    if sizing.fails_still:
        named = joined_words([_failing(one) for one in _told(sizing.fails_still)])
        mends = [
            f"{marked(_amount(mend.takes, mend.capacity), mend.known)} of "
            f"{joined_words(mend.resources)}"
            for mend in sizing.mends
        ]
        no_more = "it takes more of several capacities"
        if not sizing.mends_known.is_exact:
            no_more = "it is not told whether more of one capacity would do"
        mend = f"it takes {' or '.join(mends)}" if mends else no_more
        told.append(f"{_what_loads_take(sizing)}, {named}: {mend}.")
    if not sizing.fails_whatever and not sizing.fails_still:
        told.append(f"{what}, {users} are acceptable, but fewer are not.")
    return " ".join(told)


def _what_loads_take(sizing: Sizing) -> str:
    """Return in words that each resource has what keeps its own load to its target."""
    loads = (one.for_load or one for one in _ordered(sizing))
    short = [one.resource for one in loads if not one.suffices and one.takes is not None]
    many = len(short) != 1
    names = joined_words(by_switch(short, sizing.ports))
    return f"With what the load{'s' * many} of {names} take{'s' * (not many)}" if short else _AS_IS


def _more_machines(sizing: Sizing, growth: Growth) -> str:
    """Return in words how many machines do."""
    links = f"With what {joined_words(growth.links)} take{'s' * (len(growth.links) == 1)}, "
    more = [
        f"{marked(f'{m.takes:,}', growth.known)} machines of "
        f"{joined_words(m.nodes)} (now {m.now:,})"
        for m in growth.machines
    ]
    users = counted(sizing.at, sizing.population)
    told = f"{links * bool(growth.links)}{joined_words(more)} carry {users}"
    return f"{told}." if growth.are_least else f"{told}; fewer may do, too."


def _not_found(growth: Growth) -> str:
    """Return in words how many machines were looked at."""
    return (
        "nor was a number of machines found, up to "
        f"{growth.up_to:,} times as many of {joined_words(growth.looked_at)}"
    )


def _told(failing: Sequence[FailingThere]) -> list[FailingThere]:
    """Return what fails, without quality where an axis of it fails."""
    if any(one.criterion.axis is not None for one in failing):
        return [one for one in failing if one.criterion.name != QUALITY]
    return list(failing)


def _failing(one: FailingThere) -> str:
    criterion = one.criterion
    share = in_percent(criterion)
    value, limit = (
        quantity(v, criterion.dimension, _DIGITS, share=share) for v in (one.value, one.limit)
    )
    mode = f" in mode {one.mode}" if one.mode else ""
    told = marked_value(value, one.value, one.known)
    return f"{printable(criterion.name)} is {told}{mode} ({side_of(criterion)} {limit})"


def _ordered(sizing: Sizing) -> list[Needed]:
    """Return the resources, those that are shortest of capacity first."""
    return sorted(sizing.needed, key=lambda one: (one.suffices, -one.load / one.target))


def _table(sizing: Sizing) -> Table:
    short = {one.resource for one in sizing.needed if not one.suffices}
    rows: list[tuple[str, ...]] = [
        (
            name,
            percent(one.load),
            percent(one.target),
            "" if isnan(one.capacity.has) else quantity(one.capacity.has, one.capacity.dimension),
            marked(_takes(one), one.known),
            _machines(one),
        )
        for one, name in by_their_switch(
            _ordered(sizing), attrgetter("resource"), sizing.ports, short
        )
    ]
    headings = ("resource", f"load at {sizing.at:,}", "target", "has", "takes", "or machines")
    shown = len(headings) if any(row[-1] for row in rows) else len(headings) - 1
    return Table(headings[:shown], tuple(row[:shown] for row in rows), frozenset(range(1, shown)))


def _takes(one: Needed) -> str:
    """Return the capacity, its digits rounded up: what is told is enough.

    That none does is told where nothing rests on it: else so much was looked at.
    """
    if one.takes is None:
        most = number(float(MOST), _EXACT_DIGITS)
        return f"none found up to {most} times" if one.is_searched else "no capacity does"
    if one.takes == 0:
        return "any"
    return _amount(one.takes if one.exact is None else one.exact, one.capacity)


def _amount(amount: float, capacity: Capacity) -> str:
    """Return an amount of a capacity, its digits rounded up; of cores the whole ones that do."""
    if capacity.is_whole:
        exact = number(rounded_in(amount, 1.0, _EXACT_DIGITS, is_up=True), _EXACT_DIGITS)
        told = f"{ceil(amount - _HAIR):,} {capacity.dimension}"
        return told if amount == int(amount) else f"{told} ({exact})"
    factor, _ = scale_of(amount, capacity.dimension)
    shown = rounded_in(amount, factor, _DIGITS, is_up=True)
    return quantity(shown, capacity.dimension, _DIGITS)


def _machines(one: Needed) -> str:
    """Return how many machines would do, where there are fewer; in a mode where it has its own."""
    machines = one.machines
    if machines is None or machines.takes <= machines.now:
        return ""
    told = marked(f"{machines.takes:,}", one.machines_known)
    told += f" in mode {one.machines_mode}" if one.machines_mode else ""
    if machines.price is None or not isfinite(machines.price):
        return told
    dimension = MONEY / TIME if machines.is_running else MONEY
    return f"{told} ({quantity(machines.price, dimension)})"
