"""How many users a forecast expects in each month, with nominal inputs and for samples of them."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from functools import partial
from math import ceil, isfinite

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.quantities.calendar_dates import months_between
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import EvaluationPoint

ROUNDING = 1e-9
"""Part of a number of users below which a fraction of a user is rounding."""


class ExpectedUsers(Struct, frozen=True, kw_only=True):
    """Users that are expected in one month, in whole users: rounded up.

    `least` and `most` are the ends of the 90 % interval of a table, `mid` without one.
    """

    least: int
    mid: int
    most: int

    @property
    def has_interval(self) -> bool:
        """Whether the forecast itself states an interval."""
        return self.least < self.most


def expected_users(
    model: ir.Model, configuration: Configuration, graph: LoadGraph, month: int
) -> ExpectedUsers:
    """Return the users that the forecast expects in a month of the calendar.

    The `configuration` and its `graph` are those of this month. QpsError if there is no number.
    """
    forecast = model.forecast
    assert forecast is not None, "a spec with a calendar, but no forecast"
    if forecast.formula is None:
        return _of_table(forecast, model, month)
    formula, assumptions = forecast_formula(forecast.formula, model, configuration, graph)
    users = EvaluationPoint({one.symbol: one.value for one in assumptions}).number(formula)
    if not isfinite(users) or users < 0:
        assert model.calendar is not None
        date = model.calendar.date(month).iso
        raise QpsError.single(
            codes.OUT_OF_RANGE,
            forecast.span,
            f"the forecast for {date} is {users:,.6g} users"
            if isfinite(users)
            else f"the forecast has no number of users for {date}: it is too large, or not defined",
            hint="shorten the calendar, or correct the formula"
            + (": `max(0, …)` is never below zero" if users < 0 else ""),
        )
    whole = _whole(users)
    return ExpectedUsers(least=whole, mid=whole, most=whole)


def forecast_formula(
    stated: ir.Quantity, model: ir.Model, configuration: Configuration, graph: LoadGraph
) -> tuple[Formula, Collection[Assumption]]:
    """Return a forecast as a formula, and the numbers that it may rest on."""
    lowering = ExpressionLowering.of_graph(model, configuration, graph)
    return lowering.lower(stated.expr), lowering.assumptions.values()


def _of_table(forecast: ir.Forecast, model: ir.Model, month: int) -> ExpectedUsers:
    """Return the users between the two points of a table around a month."""
    calendar = model.calendar
    assert calendar is not None
    at = Fraction(month)
    places = [months_between(calendar.start, one.date) for one in forecast.points]
    after = next(i for i, place in enumerate(places) if place >= at)
    if places[after] == at:
        one = forecast.points[after]
        return ExpectedUsers(least=_whole(one.low), mid=_whole(one.mid), most=_whole(one.high))
    before, then = forecast.points[after - 1], forecast.points[after]
    part = (at - places[after - 1]) / (places[after] - places[after - 1])
    between = partial(_between, part)
    return ExpectedUsers(
        least=between(before.low, then.low),
        mid=between(before.mid, then.mid),
        most=between(before.high, then.high),
    )


def _between(part: Fraction, before: Fraction, after: Fraction) -> int:
    return _whole(before + part * (after - before))


def _whole(users: Fraction | float) -> int:
    return ceil(users) if isinstance(users, Fraction) else ceil(users * (1 - ROUNDING))
