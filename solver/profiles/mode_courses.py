"""The course of a cycle in one of several modes, or states after a failure: the worst one."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.quantities.clock_times import without_moment
from qps.solver.profiles.course_answer import CourseAnswer
from qps.solver.profiles.profile_course import profile_course


class ModeCourse(Struct, frozen=True, kw_only=True):
    """A cycle in one mode from its start to its end; `mode` is None without modes."""

    mode: str | None
    configuration: Configuration
    course: CourseAnswer


def worst_mode_course(
    model: ir.Model, configuration: Configuration, population: int
) -> ModeCourse | None:
    """Return the cycle in the mode with the largest backlog, or nearest to a limit.

    None for a spec without profiles, or if all of them are set to a value.
    """
    modes = {without_moment(one.mode): one for one in in_each_mode(model, configuration)}
    if configuration.mode is not None or len(modes) == 1:
        modes = {without_moment(configuration.mode): configuration}
    found = [
        ModeCourse(mode=name or None, configuration=one, course=course)
        for name, one in modes.items()
        if (course := profile_course(model, one, population)) is not None
    ]
    return max(found, key=lambda one: _severity(one.course), default=None)


def _severity(course: CourseAnswer) -> tuple[float, float]:
    return max((one.worst for one in course.backlogs), default=0.0), course.worst.used
