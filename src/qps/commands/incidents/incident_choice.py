"""Which incidents are meant, and for how many users."""

from __future__ import annotations

from qps.commands.terminal.console import complain, outside_range
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.clock_times import CYCLES, DAY, read_clock, read_day
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty.confidence_interface import model_at_confidence


def hours_of(model: ir.Model, over: str) -> tuple[int, int] | None:
    """Return from which minute to which one of a cycle `over` is; None for an incident.

    That is `day` or `week`, a day of a week, or hours: `17:00..22:00`, of a week with a day before.
    """
    if any(one.name == over for one in model.incidents):
        return None
    start, dots, end = over.partition("..")
    day, _, first = start.rpartition(" ")
    if over not in CYCLES and not dots and (not model.profiles or read_day(over) is None):
        return None
    cycle = ir.cycle_of(model.profiles) if model.profiles else 0
    name = next((name for name, length in CYCLES.items() if length == cycle), "")
    if not cycle:
        raise complain("this spec has no profile", "declare one: `profile visits over day { … }`")
    if over in CYCLES:
        if over != name:
            raise complain(f"the profiles of this spec are over a {name}", f"use `--over {name}`")
        return 0, cycle
    if not dots:
        day, first, end = over, "00:00", "24:00"
    place, begin, finish = read_day(day) if day else None, read_clock(first), read_clock(end)
    is_week = name == "week"
    if begin is None or finish is None or begin >= finish or (place is not None) != is_week:
        example = "friday 17:00..22:00" if is_week else "17:00..22:00"
        raise complain(f"`--over {over[:40]}` are no hours", f"such as `--over '{example}'`")
    shift = DAY * (place or 0)
    return shift + begin, shift + finish


def chosen_incidents(model: ir.Model, name: str | None) -> tuple[ir.Incident, ...]:
    """Return the incident of a name; all without one."""
    if not model.incidents:
        raise complain(
            "this spec declares no incident",
            "add one, such as `incident database_down { lose db for 10 minute }`",
        )
    if name is None:
        return model.incidents
    found = [one for one in model.incidents if one.name == name]
    if not found:
        names = [one.name for one in model.incidents]
        raise complain(
            f"this spec declares no incident `{name}`",
            did_you_mean(name, names) or f"use one of {', '.join(names)}",
        )
    return (found[0],)


def incident_population(spec: Spec, configuration: Configuration, at: int | None) -> int:
    """Return for how many users: by default the capacity."""
    if at is None:
        solution = solve_model(model_at_confidence(spec.model, configuration), configuration)
        return solution.at
    if not configuration.low <= at <= configuration.high:
        name = spec.model.population.name
        raise outside_range(name, at, configuration.low, configuration.high)
    return at
