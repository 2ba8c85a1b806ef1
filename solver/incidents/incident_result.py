"""What an incident comes to: its course, and changes that would have made it shorter."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from qps.compiler.configure.configuration import Configuration
from qps.solver.incidents.incident_system import FluidCourse, IncidentSystem
from qps.solver.incidents.timeouts_by_chance import ChanceTimeout


class MitigationKind(StrEnum):
    """What can be changed in a system so that an incident is over earlier."""

    RETRY_BUDGET = "retry_budget"
    NO_RETRIES = "no_retries"
    MACHINES = "machines"
    LEAST_MACHINES = "least_machines"
    MOST_MACHINES = "most_machines"


class Mitigation(Struct, frozen=True, kw_only=True):
    """A change of a stream's clients or of a node's machines, and what it makes of the incident."""

    kind: MitigationKind
    target: str
    before: float
    after: float
    course: FluidCourse


class RandomBacklog(Struct, frozen=True, kw_only=True):
    """A backlog of a station in s of its work, between two times with a load near 1.

    `worst` is the mean of the largest, `last` that of the one at the end, which is cleared at
    `cleared_at` on average; infinite if the load stays as high.
    """

    place: int
    load: float
    start: float
    end: float
    worst: float
    last: float
    cleared_at: float


class IncidentAnswer(Struct, frozen=True, kw_only=True):
    """The course of an incident at a population, and changes that would have made it shorter.

    Where random variation decides whether it is over by itself, `variation` is the part by which it
    makes the requests more or fewer; otherwise 0. `random_backlogs` are those that random variation
    builds alone, which the course does not have. It is the answer in the worst mode, which the
    `configuration` is in; `others` are those in the other modes, the worst first.
    """

    name: str
    at: int
    configuration: Configuration
    system: IncidentSystem
    course: FluidCourse
    mitigations: tuple[Mitigation, ...] = ()
    variation: float = 0.0
    random_backlogs: tuple[RandomBacklog, ...] = ()
    chance_timeouts: tuple[ChanceTimeout, ...] = ()
    """Streams whose retries may overload the system by random waits alone, without an incident."""
    others: tuple[IncidentAnswer, ...] = ()
    modes: tuple[str, ...] = ()
    """The modes of the spec in which incidents may happen."""

    @property
    def is_certain(self) -> bool:
        """Whether random variation does not decide whether it is over by itself."""
        return not self.variation and not (self.course.returns and self.chance_timeouts)

    @property
    def severity(self) -> tuple[bool, bool, float, float, float]:
        """How bad it is: whether it is over by itself, when, and for how many requests."""
        course = self.course
        backlogs = [max(one.backlogs, default=0.0) for one in course.points]
        backlogs += [one.worst for one in self.random_backlogs]
        return (
            not course.returns,
            not self.is_certain,
            course.cleared_at,
            course.lost + course.late,
            max(backlogs, default=0.0),
        )

    @property
    def bottleneck(self) -> int | None:
        """The station with the largest backlog at any time; None where there is none."""
        largest = [
            max(point.backlogs[place] for point in self.course.points)
            for place in range(len(self.system.stations))
        ]
        if max(largest, default=0.0) <= 0:
            return None
        return largest.index(max(largest))
