"""The capacities that a population requires, as text and as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isfinite, isnan
from operator import attrgetter
from shlex import quote

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.text.changes.change_effects import values_moved
from qps.reports.text.layout.facts import COLUMNS, VALUE_COLUMN
from qps.reports.text.layout.table import Table, text_width
from qps.reports.text.layout.text_layout import Layout
from qps.reports.text.layout.wrapping import held
from qps.reports.text.solutions.uncertainty_text import typical_lines
from qps.reports.text.words.certainty_marks import (
    ALL_EXACT,
    OTHERS_EXACT,
    because,
    by_switch,
    known_numbers,
    marked,
    marked_value,
    users_as_known,
)
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import by_their_switch
from qps.reports.text.words.quantities import (
    in_percent,
    joined_words,
    number,
    percent,
    quantity,
    rounded_in,
    scale_of,
    side_of,
)
from qps.reports.text.words.reliability import EXACT_HERE, because_first
from qps.solver.answers.solution import QUALITY
from qps.solver.what_if.growth import Growth
from qps.solver.what_if.least_multiples import MOST
from qps.solver.what_if.sized import Capacity, FailingThere, Machines, Mend, Needed, Sizing

_DIGITS = 4
_EXACT_DIGITS = 6
_HAIR = 1e-9
_TIMES = "10,000 times the capacity of each resource"


class NeededView(Struct, frozen=True, kw_only=True):
    """A resource with its utilization, target, and current and required capacity in `unit`.

    `takes` is the required capacity: null if no capacity is enough, 0 if any capacity is. `exact`
    is the value before rounding up to whole cores. `machines` is null if their number is fixed.
    """

    name: str
    utilization: float
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
    """A requirement that fails at this population, with its mode, value and limit."""

    requirement: str
    mode: str | None
    value: float
    limit: float
    unit: str
    known: Certainty


class MendView(Struct, frozen=True):
    """A capacity of these resources that alone fixes the remaining failures."""

    resources: tuple[str, ...]
    takes: float
    unit: str
    known: Certainty


class SizingView(Struct, frozen=True, kw_only=True):
    """Required size of each resource for a population, in base units.

    `known` is the certainty of the result: an upper bound if the population may not be supported,
    and a lower bound if it may be supported although a requirement fails. `mends_known` is the
    certainty that no other capacity fixes the remaining failures.
    """

    schema: str
    file: str
    given: dict[str, int]
    answer: str
    supported: bool
    resources: tuple[NeededView, ...]
    fails_whatever: tuple[FailingView, ...]
    fails_still: tuple[FailingView, ...]
    mends: tuple[MendView, ...]
    mends_known: Certainty
    growth: Growth | None
    known: Certainty
    nominal_inputs: tuple[str, ...]


def sizing_view(sizing: Sizing, file: str) -> SizingView:
    """Return the answer as plain values."""
    return SizingView(
        schema="qps/sizing/3",
        file=file,
        given={sizing.population: sizing.at},
        answer=sizing_answer(sizing),
        supported=sizing.is_possible,
        resources=tuple(_needed(one) for one in _ordered(sizing)),
        fails_whatever=tuple(_failing_view(one) for one in sizing.fails_whatever),
        fails_still=tuple(_failing_view(one) for one in sizing.fails_still),
        mends=tuple(_mend_view(mend) for mend in sizing.mends),
        mends_known=sizing.mends_known,
        growth=sizing.growth,
        known=sizing.known,
        nominal_inputs=sizing.nominal_inputs,
    )


def _mend_view(mend: Mend) -> MendView:
    unit = str(mend.capacity.dimension)
    return MendView(mend.resources, mend.takes, unit, mend.known)


def _needed(one: Needed) -> NeededView:
    return NeededView(
        name=one.resource,
        utilization=one.load,
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


class Settings(Struct, frozen=True, kw_only=True):
    """What `--set` takes: the names of capacities by resource, and counts of machines by node.

    What is written before a count, such as `web = server * ` or `replicas = `.
    """

    capacities: Mapping[str, str] = {}
    machines: Mapping[str, str] = {}


NO_SETTINGS = Settings()


def sizing_text(
    sizing: Sizing,
    place: str,
    *,
    labels: Labels = PLAIN,
    settings: Settings = NO_SETTINGS,
    markdown: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return the answer, what is to be changed, and what each resource has and requires."""
    layout = Layout(
        title=f"Sizing for {counted(sizing.at, sizing.population)}",
        place=place,
        facts=(
            ("Result", labels.told(sizing_answer(sizing)).removesuffix(".")),
            *_change_facts(sizing, labels, settings, width),
            *(
                (phrase("accuracy") if i == 0 else "", line)
                for i, line in enumerate(_reliability(sizing, labels))
            ),
        ),
        tables=(_table(sizing, labels),),
        notes=(
            *_exact_notes(sizing, labels),
            *map(labels.told, typical_lines(sizing.nominal_inputs)),
        ),
    )
    return layout.printed(markdown=markdown, width=width)


class _Change(Struct, frozen=True):
    """A change as one reads it, and how to set it, empty where it cannot be set."""

    text: str
    setting: str


def _change_facts(
    sizing: Sizing, labels: Labels, settings: Settings, width: int
) -> Iterator[tuple[str, str]]:
    """Yield the changes that together support the population, and counts of machines instead."""
    groups = (
        ("Change", [*_capacity_changes(sizing, labels, settings)]),
        ("Alternative" if sizing.is_carried else "Change", [*_more(sizing, settings)]),
    )
    found = [one for _, changes in groups for one in changes]
    widest = max((text_width(one.text) for one in found), default=0)
    fits = widest + max((len(one.setting) for one in found), default=0) + 2 <= width - VALUE_COLUMN
    for label, changes in groups:
        for place, one in enumerate(changes):
            blanks = widest - text_width(one.text) + 2 if fits else 1
            gap = held(" " * blanks) if fits else " "
            yield "" if place else label, f"{one.text}{one.setting and gap + held(one.setting)}"


def _capacity_changes(sizing: Sizing, labels: Labels, settings: Settings) -> Iterator[_Change]:
    """Yield the capacities that are too small, the one that must grow most first."""
    seen = set[str]()
    for one in sorted(
        _ordered(sizing), key=lambda one: -(one.takes or 0) / (one.capacity.has or 1)
    ):
        if one.suffices or not one.takes or isnan(one.capacity.has) or not sizing.is_carried:
            continue
        name = settings.capacities.get(one.resource)
        if name in seen:
            continue  # ports of a link, of which the one that requires most is named
        has, takes = _has(one), _setting(one)
        change = values_moved(has, takes)
        if name is None:
            yield _Change(f"{labels.of(one.resource)}: {change}", "")
        else:
            seen.add(name)
            change = change.removesuffix(" core") if name.endswith(".cores") else change
            yield _Change(f"{name}: {change}", f"--set {quote(f'{name} = {takes}')}")


def _more(sizing: Sizing, settings: Settings) -> Iterator[_Change]:
    """Yield the counts of machines that support the population, each of a node once."""
    counts: dict[str, tuple[int, int]] = {}
    if not sizing.is_carried and sizing.growth is not None:
        for grown in sizing.growth.machines:
            counts |= dict.fromkeys(grown.nodes, (grown.now, grown.takes))
    for one in _ordered(sizing) if sizing.is_carried else ():
        machines = one.machines
        if machines is not None and not one.suffices and one.machines_mode is None:
            now, most = counts.get(one.place, (machines.now, machines.now))
            counts[one.place] = now, max(most, machines.takes)
    seen = set[str]()
    for node, (now, takes) in counts.items():
        before = settings.machines.get(node)
        if takes <= now or before in seen:
            continue
        text = phrase("change.servers", name=node, before=f"{now:,}", after=f"{takes:,}")
        if before is None:
            yield _Change(text, "")
        else:
            seen.add(before)
            yield _Change(text, f"--set {quote(f'{before}{takes}')}")


def _has(one: Needed) -> str:
    return quantity(one.capacity.has, one.capacity.dimension)


def _setting(one: Needed) -> str:
    """Return the capacity that is required as `--set` takes it: whole cores, else rounded up."""
    assert one.takes is not None
    if one.capacity.is_whole:
        return f"{ceil(one.takes - _HAIR)} {one.capacity.dimension}"
    return _amount(one.takes, one.capacity).replace(",", "")


def _reliability(sizing: Sizing, labels: Labels) -> list[str]:
    """Return how the result is known, with the first reasons."""
    if sizing.known.is_exact:
        lines = [labels.told(line) for line in sizing_known(sizing)]
        return [EXACT_HERE] if lines == [ALL_EXACT] else lines
    what = users_as_known(sizing.known)
    premises = tuple(dict.fromkeys(each.partition(": ")[0] for each in sizing.known.reasons))
    return [because_first(what, premises, labels, sizing.ports)]


def _exact_notes(sizing: Sizing, labels: Labels) -> Iterator[str]:
    """Yield the counts of cores before they were rounded up."""
    exact = [
        f"{labels.of(one.resource)} "
        f"{number(rounded_in(one.exact, 1.0, _DIGITS, is_up=True), _DIGITS)}"
        for one in _ordered(sizing)
        if one.exact
        and one.takes
        and one.exact != one.takes
        and one.capacity.is_whole
        and not one.suffices
    ]
    if exact:
        yield f"Cores before rounding up: {', '.join(exact)}."


def sizing_known(sizing: Sizing) -> list[str]:
    """Return how it is known whether they are supported, and each number that is not exact."""
    found = {one.criterion.name: one.known for one in (*sizing.fails_whatever, *sizing.fails_still)}
    found |= {f"the required size of `{one.resource}`": one.known for one in sizing.needed}
    found |= {f"the fix with more `{mend.resources[0]}`": mend.known for mend in sizing.mends}
    found["the list of fixes"] = sizing.mends_known
    if sizing.growth is not None:
        found["the number of machines"] = sizing.growth.known
    numbers = known_numbers(found, sizing.ports)
    if sizing.known.is_exact:
        return numbers
    what = users_as_known(sizing.known)
    verdict = f"{what[0].upper()}{what[1:]}{because(sizing.known.reasons, sizing.ports)}."
    return [verdict, *(OTHERS_EXACT if line == ALL_EXACT else line for line in numbers)]


def sizing_answer(sizing: Sizing) -> str:
    """Return in words whether the required capacities support a population, and what fails else."""
    users = counted(sizing.at, sizing.population)
    are = "is" if sizing.at == 1 else "are"
    short = [one.resource for one in _ordered(sizing) if not one.suffices and one.takes is not None]
    names = joined_words(by_switch(short, sizing.ports))
    what = f"with more capacity for {names}" if short else "without changes"
    if sizing.is_carried:
        return f"{users} {are} supported {what}."
    growth = sizing.growth
    more = growth is not None and bool(growth.machines)
    said = [_more_machines(sizing, growth)] if growth is not None and more else []
    none = "" if growth is None or more else _not_found(growth)
    if sizing.fails_whatever:
        named = joined_words([_failing(one) for one in _without_quality(sizing.fails_whatever)])
        enough = (
            f"Even with {_TIMES} instead of more machines"
            if more
            else f"{users} {are} not supported: even with {_TIMES}"
        )
        said.append(f"{enough}, {named}{none and f'; {none}'}.")
    if sizing.fails_still:
        named = joined_words([_failing(one) for one in _without_quality(sizing.fails_still)])
        fixes = [
            f"{joined_words(mend.resources)} to "
            f"{marked(_amount(mend.takes, mend.capacity), mend.known)}"
            for mend in sizing.mends
        ]
        otherwise = "several resources need more capacity"
        if not sizing.mends_known.is_exact:
            otherwise = "it is unknown whether more capacity for one resource is enough"
        fix = f"to fix this, raise {' or '.join(fixes)}" if fixes else otherwise
        said.append(f"{_for_utilization(sizing)}, {named}; {fix}.")
    if not sizing.fails_whatever and not sizing.fails_still:
        said.append(f"{users} {are} supported {what}, but a smaller population is not.")
    return " ".join(said)


def _for_utilization(sizing: Sizing) -> str:
    """Return in words that each resource has what keeps its own utilization to its target."""
    loads = (one.for_load or one for one in _ordered(sizing))
    short = [one.resource for one in loads if not one.suffices and one.takes is not None]
    names = joined_words(by_switch(short, sizing.ports))
    only = "only meets its utilization target"
    if len(short) > 1:
        only = "only meet their utilization targets"
    return f"If {names} {only}" if short else "Without changes"


def _more_machines(sizing: Sizing, growth: Growth) -> str:
    """Return in words how many machines are enough."""
    links = f" and more capacity for {joined_words(growth.links)}" if growth.links else ""
    more = [
        f"{marked(f'{m.takes:,}', growth.known)} {joined_words(m.nodes)} machines "
        f"(currently {m.now:,})"
        for m in growth.machines
    ]
    users = counted(sizing.at, sizing.population)
    are = "is" if sizing.at == 1 else "are"
    fewer = "" if growth.are_least else "; fewer may be enough"
    return f"{users} {are} supported with {joined_words(more)}{links}{fewer}."


def _not_found(growth: Growth) -> str:
    """Return in words how many machines were tried."""
    tried = joined_words(growth.looked_at)
    return f"up to {growth.up_to:,} times as many {tried} machines are not enough"


def _without_quality(failing: Sequence[FailingThere]) -> list[FailingThere]:
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


def _table(sizing: Sizing, labels: Labels) -> Table:
    short = {one.resource for one in sizing.needed if not one.suffices}
    rows: list[tuple[str, ...]] = [
        (
            f"{labels.of(one.resource)}{name.removeprefix(one.resource)}",
            "" if isnan(one.capacity.has) else _has(one),
            percent(one.load),
            percent(one.target),
            marked(_takes(one, sizing), one.known),
            _machines(one),
        )
        for one, name in by_their_switch(
            _ordered(sizing), attrgetter("resource"), sizing.ports, short
        )
    ]
    headings = ("Resource", "Today", "Utilization", "Limit", "Required", "Alternative")
    shown = len(headings) if any(row[-1] for row in rows) else len(headings) - 1
    return Table(
        headings[:shown],
        tuple(row[:shown] for row in rows),
        right=frozenset([1, 2, 3]),
        long=frozenset([0, 4, 5]),
    )


def _takes(one: Needed, sizing: Sizing) -> str:
    """Return the capacity, its digits rounded up: what is told is enough.

    What no capacity of its own keeps to its target is kept to it by the other changes, where
    these support the population.
    """
    if one.takes is None and sizing.is_carried:
        return "no change needed"
    if one.takes is None:
        most = number(float(MOST), _EXACT_DIGITS)
        return f"not enough at {most}× today" if one.is_searched else "not enough at any size"
    if one.takes == 0:
        return "–"
    return _amount(one.takes if one.exact is None else one.exact, one.capacity)


def _amount(amount: float, capacity: Capacity) -> str:
    """Return an amount of a capacity, its digits rounded up; of cores whole ones."""
    if capacity.is_whole:
        return f"{ceil(amount - _HAIR):,} {capacity.dimension}"
    factor, _ = scale_of(amount, capacity.dimension)
    shown = rounded_in(amount, factor, _DIGITS, is_up=True)
    return quantity(shown, capacity.dimension, _DIGITS)


def _machines(one: Needed) -> str:
    """Return how many machines would do, where there are fewer; in a mode where it has its own."""
    machines = one.machines
    if machines is None or machines.takes <= machines.now:
        return ""
    told = marked(f"{machines.takes:,}", one.machines_known)
    told += " machines"
    told += f" in mode {one.machines_mode}" if one.machines_mode else ""
    if machines.price is None or not isfinite(machines.price):
        return told
    dimension = MONEY / TIME if machines.is_running else MONEY
    return f"{told} ({quantity(machines.price, dimension)})"
