"""The first screen of `qps solve`: capacity, bottleneck, what raises it, and the busiest resources.

Title and file first, labeled facts below, one table, notes last. `--all` (`solve_text`) has the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.render import plain
from qps.compiler.ir.measure_names import resource_in
from qps.reports.text.layout.colors import Tone, toned
from qps.reports.text.layout.facts import VALUE_COLUMN, Fact, fact_lines, title_lines
from qps.reports.text.layout.table import Table, joined
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.solutions.accuracy_facts import accuracy_rows
from qps.reports.text.solutions.answer_text import (
    circumstances,
    cost_facts,
    headline_rows,
    mode_facts,
    modes_label,
    percentile_row,
    time_rows,
)
from qps.reports.text.solutions.availability_text import availability_fact
from qps.reports.text.solutions.capacity_text import (
    Headline,
    at_headline,
    capacity,
    headline,
    nominal_line,
    supported,
)
from qps.reports.text.solutions.change_rows import HELPS, change_rows, in_one_line
from qps.reports.text.solutions.change_wording import Wording, price_help
from qps.reports.text.solutions.closed_workload_text import closed_fact
from qps.reports.text.solutions.elastic_text import elastic_facts
from qps.reports.text.solutions.limit_facts import (
    MOST_NAMED,
    busiest,
    in_samples,
    is_bottleneck,
    limit,
    next_limit,
    others,
    others_label,
    violated,
)
from qps.reports.text.solutions.measure_rows import measure_table
from qps.reports.text.solutions.resource_tables import resource_table
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import joined_words
from qps.solver.answer import Answer
from qps.solver.answers.solution import CapacityVerdict, ResourceSolution

_MOST_ROWS = 8
_MOST_REASONS = 2
_BARS = 1
"""The column of a table that has bars."""
_TARGET = 3
"""The column of targets, where there is one before the saturation points."""
_WIDE = 100
"""Columns from which on a table has all that loads a resource."""
_TONES = {"Bottleneck": Tone.LIMIT, "Limit": Tone.LIMIT, "Violated": Tone.MISS}


def first_screen(
    answer: Answer,
    title: str,
    words: Wording,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return the answer as a terminal of a width shows it, at most eight resources behind it."""
    head = screen_head(answer, title, words.labels, width=width, color=color)
    return head + screen_body(answer, words, width=width, color=color)


def screen_head(
    answer: Answer,
    title: str,
    labels: Labels,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return title and capacity: printed before advice is known, which may take long."""
    head = title_lines(title, ", ".join([answer.file, *circumstances(answer)]), width)
    beside = _first_facts(answer, labels)
    facts = [("Capacity", capacity(answer)), *(fact.pair for fact in beside if fact.text)]
    tone = Tone.MISS if supported(answer) is None else Tone.ANSWER
    tones = [tone, *(_TONES.get(label) for label, _ in facts[1:])]
    shown = [
        toned(line, one, color=color)
        for one, lines in zip(tones, fact_lines(facts, width), strict=True)
        for line in lines
    ]
    return "".join(f"{line}\n" for line in [*head, "", *shown])


def screen_body(answer: Answer, words: Wording, *, width: int = 80, color: bool = False) -> str:
    """Return what stands below the capacity: facts, changes with their settings, a table, notes."""
    labels, answer = words.labels, at_headline(answer)
    facts = [fact.pair for fact in _other_facts(answer, words) if fact.text]
    lines: list[str] = []
    rows = {
        HELPS: change_rows(answer, words, width),
        _MEASURES: _measures(answer, labels, width),
    }
    short = [("" if label == HELPS else label, text) for label, text in facts]  # a line of its own
    for (label, _), shown in zip(facts, fact_lines(short, width), strict=True):
        tone = _TONES.get(label)
        lines += [toned(line, tone, color=color) for line in rows.get(label, shown)]
    table = _resources(answer, labels, width, color=color)
    is_below_end = supported(answer) not in (None, answer.high)
    warnings_shown = [
        one
        for one in answer.warnings
        # what is computed meets the end of the range, what can be relied on does not
        if not (one.code is codes.RANGE_LIMITS and is_below_end)
    ]
    warned = plain(warnings_shown).splitlines()
    warnings = [line for one in warned for line in wrapped(one, width, "  ", "    ")]
    notes = [toned(line, Tone.ASIDE, color=color) for line in _notes(answer, width)]
    before = nominal_line(answer)
    if before and _is_nominal(answer):
        lines = ["", *wrapped(before, width, "  "), *lines]
    facts_shown = "".join(f"{line}\n" for line in lines)
    rest = joined([table, "\n".join(warnings), "\n".join(notes)])
    return f"{facts_shown}\n{rest}" if rest else facts_shown


class Decision(Struct, frozen=True):
    """What one must know first: how many, and facts under their labels."""

    headline: Headline
    facts: tuple[Fact, ...]
    percentiles: str = ""
    """What stands below the headline: on a page, p99 there."""
    more: tuple[Fact, ...] = ()
    """Facts that a page has further below."""


def decision(answer: Answer, words: Wording) -> Decision:
    """Return the first screen, for a page and a notebook."""
    labels, shown = words.labels, at_headline(answer)
    facts = [*_first_facts(answer, labels), *_other_facts(shown, words)]
    named = tuple(
        Fact(HELPS, in_one_line(shown, words)) if fact.label == HELPS else fact
        for fact in facts
        if fact.text and fact.label != _MEASURES
    )
    return Decision(headline(answer), named)


_MEASURES = phrase("screen.other_values")


# -- facts ------------------------------------------------------------------------------------


def _first_facts(answer: Answer, labels: Labels) -> list[Fact]:
    """Return what stands below the capacity: what limits it, p99 there, and its accuracy.

    What is of nominal inputs at another population stands further below, behind that.
    """
    shown = at_headline(answer)
    if shown.verdict is CapacityVerdict.NOWHERE:
        return _violations(answer, labels)
    if _is_nominal(shown):
        return headline_rows(answer, labels)
    return [
        *time_rows(answer, labels),
        *_limits(shown, labels),
        percentile_row(answer, labels),
        _means(shown, labels),
        *accuracy_rows(shown, labels),
    ]


def _other_facts(answer: Answer, words: Wording) -> Iterator[Fact]:
    """Yield all other facts; changes, which come first, and measures have lines of their own."""
    labels = words.labels
    sentence = labels.sentence
    helps = Fact(HELPS, "…" if words.best_changes else "")
    if answer.verdict is CapacityVerdict.NOWHERE:
        yield helps
        yield from headline_rows(answer, labels)
    if answer.verdict is CapacityVerdict.NOWHERE or _is_nominal(answer):
        yield from _limits(answer, labels)
        yield _means(answer, labels)
    yield Fact("Throughput", sentence(closed_fact(answer)))
    yield Fact("Elastic", sentence(" ".join(elastic_facts(answer))))
    if answer.verdict is not CapacityVerdict.NOWHERE:
        yield helps
    yield _cost(answer, words)
    yield Fact(modes_label(answer), mode_facts(answer, labels))
    yield Fact(phrase("availability"), labels.sentence(availability_fact(answer, labels)))
    yield Fact(_MEASURES, "…" if measure_table(answer, labels).rows else "")
    yield Fact(phrase("screen.fixed_inputs"), "; ".join(_counted_as_known(answer)))
    if words.in_incidents:
        without = joined_words(words.in_incidents)
        yield Fact(phrase("steady_state"), sentence(phrase("steady_state.without", what=without)))


def _limits(answer: Answer, labels: Labels) -> Iterator[Fact]:
    """Yield what limits the capacity, and what would limit it next."""
    sentence = labels.sentence
    label = ""
    if answer.verdict is CapacityVerdict.LIMITED:
        found = limit(answer, labels)
        label = found.label
        yield _in_words(replace(found, text=found.text + in_samples(answer, label)), labels)
    if answer.verdict is not CapacityVerdict.NOWHERE and label != "Bottleneck":
        yield Fact("Busiest", sentence(_busiest(answer, labels)))
    yield Fact(phrase("term.next_limit"), sentence(next_limit(answer, labels)))


def _in_words(fact: Fact, labels: Labels) -> Fact:
    """Return a fact with words for the names in it."""
    return replace(fact, name=labels.sentence(fact.name), text=labels.sentence(fact.text))


def _means(answer: Answer, labels: Labels) -> Fact:
    """Return the requirements that no other fact shows."""
    return Fact(others_label(answer), labels.sentence(others(answer, labels)))


def _is_nominal(answer: Answer) -> bool:
    """Return whether values are of nominal inputs, at another population than the headline."""
    return answer.uncertainty is not None and answer.at_reliable is None


def _violations(answer: Answer, labels: Labels) -> list[Fact]:
    """Return what the smallest population violates already; nothing where that is supported."""
    shown = at_headline(answer)
    if shown.verdict is not CapacityVerdict.NOWHERE:
        return []
    return [_in_words(fact, labels) for fact in violated(shown, labels)]


def _busiest(answer: Answer, labels: Labels) -> str:
    """Return which resource saturates first; empty where that is the next limit."""
    is_next = answer.next_limit is not None and is_bottleneck(answer, answer.next_limit)
    return "" if is_next else busiest(answer, labels)


def _cost(answer: Answer, words: Wording) -> Fact:
    """Return what the configuration costs; without a price, how what would help gets one."""
    costs = "; ".join(cost_facts(answer))
    if costs or answer.verdict is not CapacityVerdict.LIMITED or not words.without_price:
        return Fact("Cost", costs)
    return Fact("Cost", phrase("price.none_set"), hint=price_help(words))


def _counted_as_known(answer: Answer) -> Iterator[str]:
    for one in answer.counted_as_known:
        yield phrase("screen.treated_as_exact", names=joined_words(one.numbers), table=one.table)


# -- tables -----------------------------------------------------------------------------------


def _measures(answer: Answer, labels: Labels, width: int) -> list[str]:
    """Return the measures of the spec's own, at most eight of them."""
    table = measure_table(answer, labels)
    rows = table.rows[:_MOST_ROWS]
    if not rows:
        return []
    lines = Table(("", ""), rows, table.right).as_text("", width=max(20, width - VALUE_COLUMN))
    shown = lines.splitlines()[1:]
    more = len(table.rows) - len(rows)
    if more > 0:
        shown.append(phrase("screen.more_measures", more=more, s="s" * (more > 1)))
    if answer.uncertainty is not None and answer.at_reliable is not None:
        # What stands above is of inputs at a confidence.
        shown.append(phrase("screen.nominal_measures"))
    heads = [f"  {_MEASURES:12} ", *[" " * VALUE_COLUMN] * (len(shown) - 1)]
    return [head + line for head, line in zip(heads, shown, strict=True)]


def _resources(answer: Answer, labels: Labels, width: int, *, color: bool) -> str:
    """Return the resources that saturate first, and those that limit, in their colors."""
    shares = MOST_NAMED if width >= _WIDE else 1
    table, resources = resource_table(answer, labels, bars=True, shares=shares)
    if not resources:
        return ""
    mattering = _mattering(answer)
    shown = list(range(min(_MOST_ROWS, len(resources))))
    for place, one in enumerate(resources[_MOST_ROWS:], _MOST_ROWS):
        if one.name in mattering and shown[-1] < place:
            shown = [*shown[:-1], place]
    rows = tuple(table.rows[place] for place in shown)
    consumers = len(table.headings) - 1
    # A bar has a tick at the target: of both the number is left out first.
    least_first = [*([_TARGET] if consumers > _TARGET + 1 else []), consumers, _BARS]
    fitting = replace(table, rows=rows)
    text = fitting.with_columns(fitting.fitting(width, least_first)).as_lines(width=width)
    giving = answer.saturated_by_elastic
    lines = text[0]
    for place, row in zip(shown, text[1:], strict=True):
        tone = _tone_of(resources[place], mattering, giving)
        lines += [toned(line, tone, color=color) for line in row]
    rest = [one for place, one in enumerate(resources) if place not in shown]
    if rest:
        more = phrase(
            "screen.more_resources", count=len(rest), s="s" * (len(rest) > 1), above=_above(rest)
        )
        lines.append(toned(more, Tone.ASIDE, color=color))
    return "\n".join(lines)


def _mattering(answer: Answer) -> frozenset[str]:
    found = {resource_in(answer.limited_by)} if answer.limited_by else set()
    return frozenset(found | ({answer.bottleneck.resource} if answer.bottleneck else set()))


def _tone_of(
    resource: ResourceSolution, mattering: frozenset[str], giving: frozenset[str]
) -> Tone | None:
    if resource.name in giving:
        return Tone.CHANGE
    if resource.utilization_at_limit > resource.target:
        return Tone.MISS
    return Tone.LIMIT if resource.name in mattering else None


def _above(resources: Sequence[ResourceSolution]) -> str:
    """Return a whole share that all loads lie below."""
    return f"{floor(max(one.utilization_at_limit for one in resources) * 100) + 1} %"


def _notes(answer: Answer, width: int) -> list[str]:
    """Return what checks the result and where there is more, in one line where that fits."""
    checked = (
        ""
        if answer.known.is_exact or (answer.reliable is not None and answer.reliable.unmeasured)
        else phrase("screen.verify", file=answer.file)
    )
    lines = wrapped(f"{checked} {_MORE}", width)
    return lines if len(lines) == 1 else [*wrapped(checked, width), *wrapped(_MORE, width)]


_MORE = phrase("screen.full_details")
