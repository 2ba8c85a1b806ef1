"""The answers of two specs beside each other: in words, as facts, and as a table."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.calendar_dates import months_between, read_date
from qps.compiler.quantities.certainty import EXACT, Certainty, CertaintyKind
from qps.compiler.quantities.dimension import DIMENSIONLESS, MONEY, TIME
from qps.reports.text.layout.table import Table
from qps.reports.text.solutions.answer_values import RequirementView, ResourceView, SolveView
from qps.reports.text.solutions.uncertainty_text import ends_of
from qps.reports.text.words.certainty_marks import marked
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    is_share,
    percent,
    quantity,
    quantity_in,
    undecided_point,
    whole_population,
)
from qps.solver.answers.answer_parts import HeadlineCapacity, Headlines
from qps.solver.answers.solution import CostSolution
from qps.solver.uncertainty.interval_result import ALONE, DifferenceUncertainty

_CLEARLY = 0.95
"""How likely a difference must be to be more than the spread."""


def uncertainty_of_change(uncertainty: DifferenceUncertainty, of: str) -> str:
    """Return in words whether a difference `of` users exceeds the uncertainty of the inputs."""
    if uncertainty.more == uncertainty.fewer == 0:
        return phrase("diff.no_change", samples=f"{uncertainty.samples:,}")
    likely, word = max((uncertainty.fewer, "falls"), (uncertainty.more, "rises"))
    verdict = "exceeds" if is_clear(uncertainty) else phrase("diff.is_within")
    reasons = (
        (uncertainty.left_out, phrase("diff.impossible_values")),
        (uncertainty.unsolved, f"each {ALONE}"),
    )
    left = "".join(
        phrase("diff.excluded", share=percent(share), reason=reason)
        for share, reason in reasons
        if share
    )
    sure = percent(uncertainty.after.probability)
    return phrase(
        "diff.uncertainty",
        verdict=verdict,
        rises=word,
        share=percent(likely),
        samples=f"{uncertainty.samples:,}",
        sure=sure,
        least=f"{uncertainty.least:+,}",
        most=f"{uncertainty.most:+,}",
        of=of,
        ends=ends_of(uncertainty.after),
        was=ends_of(uncertainty.before),
        left=left,
    )


def is_clear(uncertainty: DifferenceUncertainty) -> bool:
    """Return whether a difference is more than the uncertainty of the inputs makes of itself."""
    return max(uncertainty.more, uncertainty.fewer) >= _CLEARLY


class AnswerPair(Struct, frozen=True, kw_only=True):
    """The answers of two specs, with what either calls things.

    If the capacities differ by less than the model error, `within_error` is true.
    """

    before: SolveView
    after: SolveView
    labels: tuple[Labels, Labels]
    within_error: bool
    headlines: Headlines | None = None
    """What can be relied on, where that is not what was computed with nominal inputs."""

    @property
    def capacities(self) -> tuple[int, int]:
        """Both capacities, 0 where there is none: those that can be relied on."""
        if self.headlines is None:
            return self.nominal
        return self.headlines.before.capacity or 0, self.headlines.after.capacity or 0

    @property
    def nominal(self) -> tuple[int, int]:
        """Both capacities with nominal inputs and no model error, 0 where there is none."""
        return self.before.capacity or 0, self.after.capacity or 0

    @property
    def basis(self) -> str:
        """What the capacities that were computed are of: nominal inputs, or what is required."""
        requirements = (*self.before.requirements, *self.after.requirements)
        is_nominal = all(one.certainty is None for one in requirements)
        return "nominal" if is_nominal else "required"

    @property
    def users(self) -> int:
        """By how many users the capacity moves; by none within the model error."""
        old, new = self.capacities
        return 0 if self.within_error else new - old

    @property
    def known(self) -> tuple[Certainty, Certainty]:
        """How both capacities are known; a model error that they cover does not count."""
        return self._known(self.before), self._known(self.after)

    def _known(self, view: SolveView) -> Certainty:
        is_covered = view.reliable_capacity is not None and not view.reliable_capacity.unmeasured
        if self.headlines is None or not is_covered or view.known.kind is CertaintyKind.LOWER_BOUND:
            return view.known
        return EXACT

    @property
    def limited_by(self) -> tuple[str | None, str | None]:
        """What limits either capacity, by its name."""
        one: SolveView | HeadlineCapacity = self.before
        other: SolveView | HeadlineCapacity = self.after
        if self.headlines is not None:
            one, other = self.headlines.before, self.headlines.after
        return one.limited_by, other.limited_by

    @property
    def limits(self) -> tuple[str, str]:
        """What limits either capacity."""
        before, after = map(_limit, self.limited_by, self.labels)
        return before, after

    @property
    def _new_users(self) -> str:
        """The new capacity in words, with its confidence."""
        users = counted(self.capacities[1], self.after.population.name)
        headline = None if self.headlines is None else self.headlines.after
        text = marked(users, self.known[1])
        if headline is None or headline.confidence is None:
            return text
        is_covered = self.known[1].kind in (CertaintyKind.EXACT, CertaintyKind.LOWER_BOUND)
        way = "confident" if is_covered else "sampled"
        return text + phrase(f"capacity.{way}", sure=percent(headline.confidence))

    @property
    def in_words(self) -> str:
        """The capacity and the bottleneck in sentences, with those before."""
        (old, new), users = self.capacities, self._new_users
        was = marked(f"{old:,}", self.known[0])
        if old == new:
            moved = phrase("diff.unchanged", users=users)
        elif self.within_error:
            moved = phrase("diff.unchanged_within_error", was=was, users=users)
        else:
            verb = "rises" if new > old else "falls"
            moved = phrase(
                "diff.moved", verb=verb, was=was, users=users, moved_by=moved_by(old, new)
            )
        was_limit, limit = self.limits
        return f"{moved}. Bottleneck: {limit}{f' (was {was_limit})' * (was_limit != limit)}."

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The capacity and the bottleneck as facts, with those before."""
        capacity = self._moved(*self.capacities, self.known[0], self._new_users)
        was_limit, limit = self.limits
        was = "unchanged" if was_limit == limit else f"was {was_limit}"
        found, bottleneck = [("Capacity", capacity)], [("Bottleneck", f"{limit} ({was})")]
        if self.headlines is not None:
            users = _known_users(self.after)
            nominal = self._moved(*self.nominal, self.before.known, users)
            found.append((phrase(f"diff.label.{self.basis}"), nominal))
        until = self._until
        return [*found, *([(phrase("forecast.until"), until)] if until else []), *bottleneck]

    @property
    def _until(self) -> str:
        """Until when the forecasts are supported, and by how many months that moves."""
        before, after = self.before.calendar, self.after.calendar
        if after is None:
            return ""
        dates = [
            None if one.holds_until is None else read_date(one.holds_until)
            for one in (before, after)
            if one is not None
        ]
        words = [phrase("forecast.no_month") if one is None else one.in_words for one in dates]
        if len(dates) == 1:
            return words[0]
        if words[0] == words[1]:
            return f"{words[1]} (unchanged)"
        text = f"{words[0]} -> {words[1]}"
        if dates[0] is None or dates[1] is None:
            return text
        months = int(months_between(dates[0], dates[1]))
        how = "later" if months > 0 else "earlier"
        s = "" if abs(months) == 1 else "s"
        return f"{text} ({phrase(f'forecast.{how}', months=abs(months), s=s)})"

    def _moved(self, old: int, new: int, known: Certainty, users: str) -> str:
        if old == new:
            return f"{users} (unchanged)"
        by = phrase("diff.within_error") if self.within_error else moved_by(old, new)
        return f"{marked(f'{old:,}', known)} -> {users} ({by})"

    def table(self, *, headline: bool = True) -> Table:
        """Return what differs between the answers; with what a `headline` says, or without."""
        before, after = self.before, self.after
        words: dict[str, str] = {}
        for each, labels in zip((before, after), self.labels, strict=True):
            # A part is one by its identifier, whatever either calls it.
            words |= {_reaches(one): _reaches(one, labels) for one in each.resources}
            words |= {one.measure: self._passes(one, labels) for one in each.requirements}
        rows: list[tuple[str, ...]] = []
        if headline:
            counts = [_count(view.capacity, view.known) for view in (before, after)]
            if self.headlines is not None:
                both = (self.headlines.before, self.headlines.after)
                pairs = zip(both, self.known, strict=True)
                rows.append(("Capacity", *(_count(one.capacity, known) for one, known in pairs)))
            name = "Capacity" if self.headlines is None else phrase(f"diff.capacity.{self.basis}")
            rows += [(name, *counts), ("Bottleneck", *self.limits)]
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
                *(
                    {_reaches(one): _saturation(one) for one in v.resources}
                    for v in (before, after)
                ),
                words=words,
            ),
            *_pairs(
                f"{{}} per {noun_of_one(after.population.name)}",
                *(dict(map(_price, view.cost)) for view in (before, after)),
                words={},
            ),
        ]
        shown = [row for row in rows if row[1] != row[2] or row[0] == "Capacity"]
        headings = ("Limit", "Before", "After")
        return Table(headings, tuple(shown), frozenset([1, 2]), long=frozenset([0]))

    def _passes(self, one: RequirementView, labels: Labels) -> str:
        """Return what a requirement comes to: its limit, in words where the specs have two."""
        limits = {
            (each.operator, each.limit)
            for side in (self.before, self.after)
            for each in side.requirements
            if each.measure == one.measure
        }
        if len(limits) > 1 or one.certainty is not None:
            return phrase("diff.at_limit", name=labels.of(one.measure))
        share = one.unit == str(DIMENSIONLESS) and is_share(one.measure)
        limit = percent(one.limit) if share else quantity_in(one.limit, one.unit)
        return f"{labels.of(one.measure)} at {limit}"


def _known_users(view: SolveView) -> str:
    return marked(counted(view.capacity or 0, view.population.name), view.known)


def _limit(limited_by: str | None, labels: Labels) -> str:
    return printable(labels.of(limited_by)) if limited_by else phrase("diff.no_limit")


def moved_by(old: int, new: int) -> str:
    """Return a change in words and as a share: "-485, -26.7 %"; without that where all was 0."""
    by = f"{new - old:+,}"
    return f"{by}, {relative(old, new)}" if old and new != old else by


def relative(old: float, new: float) -> str:
    """Return by which share a number moves: "-26.7 %"; a smaller one is not shown as none."""
    share = 100 * (new - old) / old
    digits = next((n for n in (1, 2) if round(share, n)), 3)
    return f"{share:+,.{digits}f}".removesuffix(".0") + " %"


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
    target = " (target)" if resource.target != 1 else ""
    return f"{labels.of(resource.name)} at {percent(resource.target)}{target}"


def _saturation(resource: ResourceView) -> str:
    """Return where a resource comes to that."""
    if resource.saturates_not_below is not None:
        return undecided_point(resource.saturates_at, resource.saturates_not_below)
    return (
        phrase("table.never")
        if resource.saturates_at is None
        else whole_population(resource.saturates_at)
    )


def _price(cost: CostSolution) -> tuple[str, str]:
    name, dimension = (
        (phrase("term.running_cost"), MONEY / TIME) if cost.is_running else ("cost", MONEY)
    )
    return name, quantity(cost.per_user, dimension)
