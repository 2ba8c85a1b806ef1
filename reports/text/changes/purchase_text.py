"""What to add by when, as text and as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from msgspec import Struct

from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import money, quantity
from qps.solver.cheapest.plan_result import PurchasePlan, PurchaseStep

_ALIKE = 1e-9
_NOTHING = Table(headings=(), rows=())


class PurchaseView(Struct, frozen=True, kw_only=True):
    """A month in which something is added, what stands there then, and its cost in base units.

    `changed_choices` are the new values of the choices that differ from those of the month before.
    """

    date: str
    users: int
    cost: float
    changed_choices: dict[str, str]
    choices: dict[str, str]


class PurchasesView(Struct, frozen=True, kw_only=True):
    """What to add by when: the cheapest plan in which nothing is removed, if it is `proven`.

    `total` is its cost in all, in base units of `unit`, null if no plan was found. No plan costs
    less than `bound`; if machines can be returned each month, one costs `returnable`. Null where
    nothing is known.
    """

    until: str
    unit: str
    total: float | None
    bound: float | None
    proven: bool
    returnable: float | None
    steps: tuple[PurchaseView, ...]


def purchases_view(found: PurchasePlan) -> PurchasesView:
    """Return a plan of purchases as plain values."""
    return PurchasesView(
        until=found.until.iso,
        unit=str(found.total_dimension),
        total=found.total,
        bound=found.bound,
        proven=found.is_proven,
        returnable=found.returnable,
        steps=tuple(
            PurchaseView(
                date=step.date.iso,
                users=step.users,
                cost=step.cost,
                changed_choices=dict(step.changed_choices),
                choices=dict(step.choices),
            )
            for step in found.steps
        ),
    )


def purchase_facts(found: PurchasePlan | None) -> Iterator[tuple[str, str]]:
    """Yield what all purchases cost, the proof, and what could be saved."""
    if found is None:
        return
    label, until = phrase("plan.purchases"), found.until.in_words
    if not found.steps:
        key = "plan.purchases.none" if found.is_proven else "plan.purchases.none_found"
        yield label, phrase(key, until=until)
        return
    total = money(found.total, found.total_dimension)
    key = "plan.purchases.proven"
    if not found.is_proven:
        key = "plan.purchases.bounded" if isfinite(found.bound) else "plan.purchases.open"
    least = money(found.bound, found.total_dimension)
    yield label, phrase(key, total=total, until=until, least=least)
    if found.returnable < found.total * (1 - _ALIKE):
        less = money(found.total - found.returnable, found.total_dimension)
        yield "", phrase("plan.purchases.returnable", less=less)


def purchase_table(found: PurchasePlan | None) -> Table:
    """Return the months in which something is added."""
    if found is None or not found.steps:
        return _NOTHING
    headings = ("plan.month", "plan.users_heading", "plan.cost", "plan.change")
    return Table(
        headings=tuple(map(phrase, headings)),
        rows=tuple(
            _row(step, dict(before.choices) if before else {}, found)
            for before, step in zip((None, *found.steps), found.steps, strict=False)
        ),
        right=frozenset((1, 2)),
        long=frozenset((3,)),
    )


def _row(step: PurchaseStep, before: dict[str, str], found: PurchasePlan) -> tuple[str, ...]:
    users = quantity(float(step.users), DIMENSIONLESS, 12)
    changes = [
        f"{name} {before[name]} → {label}" if name in before else f"{name} {label}"
        for name, label in step.changed_choices
    ]
    return step.date.in_words, users, money(step.cost, found.dimension), ", ".join(changes)
