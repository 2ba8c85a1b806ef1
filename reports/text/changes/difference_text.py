"""What changed between two specs, as text, Markdown and plain values."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import printable
from qps.compiler.diagnostics.visible_text import one_line
from qps.compiler.lower.load_graph import Assumption
from qps.reports.text.changes.answer_pair import AnswerPair, uncertainty_of_change
from qps.reports.text.changes.change_effects import (
    change_name,
    changes_table,
    effects_of,
    is_divided,
    is_shared,
    moving,
    no_separate_effect,
    values_moved,
)
from qps.reports.text.claims.claim_changes import ClaimChanges, claim_changes, claim_changes_tables
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.notebook import NotebookView, ShowsItself
from qps.reports.text.layout.table import Table, escaped, joined
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.words.labels import PLAIN, Labels, labels_of
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import quantity
from qps.solver.answers.answer_parts import Headlines
from qps.solver.spec_difference import SpecDifference
from qps.solver.uncertainty.interval_result import DifferenceUncertainty
from qps.solver.what_if.assumption_changes import AssumptionChange, AssumptionChangeKind
from qps.solver.what_if.difference import MOST_SHARED, Difference


class NumberView(Struct, frozen=True):
    """A number that exists in only one of the specs."""

    name: str
    value: str
    place: str


class DifferenceView(ShowsItself, Struct, frozen=True, kw_only=True, dict=True):
    """Output of `qps diff --format json`; `before` and `after` are outputs of `qps solve`.

    `headlines` are the capacities that `qps solve` prints, which cover the uncertainty of inputs
    and model errors; `users` is their difference. They are None if there are no uncertain inputs
    and no model errors; then `users` is `nominal_users`, the difference with nominal inputs, which
    is the sum of the effects of all changes. If the nominal capacities differ by less than the
    model error, `within_error` is true and both are 0.
    `claims` lists claims with changed verdicts, or is None if they were not requested.
    """

    schema: str
    answer: str
    users: int
    nominal_users: int
    within_error: bool
    before: SolveView
    after: SolveView
    changes: tuple[AssumptionChange, ...]
    added: tuple[NumberView, ...]
    removed: tuple[NumberView, ...]
    headlines: Headlines | None = None
    uncertainty: DifferenceUncertainty | None = None
    claims: ClaimChanges | None = None

    @property
    def labels(self) -> tuple[Labels, Labels]:
        """Labels of both specs."""
        found: tuple[Labels, Labels] = self.__dict__.get("labels", (PLAIN, PLAIN))
        return found

    @property
    def pair(self) -> AnswerPair:
        """Both answers, with the labels of the specs."""
        return AnswerPair(
            before=self.before,
            after=self.after,
            labels=self.labels,
            within_error=self.within_error,
            headlines=self.headlines,
        )

    @property
    def in_words(self) -> str:
        """The result in words, with the labels of the specs."""
        if self.uncertainty is None:
            return self.pair.in_words
        sure = uncertainty_of_change(self.uncertainty, noun(self.after.population.name))
        return f"{self.pair.in_words} {sure[0].upper()}{sure[1:]}."

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of a difference."""
        return NotebookView(
            title=f"{self.before.file} and {self.after.file}",
            answer=self.in_words,
            facts=(("changes", remark_of(self)),),
            tables=(self.pair.table(), changes_table(self.changes), numbers_table(self)),
        )


def with_labels(view: DifferenceView, before: Labels, after: Labels) -> DifferenceView:
    """Return the same difference with the names of either spec."""
    named = replace(view)
    # Not a field: it is not a key of the JSON.
    named.__dict__["labels"] = before, after
    return named


def difference_view(
    found: Difference,
    before: SolveView,
    after: SolveView,
    uncertainty: DifferenceUncertainty | None = None,
    headlines: Headlines | None = None,
) -> DifferenceView:
    """Return a difference as plain values."""
    view = DifferenceView(
        schema="qps/diff/7",
        answer="",
        users=found.users,
        nominal_users=found.users,
        within_error=found.within_error,
        before=before,
        after=after,
        changes=tuple(_written(change) for change in found.changes),
        added=tuple(_number(assumption) for assumption in found.added),
        removed=tuple(_number(assumption) for assumption in found.removed),
        headlines=headlines,
        uncertainty=uncertainty,
    )
    return replace(view, answer=view.in_words, users=view.pair.users)


def spec_difference_view(found: SpecDifference) -> DifferenceView:
    """Return the difference of two specs as plain values, with the names of either."""
    before, after = map(solve_view, found.answers)
    view = difference_view(found.difference, before, after, found.uncertainty, found.headlines)
    if found.claims is not None:
        view = replace(view, claims=claim_changes(*found.claims))
    return with_labels(view, *(model.derived(labels_of) for model in found.models))


def _written(change: AssumptionChange) -> AssumptionChange:
    """Return a change with both sides as they are written; where that is the same, with values.

    So it is where what a name or a function stands for has changed, in a module most often.
    """
    if change.before != change.after or change.values is None or change.dimension is None:
        return change
    values_text = [
        f"{change.before} ({quantity(value, change.dimension)})" for value in change.values
    ]
    return replace(change, before=values_text[0], after=values_text[1])


def _number(assumption: Assumption) -> NumberView:
    return NumberView(assumption.name, assumption.text, assumption.span.place)


def difference_text(view: DifferenceView, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return both capacities and what changed, then claims, limits and what each change does."""
    if markdown:
        head = f"### {escaped(f'{view.before.file} → {view.after.file}')}"
        return joined([head, f"**{escaped(view.in_words)}**", *difference_details(view)])
    facts = view.pair.facts
    if view.uncertainty is not None:
        sure = uncertainty_of_change(view.uncertainty, noun(view.after.population.name))
        facts.append(("Uncertainty", sure))
    layout = TextLayout(
        title=f"{view.before.file} -> {view.after.file}",
        facts=(*facts, *_change_facts(view)),
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
    return [t for t in (*claims, view.pair.table(headline=False), *shares) if t.rows]


def _remarks(view: DifferenceView) -> list[str]:
    is_explained = not view.changes or is_divided(view.changes)
    found = [remark_of(view)] if is_explained else []
    return [*found, *nominal_effects(view), *filter(None, [_unanswered(view.claims)])]


def nominal_effects(view: DifferenceView) -> list[str]:
    """Return that effects and limits are of nominal inputs, where the capacities are not."""
    if view.headlines is None or not view.changes:
        return []
    limits = phrase("diff.limits") if view.pair.table(headline=False).rows else ""
    return [phrase(f"diff.effects.{view.pair.basis}", limits=limits)]


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
        effect = no_separate_effect(one, view.changes)
        if one.kind.moves:
            effect = (
                _UNKNOWN if users is None else f"{users:+,}" if users else phrase("diff.no_effect")
            )
        if users:
            effect = f"{effect} {of}"
        if one.within_error:
            effect = phrase("diff.effect_within_error", effect=effect)
        line = ChangeLine(
            sign="~",
            name=change_name(one),
            before=one.before,
            after=one.after,
            effect=effect,
        )
        found.append((one.kind is AssumptionChangeKind.FORMULAS, -abs(users or 0), line))
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


_UNKNOWN = phrase("diff.effect_unknown")


def _unanswered(claims: ClaimChanges | None) -> str:
    """Return why claims have no answer, empty where all have."""
    if claims is None or not claims.unanswered:
        return ""
    more = len(claims.unanswered) - 1
    also = phrase("diff.more", more=more) if more else ""
    return printable(phrase("diff.no_result", unanswered=claims.unanswered[0], also=also))


def numbers_table(view: DifferenceView) -> Table:
    """Return the numbers that only one of the specs has."""
    rows = [("added", n.name, n.value, n.place) for n in view.added]
    rows += [("removed", n.name, n.value, n.place) for n in view.removed]
    return Table(("", "Number", "Value", phrase("term.defined")), tuple(rows))


def remark_of(view: DifferenceView) -> str:
    """Return how to read the columns."""
    if not view.changes:
        is_moved = view.before.calendar != view.after.calendar
        return phrase("diff.only_forecast" if is_moved else "diff.nothing")
    of = noun(view.after.population.name)
    parts = [
        phrase("diff.isolation", of=of),
        phrase("diff.cumulative"),
    ]
    if is_shared(view.changes):
        of_orders = (
            phrase("diff.shapley")
            if len(moving(view.changes)) <= MOST_SHARED
            else phrase("diff.two_orders")
        )
        parts.append(phrase("diff.attributed", of_orders=of_orders))
    text = ". ".join(parts) + "."
    if any(change.alone is None or change.step is None for change in moving(view.changes)):
        text += phrase("diff.no_capacity")
    return text
