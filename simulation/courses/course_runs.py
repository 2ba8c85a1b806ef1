"""Many runs of a course, on all cores, and what they come to together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from time import monotonic

from msgspec import Struct

from qps.simulation.courses.course_input import CourseInput, CourseResult
from qps.simulation.courses.course_run import CourseRun
from qps.simulation.station_registry import refused
from qps.simulation.statistics import Estimate, estimate
from qps.worker_processes import Workers, cores

MOST_REQUESTS = 20_000_000
_LEAST_RUNS = 2
_LONGEST_WAIT = 0.5


class CourseSimulation(Struct, frozen=True, kw_only=True):
    """Runs of a course, and what they come to, each run alike."""

    course: CourseInput
    runs: tuple[CourseResult, ...]

    def backlog(self, station: int) -> Estimate:
        """Return the largest backlog of a station, in s."""
        return estimate([one.worst_backlog(station)[0] for one in self.runs])

    def cleared_at(self, station: int) -> Estimate | None:
        """Return when the largest backlog of a station was cleared; None if it was not in a run."""
        times = [one.cleared_at(station) for one in self.runs]
        known = [time for time in times if time is not None]
        return estimate(known) if len(known) == len(times) else None

    def cleared(self, station: int) -> int:
        """Return in how many runs the largest backlog of a station was cleared."""
        return sum(one.cleared_at(station) is not None for one in self.runs)

    def stream(self, name: str, of: str) -> Estimate:
        """Return a number of the requests of a stream, of all their kinds together."""
        join = max if of == "worst" else sum
        own = [[one for one in run.streams if one.stream == name] for run in self.runs]
        return estimate([float(join(getattr(one, of) for one in streams)) for streams in own])

    @property
    def over(self) -> int:
        """How many runs were over before they were broken off."""
        return sum(one.over_at is not None for one in self.runs)

    @property
    def over_at(self) -> Estimate | None:
        """When it was over; None if a run was broken off before."""
        times = [one.over_at for one in self.runs if one.over_at is not None]
        return estimate(times) if len(times) == len(self.runs) else None


class CourseEffort(Struct, frozen=True, kw_only=True):
    """How many runs there are at most, for how long more of them are begun, in s, and the seed."""

    runs: int = 10
    seconds: float = inf
    seed: int = 1
    workers: int = 0


def simulate_course(
    course: CourseInput, effort: CourseEffort, tick: Callable[[float], None] = lambda _: None
) -> CourseSimulation:
    """Return runs of a course; two at least, and no further ones after the time limit."""
    if course.requests > MOST_REQUESTS:
        raise refused(
            f"a run would have {course.requests:,.0f} requests; at most {MOST_REQUESTS:,} are "
            "simulated",
            "simulate fewer users (`--at`) on fewer or slower machines, or a shorter time",
        )
    wanted = max(_LEAST_RUNS, effort.runs)
    count = min(effort.workers or cores(), wanted)
    deadline = monotonic() + effort.seconds
    if count == 1:
        found: list[CourseResult] = []
        while len(found) < wanted and (len(found) < _LEAST_RUNS or monotonic() < deadline):
            found.append(CourseRun(course, effort.seed, len(found)).play())
            tick(len(found) / wanted)
        return CourseSimulation(course=course, runs=tuple(found))
    with Workers([partial(_RunMaker, course, effort.seed)] * count) as workers:
        return CourseSimulation(
            course=course, runs=tuple(_finished_runs(workers, wanted, count, deadline, tick))
        )


def _finished_runs(
    workers: Workers, wanted: int, count: int, deadline: float, tick: Callable[[float], None]
) -> Sequence[CourseResult]:
    """Return the runs that are done by a time, in order; none is missing in between."""
    futures = [workers.submit(number) for number in range(min(count, wanted))]
    open_ = len(futures)
    while open_:
        for _ in workers.wait(_LONGEST_WAIT):
            open_ -= 1
            done = len(futures) - open_
            tick(done / wanted)
            if len(futures) < wanted and (len(futures) < _LEAST_RUNS or monotonic() < deadline):
                futures.append(workers.submit(len(futures)))
                open_ += 1
    return [one.result() for one in futures]


class _RunMaker:
    """Plays runs in a process of its own."""

    def __init__(self, course: CourseInput, seed: int) -> None:
        self._course, self._seed = course, seed

    def __call__(self, number: int) -> CourseResult:
        """Play a run."""
        return CourseRun(self._course, self._seed, number).play()
