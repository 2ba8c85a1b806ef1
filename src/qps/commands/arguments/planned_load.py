"""The load that a command plans for: a number of users, or that of a date of the forecast."""

from __future__ import annotations

from argparse import Namespace

from msgspec import Struct

from qps.commands.terminal.console import complain
from qps.compiler.configure.configuration import Configuration
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.calendar_dates import CalendarDate, read_date
from qps.reports.text.words.phrases import phrase


class PlannedLoad(Struct, frozen=True, kw_only=True):
    """A number of users, and the configuration in which they are to be supported.

    `month` says of which month of the forecast both are; it is empty for a number of users.
    """

    users: int
    configuration: Configuration
    month: tuple[str, ...] = ()


def planned_load(spec: Spec, arguments: Namespace) -> PlannedLoad:
    """Return what `--users` states: a number, a setting of the population, or a date.

    Until a date, what counts is the month in which the forecast demands the most.
    """
    configuration = spec.configuration(arguments.scenario, arguments.set)
    until = None if arguments.users is None else read_date(arguments.users.strip())
    if until is None:
        return PlannedLoad(users=_population(spec, arguments.users), configuration=configuration)
    # Of few commands.
    from qps.solver.calendar.demanding_month import most_demanding_month  # noqa: PLC0415

    found = most_demanding_month(spec.model, configuration, until)
    said = found.date.in_words
    if (found.date.year, found.date.month) != (until.year, until.month):
        said = phrase("forecast.most_demanding", month=said, until=until.in_words)
    return PlannedLoad(users=found.users, configuration=found.configuration, month=(said,))


def at_month(spec: Spec, arguments: Namespace) -> Namespace:
    """Return arguments in which `--at` is a number of users: of a month, those of the forecast."""
    if not isinstance(arguments.at, CalendarDate):
        return arguments
    # Of few commands.
    from qps.solver.calendar.demanding_month import month_of_date  # noqa: PLC0415

    configuration = spec.configuration(arguments.scenario, arguments.set)
    found = month_of_date(spec.model, configuration, arguments.at)
    assert spec.model.calendar is not None
    month = f"{spec.model.calendar.name}={found.date.iso}"
    return Namespace(**(vars(arguments) | {"at": found.users, "set": [*arguments.set, month]}))


def at_population(spec: Spec, arguments: Namespace) -> Namespace:
    """Return arguments in which the population has the value of `--at`, as by `--set`."""
    if (arguments.users, arguments.solve_for) != (None, None):
        raise complain(
            "`--at` cannot be combined with `--users` or `--for`",
            "`--users 300` states what to support; `--at 300` shows the answers at 300 users",
        )
    found = at_month(spec, arguments)
    population = f"{spec.model.population.name}={found.at}"
    return Namespace(**(vars(found) | {"set": [*found.set, population]}))


def _population(spec: Spec, text: str | None) -> int:
    """Return the population that `--users` states, as a number or as a setting of it."""
    if text is None:
        raise complain("`--for` needs the population to support", "write `--users 300`")
    name, text = spec.model.population.name, text.strip()
    set_name, equals, value = (part.strip() for part in text.partition("="))
    if equals and set_name.isidentifier() and set_name != name:
        raise complain(
            f"`--users` sets the population, which is `{name}`, not `{set_name}`",
            f"write `--users '{name} = {value}'`; change other numbers with `--set`",
        )
    population = spec.population(
        f"{name} = {text}" if text.lstrip("+-")[:1].isdigit() else text, "--users"
    )
    if population is None:
        raise complain(f"`--users` takes one number of users, not `{text}`", "write `--users 300`")
    return population
