"""The fluid model of an incident beside its simulation: as text and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from msgspec import Struct

from qps.compiler.quantities.clock_times import moment_name
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.solutions.course_text import duration, duration_scale
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.mode_words import in_mode
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.simulation.courses.course_agreement import (
    CourseComparison,
    CourseMeasure,
    CourseVerdict,
)
from qps.simulation.courses.course_runs import CourseSimulation
from qps.simulation.statistics import Estimate

_MINUTE = 60.0
_TIMES = (CourseMeasure.BACKLOG, CourseMeasure.RESPONSE_TIME, CourseMeasure.OVER)


class SimulatedNumberView(Struct, frozen=True, kw_only=True):
    """A number of the fluid model, and the mean of the simulation with its 95 % interval.

    Times are in s. They are null if the incident was not over.
    """

    measure: str
    subject: str
    fluid: float | None
    simulated: float | None
    half_width: float | None
    agrees: str


class SimulatedCourseView(Struct, frozen=True, kw_only=True):
    """An incident, or a day, in the fluid model and in the simulation.

    `mode` is the worst of several modes: the one that is simulated.
    """

    schema: str
    file: str
    population: str
    at: int
    over: str
    mode: str | None
    seed: int
    runs: int
    runs_over: int
    until: float
    agrees: bool
    results: tuple[SimulatedNumberView, ...]


def simulated_course_view(
    file: str,
    population: str,
    at: int,
    over: str,
    seed: int,
    simulation: CourseSimulation,
    found: Sequence[CourseComparison],
    mode: str | None,
) -> SimulatedCourseView:
    """Return what was simulated as plain values."""
    return SimulatedCourseView(
        schema="qps/simulated_course/1",
        file=file,
        population=population,
        at=at,
        over=over,
        mode=mode or None,
        seed=seed,
        runs=len(simulation.runs),
        runs_over=simulation.over,
        until=simulation.course.until,
        agrees=all_agree(found),
        results=tuple(map(_number, found)),
    )


def all_agree(found: Sequence[CourseComparison]) -> bool:
    """Return whether no number of the fluid model is off by more than it states."""
    return all(one.verdict is not CourseVerdict.DIFFERS for one in found)


def _number(one: CourseComparison) -> SimulatedNumberView:
    return SimulatedNumberView(
        measure=one.measure.value,
        subject=one.subject,
        fluid=one.fluid,
        simulated=None if one.simulated is None else one.simulated.mean,
        half_width=None if one.simulated is None else one.simulated.half_width(),
        agrees=one.verdict.value,
    )


def simulated_course_layout(
    model: str,
    place: str,
    at: int,
    population: str,
    simulation: CourseSimulation,
    found: Sequence[CourseComparison],
    labels: Labels,
    mode: str | None,
    clock: ClockTimes | None = None,
) -> TextLayout:
    """Return both side by side; of a day, `clock` tells its times."""
    counts = {"over": simulation.over, "runs": len(simulation.runs)}
    until = duration(simulation.course.until)
    is_over = simulation.over == len(simulation.runs)
    runs = phrase("course.sim.over" if is_over else "course.sim.open", **counts, until=until)
    if clock is not None:
        runs = str(len(simulation.runs))
    differing = sum(one.verdict is CourseVerdict.DIFFERS for one in found)
    compared = sum(one.verdict is not CourseVerdict.NOT_COMPARED for one in found)
    key = "differ" if differing else "agree" if compared else "nothing"
    result = phrase(f"course.sim.{key}", differing=differing, compared=compared)
    many = len(simulation.runs)
    rows = tuple((_name(one, labels), *_values(one, clock, many), _verdict(one)) for one in found)
    headings = tuple(
        phrase(f"course.sim.{key}") for key in ("measure", "fluid", "simulated", "agreement")
    )
    return TextLayout(
        title=phrase(
            "course.sim.title", model=model, users=f"{counted(at, population)}{in_mode(mode)}"
        ),
        place=place,
        facts=((phrase("course.sim.result"), result), (phrase("course.sim.runs"), runs)),
        tables=(Table(headings, rows, frozenset([1, 2]), long=frozenset([0])),),
        notes=(phrase("course.sim.accuracy"), phrase("course.sim.queues")),
    )


def _name(one: CourseComparison, labels: Labels) -> str:
    of = "" if one.measure is CourseMeasure.OVER else labels.of(one.subject)
    return labels.sentence(phrase(f"course.sim.of.{one.measure.value}", of=of))


class ClockTimes(Struct, frozen=True, kw_only=True):
    """The times of a day or a week, from a minute of its `cycle` on."""

    start: int
    cycle: int

    def text(self, seconds: float) -> str:
        """Return the time so many s after the start."""
        return moment_name(self.start + round(seconds / _MINUTE), self.cycle)


def _values(one: CourseComparison, clock: ClockTimes | None, runs: int) -> tuple[str, str]:
    never, not_reached = phrase("course.sim.not_over"), _not_reached(one, runs)
    if one.measure is CourseMeasure.CLEARED and clock is not None:
        fluid = never if one.fluid is None else clock.text(one.fluid)
        if one.simulated is None:
            return fluid, not_reached
        mean, width = clock.text(one.simulated.mean), one.simulated.half_width()
        if not isfinite(width):
            return fluid, mean
        return fluid, phrase("course.sim.interval", mean=mean, width=duration(width))
    if one.measure is CourseMeasure.RESPONSE_TIME and one.fluid is None:
        return "", "" if one.simulated is None else _time(one.simulated)
    if one.measure not in _TIMES:
        fluid = "" if one.fluid is None else f"{round(one.fluid):,}"
        return fluid, not_reached if one.simulated is None else _count(one.simulated)
    fluid = never if one.fluid is None else duration(one.fluid)
    return fluid, not_reached if one.simulated is None else _time(one.simulated)


def _not_reached(one: CourseComparison, runs: int) -> str:
    """Return that a time was not reached, in which of the runs if it was in others."""
    if not one.reached:
        return phrase("course.sim.not_over")
    return phrase("course.sim.not_over_in", many=runs - one.reached, runs=runs)


def _count(one: Estimate) -> str:
    width = one.half_width()
    if not isfinite(width):
        return f"{round(one.mean):,}"
    return phrase("course.sim.interval", mean=f"{round(one.mean):,}", width=f"{round(width):,}")


def _time(one: Estimate) -> str:
    width = one.half_width()
    if not isfinite(width):
        return duration(one.mean)
    factor, unit = duration_scale(one.mean)
    mean, spread = f"{one.mean / factor:.3g}", f"{width / factor:.2g}"
    width_in_unit = phrase("course.sim.in", many=spread, unit=unit)
    return phrase("course.sim.interval", mean=mean, width=width_in_unit)


def _verdict(one: CourseComparison) -> str:
    return phrase(f"course.sim.{one.verdict.value}")
