"""The first screen of `qps solve`: capacity, bottleneck, what raises it, and the busiest resources.

Title and file first, labeled facts below, one table, notes last. `--all` (`solve_text`) has the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import plain
from qps.compiler.ir.measure_names import resource_in
from qps.reports.text.answers import ResourceView, SolveView
from qps.reports.text.change_rows import HELPS, change_rows, in_one_line
from qps.reports.text.facts import VALUE_COLUMN, fact_lines, title_lines
from qps.reports.text.giving_way import giving_way
from qps.reports.text.how_known import (
    MARKS,
    merged,
    users_as_known,
)
from qps.reports.text.labels import Labels
from qps.reports.text.limit_facts import (
    MOST_NAMED,
    busiest,
    in_samples,
    limit,
    next_limit,
    others,
    others_label,
    violated,
)
from qps.reports.text.measures import measure_table
from qps.reports.text.nouns import counted, noun
from qps.reports.text.odds_text import rounded_ends, samples_text
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import (
    joined_words,
    percent,
    rounded_down,
)
from qps.reports.text.table import Table, joined
from qps.reports.text.text import cost_facts, elastic_facts, mode_facts, resource_table
from qps.reports.text.tones import Tone, toned
from qps.reports.text.view import circumstances
from qps.reports.text.worded_changes import Wording, price_asked
from qps.reports.text.wrapping import held, wrapped
from qps.solver.answers.answering import rests_on_users
from qps.solver.answers.solution import Solution, Verdict

_MOST_ROWS = 8
_MOST_REASONS = 2
_BARS = 1
"""The column of a table that has bars."""
_NARROW = 72
"""Columns below which a table does without what loads a resource most."""
_WIDE = 100
"""Columns from which on a table has all that loads a resource."""
_TONES = {"Bottleneck": Tone.LIMIT, "Limit": Tone.LIMIT, "Violated": Tone.MISS}


def first_screen(
    view: SolveView,
    solution: Solution,
    title: str,
    words: Wording,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return the answer as a terminal of a width shows it, at most eight resources behind it."""
    head = screen_head(view, solution, title, words.labels, width=width, color=color)
    return head + screen_body(view, solution, words, width=width, color=color)


def screen_head(
    view: SolveView,
    solution: Solution,
    title: str,
    labels: Labels,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return title and capacity: printed before advice is known, which may take long."""
    head = title_lines(title, ", ".join([view.file, *circumstances(view)]), width)
    facts = [
        ("Capacity", capacity(view, solution, labels)),
        ("Uncertainty", _uncertainty(view, solution)),
    ]
    tone = Tone.MISS if _count(view) is None else Tone.ANSWER
    capacity_lines, *others = fact_lines([fact for fact in facts if fact[1]], width)
    shown = [toned(line, tone, color=color) for line in capacity_lines]
    shown += [toned(line, None, color=color) for lines in others for line in lines]
    return "".join(f"{line}\n" for line in [*head, "", *shown])


def screen_body(
    view: SolveView, solution: Solution, words: Wording, *, width: int = 80, color: bool = False
) -> str:
    """Return what stands below the capacity: facts, changes with their settings, a table, notes."""
    labels = words.labels
    facts = [fact for fact in _facts(view, solution, words) if fact[1]]
    lines: list[str] = []
    rows = {
        HELPS: change_rows(view, solution, width),
        _MEASURES: _measures(solution, labels, width),
    }
    for (label, _), shown in zip(facts, fact_lines(facts, width), strict=True):
        tone = _TONES.get(label)
        lines += [toned(line, tone, color=color) for line in rows.get(label, shown)]
    table = _resources(view, solution, labels, width, color=color)
    warned = plain(solution.warnings).splitlines()
    warnings = [line for one in warned for line in wrapped(one, width, "  ", "    ")]
    notes = [toned(line, Tone.ASIDE, color=color) for line in _notes(view, width)]
    facts_shown = "".join(f"{line}\n" for line in lines)
    rest = joined([table, "\n".join(warnings), "\n".join(notes)])
    return f"{facts_shown}\n{rest}" if rest else facts_shown


class Decision(Struct, frozen=True):
    """What one must know first: how many, and facts under their labels."""

    headline: str
    facts: tuple[tuple[str, str], ...]


def decision(view: SolveView, solution: Solution, words: Wording) -> Decision:
    """Return what the first screen tells, for a page and a notebook."""
    labels = words.labels
    reliability = _certainty(view, solution, labels)
    facts = [
        ("Reliability", reliability),
        ("Uncertainty", _uncertainty(view, solution)),
        *_facts(view, solution, words),
    ]
    named = tuple(
        (label, in_one_line(view) if label == HELPS else text)
        for label, text in facts
        if text and label != _MEASURES
    )
    return Decision(headline(view, solution), named)


def headline(view: SolveView, solution: Solution) -> str:
    """Return the capacity in a few words: `≤ 7,462 users`, `100 users at 95 % confidence`."""
    return _many(view, solution)


_MEASURES = "Measures"


# -- capacity ---------------------------------------------------------------------------------


def capacity(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return the capacity with how reliable it is, in a few words."""
    many = _many(view, solution)
    known = _certainty(view, solution, labels)
    return f"{many}{held('   ')}{known}" if known else many


def _count(view: SolveView) -> int | None:
    """Return the capacity; with uncertain inputs, the one that most samples support."""
    return view.capacity if view.odds is None else view.odds.promise.largest


def _many(view: SolveView, solution: Solution) -> str:
    count, name, odds = _count(view), view.population.name, view.odds
    sure = "" if odds is None else percent(odds.promise.certainty)
    if count is None:
        if odds is not None:
            return phrase("capacity.none.samples", sure=sure)
        return phrase("capacity.none", users=counted(view.population.from_, name))
    if odds is None and not rests_on_users(solution.graph):
        return phrase("capacity.any", noun=noun(name))
    users = counted(count, name) if odds is None else f"{rounded_down(count)} {noun(name)}"
    if count == view.population.to and view.population.from_ < count:
        users = users.replace(" ", "+ ", 1)
    if odds is not None and view.known.is_exact:
        return phrase("capacity.confident", users=users, sure=sure)
    return MARKS[view.known.kind] + users


def _certainty(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return how reliable a capacity is: exact, or which side and why."""
    if _count(view) is None:
        return ""
    known = users_as_known(view.known)
    if view.known.is_exact:
        return "" if view.odds is not None else known
    reasons = dict.fromkeys(reason.partition(": ")[0] for reason in view.known.reasons)
    told = merged(tuple(reasons), solution.graph.ports)
    more = len(told) - _MOST_REASONS
    shown = "; ".join(told[:_MOST_REASONS]) + (f"; {more} more" if more > 0 else "")
    return f"{known}: {labels.told(shown)}" if shown else known


def _uncertainty(view: SolveView, solution: Solution) -> str:
    """Return what uncertain inputs do to the capacity: an interval, from samples."""
    odds = view.odds
    if odds is None:
        return ""
    told = {
        "share": percent(odds.interval.probability),
        "ends": rounded_ends(odds.interval, view.population.to),
        "samples": samples_text(odds.samples, len(odds.shares)),
    }
    # With a certainty in a requirement the capacity rests on samples: none is of nominal inputs.
    if any(item.criterion.promised_with is not None for item in solution.requirements):
        return phrase("uncertainty.sampled", **told)
    nominal = "none" if view.capacity is None else f"{view.capacity:,}"
    return phrase("uncertainty", **told, nominal=nominal)


# -- facts ------------------------------------------------------------------------------------


def _facts(view: SolveView, solution: Solution, words: Wording) -> Iterator[tuple[str, str]]:
    """Yield facts under their labels; changes and measures have lines of their own."""
    labels = words.labels
    told = labels.told
    if solution.verdict is Verdict.NOWHERE:
        for label, text in violated(solution, labels):
            yield label, told(text)
    elif solution.verdict is Verdict.LIMITED:
        label, text = limit(view, solution, labels)
        yield label, told(text + in_samples(view, label))
        if label != "Bottleneck":
            yield "Bottleneck", told(busiest(view, labels))
    else:
        yield "Bottleneck", told(busiest(view, labels))
    yield "Next limit", told(next_limit(view, solution, labels))
    yield others_label(view, solution), told(others(view, solution, labels))
    yield "Elastic", told(" ".join(elastic_facts(view, solution)))
    yield "Measure next", told(_measure_next(view))
    yield HELPS, "…" if view.helps_most else ""
    yield "Cost", "; ".join(cost_facts(view, solution)) or _price_hint(solution, words)
    yield "Modes", mode_facts(view, labels)
    yield _MEASURES, "…" if measure_table(solution, labels).rows else ""
    yield "Fixed inputs", "; ".join(_counted_as_known(view))


def _price_hint(solution: Solution, words: Wording) -> str:
    return price_asked(words) if solution.verdict is Verdict.LIMITED else ""


def _measure_next(view: SolveView) -> str:
    """Return which uncertain input moves the capacity most, and what measuring it would give."""
    if view.odds is None or not view.odds.shares:
        return ""
    one = view.odds.shares[0]
    told = f"{percent(one.first_order, 2)} of the variance comes from `{one.number}`"
    if one.promise_if_halved in (None, view.odds.promise.largest):
        return told
    halved = rounded_down(one.promise_if_halved)
    return (
        f"{told}; halving its spread raises the capacity to {halved} {noun(view.population.name)}"
    )


def _counted_as_known(view: SolveView) -> Iterator[str]:
    for one in view.counted_as_known:
        yield (
            f"{joined_words(one.numbers)} treated as exact: too few rows in `{one.table}` to "
            "estimate their variance"
        )


# -- tables -----------------------------------------------------------------------------------


def _measures(solution: Solution, labels: Labels, width: int) -> list[str]:
    """Return the measures of the spec's own, at most eight of them."""
    table = measure_table(solution, labels)
    rows = table.rows[:_MOST_ROWS]
    if not rows:
        return []
    lines = Table(("", ""), rows, table.right).as_text("", width=max(20, width - VALUE_COLUMN))
    shown = lines.splitlines()[1:]
    more = len(table.rows) - len(rows)
    if more > 0:
        shown.append(f"{more} more: --all")
    heads = [f"  {_MEASURES:12} ", *[" " * VALUE_COLUMN] * (len(shown) - 1)]
    return [head + line for head, line in zip(heads, shown, strict=True)]


def _resources(
    view: SolveView, solution: Solution, labels: Labels, width: int, *, color: bool
) -> str:
    """Return the resources that saturate first, and those that limit, in their colors."""
    shares = MOST_NAMED if width >= _WIDE else 1
    table, resources = resource_table(view, solution, labels, bars=True, shares=shares)
    if not resources:
        return ""
    mattering = _mattering(view)
    shown = list(range(min(_MOST_ROWS, len(resources))))
    for place, one in enumerate(resources[_MOST_ROWS:], _MOST_ROWS):
        if one.name in mattering and shown[-1] < place:
            shown = [*shown[:-1], place]
    rows = tuple(table.rows[place] for place in shown)
    least_first = [_BARS, len(table.headings) - 1] if width < _NARROW else [_BARS]
    fitting = replace(table, rows=rows)
    text = fitting.with_columns(fitting.fitting(width, least_first)).as_lines(width=width)
    giving = giving_way(solution)
    lines = text[0]
    for place, row in zip(shown, text[1:], strict=True):
        tone = _tone_of(resources[place], mattering, giving)
        lines += [toned(line, tone, color=color) for line in row]
    rest = [one for place, one in enumerate(resources) if place not in shown]
    if rest:
        more = f"  {len(rest)} more below {_above(rest)} utilization"
        lines.append(toned(more, Tone.ASIDE, color=color))
    return "\n".join(lines)


def _mattering(view: SolveView) -> frozenset[str]:
    found = {resource_in(view.limited_by)} if view.limited_by else set()
    return frozenset(found | ({view.bottleneck.resource} if view.bottleneck else set()))


def _tone_of(
    resource: ResourceView, mattering: frozenset[str], giving: frozenset[str]
) -> Tone | None:
    if resource.name in giving:
        return Tone.GIVES_WAY
    if resource.utilization_at_limit > resource.target:
        return Tone.MISS
    return Tone.LIMIT if resource.name in mattering else None


def _above(resources: Sequence[ResourceView]) -> str:
    """Return a whole share that all loads lie below."""
    return f"{floor(max(one.utilization_at_limit for one in resources) * 100) + 1} %"


def _notes(view: SolveView, width: int) -> list[str]:
    """Return what checks the result and where there is more, in one line where that fits."""
    checked = "" if view.known.is_exact else f"Check by simulation: `qps simulate {view.file}`."
    lines = wrapped(f"{checked} {_MORE}", width)
    return lines if len(lines) == 1 else [*wrapped(checked, width), *wrapped(_MORE, width)]


_MORE = "Full detail: --all"
