"""The capacities that a population requires, as text: the changes, how to set them, and a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from math import isfinite, isnan
from operator import attrgetter
from shlex import quote

from msgspec import Struct

from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.text.changes.change_effects import values_moved
from qps.reports.text.changes.sizing_sentences import (
    DIGITS,
    by_shortage,
    rounded_up,
    sizing_answer,
    sizing_as_known,
    sizing_known,
)
from qps.reports.text.layout.facts import COLUMNS, VALUE_COLUMN
from qps.reports.text.layout.table import Table, text_width
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.layout.wrapping import unbreakable
from qps.reports.text.solutions.uncertainty_text import typical_lines
from qps.reports.text.words.certainty_marks import ALL_EXACT, marked, merged
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import by_their_switch
from qps.reports.text.words.quantities import number, percent, plural, quantity, rounded_in, scales
from qps.reports.text.words.reliability import EXACT_HERE
from qps.solver.what_if.least_multiples import MOST
from qps.solver.what_if.sizing_result import ResourceNeed, Sizing

_EXACT_DIGITS = 6
_MOST_ERRORS = 3


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
    layout = TextLayout(
        title=phrase("sizing.title", at=counted(sizing.at, sizing.population)),
        place=place,
        facts=(
            ("Result", labels.sentence(sizing_answer(sizing)).removesuffix(".")),
            *_change_facts(sizing, labels, settings, width),
            *(
                (phrase("accuracy") if i == 0 else "", line)
                for i, line in enumerate(_reliability(sizing, labels))
            ),
            *_model_error(sizing, labels),
        ),
        tables=(_table(sizing, labels),),
        notes=(
            *_exact_notes(sizing, labels),
            *map(labels.sentence, typical_lines(sizing.nominal_inputs)),
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
    by_capacity, beside = _changed_with_servers(sizing)
    servers = [*_more(sizing, settings)]
    if servers:
        servers += _capacity_changes(sizing, beside, labels, settings)
    groups = (
        ("Change", [*_capacity_changes(sizing, by_capacity, labels, settings)]),
        ("Alternative" if sizing.is_supported else "Change", servers),
    )
    found = [one for _, changes in groups for one in changes]
    widest = max((text_width(one.text) for one in found), default=0)
    fits = widest + max((len(one.setting) for one in found), default=0) + 2 <= width - VALUE_COLUMN
    for label, changes in groups:
        for place, one in enumerate(changes):
            blanks = widest - text_width(one.text) + 2 if fits else 1
            gap = unbreakable(" " * blanks) if fits else " "
            yield (
                "" if place else label,
                f"{one.text}{one.setting and gap + unbreakable(one.setting)}",
            )


def _changed_with_servers(sizing: Sizing) -> tuple[Collection[str], Collection[str]]:
    """Return the resources whose capacities are changed, alone and beside counts of servers."""
    lacking = [one for one in sizing.needed if not one.suffices]
    if not sizing.is_supported:
        return (), () if sizing.growth is None else sizing.growth.links
    fixed = [one.resource for one in lacking if one.machines is None or one.machines_mode]
    return [one.resource for one in lacking], fixed


def _capacity_changes(
    sizing: Sizing, resources: Collection[str], labels: Labels, settings: Settings
) -> Iterator[_Change]:
    """Yield the capacities of some resources, the one that must grow most first."""
    seen = set[str]()
    for one in sorted(
        by_shortage(sizing), key=lambda one: -(one.takes or 0) / (one.capacity.has or 1)
    ):
        if one.resource not in resources or not one.takes or isnan(one.capacity.has):
            continue
        name = settings.capacities.get(one.resource)
        if name in seen:
            continue  # ports of a link, of which the one that requires most is named
        change = values_moved(_has(one), _takes(one))
        if name is None:
            yield _Change(f"{labels.of(one.resource)}: {change}", "")
        else:
            seen.add(name)
            change = re.sub(" cores?", "", change) if name.endswith(".cores") else change
            yield _Change(f"{name}: {change}", f"--set {quote(f'{name} = {_setting(one)}')}")


def _more(sizing: Sizing, settings: Settings) -> Iterator[_Change]:
    """Yield the counts of machines that support the population, each of a node once."""
    counts: dict[str, tuple[int, int]] = {}
    if not sizing.is_supported and sizing.growth is not None:
        for grown in sizing.growth.machines:
            counts |= dict.fromkeys(grown.nodes, (grown.now, grown.takes))
    for one in by_shortage(sizing) if sizing.is_supported else ():
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


def _has(one: ResourceNeed) -> str:
    return quantity(one.capacity.has, one.capacity.dimension)


def _takes(one: ResourceNeed) -> str:
    """Return the capacity that is required: whole cores, else rounded up."""
    assert one.takes is not None
    return rounded_up(one.takes, one.capacity)


def _setting(one: ResourceNeed) -> str:
    """Return the same as `--set` takes it: a unit in the singular, as it is declared."""
    amount, _, unit = _takes(one).replace(",", "").partition(" ")
    declared = {plural(name): name for _, name in scales(one.capacity.dimension)}
    return f"{amount} {declared.get(unit, unit)}".rstrip()


def _reliability(sizing: Sizing, labels: Labels) -> list[str]:
    """Return how the result is known, with the first reasons."""
    if sizing.known.is_exact:
        lines = [labels.sentence(line) for line in sizing_known(sizing)]
        return [EXACT_HERE] if lines == [ALL_EXACT] else lines
    what = sizing_as_known(sizing)
    premises = tuple(dict.fromkeys(each.partition(": ")[0] for each in sizing.known.reasons))
    reasons = merged(premises, sizing.ports)
    if len(reasons) == 1:
        return [f"{what}: {labels.sentence(reasons[0])}"]
    return [phrase("sizing.reasons", what=what, count=len(reasons))]


def _model_error(sizing: Sizing, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield which model errors the result allows for, or that it does not."""
    found = sizing.reliability
    if found is None or not found.allowed_for:
        return
    shown = [f"{labels.measure(one.name)} ± {percent(one.error, 2)}" for one in found.allowed_for]
    value = ", ".join(shown[:_MOST_ERRORS])
    key = "error.covered" if found.is_supported else "sizing.error_not_covered"
    yield phrase("error"), phrase(key, value=value)


def _exact_notes(sizing: Sizing, labels: Labels) -> Iterator[str]:
    """Yield the counts of cores before they were rounded up."""
    exact = [
        f"{labels.of(one.resource)} "
        f"{number(rounded_in(one.exact, 1.0, DIGITS, is_up=True), DIGITS)}"
        for one in by_shortage(sizing)
        if one.exact
        and one.takes
        and one.exact != one.takes
        and one.capacity.is_whole
        and not one.suffices
    ]
    if exact:
        yield phrase("sizing.exact_cores", names=", ".join(exact))


def _table(sizing: Sizing, labels: Labels) -> Table:
    short = {one.resource for one in sizing.needed if not one.suffices}
    rows: list[tuple[str, ...]] = [
        (
            f"{labels.of(one.resource)}{name.removeprefix(one.resource)}",
            "" if isnan(one.capacity.has) else _has(one),
            percent(one.load),
            percent(one.target),
            _marked_capacity(one, sizing),
            _machines(one),
        )
        for one, name in by_their_switch(
            by_shortage(sizing), attrgetter("resource"), sizing.ports, short
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


def _marked_capacity(one: ResourceNeed, sizing: Sizing) -> str:
    """Return the capacity with its mark; a dash, where none is needed, is no number to mark."""
    text = _capacity_text(one, sizing)
    return text if one.takes == 0 else marked(text, one.known)


def _capacity_text(one: ResourceNeed, sizing: Sizing) -> str:
    """Return the capacity, its digits rounded up: the printed value suffices.

    What no capacity of its own stays within its target is kept to it by the other changes, where
    these support the population.
    """
    if one.takes is None and sizing.is_supported:
        return phrase("sizing.no_change")
    if one.takes is None:
        most = number(float(MOST), _EXACT_DIGITS)
        return (
            phrase("sizing.not_enough_at", most=most)
            if one.is_searched
            else phrase("sizing.never_enough")
        )
    if one.takes == 0:
        return "–"
    return rounded_up(one.takes if one.exact is None else one.exact, one.capacity)


def _machines(one: ResourceNeed) -> str:
    """Return how many machines would do, where there are fewer; in a mode where it has its own."""
    machines = one.machines
    if machines is None or machines.takes <= machines.now:
        return ""
    text = marked(f"{machines.takes:,}", one.machines_known)
    text += " servers"
    text += phrase("sizing.in_mode", mode=one.machines_mode) if one.machines_mode else ""
    if machines.price is None or not isfinite(machines.price):
        return text
    dimension = MONEY / TIME if machines.is_running else MONEY
    return f"{text} ({quantity(machines.price, dimension)})"
