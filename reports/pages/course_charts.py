"""The course of a day, a week or an incident, as charts over time with what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.quantities.clock_times import DAY
from qps.reports.pages.drawings.charts import LineChart
from qps.reports.pages.drawings.time_charts import TimeChart
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.followed_incident import followed_incident
from qps.reports.pages.plain_sentences import with_arrows
from qps.reports.text.incidents.incident_text import SHOWN_BACKLOG, incident_facts
from qps.reports.text.incidents.mitigation_text import mitigation_notes, mitigations_table
from qps.reports.text.layout.table import Table
from qps.reports.text.solutions.course_text import duration_scale
from qps.reports.text.solutions.cycle_table import backlog_at
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.solver.incidents.incident_result import IncidentAnswer
from qps.solver.profiles.course_answer import CourseAnswer

_MINUTE = 60.0
_PERCENT = (0.01, "%")
_MOST_STATIONS = 2
_LEAST_MINUTES = 2 * _MINUTE
_LEAST_HOURS = 2 * 60 * _MINUTE
"""From which backlogs on they are drawn in minutes, and in hours."""
_MOST_PARTS = 10**9


class CourseSection(Struct, frozen=True, kw_only=True):
    """A course on a page: a heading, facts, charts, and changes that would have helped."""

    heading: str
    facts: tuple[tuple[str, str], ...] = ()
    charts: tuple[TimeChart, ...] = ()
    changes: Table | None = None
    why_not: str = ""
    """Why there is no course."""

    @property
    def drawn(self) -> tuple[LineChart, ...]:
        """The charts before any script draws them."""
        return tuple(one.as_line_chart() for one in self.charts)


def live_charts(sections: Sequence[CourseSection]) -> Mapping[str, Json]:
    """Return all charts by their keys, as scripts draw them."""
    return {one.key: one.as_json() for section in sections for one in section.charts}


# -- a day or a week -------------------------------------------------------------------------


def cycle_section(course: CourseAnswer, population: str, labels: Labels) -> CourseSection:
    """Return the course of a day or a week at one population."""
    key = "course.chart.day" if course.cycle == DAY else "course.chart.week"
    return CourseSection(
        heading=phrase(key, users=counted(course.at, population)),
        charts=tuple(_cycle_charts(course, labels)),
    )


def _followed(course: CourseAnswer) -> dict[str, Json]:
    """Return what scripts need to compute the course of a cycle again, for other settings."""
    key = "course.chart.day" if course.cycle == DAY else "course.chart.week"
    values = [dict(one.values) for one in course.moments]
    scales = [(*duration_scale(least), least) for least in (_LEAST_HOURS, _LEAST_MINUTES, 0.0)]
    return {
        "names": list(course.profiles),
        "moments": [
            [one.start, one.end, [_fraction(own[name]) for name in course.profiles]]
            for one, own in zip(course.moments, values, strict=True)
        ],
        "solved": {"at": course.at, "utilizations": [one.utilization for one in course.moments]},
        "heading": phrase(key, users="{}"),
        "backlog": phrase("course.chart.backlog"),
        "scales": [list(one) for one in scales],
    }


def _fraction(value: float) -> list[Json]:
    exact = Fraction(value).limit_denominator(_MOST_PARTS)
    return [str(exact.numerator), str(exact.denominator)]


def _cycle_charts(course: CourseAnswer, labels: Labels) -> Iterator[TimeChart]:
    at: list[float] = []
    loads: list[float] = []
    for one in course.moments:
        # a moment ends in the minute before the next one
        last = one.end if one.end == course.cycle else one.end - 1
        for minute in dict.fromkeys((one.start, last)):
            at.append(_MINUTE * minute)
            loads.append(one.utilization)
    yield TimeChart(
        key="course-load",
        title=phrase("course.chart.utilization"),
        at=tuple(at),
        cycle=course.cycle,
        lines=(
            (phrase("course.chart.highest"), tuple(loads)),
            (phrase("course.chart.capacity"), (1.0,) * len(at)),
        ),
        scale=_PERCENT,
        course=_followed(course),
    )
    if not course.backlog_courses:
        return
    times = sorted({point.at for one in course.backlog_courses for point in one.points})
    lines = tuple(
        (labels.of(one.resource), tuple(backlog_at(one.points, time) for time in times))
        for one in course.backlog_courses
    )
    yield TimeChart(
        key="course-backlog",
        title=phrase("course.chart.backlog"),
        at=tuple(_MINUTE * time for time in times),
        cycle=course.cycle,
        lines=lines,
        scale=duration_scale(max(value for _, values in lines for value in values)),
    )


# -- an incident -----------------------------------------------------------------------------


def incident_section(
    answer: IncidentAnswer,
    incident: ir.Incident,
    model: ir.Model,
    labels: Labels,
    configuration: Configuration | None = None,
) -> CourseSection:
    """Return an incident at one population; scripts follow it in a `configuration`."""
    followed = None
    if configuration is not None:
        followed = followed_incident(answer, incident, model, configuration)
    return CourseSection(
        heading=phrase("course.chart.incident", name=answer.name),
        facts=(
            *incident_facts(answer, incident, model, labels),
            *((phrase("incident.change"), note) for note in mitigation_notes(answer)),
        ),
        charts=tuple(_incident_charts(answer, labels, followed)),
        changes=_changes(answer) if answer.mitigations else None,
    )


def _changes(answer: IncidentAnswer) -> Table:
    table = mitigations_table(answer)
    rows = tuple((with_arrows(row[0]), *row[1:]) for row in table.rows)
    return Table(table.headings, rows, table.right)


def _incident_charts(
    answer: IncidentAnswer, labels: Labels, followed: Mapping[str, Json] | None
) -> Iterator[TimeChart]:
    system, charts = answer.system, _Charts(answer=answer)
    for place in _busiest(answer):
        station = system.stations[place].name
        yield charts.chart(
            f"load-{station}",
            phrase("course.chart.load_of", resource=labels.of(station)),
            [
                (phrase("course.chart.load"), charts.values("loads", place)),
                (phrase("course.chart.capacity"), charts.values("capacities", place)),
            ],
            _PERCENT,
        )
    requests = [(key, charts.values(of)) for key, of in _REQUESTS.items()]
    yield charts.chart(
        "requests",
        phrase("course.chart.requests"),
        [(phrase(f"course.chart.{key}"), each) for key, each in requests if any(each)],
        (1.0, phrase("course.chart.rate")),
        followed,
    )
    waiting = [
        (labels.of(system.stations[place].name), charts.values("backlogs", place))
        for place in _waiting(answer)
    ]
    if waiting:
        most = max(max(each) for _, each in waiting)
        yield charts.chart("backlog", phrase("course.chart.backlog"), waiting, duration_scale(most))
    scaled = [
        (one.node, charts.values("machines", place)) for place, one in enumerate(system.scalers)
    ]
    if any(len(set(each)) > 1 for _, each in scaled):
        yield charts.chart("servers", phrase("course.chart.servers"), scaled, (1.0, ""))
    emptied = {one.cache for one in system.flushes}
    hits = [
        (one.name, charts.values("hit_rates", place))
        for place, one in enumerate(system.caches)
        if one.name in emptied
    ]
    if hits:
        yield charts.chart("hits", phrase("course.chart.hits"), hits, _PERCENT)


_REQUESTS = {"first": "offered", "retries": "retries", "answered": "answered", "lost": "failed"}


class _Charts(Struct, frozen=True, kw_only=True):
    """Makes charts of the points of an incident."""

    answer: IncidentAnswer

    def values(self, of: str, place: int | None = None) -> tuple[float, ...]:
        """Return a number of each point, of several the one at a place."""
        found = [getattr(one, of) for one in self.answer.course.points]
        return tuple(found if place is None else (float(one[place]) for one in found))

    def chart(
        self,
        name: str,
        title: str,
        lines: Sequence[tuple[str, tuple[float, ...]]],
        scale: tuple[float, str],
        course: Mapping[str, Json] | None = None,
    ) -> TimeChart:
        """Return a chart of lines over the time of the incident."""
        return TimeChart(
            key=f"{self.answer.name}-{name}",
            title=title,
            at=self.values("at"),
            lines=tuple(lines),
            scale=scale,
            course=course,
        )


def _waiting(answer: IncidentAnswer) -> list[int]:
    """Return the stations with backlogs, the largest first."""
    most = {
        place: max(one.backlogs[place] for one in answer.course.points)
        for place in range(len(answer.system.stations))
    }
    shown = [place for place, backlog in most.items() if backlog > SHOWN_BACKLOG]
    return sorted(shown, key=lambda place: -most[place])


def _busiest(answer: IncidentAnswer) -> list[int]:
    """Return the stations with the largest backlogs; without any, that with the highest load."""
    waiting = _waiting(answer)[:_MOST_STATIONS]
    if waiting or not answer.system.stations:
        return waiting
    places = range(len(answer.system.stations))
    return [max(places, key=lambda place: max(one.loads[place] for one in answer.course.points))]
