"""`qps simulate --over`: an incident request by request, beside the fluid model."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from qps.commands.incidents.incident_choice import chosen_incidents, hours_of, incident_population
from qps.commands.terminal.console import Exit, complain, print_json, width_of
from qps.commands.terminal.progress import Progress
from qps.compiler.configure.configuration import Configuration
from qps.compiler.pipeline import Spec
from qps.reports.text.incidents.simulated_course import (
    ClockTimes,
    all_agree,
    simulated_course_layout,
    simulated_course_view,
)
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import labels_of
from qps.simulation.courses.course_agreement import (
    CourseComparison,
    course_comparisons,
    day_comparisons,
)
from qps.simulation.courses.course_input import CourseInput
from qps.simulation.courses.course_model import incident_course
from qps.simulation.courses.course_runs import CourseEffort, CourseSimulation, simulate_course
from qps.simulation.courses.day_model import day_course
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.profiles.mode_courses import worst_mode_course


def run_over_time(
    spec: Spec, configuration: Configuration, arguments: Namespace, seconds: float
) -> Exit:
    """Simulate an incident or a day; status 1 if the fluid model is off by more than it states."""
    at = incident_population(spec, configuration, arguments.at)
    effort = CourseEffort(
        runs=arguments.runs,
        seconds=seconds,
        seed=arguments.seed,
        workers=arguments.workers or 0,
    )
    over: str = arguments.over
    hours = hours_of(spec.model, over)
    if hours is None:
        (incident,) = chosen_incidents(spec.model, over)
        answer = incident_answer(spec.model, configuration, incident, at, advice=False)
        course = incident_course(
            spec.model, answer.configuration, incident, at, answer.system, answer.course
        )
        simulation = _simulated(course, effort, arguments)
        found = course_comparisons(answer, simulation)
        return _show(spec, at, arguments, simulation, found, answer.system.mode)
    worst = worst_mode_course(spec.model, configuration, at)
    if worst is None:
        raise complain("all profiles are set to a value", "set none, or only some of them")
    course = day_course(spec.model, worst.configuration, at, hours)
    simulation = _simulated(course, effort, arguments)
    clock = ClockTimes(start=hours[0], cycle=worst.course.cycle)
    found = day_comparisons(worst.course, simulation, hours)
    return _show(spec, at, arguments, simulation, found, worst.mode, clock)


def _simulated(course: CourseInput, effort: CourseEffort, arguments: Namespace) -> CourseSimulation:
    with Progress(total=1, quiet=arguments.quiet, unit=None, label="simulating") as progress:
        return simulate_course(
            course, effort, lambda share: progress.advance(share - progress.done)
        )


def _show(
    spec: Spec,
    at: int,
    arguments: Namespace,
    simulation: CourseSimulation,
    found: Sequence[CourseComparison],
    mode: str | None,
    clock: ClockTimes | None = None,
) -> Exit:
    name, over = spec.model.population.name, arguments.over
    if arguments.format == "json":
        view = simulated_course_view(
            spec.model.file, name, at, over, arguments.seed, simulation, found, mode
        )
        print_json(as_json(view))
    else:
        place = ", ".join(
            [spec.model.file, *map("scenario {}".format, arguments.scenario), *arguments.set]
        )
        layout = simulated_course_layout(
            over, place, at, name, simulation, found, spec.model.derived(labels_of), mode, clock
        )
        sys.stdout.write(
            layout.printed(markdown=arguments.format == "markdown", width=width_of(sys.stdout))
        )
    return Exit.YES if all_agree(found) else Exit.NO
