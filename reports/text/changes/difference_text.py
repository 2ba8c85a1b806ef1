"""What changed between two specs, as text, Markdown and plain values."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import printable
from qps.compiler.diagnostics.visible import one_line
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import DIMENSIONLESS, MONEY, TIME
from qps.reports.text.changes.change_effects import (
    change_name,
    changes_table,
    effects_of,
    is_divided,
    is_shared,
    moving,
    unmoving,
    values_moved,
)
from qps.reports.text.claims.claim_changes import ClaimChanges, claim_changes, claim_changes_tables
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.notebook import Shown, ShowsItself
from qps.reports.text.layout.table import Table, escaped, joined
from qps.reports.text.layout.text_layout import Layout
from qps.reports.text.solutions.answer_values import RequirementView, ResourceView, SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.solutions.uncertainty_text import ends_of
from qps.reports.text.words.certainty_marks import marked
from qps.reports.text.words.labels import PLAIN, Labels, labels_of
from qps.reports.text.words.nouns import counted, noun, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    is_share,
    percent,
    quantity,
    quantity_in,
    undecided_point,
    whole_population,
)
from qps.solver.answers.solution import CostSolution
from qps.solver.spec_difference import SpecDifference
from qps.solver.uncertainty.interval_result import ALONE, DifferenceOdds
from qps.solver.what_if.assumption_changes import AssumptionChange, ChangeKind
from qps.solver.what_if.difference import MOST_SHARED, Difference


class NumberView(Struct, frozen=True):
    """A number that exists in only one of the specs."""

    name: str
    value: str
    place: str


class DifferenceView(ShowsItself, Struct, frozen=True, kw_only=True, dict=True):
    """Output of `qps diff --format json`; `before` and `after` are outputs of `qps solve`.

    If the capacities differ by less than the model error, `within_error` is true and `users` is 0.
    `claims` lists claims with changed verdicts, or is None if they were not requested.
    """

    schema: str
    answer: str
    users: int
    within_error: bool
    before: SolveView
    after: SolveView
    changes: tuple[AssumptionChange, ...]
    added: tuple[NumberView, ...]
    removed: tuple[NumberView, ...]
    uncertainty: DifferenceOdds | None = None
    claims: ClaimChanges | None = None

    @property
    def labels(self) -> tuple[Labels, Labels]:
        """Labels of both specs."""
        found: tuple[Labels, Labels] = self.__dict__.get("labels", (PLAIN, PLAIN))
        return found

    @property
    def in_words(self) -> str:
        """The result in words, with the labels of the specs."""
        return _answered(self, self.labels)

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
    view = DifferenceView(
        schema="qps/diff/5",
        answer="",
        users=found.users,
        within_error=found.within_error,
        before=before,
        after=after,
        changes=tuple(_written(change) for change in found.changes),
        added=tuple(_number(assumption) for assumption in found.added),
        removed=tuple(_number(assumption) for assumption in found.removed),
        uncertainty=odds,
    )
    return replace(view, answer=_answered(view, (PLAIN, PLAIN)))


def spec_difference_view(found: SpecDifference) -> DifferenceView:
    """Return the difference of two specs as plain values, told with what either calls things."""
    before, after = map(solve_view, found.answers)
    view = difference_view(found.difference, before, after, found.odds)
    if found.claims is not None:
        view = replace(view, claims=claim_changes(*found.claims))
    return calling(view, *(model.once(labels_of) for model in found.models))


_CLEARLY = 0.95
"""How likely a difference must be to be more than the spread."""


def _sure(odds: DifferenceOdds, of: str) -> str:
    """Return in words whether a difference `of` users exceeds the uncertainty of the inputs."""
    if odds.more == odds.fewer == 0:
        return f"no change in any of {odds.samples:,} samples of the uncertain inputs"
    likely, word = max((odds.fewer, "falls"), (odds.more, "rises"))
    verdict = "exceeds" if is_clear(odds) else "is within"
    reasons = (odds.left_out, "impossible values"), (odds.unsolved, f"each {ALONE}")
    left = "".join(
        f"; {percent(share)} of samples excluded: {reason}" for share, reason in reasons if share
    )
    sure = percent(odds.after.probability)
    return (
        f"the change {verdict} the uncertainty of the inputs: capacity {word} in "
        f"{percent(likely)} of {odds.samples:,} samples; {sure} interval of the change "
        f"{odds.least:+,} to {odds.most:+,} {of}, of the capacity {ends_of(odds.after)} "
        f"(was {ends_of(odds.before)}){left}"
    )


def is_clear(odds: DifferenceOdds) -> bool:
    """Return whether a difference is more than the uncertainty of the inputs makes of itself."""
    return max(odds.more, odds.fewer) >= _CLEARLY


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


def _answered(view: DifferenceView, labels: tuple[Labels, Labels]) -> str:
    """Return in words what became of the answer, and how sure that is."""
    if view.uncertainty is None:
        return _answer(view, labels)
    sure = _sure(view.uncertainty, noun(view.after.population.name))
    return f"{_answer(view, labels)} {sure[0].upper()}{sure[1:]}."


def _answer(view: DifferenceView, labels: tuple[Labels, Labels]) -> str:
    before, after = view.before, view.after
    old, new = before.capacity or 0, after.capacity or 0
    was = marked(f"{old:,}", before.known)
    if old == new:
        moved = f"Capacity unchanged at {_known_users(after)}"
    elif view.within_error:
        moved = f"Capacity unchanged within the model error ({was}, now {_known_users(after)})"
    else:
        verb = "rises" if new > old else "falls"
        moved = f"Capacity {verb} from {was} to {_known_users(after)} ({moved_by(old, new)})"
    limits = list(map(_limit, (before, after), labels))
    was_limit = "" if limits[0] == limits[1] else f" (was {limits[0]})"
    return f"{moved}. Bottleneck: {limits[1]}{was_limit}."


def moved_by(old: int, new: int) -> str:
    """Return a change in words and as a share: "-485, -26.7 %"; without that where all was 0."""
    by = f"{new - old:+,}"
    return f"{by}, {relative(old, new)}" if old and new != old else by


def relative(old: float, new: float) -> str:
    """Return by which share a number moves: "-26.7 %"; one that is smaller is not told as none."""
    share = 100 * (new - old) / old
    digits = next((n for n in (1, 2) if round(share, n)), 3)
    return f"{share:+,.{digits}f}".removesuffix(".0") + " %"


def _known_users(view: SolveView) -> str:
    return marked(counted(view.capacity or 0, view.population.name), view.known)


def _limit(view: SolveView, labels: Labels) -> str:
    if not view.limited_by:
        return "none in the range"
    return printable(labels.of(view.limited_by))


def difference_text(view: DifferenceView, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return both capacities and what changed, then claims, limits and what each change does."""
    if markdown:
        head = f"### {escaped(f'{view.before.file} → {view.after.file}')}"
        return joined([head, f"**{escaped(view.in_words)}**", *difference_details(view)])
    layout = Layout(
        title=f"{view.before.file} -> {view.after.file}",
        facts=(*_headline(view), *_change_facts(view)),
        tables=tuple(_tables(view)),
        notes=tuple(_remarks(view)),
    )
    return layout.as_text(width)


def difference_details(view: DifferenceView) -> list[str]:
    """Return in Markdown what stands below the answer."""
    tables = [change_lines_table(view), *_tables(view)]
    return [
        *(t.as_markdown() for t in tables if t.rows),
        *(escaped(remark) for remark in _remarks(view)),
    ]


def _tables(view: DifferenceView) -> list[Table]:
    claims = () if view.claims is None else claim_changes_tables(view.claims)
    shares = [changes_table(view.changes, values=False)] if is_divided(view.changes) else []
    return [t for t in (*claims, answers_table(view, headline=False), *shares) if t.rows]


def _remarks(view: DifferenceView) -> list[str]:
    is_explained = not view.changes or is_divided(view.changes)
    found = [remark_of(view)] if is_explained else []
    return [*found, *filter(None, [_unanswered(view.claims)])]


def _headline(view: DifferenceView) -> list[tuple[str, str]]:
    """Return the capacity and the bottleneck of both, and whether the inputs' spread hides it."""
    before, after = view.before, view.after
    old, new = before.capacity or 0, after.capacity or 0
    limits = list(map(_limit, (before, after), view.labels))
    capacity = f"{_known_users(after)} (unchanged)"
    if old != new:
        by = "unchanged within the model error" if view.within_error else moved_by(old, new)
        capacity = f"{marked(f'{old:,}', before.known)} -> {_known_users(after)} ({by})"
    was = "unchanged" if limits[0] == limits[1] else f"was {limits[0]}"
    found = [("Capacity", capacity), ("Bottleneck", f"{limits[1]} ({was})")]
    if view.uncertainty is not None:
        found.append(("Uncertainty", _sure(view.uncertainty, noun(after.population.name))))
    return found


class ChangeLine(Struct, frozen=True, kw_only=True):
    """One thing that changed: `~` for another value, `+` for what is new, `-` for what is gone.

    `effect` says by how many users it moves the capacity, empty where that is unknown.
    """

    sign: str
    name: str
    before: str
    after: str
    effect: str

    @property
    def text(self) -> str:
        """The change in a line: "wire.rate: 200 -> 100 Mbit/s"."""
        if self.sign == "~":
            values = values_moved(self.before, self.after)
            if self.name.endswith(".cores"):
                values = values.removesuffix(" core")
            return one_line(f"{self.name}: {values}" if values else self.name)
        word = "new" if self.sign == "+" else "removed"
        return one_line(f"{word}: {self.name} = {self.after or self.before}")


def change_lines(view: DifferenceView) -> list[ChangeLine]:
    """Return what changed, what moves the capacity most first, then what is new or gone.

    What is no number, option or range comes last.
    """
    of = noun(view.after.population.name)
    effects = effects_of(view.changes)
    found = []
    for one, users in zip(view.changes, effects, strict=True):
        effect = unmoving(one, view.changes)
        if one.kind.moves:
            effect = _UNKNOWN if users is None else f"{users:+,}" if users else "no effect"
        if users:
            effect = f"{effect} {of}"
        if one.within_error:
            effect = f"{effect}, within the model error"
        line = ChangeLine(
            sign="~",
            name=change_name(one),
            before=one.before,
            after=one.after,
            effect=effect,
        )
        found.append((one.kind is ChangeKind.FORMULAS, -abs(users or 0), line))
    found.sort(key=lambda each: each[:2])
    lines = [line for is_rest, _, line in found if not is_rest]
    for sign, numbers in (("+", view.added), ("-", view.removed)):
        for n in numbers:
            before, after = ("", n.value) if sign == "+" else (n.value, "")
            line = ChangeLine(sign=sign, name=n.name, before=before, after=after, effect="")
            lines.append(line)
    return [*lines, *(line for is_rest, _, line in found if is_rest)]


def _change_facts(view: DifferenceView) -> list[tuple[str, str]]:
    """Return the changes as facts, the one that moves the capacity most first."""
    lines = [f"{line.text}{line.effect and f' ({line.effect})'}" for line in change_lines(view)]
    label = "Changes" if len(lines) > 1 else "Change"
    return list(zip([label, *[""] * len(lines)], lines, strict=False))


def change_lines_table(view: DifferenceView) -> Table:
    """Return the changes, a row each."""
    rows = tuple(
        (line.sign, line.name, line.before, line.after, line.effect) for line in change_lines(view)
    )
    return Table(("", "Change", "Before", "After", "Effect"), rows, frozenset([4]))


_UNKNOWN = "effect unknown"


def _unanswered(claims: ClaimChanges | None) -> str:
    """Return why claims have no answer, empty where all have."""
    if claims is None or not claims.unanswered:
        return ""
    more = len(claims.unanswered) - 1
    also = f" (and {more:,} more)" if more else ""
    return printable(f"Claims without a result: {claims.unanswered[0]}{also}.")


def numbers_table(view: DifferenceView) -> Table:
    """Return the numbers that only one of the specs has."""
    rows = [("added", n.name, n.value, n.place) for n in view.added]
    rows += [("removed", n.name, n.value, n.place) for n in view.removed]
    return Table(("", "Number", "Value", "Defined at"), tuple(rows))


def answers_table(view: DifferenceView, *, headline: bool = True) -> Table:
    """Return the answers of both, those that differ; with what a `headline` says, or without."""
    before, after = view.before, view.after
    sides = tuple(zip((before, after), view.labels, strict=True))
    words: dict[str, str] = {}
    for each, labels in sides:  # a part is one by its identifier, whatever either calls it
        words |= {_reaches(one): _reaches(one, labels) for one in each.resources}
        words |= {one.measure: _passes(one, view, labels) for one in each.requirements}
    rows: list[tuple[str, ...]] = []
    if headline:
        counts = [_count(view.capacity, view.known) for view in (before, after)]
        rows += [("Capacity", *counts), ("Bottleneck", *(_limit(*side) for side in sides))]
    rows += [
        *_pairs(
            "{}",
            *(
                {r.measure: _count(r.met_up_to, r.met_up_to_known) for r in v.requirements}
                for v in (before, after)
            ),
            words=words,
        ),
        *_pairs(
            "{}",
            *({_reaches(one): _saturation(one) for one in v.resources} for v in (before, after)),
            words=words,
        ),
        *_pairs(
            f"{{}} per {noun_of_one(after.population.name)}",
            *(dict(map(_price, view.cost)) for view in (before, after)),
            words={},
        ),
    ]
    kept = [row for row in rows if row[1] != row[2] or row[0] == "Capacity"]
    return Table(("Limit", "Before", "After"), tuple(kept), frozenset([1, 2]), long=frozenset([0]))


def _passes(one: RequirementView, view: DifferenceView, labels: Labels) -> str:
    """Return what a requirement comes to: its limit, in words where the specs have two."""
    limits = {
        (each.operator, each.limit)
        for side in (view.before, view.after)
        for each in side.requirements
        if each.measure == one.measure
    }
    verb = "reaches" if one.operator.startswith("<") else "falls to"
    if len(limits) > 1 or one.certainty is not None:
        return f"{labels.of(one.measure)} {verb} its limit"
    share = one.unit == str(DIMENSIONLESS) and is_share(one.measure)
    limit = percent(one.limit) if share else quantity_in(one.limit, one.unit)
    return f"{labels.of(one.measure)} {verb} {limit}"


def _pairs(
    form: str, old: dict[str, str], new: dict[str, str], *, words: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Return a row for each name of either, in words, with what it is in both."""
    names = dict.fromkeys([*old, *new])
    return [
        (form.format(words.get(name, name)), old.get(name, "–"), new.get(name, "–"))
        for name in names
    ]


def _count(users: int | None, known: Certainty) -> str:
    return "none" if users is None else marked(f"{users:,}", known)


def _reaches(resource: ResourceView, labels: Labels = PLAIN) -> str:
    """Return what a resource reaches: its target where that is below saturation."""
    reaches = (
        "saturates" if resource.target == 1 else f"reaches its {percent(resource.target)} target"
    )
    return f"{labels.of(resource.name)} {reaches}"


def _saturation(resource: ResourceView) -> str:
    """Return where a resource comes to that."""
    if resource.saturates_not_below is not None:
        return undecided_point(resource.saturates_at, resource.saturates_not_below)
    return (
        phrase("table.no_limit")
        if resource.saturates_at is None
        else whole_population(resource.saturates_at)
    )


def _price(cost: CostSolution) -> tuple[str, str]:
    name, dimension = ("running cost", MONEY / TIME) if cost.is_running else ("cost", MONEY)
    return name, quantity(cost.per_user, dimension)


def remark_of(view: DifferenceView) -> str:
    """Return how to read the columns."""
    if not view.changes:
        return "No input or formula that affects capacity has changed."
    of = noun(view.after.population.name)
    parts = [
        f"Effects in {of}. In isolation: this change alone",
        "Cumulative: changes applied in this order",
    ]
    if is_shared(view.changes):
        of_orders = (
            "all orders (Shapley)" if len(moving(view.changes)) <= MOST_SHARED else "two orders"
        )
        parts.append(f"Attributed: mean over {of_orders}, which adds up to the total")
    text = ". ".join(parts) + "."
    if any(change.alone is None or change.step is None for change in moving(view.changes)):
        text += " A `?` means that an intermediate spec has no capacity."
    return text
