"""The keys of JSON for the day or the week of a spec with profiles."""

from __future__ import annotations

from msgspec import Struct


class TimeView(Struct, frozen=True, kw_only=True):
    """A time of a day or a week in which no profile changes."""

    name: str
    """When it starts: `18:00`, or `18:00 on Friday`."""
    start: int
    """In minutes from the start of the cycle; a week starts on Monday."""
    end: int
    values: dict[str, float]
    """The values of the profiles."""
    resource: str | None
    """The resource with the highest utilization, relative to its target."""
    utilization: float | None
    """This utilization; null if it is unbounded."""
    supported: bool
    """Whether all requirements are met."""
    backlog: float
    """The work that waits at the end, in s of the resource that needs longest for it."""


class BacklogView(Struct, frozen=True, kw_only=True):
    """Work that arrives faster at a resource than it is done, in minutes of the cycle."""

    resource: str
    start: float
    worst_at: float
    worst: float
    """The time that the resource needs for the largest backlog, in s."""
    cleared_at: float | None
    """When the backlog is cleared, possibly in a later cycle; null if it grows in each cycle."""


class BacklogPointView(Struct, frozen=True, kw_only=True):
    """The backlog of a resource at a time, in s of its work; straight between two times."""

    at: float
    """In minutes from the start of the cycle."""
    backlog: float


class BacklogCourseView(Struct, frozen=True, kw_only=True):
    """The backlog of a resource over the cycle."""

    resource: str
    points: tuple[BacklogPointView, ...]


class ServerHoursView(Struct, frozen=True, kw_only=True):
    """Server-hours of a node in a cycle."""

    node: str
    count: int
    hours: float
    """With all servers running at all times."""
    needed: float
    """If the number of servers follows the load, at the utilization of the peak."""
    cost: float | None
    """What `hours` cost in a cycle, in $; null without a running price, or if it varies."""
    needed_cost: float | None
    """What `needed` costs in a cycle, in $."""


class TransientQueueView(Struct, frozen=True, kw_only=True):
    """A queue that is not in steady state when its mean wait is largest."""

    resource: str
    wait: float
    """The largest mean wait in the cycle, in s, of an M/M/c queue."""
    at: str
    steady_wait: float | None
    """The wait in steady state at the highest load; null if that is above the capacity."""


class CourseView(Struct, frozen=True, kw_only=True):
    """The day or the week of a spec with profiles, at one population."""

    cycle: str
    """`day` or `week`."""
    at: int
    worst_time: str
    """The name of the time that comes nearest to a limit."""
    times: tuple[TimeView, ...]
    backlogs: tuple[BacklogView, ...]
    backlog_courses: tuple[BacklogCourseView, ...]
    servers: tuple[ServerHoursView, ...]
    slow_queues: tuple[TransientQueueView, ...]
    """Queues that change too slowly to be in steady state at each time."""
