"""The cheapest configuration, as plain values."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.changes.purchase_text import PurchasesView, purchases_view
from qps.solver.answers.answer_parts import ReliableCapacity
from qps.solver.cheapest.plan_result import Plan, PlannedConfiguration


class PlannedView(Struct, frozen=True, kw_only=True):
    """A configuration: what is chosen, its cost in base units, and its capacity.

    `reliable_capacity` is the one that `qps solve` prints first, before it is rounded; null where a
    limit is relaxed, and for all but the cheapest configuration if inputs are uncertain and there
    are at least eight modes or failures.
    """

    choices: dict[str, str]
    cost: float
    capacity: int | None
    known: Certainty
    limited_by: str | None
    reliable_capacity: ReliableCapacity | None


class RequirementPriceView(Struct, frozen=True, kw_only=True):
    """What is saved if a limit is relaxed, in base units."""

    requirement: str
    limit: float
    relaxed: float
    unit: str
    saves: float
    configuration: PlannedView


class FrontView(Struct, frozen=True, kw_only=True):
    """The cheapest configuration for a population; null where none supports it."""

    users: int
    configuration: PlannedView | None


class NearestLimitView(Struct, frozen=True, kw_only=True):
    """A limit that alone stands in the way of all users, and about the narrowest that does not."""

    requirement: str
    limit: float
    relaxed: float
    unit: str
    configuration: PlannedView


class BudgetView(Struct, frozen=True, kw_only=True):
    """The most that may be paid, in base units.

    If it is not `sufficient`, the cheapest configuration for the smallest population costs more.
    If it is `proven`, no configuration within it supports more users.
    """

    limit: float
    sufficient: bool
    proven: bool


class BrokenClaimView(Struct, frozen=True, kw_only=True):
    """A claim that holds as the spec stands, and not with the cheapest configuration.

    `predicted` has the values in it that change with this configuration, in base units.
    """

    name: str
    line: int
    text: str
    predicted: tuple[float, ...]


class PlanView(Struct, frozen=True, kw_only=True):
    """The cheapest configuration that supports a population.

    `proven` where no cheaper configuration does. Costs are in base units of `unit`, with prices of
    the month `price_date` (null if no price states its date). `most` is the
    configuration that supports most users, if none supports the population. The searches for the
    `omitted_populations` were stopped, so that the front does not have them. `purchases` say what
    to add by when, if the population is that of a date. If no configuration supports a user, each
    of the `nearest_limits` stands in the way. With a `budget`, the population is the largest
    within it. The `broken_claims` are those of the spec that hold as it stands and not with the
    cheapest configuration.
    """

    schema: str
    file: str
    choice: str
    population: dict[str, int]
    unit: str
    price_date: str | None
    combinations: int
    proven: bool
    cheapest: PlannedView | None
    runner_up: PlannedView | None
    relaxed_requirements: tuple[RequirementPriceView, ...]
    front: tuple[FrontView, ...]
    omitted_populations: tuple[int, ...]
    most: PlannedView | None
    nominal_inputs: tuple[str, ...]
    purchases: PurchasesView | None
    nearest_limits: tuple[NearestLimitView, ...]
    budget: BudgetView | None
    broken_claims: tuple[BrokenClaimView, ...]


def plan_view(plan: Plan) -> PlanView:
    """Return a plan as plain values."""
    cheapest = plan.cheapest
    return PlanView(
        schema="qps/plan/1",
        file=plan.file,
        choice=plan.name,
        population={plan.population: plan.users},
        unit=str(plan.dimension),
        price_date=None if plan.price_date is None else plan.price_date.iso,
        combinations=plan.combinations,
        proven=plan.is_proven,
        cheapest=_view_of(cheapest),
        runner_up=_view_of(plan.runner_up),
        relaxed_requirements=tuple(
            RequirementPriceView(
                requirement=one.requirement,
                limit=one.limit,
                relaxed=one.relaxed,
                unit=str(one.dimension),
                saves=(cheapest.cost if cheapest else 0.0) - one.configuration.cost,
                configuration=_planned_view(one.configuration),
            )
            for one in plan.requirement_prices
        ),
        front=tuple(
            FrontView(users=one.users, configuration=_view_of(one.configuration))
            for one in plan.front
        ),
        omitted_populations=plan.omitted_populations,
        most=_view_of(plan.most),
        nominal_inputs=plan.nominal_inputs,
        purchases=None if plan.purchases is None else purchases_view(plan.purchases),
        nearest_limits=tuple(
            NearestLimitView(
                requirement=one.requirement,
                limit=one.limit,
                relaxed=one.relaxed,
                unit=str(one.dimension),
                configuration=_planned_view(one.configuration),
            )
            for one in plan.nearest
        ),
        budget=None
        if plan.budget is None
        else BudgetView(
            limit=plan.budget.limit, sufficient=plan.budget.is_met, proven=plan.budget.is_proven
        ),
        broken_claims=tuple(
            BrokenClaimView(
                name=one.name,
                line=one.line,
                text=one.text,
                predicted=tuple(value for value, _ in one.predicted),
            )
            for one in plan.broken_claims
        ),
    )


def _view_of(one: PlannedConfiguration | None) -> PlannedView | None:
    return None if one is None else _planned_view(one)


def _planned_view(one: PlannedConfiguration) -> PlannedView:
    return PlannedView(
        choices=dict(one.choices),
        cost=one.cost,
        capacity=one.capacity,
        known=one.known,
        limited_by=one.limited_by,
        reliable_capacity=one.reliable,
    )
