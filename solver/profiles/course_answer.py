"""The course of a day or a week at one population."""

from __future__ import annotations

from msgspec import Struct


class MomentAnswer(Struct, frozen=True, kw_only=True):
    """A time of the cycle in which nothing changes, in minutes from its start to its `end`.

    `used` is which part of its limit the requirement uses that is nearest to it, 1 at the limit.
    `backlog` is the longest time for which the work that waits at its end keeps a resource busy,
    in s, beyond the queue of a steady state.
    """

    start: int
    end: int
    name: str
    values: tuple[tuple[str, float], ...]
    resource: str | None
    """The resource with the highest utilization, relative to its target."""
    utilization: float
    requirement: str | None
    used: float
    is_met: bool
    """Whether all requirements are met, and no resource is saturated."""
    backlog: float


class Backlog(Struct, frozen=True, kw_only=True):
    """The work that piles up at a resource while its load is above its capacity.

    `start`, `worst_at` and `cleared_at` are minutes, which may be of a later cycle; `cleared_at` is
    None if the backlog grows from cycle to cycle. `worst` is the time for which it keeps the
    resource busy, in s: what arrives then waits as long.
    """

    resource: str
    start: float
    worst_at: float
    worst: float
    cleared_at: float | None


class BacklogPoint(Struct, frozen=True, kw_only=True):
    """What waits at a time of the cycle, in minutes: for so long it keeps the resource busy, in s.

    Between two points, the backlog changes at a constant rate.
    """

    at: float
    backlog: float


class BacklogCourse(Struct, frozen=True, kw_only=True):
    """The backlog of a resource over the cycle."""

    resource: str
    points: tuple[BacklogPoint, ...]


class ServerHours(Struct, frozen=True, kw_only=True):
    """Machines of a node over a cycle: all of them, and as many as each moment needs.

    With what both cost in $, None without a price that is always the same.
    """

    node: str
    count: int
    hours: float
    needed: float
    cost: float | None
    needed_cost: float | None


class TransientQueue(Struct, frozen=True, kw_only=True):
    """A queue that is not in steady state at the end of the moment with its largest mean wait.

    `wait` is that mean wait in s, of M/M/c with the loads of the cycle, and `steady_wait` that of a
    steady state at the highest load, None if that is above the capacity.
    """

    resource: str
    wait: float
    at: str
    steady_wait: float | None


class CourseAnswer(Struct, frozen=True, kw_only=True):
    """A cycle of the profiles at a population, in order of time.

    `worst` and `quietest` are the first moments with the highest and the lowest use of a limit.
    """

    cycle: int
    at: int
    profiles: tuple[str, ...]
    moments: tuple[MomentAnswer, ...]
    backlogs: tuple[Backlog, ...]
    backlog_courses: tuple[BacklogCourse, ...]
    servers: tuple[ServerHours, ...]
    transient: tuple[TransientQueue, ...]

    @property
    def worst(self) -> MomentAnswer:
        """The moment that comes nearest to a limit, or exceeds it most."""
        return max(self.moments, key=lambda one: (not one.is_met, one.used))

    @property
    def quietest(self) -> MomentAnswer:
        """The moment with the lowest utilization."""
        return min(self.moments, key=lambda one: one.utilization)

    @property
    def failing(self) -> tuple[MomentAnswer, ...]:
        """The moments at which a requirement is not met."""
        return tuple(one for one in self.moments if not one.is_met)
