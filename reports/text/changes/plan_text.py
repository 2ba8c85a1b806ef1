"""The cheapest configuration, as text and as plain values."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.reports.text.changes.purchase_text import (
    purchase_facts,
    purchase_table,
)
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.solutions.uncertainty_text import typical_remark
from qps.reports.text.words.certainty_marks import capacity_as_known, marked, marked_users
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import is_share, money, percent, quantity
from qps.reports.text.words.reliability import EXACT_HERE, because_first
from qps.solver.cheapest.plan_result import (
    CostAtUsers,
    Plan,
    PlannedConfiguration,
    RequirementPrice,
)

_COMMA, _UNKNOWN = ", ", "–"


def plan_text(
    plan: Plan,
    place: str = "",
    *,
    labels: Labels = PLAIN,
    markdown: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return what to choose, what it costs, the proof, and what else there is."""
    layout = TextLayout(
        title=plan_title(plan),
        place=place,
        facts=(*_facts(plan, labels), *purchase_facts(plan.purchases)),
        tables=(front_table(plan), purchase_table(plan.purchases)),
        notes=tuple(plan_notes(plan, labels)),
    )
    return layout.printed(markdown=markdown, width=width)


class PlanSummary(Struct, frozen=True, kw_only=True):
    """The answer of a plan in a line, what is chosen, and what both rest on."""

    headline: str
    choices: str
    facts: tuple[tuple[str, str], ...]


def plan_summary(plan: Plan, labels: Labels) -> PlanSummary:
    """Return what a page says of the answer; other configurations are not in it."""
    best = plan.cheapest
    if best is None:
        (_, headline), *facts = _facts(plan, labels)
        return PlanSummary(headline=headline, choices="", facts=tuple(facts))
    found = money(best.cost, plan.dimension)
    facts = [*_budget(plan), *_basis(plan, best, labels), _proof(plan), *_broken(plan)]
    return PlanSummary(headline=found, choices=_chosen(best), facts=tuple(facts))


def plan_title(plan: Plan) -> str:
    """Return what a plan answers."""
    return phrase("plan.title", users=counted(plan.users, plan.population))


def plan_notes(plan: Plan, labels: Labels) -> Iterator[str]:
    """Yield what has to be known of the answer beside it."""
    yield from map(labels.sentence, _nominal(plan))
    yield from _of_front(plan)


def _facts(plan: Plan, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the answer and what it rests on, each with its label."""
    best = plan.cheapest
    if best is None:
        users = counted(plan.users, plan.population)
        key = "plan.none" if plan.is_proven else "plan.none_found"
        yield phrase("plan.result"), phrase(key, users=users, count=plan.combinations)
        yield from _most(plan, labels)
        return
    cost = money(best.cost, plan.dimension)
    yield phrase("plan.cheapest"), phrase("plan.cost_for", cost=cost, choices=_chosen(best))
    yield from _budget(plan)
    yield from _basis(plan, best, labels)
    yield _proof(plan)
    yield from _broken(plan)
    other = plan.runner_up
    if other is not None:
        more = money(other.cost - best.cost, plan.dimension)
        key = "plan.more" if other.cost > best.cost else "plan.as_much"
        yield phrase("plan.runner_up"), phrase(key, more=more, choices=_chosen(other, best))
    for place, one in enumerate(plan.requirement_prices):
        limit, relaxed = _limits(one)
        text = phrase(
            "plan.saves",
            requirement=labels.of(one.measure),
            limit=limit,
            relaxed=_with_certainty(relaxed, one),
            less=money(best.cost - one.configuration.cost, plan.dimension),
            choices=_chosen(one.configuration, best),
        )
        yield "" if place else phrase("plan.relaxed"), text


def _limits(one: RequirementPrice) -> tuple[str, str]:
    """Return a limit, and the wider one."""
    share = is_share(one.measure)
    limit, relaxed = (
        quantity(value, one.dimension, 4, share=share) for value in (one.limit, one.relaxed)
    )
    return limit, relaxed


def _with_certainty(text: str, one: RequirementPrice) -> str:
    """Return a text with the certainty of its requirement, if that has one."""
    if one.certainty is None:
        return text
    return phrase("plan.with_certainty", of=text, certainty=percent(one.certainty))


def requirement_table(plan: Plan, labels: Labels) -> Table:
    """Return what wider limits save, the most first, each with the configuration then."""
    best = plan.cheapest
    headings = ("plan.limit", "plan.limit_now", "plan.limit_wider", "plan.less", "plan.then")
    rows = [
        (
            _with_certainty(labels.of(one.measure), one),
            *_limits(one),
            money(best.cost - one.configuration.cost, plan.dimension),
            _chosen(one.configuration, best),
        )
        for one in plan.requirement_prices
        if best is not None
    ]
    return Table(
        headings=tuple(map(phrase, headings)), rows=tuple(rows), right=frozenset((1, 2, 3))
    )


def _basis(plan: Plan, best: PlannedConfiguration, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the date of the prices, the capacity, and how both are known."""
    if plan.price_date is not None:
        yield phrase("plan.prices"), plan.price_date.in_words
    yield phrase("plan.capacity"), capacity_of(plan, best, labels)
    yield from _reliable(plan, best)
    yield phrase("accuracy"), _accuracy(best, labels)


def _proof(plan: Plan) -> tuple[str, str]:
    key = "plan.proven" if plan.is_proven else "plan.not_proven"
    return phrase("plan.proof"), phrase(key, count=plan.combinations)


def _broken(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the claims of the spec that what is chosen breaks."""
    for place, one in enumerate(plan.broken_claims):
        share = "%" in one.text
        values = "; ".join(quantity(value, of, share=share) for value, of in one.predicted)
        key = "plan.breaks.claim" if values else "plan.breaks.unknown"
        text = phrase(key, name=one.name, line=one.line, claim=one.text, values=values)
        yield "" if place else phrase("plan.breaks"), text


def _accuracy(best: PlannedConfiguration, labels: Labels) -> str:
    if best.known.is_exact:
        return EXACT_HERE
    what = phrase("plan.known", kind=capacity_as_known(best.known))
    return because_first(what, best.known.reasons, labels)


def _most(plan: Plan, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the configuration that supports most, and what limits it."""
    most = plan.most
    if most is None:
        yield "", phrase("plan.nobody")
        yield from _nearest(plan, labels)
        return
    cost = money(most.cost, plan.dimension)
    yield phrase("plan.most"), phrase("plan.cost_for", cost=cost, choices=_chosen(most))
    yield phrase("plan.capacity"), capacity_of(plan, most, labels)
    yield from _reliable(plan, most)


def _nearest(plan: Plan, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the limits that stand in the way, and with what they would be met."""
    if not plan.nearest and plan.is_proven:
        yield "", phrase("plan.nearest.several")
    for place, one in enumerate(plan.nearest):
        limit, relaxed = _limits(one)
        text = phrase(
            "plan.nearest.limit",
            requirement=labels.of(one.measure),
            limit=limit,
            relaxed=relaxed,
            cost=money(one.configuration.cost, plan.dimension),
            choices=_chosen(one.configuration),
        )
        yield "" if place else phrase("plan.nearest"), text


def _budget(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield what may be paid, and whether more users could be supported for that."""
    budget = plan.budget
    if budget is None:
        return
    key = "plan.budget.proven" if budget.is_proven else "plan.budget.open"
    if not budget.is_met:
        key = "plan.budget.exceeded"
    users = counted(plan.users, plan.population)
    limit = money(budget.limit, plan.dimension)
    yield phrase("plan.budget"), phrase(key, limit=limit, users=users)


def capacity_of(plan: Plan, one: PlannedConfiguration, labels: Labels) -> str:
    """Return how many users a configuration supports, and what limits it."""
    if one.capacity is None:
        return ""
    users = marked_users(one.capacity, one.known, range_limits=one.limited_by is None)
    if one.limited_by is None:
        return phrase("plan.users", users=users, name=plan.population)
    return phrase("plan.limited", users=users, limit=labels.of(one.limited_by))


def _nominal(plan: Plan) -> Iterator[str]:
    """Yield what requirements without a certainty rest on, if an input is uncertain."""
    verb = "its" if len(plan.nominal_inputs) == 1 else "their"
    for remark in typical_remark(plan.nominal_inputs):
        yield phrase("plan.nominal", remark=remark, verb=verb)


def _of_front(plan: Plan) -> Iterator[str]:
    """Yield what the table of populations does not have."""
    omitted, table = plan.omitted_populations, front_table(plan)
    if omitted:
        users = _COMMA.join(f"{one:,}" for one in omitted)
        yield phrase("plan.front.omitted", users=users, noun=noun(plan.population))
    if table.rows and plan.has_few_populations:
        yield phrase("plan.front.few")
    if table.rows and not _is_reliable(plan):
        yield phrase("plan.front.nominal")


def _reliable(plan: Plan, one: PlannedConfiguration) -> Iterator[tuple[str, str]]:
    """Yield the capacity that can be relied on, where samples or model errors move it."""
    found = one.reliable
    if found is None or (found.confidence is None and found.capacity == one.capacity):
        return
    users = reliable_users(plan, one)
    if found.confidence is None:
        text = phrase("plan.reliable.error", users=users, name=noun(plan.population))
    else:
        sure = percent(found.confidence)
        text = phrase("plan.reliable.sampled", users=users, name=noun(plan.population), sure=sure)
    if plan.cheapest is one and (found.capacity or 0) < plan.users:
        text = phrase("plan.reliable.fewer", reliable=text, users=f"{plan.users:,}")
    yield phrase("plan.reliable"), text


def reliable_users(plan: Plan, one: PlannedConfiguration) -> str:
    """Return the capacity that can be relied on, as `qps solve` prints it."""
    found = one.reliable
    if found is None:
        return _UNKNOWN
    if found.capacity is None:
        return phrase("plan.not_supported")
    users = printed_capacity(found.capacity, high=plan.high)
    text = f"{users:,}+" if found.capacity == plan.high else f"{users:,}"
    return marked(text, one.known) if found.unmeasured else text


def _chosen(one: PlannedConfiguration, other: PlannedConfiguration | None = None) -> str:
    """Return what is chosen; with another configuration, only where the two differ."""
    same = set(() if other is None else other.choices)
    return _COMMA.join(
        f"{name} {label}" for name, label in one.choices if (name, label) not in same
    )


def front_table(plan: Plan) -> Table:
    """Return what other populations cost, each with its configuration."""
    is_reliable = _is_reliable(plan)
    rows = tuple(_front_row(one, plan, is_reliable=is_reliable) for one in plan.front)
    capacity = "plan.reliable" if is_reliable else "plan.front.capacity"
    headings = ("plan.users_heading", "plan.cost", capacity, "plan.choices")
    return Table(
        headings=tuple(map(phrase, headings)),
        rows=rows if len(rows) > 1 else (),
        right=frozenset((0, 1, 2)),
        long=frozenset((3,)),
    )


def _is_reliable(plan: Plan) -> bool:
    """Return whether the capacity that can be relied on is known of each row of the table."""
    found = [one.configuration for one in plan.front if one.configuration is not None]
    return all(one.reliable is not None for one in found)


def _front_row(one: CostAtUsers, plan: Plan, *, is_reliable: bool) -> tuple[str, ...]:
    planned = one.configuration
    if planned is None:
        return f"{one.users:,}", _UNKNOWN, _UNKNOWN, phrase("plan.not_supported")
    users = quantity(float(one.users), DIMENSIONLESS, 12)
    cost = money(planned.cost, plan.dimension)
    capacity = reliable_users(plan, planned) if is_reliable else _capacity_users(planned)
    return users, cost, capacity, _chosen(planned)


def _capacity_users(one: PlannedConfiguration) -> str:
    if one.capacity is None:
        return phrase("plan.not_supported")
    return marked_users(one.capacity, one.known, range_limits=one.limited_by is None)
