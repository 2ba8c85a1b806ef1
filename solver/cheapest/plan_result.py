"""The answer of a plan: what to choose for a population, what it costs, and what else there is."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.solver.answers.answer_parts import ReliableCapacity


class PlannedConfiguration(Struct, frozen=True, kw_only=True):
    """A configuration: what is chosen, its cost at the population, and its capacity.

    `choices` has the name of each axis with its value. `limited_by` is the requirement that fails
    beyond the capacity; None where none does in the range of users. `reliable` is the capacity
    that can be relied on, as `qps solve` states it; None where no samples are drawn for it.
    """

    choices: tuple[tuple[str, str], ...]
    cost: float
    capacity: int | None
    known: Certainty
    limited_by: str | None
    reliable: ReliableCapacity | None = None


class RequirementPrice(Struct, frozen=True, kw_only=True):
    """What is saved if a limit is relaxed: the cheapest configuration then, and its cost.

    Its reliable capacity is left out: no sample is drawn for what a limit costs. The limit is one
    of the `measure`; where the requirement has a `certainty`, its name has all three.
    """

    requirement: str
    measure: str
    certainty: float | None = None
    limit: float
    relaxed: float
    dimension: Dimension
    configuration: PlannedConfiguration


class CostAtUsers(Struct, frozen=True, kw_only=True):
    """The cheapest configuration for a population; None where none supports it."""

    users: int
    configuration: PlannedConfiguration | None


class PurchaseStep(Struct, frozen=True, kw_only=True):
    """A month in which choices change to larger ones, with all that stands there from then on.

    It costs so much for the users that are expected in the month.
    """

    date: CalendarDate
    users: int
    cost: float
    choices: tuple[tuple[str, str], ...]
    changed_choices: tuple[tuple[str, str], ...]


class PurchasePlan(Struct, frozen=True, kw_only=True):
    """What to add by when, so that the forecast is supported until a date; nothing is removed.

    No plan costs less in all than `bound`, and none in which machines can be returned less than
    `returnable`. Without steps, no plan was found: there is none if it `is_proven`.
    """

    until: CalendarDate
    steps: tuple[PurchaseStep, ...]
    total: float
    bound: float
    returnable: float
    total_dimension: Dimension
    dimension: Dimension
    is_proven: bool


class PlanBudget(Struct, frozen=True):
    """The most that may be paid, in base units.

    It is exceeded for the smallest population unless it `is_met`. Then it `is_proven` that nothing
    within it supports more users, as far as it is.
    """

    limit: float
    is_met: bool
    is_proven: bool


class BrokenClaim(Struct, frozen=True, kw_only=True):
    """A claim that holds as the spec stands, and not with the cheapest configuration.

    `predicted` has the values in it that change, in base units; nothing where they are not known.
    """

    name: str
    line: int
    text: str
    predicted: tuple[tuple[float, Dimension], ...]


class Plan(Struct, frozen=True, kw_only=True):
    """What to choose for a population.

    `is_proven` where no configuration that is cheaper supports the population. Where none supports
    it, `most` is the configuration that supports most. Capacities are searched up to `high`.
    The searches for `omitted_populations` were stopped; the front `has_few_populations` if there
    are many modes. `price_date` is the month of the prices, if they state one. Until a date, there
    are `purchases`. Where nothing supports anybody, the `nearest` limits are those that stand in
    the way, each as wide as needed. With a `budget`, the population is the largest within it.
    The cheapest configuration breaks the `broken_claims`.
    """

    file: str
    name: str
    population: str
    users: int
    high: int
    dimension: Dimension
    price_date: CalendarDate | None
    combinations: int
    is_proven: bool
    cheapest: PlannedConfiguration | None
    runner_up: PlannedConfiguration | None
    requirement_prices: tuple[RequirementPrice, ...]
    front: tuple[CostAtUsers, ...]
    most: PlannedConfiguration | None
    omitted_populations: tuple[int, ...] = ()
    has_few_populations: bool = False
    nearest: tuple[RequirementPrice, ...] = ()
    nominal_inputs: tuple[str, ...]
    purchases: PurchasePlan | None = None
    budget: PlanBudget | None = None
    broken_claims: tuple[BrokenClaim, ...] = ()
