"""The course of a day or a week as columns: a row for each time in which nothing changes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from qps.solver.profiles.course_answer import BacklogPoint, CourseAnswer


def cycle_columns(course: CourseAnswer) -> dict[str, list[object]]:
    """Return the columns of a course: times in minutes of the cycle, backlogs in s at their ends.

    Utilizations and `used` are parts: 1 is all of the capacity, and at the limit of a requirement.
    """
    moments = course.moments
    columns: dict[str, list[object]] = {
        "start": [one.start for one in moments],
        "end": [one.end for one in moments],
        "time": [one.name for one in moments],
        "resource": [one.resource for one in moments],
        "utilization": [one.utilization for one in moments],
        "requirement": [one.requirement for one in moments],
        "used": [one.used for one in moments],
        "supported": [one.is_met for one in moments],
        "backlog": [one.backlog for one in moments],
    }
    for place, name in enumerate(course.profiles):
        columns[f"profiles.{name}"] = [one.values[place][1] for one in moments]
    for each in course.backlog_courses:
        columns[f"backlogs.{each.resource}"] = [backlog_at(each.points, one.end) for one in moments]
    return columns


def backlog_at(points: Sequence[BacklogPoint], time: float) -> float:
    """Return a backlog at a time, in minutes: straight between two points."""
    place = bisect_right([one.at for one in points], time)
    before, after = points[place - 1], points[min(place, len(points) - 1)]
    if after.at <= before.at:
        return before.backlog
    part = (time - before.at) / (after.at - before.at)
    return before.backlog + part * (after.backlog - before.backlog)
