"""The page of incidents alone: what each comes to, with its course as charts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.reports.pages.course_charts import CourseSection, live_charts
from qps.reports.pages.json_values import Json


class IncidentsPage(Struct, frozen=True, kw_only=True):
    """What stands on the page, and what its scripts draw."""

    title: str
    place: str
    sections: tuple[CourseSection, ...]
    data: dict[str, Json]


def incidents_page(title: str, place: str, sections: Sequence[CourseSection]) -> IncidentsPage:
    """Return a page of incidents."""
    return IncidentsPage(
        title=title,
        place=place,
        sections=tuple(sections),
        data={"models": [], "columns": [], "figures": dict(live_charts(sections))},
    )
