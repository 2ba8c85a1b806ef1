"""What changed between two specs, as text, Markdown and plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import printable
from qps.compiler.diagnostics.visible import one_line
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.text.answers import ResourceView, SolveView
from qps.reports.text.claim_changes import ClaimChanges, claim_changes_tables
from qps.reports.text.how_known import marked
from qps.reports.text.labels import PLAIN, Labels
from qps.reports.text.notebook import Shown, ShowsItself
from qps.reports.text.nouns import counted, noun, noun_of_one
from qps.reports.text.odds_text import ends_of
from qps.reports.text.quantities import number, percent, quantity, undecided_point
from qps.reports.text.table import Table, escaped, joined
from qps.solver.answers.solution import CostSolution
from qps.solver.odds.told import ALONE, DifferenceOdds
from qps.solver.what_if.difference import MOST_SHARED, AssumptionChange, ChangeKind, Difference


class NumberView(Struct, frozen=True):
    """A number that only one of the specs has."""

    name: str
    value: str
    place: str


class DifferenceView(ShowsItself, Struct, frozen=True, kw_only=True, dict=True):
    """What `qps diff --format json` prints; `before` and `after` are as `qps solve` has them.

    `claims` are those that fare otherwise; None where nobody asked for them.
    """

    schema: str
    answer: str
    users: int
    before: SolveView
    after: SolveView
    changes: tuple[AssumptionChange, ...]
    added: tuple[NumberView, ...]
    removed: tuple[NumberView, ...]
    odds: DifferenceOdds | None = None
    claims: ClaimChanges | None = None

    @property
    def labels(self) -> tuple[Labels, Labels]:
        """What either spec calls things; all is called as it is written where nobody said."""
        found: tuple[Labels, Labels] = self.__dict__.get("labels", (PLAIN, PLAIN))
        return found

    @property
    def in_words(self) -> str:
        """The answer for people: with what the specs call things."""
        return _answered(self.before, self.after, self.odds, self.labels)

    def _shown(self) -> Shown:
        return _shown(self)


def calling(view: DifferenceView, before: Labels, after: Labels) -> DifferenceView:
    """Return the same difference, told with what either spec calls things."""
    told = replace(view)
    told.__dict__["labels"] = before, after  # beside its fields: it is no key of the JSON
    return told


def _shown(view: DifferenceView) -> Shown:
    """Return what a notebook shows of a difference."""
    return Shown(
        title=f"{view.before.file} and {view.after.file}",
        answer=view.in_words,
        facts=(("changes", remark_of(view)),),
        tables=(answers_table(view), changes_table(view.changes), numbers_table(view)),
    )


def difference_view(
    found: Difference, before: SolveView, after: SolveView, odds: DifferenceOdds | None = None
) -> DifferenceView:
    """Return a difference as plain values."""
    return DifferenceView(
        schema="qps/diff/1",
        answer=_answered(before, after, odds),
        users=found.users,
        before=before,
        after=after,
        changes=tuple(_written(change) for change in found.changes),
        added=tuple(_number(assumption) for assumption in found.added),
        removed=tuple(_number(assumption) for assumption in found.removed),
        odds=odds,
    )


_CLEARLY = 0.95
"""How likely a difference must be to be more than the spread."""


def _sure(odds: DifferenceOdds, of: str) -> str:
    """Return in words whether a difference `of` users is more than the spread of the numbers."""
    if odds.more == odds.fewer == 0:
        return f"Both are alike in each of {odds.samples:,} samples of the uncertain numbers."
    more, fewer = percent(odds.more), percent(odds.fewer)
    is_clear = max(odds.more, odds.fewer) >= _CLEARLY
    verdict = "more than the spread of" if is_clear else "within the spread of"
    reasons = (odds.left_out, "they cannot be"), (odds.unsolved, f"each {ALONE}")
    left = "".join(
        f", {percent(share)} of them left out: {reason}" for share, reason in reasons if share
    )
    return (
        f"The difference is {verdict} the uncertain numbers: with {more} probability there are "
        f"more, with {fewer} fewer; with {percent(odds.after.probability)} by {odds.least:+,} to "
        f"{odds.most:+,} {of}, {ends_of(odds.after)} instead of {ends_of(odds.before)} "
        f"({odds.samples:,} samples{left})."
    )


def _written(change: AssumptionChange) -> AssumptionChange:
    """Return a change with both sides as they are written; where that is the same, with values.

    So it is where what a name or a function stands for has changed, in a module most often.
    """
    if change.before != change.after or change.values is None or change.dimension is None:
        return change
    told = [f"{change.before} ({quantity(value, change.dimension)})" for value in change.values]
    return replace(change, before=told[0], after=told[1])


def _number(assumption: Assumption) -> NumberView:
    return NumberView(assumption.name, assumption.text, assumption.span.place)


_BY_NAME = PLAIN, PLAIN


def _answered(
    before: SolveView,
    after: SolveView,
    odds: DifferenceOdds | None,
    labels: tuple[Labels, Labels] = _BY_NAME,
) -> str:
    """Return in words what became of the answer, and how sure that is."""
    sure = "" if odds is None else f" {_sure(odds, noun(after.population.name))}"
    return _answer(before, after, labels) + sure


def _answer(before: SolveView, after: SolveView, labels: tuple[Labels, Labels]) -> str:
    old, new = before.largest_acceptable or 0, after.largest_acceptable or 0
    if old == new:
        moved = f"{_known_users(after)}, as before"
    else:
        by = f"{abs(new - old):,} {'more' if new > old else 'fewer'}"
        moved = f"{_known_users(after)} instead of {marked(f'{old:,}', before.known)}: {by}"
    limits = list(map(_limit, (before, after), labels))
    limited = f"Limited by {limits[1]}" + ("" if limits[0] == limits[1] else f", not {limits[0]}")
    return f"{moved}. {limited}."


def _known_users(view: SolveView) -> str:
    return marked(counted(view.largest_acceptable or 0, view.population.name), view.known)


def _limit(view: SolveView, labels: Labels) -> str:
    if not view.limited_by:
        return "the range of the population"
    return printable(labels.of(view.limited_by))


def difference_text(view: DifferenceView, *, markdown: bool = False) -> str:
    """Return the answer, what changed, and the answers before and after."""
    head = f"{view.before.file} → {view.after.file}"
    parts = [f"### {escaped(head)}" if markdown else one_line(head)]
    parts.append(f"**{escaped(view.in_words)}**" if markdown else f"  {view.in_words}")
    tables = [changes_table(view.changes), numbers_table(view), answers_table(view)]
    if view.claims is not None:
        tables = [*claim_changes_tables(view.claims), *tables]
    parts += [t.as_markdown() if markdown else t.as_text() for t in tables if t.rows]
    for remark in (remark_of(view), _unanswered(view.claims)):
        if remark:
            parts.append(escaped(remark) if markdown else f"  {remark}")
    return joined(parts)


def _unanswered(claims: ClaimChanges | None) -> str:
    """Return why claims have no answer, empty where all have."""
    if claims is None or not claims.unanswered:
        return ""
    more = len(claims.unanswered) - 1
    also = f" (and {more:,} more)" if more else ""
    return printable(f"Claims without an answer: {claims.unanswered[0]}{also}.")


def changes_table(changes: Sequence[AssumptionChange]) -> Table:
    """Return what changed, and what each change moves the answer by."""
    is_shared = _is_shared(changes)
    moved = "in all else" if any(c.kind is ChangeKind.FORMULAS for c in changes) else "0"
    rows = tuple(
        (
            change_name(change),
            change.before or "other formulas",
            change.after,
            *_effects(change, moved, is_shared=is_shared),
        )
        for change in changes
    )
    headings = ("changed", "before", "after", "alone", "one by one")
    share = ("share",) if is_shared else ()
    return Table((*headings, *share), rows, frozenset(range(3, 6)))


def _effects(change: AssumptionChange, moved: str, *, is_shared: bool) -> tuple[str, ...]:
    """Return what a change moves the answer by; `moved` is where a discipline does so."""
    if change.kind is ChangeKind.SPREAD:
        moved = "the odds"
    effects = (change.alone, change.step, *([change.share] if is_shared else []))
    if not moving([change]):
        return (moved, *[""] * (len(effects) - 1))
    return tuple(map(_signed, effects))


def moving(changes: Sequence[AssumptionChange]) -> list[AssumptionChange]:
    """Return the changes that can be made alone: how arrivals wait is part of the formulas.

    How far off a number may be moves no answer.
    """
    return [change for change in changes if change.kind not in _IN_ALL_ELSE]


_IN_ALL_ELSE = (ChangeKind.DISCIPLINE, ChangeKind.FIXED, ChangeKind.SPREAD)


def _is_shared(changes: Sequence[AssumptionChange]) -> bool:
    """Return whether shares are told: they need many answers."""
    moved = moving(changes)
    return len(moved) <= MOST_SHARED and any(one.share is not None for one in moved)


def change_name(change: AssumptionChange) -> str:
    """Return what a change is called."""
    return "all else" if change.kind is ChangeKind.FORMULAS else change.name


def _signed(users: float | None) -> str:
    if users is None:
        return "?"
    # Whole, however many: the rows are to add up to the difference of the answers.
    text = f"{users:+,.1f}".removesuffix(".0")
    return "0" if text in ("+0", "-0") else text


def numbers_table(view: DifferenceView) -> Table:
    """Return the numbers that only one of the specs has."""
    rows = [("added", n.name, n.value, n.place) for n in view.added]
    rows += [("removed", n.name, n.value, n.place) for n in view.removed]
    return Table(("", "number", "value", "stated at"), tuple(rows))


def answers_table(view: DifferenceView) -> Table:
    """Return the answers of both, those that differ."""
    before, after = view.before, view.after
    sides = tuple(zip((before, after), view.labels, strict=True))
    words: dict[str, str] = {}
    for each, labels in sides:  # a part is one by its identifier, whatever either calls it
        words |= {_reaches(one): _reaches(one, labels) for one in each.resources}
        words |= {one.measure: labels.of(one.measure) for one in each.requirements}
    rows: list[tuple[str, ...]] = [
        (
            "largest acceptable",
            *(_count(view.largest_acceptable, view.known) for view in (before, after)),
        ),
        ("limited by", *(_limit(*side) for side in sides)),
        *_pairs(
            "{} at",
            *({_reaches(one): _saturation(one) for one in v.resources} for v in (before, after)),
            words=words,
        ),
        *_pairs(
            "{} is met up to",
            *(
                {r.measure: _count(r.met_up_to, r.met_up_to_known) for r in v.requirements}
                for v in (before, after)
            ),
            words=words,
        ),
        *_pairs(
            f"{{}} for each {noun_of_one(after.population.name)}",
            *(dict(map(_price, view.cost)) for view in (before, after)),
            words={},
        ),
    ]
    kept = [row for row in rows if row[1] != row[2] or row[0] == "largest acceptable"]
    return Table(("answer", "before", "after"), tuple(kept), frozenset([1, 2]))


def _pairs(
    told: str, old: dict[str, str], new: dict[str, str], *, words: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Return a row for each name of either, in words, with what it is in both."""
    names = dict.fromkeys([*old, *new])
    return [
        (told.format(words.get(name, name)), old.get(name, "-"), new.get(name, "-"))
        for name in names
    ]


def _count(users: int | None, known: Certainty) -> str:
    return "none" if users is None else marked(f"{users:,}", known)


def _reaches(resource: ResourceView, labels: Labels = PLAIN) -> str:
    """Return what a resource comes to: its target where that is below saturation."""
    comes_to = "saturates" if resource.target == 1 else "reaches its target"
    return f"{labels.of(resource.name)} {comes_to}"


def _saturation(resource: ResourceView) -> str:
    """Return where a resource comes to that."""
    if resource.saturates_not_below is not None:
        return undecided_point(resource.saturates_at, resource.saturates_not_below)
    return "never" if resource.saturates_at is None else number(resource.saturates_at)


def _price(cost: CostSolution) -> tuple[str, str]:
    name, dimension = ("running cost", MONEY / TIME) if cost.is_running else ("cost", MONEY)
    return name, quantity(cost.per_user, dimension)


def remark_of(view: DifferenceView) -> str:
    """Return how to read the columns."""
    if not view.changes:
        return "No number, option or formula that the answer rests on has changed."
    of = noun(view.after.population.name)
    parts = [f"In {of}. alone: the old spec with this change only; one by one: in this order"]
    if _is_shared(view.changes):
        parts.append("share: the mean over all orders (Shapley)")
    text = "; ".join(parts) + "."
    if any(change.alone is None or change.step is None for change in moving(view.changes)):
        text += " ?: half-way lies a spec that has no answer."
    return text
