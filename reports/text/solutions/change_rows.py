"""Changes as rows: what changes, the capacity with it, what it costs, and how it is set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.reports.text.layout.facts import VALUE_COLUMN
from qps.reports.text.layout.table import text_width
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.capacity_text import is_covered
from qps.reports.text.solutions.change_wording import (
    Wording,
    date_and_cost,
    extra_cost,
    supported_with,
)
from qps.reports.text.solutions.rewrite_wording import lines_to_write
from qps.reports.text.words.certainty_marks import (
    MARKS,
    marked,
    users_with,
)
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer

HELPS = phrase("changes")
"""The label of changes."""
_LONGEST_REASON = 80


def _with_users(one: AdviceView, answer: Answer) -> str:
    """Return a change with its capacity and its cost: `web: 2 -> 4 servers (≤ 14,925)`."""
    cost = cost_with(one, answer)
    return f"{one.words} ({capacity_with(one, answer)}{f', {cost}' if cost else ''})"


def in_one_line(answer: Answer, words: Wording) -> str:
    """Return the changes that help most, with the capacity and the cost of each."""
    return "; ".join(_with_users(one, answer) for one in words.by_kind)


def cost_with(one: AdviceView, answer: Answer) -> str:
    """Return what a change costs, and until when the forecast is supported with it.

    That it has no price is said where other things have one.
    """
    cost = extra_cost(one)
    is_said = answer.costs or cost != phrase("price.none")
    return date_and_cost(one, cost if is_said else "")


def change_rows(answer: Answer, words: Wording, width: int) -> list[str]:
    """Return changes as rows: what changes, the capacity with it, its cost, how to set it.

    The first of a kind has that as its label: what is bought, what else is changed, less traffic.
    The very first one is recommended, unless it relaxes a goal.
    """
    if not words.best_changes:
        return []
    label = phrase("changes.fix") if answer.capacity is None else HELPS
    by_kind = words.by_kind
    rows = [
        (one.words, capacity_in_row(one, answer), cost_with(one, answer), pasted(one))
        for one in by_kind
    ]
    kinds = [phrase(f"change.kind.{words.kind(one)}") for one in by_kind]
    if answer.capacity is not None and not by_kind[0].is_goal:
        kinds[0] = phrase("change.recommended")
    change, users, cost, setting_width = (max(text_width(row[i]) for row in rows) for i in range(4))
    value_width = max(20, width - VALUE_COLUMN)
    behind = 2 + (cost + 2 if cost else 0)
    end = value_width - setting_width - behind  # of the capacities, if all is in one line
    fits = all(text_width(row[0]) + 1 + text_width(row[1]) <= end for row in rows)
    end = min(end, change + 2 + users) if fits else change + 2 + users
    heading = noun(answer.population).capitalize()
    end = min(end, value_width - behind)  # what is longer has lines of its own
    end = max(end, text_width(heading), text_width(f"  {label}  {heading}") - VALUE_COLUMN)
    # A long setting alone does not send all others to a line of their own.
    beside = [end + behind + text_width(row[3]) <= value_width for row in rows]
    is_beside = 2 * sum(beside) >= len(rows)
    lines: list[str] = []
    labels: list[str] = []
    for place, (change_text, many, costs, setting) in enumerate(rows):
        labels += [""] * (len(lines) - len(labels))
        labels.append("" if place and kinds[place] == kinds[place - 1] else kinds[place])
        written = _written(by_kind[place], value_width)
        row = (
            change_text
            + _right(many, end - text_width(change_text))
            + (f"  {_left(costs, cost)}" * bool(cost))
        )
        if is_beside and beside[place]:
            lines += [f"{row}  {setting}".rstrip(), *written]
            continue
        row = row.rstrip()
        is_one_line = text_width(change_text) + 1 + text_width(many) <= end
        lines += (
            [row] if is_one_line else wrapped(f"{change_text}  {many}  {costs}", value_width, "")
        )
        lines += [f"    {setting}"] if setting else []
        lines += written
    for text in marks_of(by_kind, answer, words.labels):
        lines += wrapped(text, value_width, "")
    head = f"  {label}"
    head += _right(heading, VALUE_COLUMN + end - text_width(head))
    labels += [""] * (len(lines) - len(labels))
    margins = (_left(f"  {one}", VALUE_COLUMN) for one in labels)
    return [head, *(margin + line for margin, line in zip(margins, lines, strict=True))]


def _written(change: AdviceView, width: int) -> list[str]:
    """Return the lines of the spec that a change takes, below its row."""
    return [
        f"    {line}"
        for text in lines_to_write(change.lines or ())
        for line in wrapped(text, width - 4, "  ")
    ]


def capacity_in_row(one: AdviceView, answer: Answer) -> str:
    """Return the capacity with a change; its mark where it is not that of the capacity itself."""
    users = capacity_with(one, answer)
    return (
        users.removeprefix(MARKS[one.known.kind]) if one.known.kind is answer.known.kind else users
    )


def marks_of(changes: Sequence[AdviceView], answer: Answer, labels: Labels) -> Iterator[str]:
    """Yield what each mark before a capacity means: `≤: an upper bound, as …`.

    Its shortest reason stands behind it, if that is no longer than a line.
    """
    kinds: dict[CertaintyKind, Certainty] = {}
    for one in changes:
        mark = MARKS[one.known.kind]
        if mark and capacity_in_row(one, answer).startswith(mark):
            kinds.setdefault(one.known.kind, one.known)
    for kind, known in kinds.items():
        reason = min(known.reasons, key=len).partition(": ")[0]
        more = len(known.reasons) - 1
        key = "changes.marked.more" if more else "changes.marked.as"
        yield phrase(
            key if len(reason) <= _LONGEST_REASON else "changes.marked",
            mark=MARKS[kind].strip(),
            known=phrase(f"served.is.{kind.value}"),
            reason=labels.sentence(reason),
            count=more,
        )


def capacity_with(one: AdviceView, answer: Answer) -> str:
    """Return the capacity with a change as that of the answer is printed: `≤ 14,000`.

    It is rounded like that. Where that covers every model error, this does, too.
    """
    if one.reliable_capacity is None:
        return users_with(one)
    if one.reliable_capacity == answer.high:
        return f"{answer.high:,}+"
    text = f"{printed_with(one, answer):,}"
    is_marked = not (answer.uncertainty is not None and is_covered(answer))
    return marked(text, one.known) if is_marked else text


def printed_with(one: AdviceView, answer: Answer) -> int:
    """Return the capacity with a change, rounded as that of the answer is."""
    return printed_capacity(supported_with(one), high=answer.high)


def pasted(one: AdviceView) -> str:
    """Return what makes a change on the command line; empty where nothing does."""
    settings = one.together or ([one.setting] if one.setting else [])
    return " ".join(f"--set {quote(each)}" for each in settings)


def _left(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def _right(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text
