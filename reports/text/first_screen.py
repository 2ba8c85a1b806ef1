"""What one must know first: how many, limited by what, what would help, how sure, what is next.

Each is told once, in the order in which it is asked. What lies behind it is told by `solve_text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from math import floor
from shlex import quote

from msgspec import Struct

from qps.compiler.diagnostics.render import plain
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.losses_in_series import known_at
from qps.compiler.quantities.certainty import Kind
from qps.reports.text.answers import AdviceView, ResourceView, SolveView
from qps.reports.text.giving_way import GIVES_WAY, giving_way
from qps.reports.text.headroom_text import next_limit_line
from qps.reports.text.how_known import (
    in_words,
    marked,
    users_as_known,
    users_known,
    users_with,
)
from qps.reports.text.labels import Labels
from qps.reports.text.measures import measure_table
from qps.reports.text.nouns import counted, noun
from qps.reports.text.odds_text import rounded_ends
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import (
    beyond_limit,
    in_percent,
    joined_words,
    percent,
    quantity,
    rounded_down,
    rounded_up,
)
from qps.reports.text.reasons import against, answer, answer_told, behind_quality, of_limit
from qps.reports.text.table import Table, joined
from qps.reports.text.text import cost_lines, elastic_lines, modes_line, resource_table
from qps.reports.text.tones import Tone, toned
from qps.reports.text.view import circumstances
from qps.reports.text.worded_changes import Wording, cost_told, price_asked
from qps.reports.text.wrapping import held, labelled, wrapped
from qps.solver.answers.answering import QUALITY
from qps.solver.answers.solution import CriterionSolution, Solution, Verdict

_MOST_ROWS = 8
_MOST_NAMED = 3
_DIGITS = 3
_TONES = {"limited by": Tone.LIMIT, "gives way": Tone.GIVES_WAY}


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
    return joined([head, screen_body(view, solution, words, width=width, color=color)])


def screen_head(
    view: SolveView,
    solution: Solution,
    title: str,
    labels: Labels,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return what was asked and how many: told before it is known what would help."""
    is_none = view.largest_acceptable is None
    head = wrapped(f"{title} ({', '.join([view.file, *circumstances(view)])})", width, "")
    told = wrapped(headline(view, solution, labels), width)
    told = [toned(line, Tone.MISS if is_none else Tone.ANSWER, color=color) for line in told]
    return joined(["\n".join([*head, "", *told])])


def screen_body(
    view: SolveView, solution: Solution, words: Wording, *, width: int = 80, color: bool = False
) -> str:
    """Return what stands below how many: facts under their labels, measures, resources.

    Changes have the settings behind them that make them.
    """
    facts: list[tuple[str, str]] = []
    for label, fact in _facts(view, solution, words, why="; `--all` tells why"):
        if label == _HELPS:
            heads = chain([_HELPS], repeat(""))
            facts += zip(heads, (_with_setting(one, view) for one in view.helps_most), strict=False)
        elif fact:
            facts.append((label, fact))
    lines: list[str] = []
    for (label, _), shown in zip(facts, labelled(facts, width), strict=True):
        lines += [toned(line, _TONES.get(label), color=color) for line in shown]
    labels = words.labels
    parts = ["\n".join(lines), _measures(solution, labels, width)]
    parts.append(_resources(view, solution, labels, width, color=color))
    warned = plain(solution.warnings).splitlines()
    parts.append("\n".join(line for one in warned for line in wrapped(one, width, "  ", "    ")))
    return joined(parts)


class Decision(Struct, frozen=True):
    """What one must know first: how many, and facts under their labels."""

    headline: str
    facts: tuple[tuple[str, str], ...]


def decision(view: SolveView, solution: Solution, words: Wording) -> Decision:
    """Return what the first screen tells, for a page."""
    facts = tuple(fact for fact in _facts(view, solution, words, why="") if fact[1])
    return Decision(headline(view, solution, words.labels), facts)


def headline(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return how many, and no more than what is likely.

    The whole answer where it is not that a requirement ends somewhere.
    """
    if solution.verdict is not Verdict.LIMITED or view.answer != answer(solution):
        return answer_told(view, solution, labels)
    largest = solution.largest_acceptable or 0
    likely = view.largest_acceptable_interval
    if likely is not None and likely.most is not None and largest > likely.most:
        ends = {"least": rounded_down(likely.least or 0), "most": rounded_up(likely.most)}
        return phrase("sure.beyond", **ends, noun=noun(view.population.name))
    return users_known(view.known) + counted(largest, view.population.name)


def _facts(
    view: SolveView, solution: Solution, words: Wording, *, why: str
) -> Iterator[tuple[str, str]]:
    """Yield facts under their labels; `why` says where more is told of how an answer is known."""
    is_limited = solution.verdict is Verdict.LIMITED
    told = words.labels.told
    helps = "; ".join(_with_users(one, view) for one in view.helps_most)
    if solution.largest_acceptable is None:
        yield _HELPS, helps
    yield "limited by", told(_limit(view, solution, words.labels)) if is_limited else ""
    yield "gives way", told(" ".join(_yielding(view, solution)))
    yield "also needs", told(_needs(view, solution, words.labels))
    yield "how sure", _how_sure(view, why)
    yield "promise", _promise(view)
    if solution.largest_acceptable is not None:
        yield _HELPS, helps
    yield "breaks next", told(_next(view, words.labels))
    yield "modes", told(modes_line(view).removeprefix("Modes: "))
    costs = " ".join(cost_lines(view, solution))
    yield "costs", costs or (price_asked(words) if is_limited else "")
    yield "counts", "; ".join(_counted_as_known(view))


_HELPS = "would help"


def _with_users(one: AdviceView, view: SolveView) -> str:
    """Return a change with how many users it gives, and what it costs.

    That no price is given is said where other things have one.
    """
    cost = cost_told(one)
    is_said = cost and (view.cost or cost != phrase("price.none"))
    return f"{one.words} ({in_words(users_with(one))}{f'; {cost}' if is_said else ''})"


def _with_setting(one: AdviceView, view: SolveView) -> str:
    """Return the same with what to write to set it."""
    pasted = held(f"--set {quote(one.setting)}") if one.setting else ""
    return f"{_with_users(one, view)}{pasted and f': {pasted}'}"


def _next(view: SolveView, labels: Labels) -> str:
    return next_limit_line(view, labels).removeprefix("Next limit: ").removesuffix(".")


def _promise(view: SolveView) -> str:
    """Return what may be promised: what samples are sure of; of a bound, that it is one."""
    if view.odds is not None:
        promise = view.odds.promise
        sure = percent(promise.certainty)
        if promise.largest is None:
            return phrase("sure.none", sure=sure)
        of = {"sure": sure, "noun": noun(view.population.name)}
        return phrase("sure.least", least=rounded_down(promise.largest), **of)
    is_bound = view.known.kind is Kind.UPPER_BOUND and view.largest_acceptable is not None
    return "plan for fewer: nobody has played it; `qps simulate` does" if is_bound else ""


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


def _limit(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return what the answer is limited by, with its value there and one further on."""
    name, further = solution.limited_by or "", solution.at + 1
    if name == QUALITY:
        return _behind_quality(solution, labels)
    named = [item for item in solution.requirements if item.criterion.name == name]
    for item in sorted(named, key=lambda item: item.met_up_to or 0)[:1]:
        if item.criterion.promised_with is not None:
            return f"{labels.of(name)}, which does not hold for {further:,}"
        told = against(item.criterion, solution, solution.at, labels)
        return f"{told}; {_further(item.criterion, solution, further)}"
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
        f"{labels.of(found.name)}, loaded {of_limit(at, percent(target))}; "
        f"{_or_just(told, percent(target), 'over')} with {further:,}"
    )


def _behind_quality(solution: Solution, labels: Labels) -> str:
    told = behind_quality(solution, solution.at, labels)
    if not told:
        return phrase("limit.needs")
    return phrase("limit.together" if len(told) > 1 else "limit.alone", told=joined_words(told))


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
    return f"{in_words(marked(_or_just(told, limit, side), known))} with {at:,}"


def _or_just(told: str, limit: str, side: str) -> str:
    """Return a value beyond a limit; `just over` it where it takes many digits to tell them."""
    digits = sum(character.isdigit() for character in told.partition("×")[0].lstrip("0.,"))
    return f"just {side} {limit}" if digits > _DIGITS else told


def _needed(item: CriterionSolution, solution: Solution, labels: Labels) -> str:
    return against(item.criterion, solution, solution.at, labels)


def _needs(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return the other requirements, the nearest to its limit first."""
    limit = view.limited_by
    items = [
        item
        for item in solution.requirements
        if item.criterion.name != limit and item.criterion.promised_with is None
    ]
    if view.limited_by == QUALITY:
        behind = behind_quality(solution, solution.at, labels)
        items = [one for one in items if _needed(one, solution, labels) not in behind]
    items.sort(key=lambda item: (item.met_up_to is None, item.met_up_to or 0))
    told = [_needed(item, solution, labels) for item in items]
    more = len(told) - _MOST_NAMED
    return "; ".join([*told[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


# -- how sure ---------------------------------------------------------------------------------


def _how_sure(view: SolveView, why: str) -> str:
    """Return between which numbers the answer lies, and what it is where it is not exact."""
    parts = []
    if view.odds is not None:
        parts.append(f"nine times in ten {rounded_ends(view.odds.interval, view.population.to)}")
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


def _measures(solution: Solution, labels: Labels, width: int) -> str:
    """Return the measures of the spec's own, of which it has at most eight here."""
    table = measure_table(solution, labels)
    if not table.rows:
        return ""
    shown = Table(table.headings, table.rows[:_MOST_ROWS], table.right).as_text(width=width)
    more = len(table.rows) - _MOST_ROWS
    return shown + (f"  … {more} more\n" if more > 0 else "")


def _resources(
    view: SolveView, solution: Solution, labels: Labels, width: int, *, color: bool
) -> str:
    """Return the resources that are full first, and those that limit, in their colours."""
    table, resources = resource_table(view, solution, labels)
    mattering = _mattering(view)
    shown = list(range(min(_MOST_ROWS, len(resources))))
    for place, one in enumerate(resources[_MOST_ROWS:], _MOST_ROWS):
        if one.name in mattering and shown[-1] < place:
            shown = [*shown[:-1], place]
    rows = tuple(table.rows[place] for place in shown)
    shown_table = Table(table.headings, rows, table.right, table.firm)
    text = shown_table.as_text(width=width).splitlines()
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
