"""The months of a calendar: their configurations, load graphs and expected users."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, isfinite

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_each_mode
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.validation_cache import names_in
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.graph_solution import value_at
from qps.solver.answers.worst_mode import nearness_at
from qps.solver.calendar.expected_users import ExpectedUsers, expected_users

Key = tuple[tuple[str, Formula, Formula], ...]
"""The criteria of a month, each with its mode and name, its measure and its limit."""


class CalendarMonth(Struct, frozen=True, kw_only=True):
    """A month: its configuration, its load graph in each mode, and the users that are expected.

    Months with the same `key` have the same capacity.
    """

    number: int
    configuration: Configuration
    graphs: tuple[LoadGraph, ...]
    users: ExpectedUsers
    key: Key


def months_of(
    model: ir.Model,
    calendar: ir.Calendar,
    configuration: Configuration,
    numbers: Iterable[int] | None = None,
) -> list[CalendarMonth]:
    """Return months of a calendar by their numbers, or all of them.

    QpsError where the forecast has no number of users.
    """
    return [
        _month(model, calendar, at_month(calendar, configuration, number), number)
        for number in (range(calendar.months + 1) if numbers is None else numbers)
    ]


def at_month(calendar: ir.Calendar, configuration: Configuration, month: int) -> Configuration:
    """Return a configuration at a month of the calendar."""
    date = ir.Constant(Fraction(month))
    return changed(configuration, [ir.SetParameter(calendar.name, date, calendar.span)])


def _month(
    model: ir.Model, calendar: ir.Calendar, configuration: Configuration, number: int
) -> CalendarMonth:
    graphs = tuple(
        lower(model, _decided(each, calendar.name), by_points=False)
        for each in in_each_mode(model, configuration)
    )
    key = tuple(
        (f"{graph.mode or ''} {one.name}", graph.valued(one.measure), graph.valued(one.limit))
        for graph in graphs
        for one in all_criteria(graph)
    )
    users = expected_users(model, configuration, graphs[0], number)
    return CalendarMonth(
        number=number, configuration=configuration, graphs=graphs, users=users, key=key
    )


def _decided(configuration: Configuration, date: str) -> Configuration:
    """Return a configuration in which parameters that the date decides are what it makes them.

    A load graph is of all months that do not differ in what it was built by, and the date is that
    no longer. In a mode with a date of its own it decides nothing else.
    """
    if any(
        isinstance(one, ir.SetParameter) and one.name == date for one in configuration.mode_changes
    ):
        return configuration
    folder = Folder(configuration=configuration, population=Fraction(configuration.high))
    return replace(
        configuration,
        parameters={
            name: _chosen(expr, date, folder) for name, expr in configuration.parameters.items()
        },
    )


def _chosen(expr: ir.Expr, date: str, folder: Folder) -> ir.Expr:
    while isinstance(expr, ir.Choice) and names_in(expr.condition) == {date}:
        expr = expr.then if folder.holds(expr.condition) else expr.otherwise
    return expr


def nearness(month: CalendarMonth) -> tuple[float, float, int]:
    """Return how near a month comes to a limit with nominal inputs, 1 at the limit; and its users.

    Infinite beyond the range of the population, or where a value is. Of overloaded months the
    utilization of the most loaded resource, in between, says which one demands more.
    """
    users = max(month.users.mid, month.configuration.low)
    loads = [
        value_at(graph, one.demand, users) / value_at(graph, one.target, users)
        for graph in month.graphs
        for one in graph.resources.values()
    ]
    load = max(filter(isfinite, loads), default=0.0)
    if users > month.configuration.high:
        return inf, load, users
    near = max((nearness_at(graph, users) for graph in month.graphs), default=0.0)
    return near, load, users
