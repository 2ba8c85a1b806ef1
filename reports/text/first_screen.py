"""What one must know first: how many, limited by what, what would help, how sure, what is next.

Each is told once, in the order in which it is asked. What lies behind it is told by `solve_text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, isfinite

from msgspec import Struct

from qps.compiler.diagnostics.render import plain
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.losses_in_series import known_at
from qps.reports.text.answers import ResourceView, SolveView
from qps.reports.text.giving_way import GIVES_WAY, giving_way
from qps.reports.text.headroom_text import next_limit_line
from qps.reports.text.how_known import (
    marked,
    marked_value,
    users_as_known,
    users_known,
    users_with,
)
from qps.reports.text.measures import measure_table
from qps.reports.text.nouns import counted
from qps.reports.text.odds_text import odds_lines
from qps.reports.text.quantities import (
    beyond_limit,
    in_percent,
    joined_words,
    percent,
    quantity,
    side_of,
)
from qps.reports.text.table import Table, joined
from qps.reports.text.text import cost_lines, elastic_lines, modes_line, resource_table
from qps.reports.text.tones import Tone, toned
from qps.reports.text.view import answer, circumstances
from qps.reports.text.wrapping import labelled, wrapped
from qps.solver.answers.answering import QUALITY
from qps.solver.answers.solution import CriterionSolution, Solution, Verdict

_MOST_ROWS = 8
_MOST_NAMED = 3
_MOST_OF_QUALITY = 2
_DIGITS = 3
_TONES = {"limited by": Tone.LIMIT, "gives way": Tone.GIVES_WAY}


def first_screen(
    view: SolveView, solution: Solution, title: str, *, width: int = 80, color: bool = False
) -> str:
    """Return the answer as a terminal of a width shows it, at most eight resources behind it."""
    head = screen_head(view, solution, title, width=width, color=color)
    return joined([head, screen_body(view, solution, width=width, color=color)])


def screen_head(
    view: SolveView, solution: Solution, title: str, *, width: int = 80, color: bool = False
) -> str:
    """Return what was asked and how many: told before it is known what would help."""
    is_none = view.largest_acceptable is None
    head = wrapped(f"{title} ({', '.join([view.file, *circumstances(view)])})", width, "")
    told = wrapped(_headline(view, solution), width)
    told = [toned(line, Tone.MISS if is_none else Tone.ANSWER, color=color) for line in told]
    return joined(["\n".join([*head, "", *told])])


def screen_body(
    view: SolveView, solution: Solution, *, width: int = 80, color: bool = False
) -> str:
    """Return what stands below how many: facts under their labels, measures, resources."""
    facts = [fact for fact in _facts(view, solution, why="; `--all` tells why") if fact[1]]
    lines: list[str] = []
    for (label, _), shown in zip(facts, labelled(facts, width), strict=True):
        lines += [toned(line, _TONES.get(label), color=color) for line in shown]
    parts = ["\n".join(lines), _measures(solution, width)]
    parts.append(_resources(view, solution, width, color=color))
    warned = plain(solution.warnings).splitlines()
    parts.append("\n".join(line for one in warned for line in wrapped(one, width, "  ", "    ")))
    return joined(parts)


class Decision(Struct, frozen=True):
    """What one must know first: how many, and facts under their labels."""

    headline: str
    facts: tuple[tuple[str, str], ...]


def decision(view: SolveView, solution: Solution) -> Decision:
    """Return what the first screen tells, for a page."""
    facts = tuple(fact for fact in _facts(view, solution, why="") if fact[1])
    return Decision(_headline(view, solution), facts)


def _headline(view: SolveView, solution: Solution) -> str:
    """Return how many; the whole answer where it is not that a requirement ends somewhere."""
    if solution.verdict is not Verdict.LIMITED or view.answer != answer(solution):
        return view.answer
    largest = solution.largest_acceptable or 0
    return users_known(view.known) + counted(largest, view.population.name)


def _facts(view: SolveView, solution: Solution, *, why: str) -> Iterator[tuple[str, str]]:
    """Yield facts under their labels; `why` says where more is told of how an answer is known."""
    is_limited = solution.verdict is Verdict.LIMITED
    yield "limited by", _limit(view, solution) if is_limited else ""
    yield (
        "gives way",
        " ".join(_yielding(view, solution)),
    )
    yield "also needs", _needs(view, solution)
    yield "how sure", _how_sure(view, why)
    told = [f"{item.change} ({users_with(item)})" for item in view.helps_most]
    yield "would help", "; ".join(told)
    yield "breaks next", next_limit_line(view).removeprefix("Next limit: ").removesuffix(".")
    yield "modes", modes_line(view).removeprefix("Modes: ")
    yield "costs", " ".join(cost_lines(view, solution))
    yield "counts", "; ".join(_counted_as_known(view))


def _yielding(view: SolveView, solution: Solution) -> list[str]:
    """Return a sentence for each elastic parameter that takes less than its most."""
    lines = zip(view.elastic, elastic_lines(view, solution), strict=True)
    told = [line.partition(": ")[2] for item, line in lines if item.lowered]
    full = sorted(giving_way(solution))
    if full:
        state = f"is {GIVES_WAY}" if len(full) == 1 else f"are {GIVES_WAY.replace('its', 'their')}"
        told.insert(0, f"{joined_words(full)} {state}:")
    return told


# -- what limits, and what else is needed -----------------------------------------------------


def _limit(view: SolveView, solution: Solution) -> str:
    """Return what the answer is limited by, with its value there and one further on."""
    name, further = solution.limited_by or "", solution.at + 1
    if name == QUALITY:
        return _behind_quality(view, solution)
    named = [item for item in solution.requirements if item.criterion.name == name]
    for item in sorted(named, key=lambda item: item.met_up_to or 0)[:1]:
        if item.criterion.promised_with is not None:
            return f"{name}, which does not hold for {further:,}"
        return f"{_against(item, solution)}; {_further(item.criterion, solution, further)}"
    found = solution.graph.resources.get(name.removesuffix(".load"))
    mine = [one for one in view.resources if found is not None and one.name == found.name]
    if found is None or not mine:
        return name
    told = beyond_limit(
        solution.graph, found.load, found.target, further, share=True, digits=_DIGITS
    )
    target = solution.graph.number(found.target)
    at = percent(mine[0].load_at_limit)
    return (
        f"{found.name}, loaded {_of(at, percent(target))}; "
        f"{_or_just(told, percent(target), 'over')} with {further:,}"
    )


def _behind_quality(view: SolveView, solution: Solution) -> str:
    """Return the requirements that make quality what it is: those nearest to their limits."""
    point = solution.graph.at(solution.at)
    judged = [
        (point.number(item.criterion.axis), item)
        for item in solution.requirements
        if item.criterion.axis is not None
    ]
    if not judged:
        return QUALITY
    judged.sort(key=lambda pair: -pair[0])
    told = [_against(item, solution) for share, item in judged if share > 0][:_MOST_OF_QUALITY]
    if len(told) == 1 or not told:
        return "".join(told) or QUALITY
    return f"{joined_words(told)}, taken together ({view.quality.metric})"


def _further(criterion: Criterion, solution: Solution, at: int) -> str:
    """Return what a requirement comes to for more users, told apart from its limit."""
    share, graph = in_percent(criterion), solution.graph
    told = beyond_limit(
        graph, criterion.measure, criterion.limit, at, criterion.dimension,
        share=share, digits=_DIGITS,
    )  # fmt: skip
    limit = quantity(graph.number(criterion.limit), criterion.dimension, _DIGITS, share=share)
    known = known_at(graph, criterion, at)
    side = "over" if criterion.at_most else "under"
    return f"{marked(_or_just(told, limit, side), known)} with {at:,}"


def _or_just(told: str, limit: str, side: str) -> str:
    """Return a value beyond a limit; `just over` it where it takes many digits to tell them."""
    digits = sum(character.isdigit() for character in told.partition("×")[0].lstrip("0.,"))
    return f"just {side} {limit}" if digits > _DIGITS else told


def _against(item: CriterionSolution, solution: Solution) -> str:
    """Return a requirement with its value and its limit: `voice.latency 227 of 230 ms`."""
    criterion = item.criterion
    share, graph = in_percent(criterion), solution.graph
    limit = quantity(graph.number(criterion.limit), criterion.dimension, _DIGITS, share=share)
    value = quantity(item.value_at_limit, criterion.dimension, _DIGITS, share=share)
    known = known_at(graph, criterion, solution.at)
    if criterion.at_most and not criterion.strict and isfinite(item.value_at_limit):
        return f"{criterion.name} {marked(_of(value, limit), known)}"
    told = marked_value(value, item.value_at_limit, known)
    return f"{criterion.name} {told}, {side_of(criterion)} {limit}"


def _of(value: str, limit: str) -> str:
    """Return a value of its limit, the unit once where they have the same one."""
    amount, _, unit = value.partition(" ")
    return f"{amount if unit == limit.partition(' ')[2] else value} of {limit}"


def _needs(view: SolveView, solution: Solution) -> str:
    """Return the other requirements, the nearest to its limit first."""
    limit = view.limited_by
    items = [
        item
        for item in solution.requirements
        if item.criterion.name != limit and item.criterion.promised_with is None
    ]
    if view.limited_by == QUALITY:
        behind = _behind_quality(view, solution)
        items = [item for item in items if _against(item, solution) not in behind]
    items.sort(key=lambda item: (item.met_up_to is None, item.met_up_to or 0))
    told = [_against(item, solution) for item in items]
    more = len(told) - _MOST_NAMED
    return "; ".join([*told[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


# -- how sure ---------------------------------------------------------------------------------


def _how_sure(view: SolveView, why: str) -> str:
    """Return between which numbers the answer lies, and what it is where it is not exact."""
    parts = []
    if view.odds is not None:
        line = next(iter(odds_lines(view))).removesuffix(".")
        parts.append(f"{line[0].lower()}{line[1:]}")
    known = users_as_known(view.known)
    if not view.known.is_exact:
        parts.append(known + why)
    elif not parts:
        parts.append(known)
    return "; ".join(parts)


def _counted_as_known(view: SolveView) -> Iterator[str]:
    for one in view.counted_as_known:
        yield (
            f"{joined_words(one.numbers)} as known: the rows of `{one.table}` are too few to tell "
            "a spread"
        )


# -- tables -----------------------------------------------------------------------------------


def _measures(solution: Solution, width: int) -> str:
    """Return the measures of the spec's own, of which it has at most eight here."""
    table = measure_table(solution)
    if not table.rows:
        return ""
    shown = Table(table.headings, table.rows[:_MOST_ROWS], table.right).as_text(width=width)
    more = len(table.rows) - _MOST_ROWS
    return shown + (f"  … {more} more\n" if more > 0 else "")


def _resources(view: SolveView, solution: Solution, width: int, *, color: bool) -> str:
    """Return the resources that are full first, and those that limit, in their colours."""
    table, resources = resource_table(view, solution)
    mattering = _mattering(view)
    shown = list(range(min(_MOST_ROWS, len(resources))))
    for place, one in enumerate(resources[_MOST_ROWS:], _MOST_ROWS):
        if one.name in mattering and shown[-1] < place:
            shown = [*shown[:-1], place]
    rows = tuple(table.rows[place] for place in shown)
    text = Table(table.headings, rows, table.right).as_text(width=width).splitlines()
    giving = giving_way(solution)
    lines = text[:1]
    for place, line in zip(shown, text[1:], strict=True):
        lines.append(toned(line, _tone_of(resources[place], mattering, giving), color=color))
    rest = [one for place, one in enumerate(resources) if place not in shown]
    more = "  `--all` tells all that is known"
    if rest:
        more = f"  … {len(rest)} more below {_above(rest)}; `--all` tells all that is known"
    return "\n".join([*lines, toned(more, Tone.ASIDE, color=color)])


def _mattering(view: SolveView) -> frozenset[str]:
    found = {view.limited_by.removesuffix(".load")} if view.limited_by else set()
    return frozenset(found | ({view.bottleneck.resource} if view.bottleneck else set()))


def _tone_of(
    resource: ResourceView, mattering: frozenset[str], giving: frozenset[str]
) -> Tone | None:
    if resource.name in giving:
        return Tone.GIVES_WAY
    if resource.load_at_limit > resource.target:
        return Tone.MISS
    return Tone.LIMIT if resource.name in mattering else None


def _above(resources: Sequence[ResourceView]) -> str:
    """Return a whole share that all loads lie below."""
    return f"{floor(max(one.load_at_limit for one in resources) * 100) + 1} %"
