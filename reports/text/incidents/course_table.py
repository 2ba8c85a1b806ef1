"""The courses of incidents as a table: a row for each time, a column for each number."""

from __future__ import annotations

from collections.abc import Iterator

from qps.reports.text.incidents.incident_view import (
    CoursePointView,
    IncidentsView,
    IncidentView,
)

Cell = str | float | int | None

_SINGLE = ("offered", "retries", "answered", "lost", "wait")
_BY_NAME = ("backlogs", "loads", "capacities", "utilizations", "machines", "hit_rates")


def course_columns(view: IncidentsView) -> dict[str, list[Cell]]:
    """Return the columns of a table of all incidents, in the order of their times.

    A column is named as the key of JSON, with the name of the resource, node or cache, if there are
    several: `backlogs.db.cpu`. It is empty for an incident without it.
    """
    rows = [
        {"incident": incident.name, **_mode(incident), **dict(_cells(point))}
        for incident in view.incidents
        for point in incident.course
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _mode(incident: IncidentView) -> dict[str, Cell]:
    return {} if incident.mode is None else {"mode": incident.mode}


def _cells(point: CoursePointView) -> Iterator[tuple[str, Cell]]:
    yield "at", point.at
    for key in _SINGLE:
        yield key, getattr(point, key)
    for key in _BY_NAME:
        for name, value in getattr(point, key).items():
            yield f"{key}.{name}", value
