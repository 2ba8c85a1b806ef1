"""The plan of purchases of a spec: what to add in which month of its forecast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed
from qps.compiler.ir.parts import parameters_in
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.solver.calendar.calendar_month import CalendarMonth, months_of
from qps.solver.calendar.demanding_month import month_in_calendar
from qps.solver.cheapest.branch_and_bound import Chosen
from qps.solver.cheapest.design_space import DesignSpace, design_space
from qps.solver.cheapest.lowered_space import LoweredSpace, lowered_space
from qps.solver.cheapest.plan_result import PurchasePlan, PurchaseStep
from qps.solver.cheapest.purchases import PurchaseMonth, purchases
from qps.solver.cheapest.search_record import SearchRecord


def purchase_plan(
    model: ir.Model,
    configuration: Configuration,
    choices: ir.DesignChoices,
    until: CalendarDate,
    record: SearchRecord | None = None,
) -> PurchasePlan:
    """Return what to add by when so that the forecast is supported until a date.

    Inputs are nominal, but where requirements have a certainty. What a `record` knows is not
    searched again.
    """
    calendar, last = month_in_calendar(model, until)
    found = months_of(model, calendar, configuration, range(last + 1))
    lowered = list(_lowered(model, calendar, choices, found, record or SearchRecord()))
    months = [
        PurchaseMonth(
            date=calendar.date(month.number),
            users=max(month.users.mid, month.configuration.low),
            lowered=own,
            choices=choices,
        )
        for month, own in zip(found, lowered, strict=True)
    ]
    result = purchases(months)
    steps = () if result.chosen is None else tuple(_steps(months, result.chosen, result.costs))
    return PurchasePlan(
        until=until,
        steps=steps,
        total=result.total,
        bound=result.bound,
        returnable=result.returnable,
        total_dimension=result.dimension,
        dimension=lowered[0].dimension,
        is_proven=result.is_proven,
    )


def _lowered(
    model: ir.Model,
    calendar: ir.Calendar,
    choices: ir.DesignChoices,
    months: Sequence[CalendarMonth],
    record: SearchRecord,
) -> Iterator[LoweredSpace]:
    """Yield what can be chosen in each month: the same if the date decides about users alone."""
    rests_on_date = calendar.name in parameters_in(replace(model, forecast=None))
    known: LoweredSpace | None = None
    for month in months:
        if known is None or rests_on_date:
            base = changed(month.configuration, choices.changes)
            space = design_space(model, base, choices.axes)
            own = record.of_space(f"purchases from month {month.number}")
            known = lowered_space(space, choices, own)
        yield known


def _steps(
    months: Sequence[PurchaseMonth], chosen: Sequence[Chosen], costs: Sequence[float]
) -> Iterator[PurchaseStep]:
    """Yield the months in which something is added, with what stands there then."""
    before: Chosen | None = None
    for month, own, cost in zip(months, chosen, costs, strict=True):
        if own != before:
            space = month.lowered.space
            yield PurchaseStep(
                date=month.date,
                users=month.users,
                cost=cost,
                choices=tuple(_labels(space, own)),
                changed_choices=tuple(
                    label
                    for axis, label in enumerate(_labels(space, own))
                    if before is None or own[axis] != before[axis]
                ),
            )
        before = own


def _labels(space: DesignSpace, chosen: Chosen) -> Iterator[tuple[str, str]]:
    for axis, at in zip(space.axes, chosen, strict=True):
        yield axis.name, axis.options[at].label
