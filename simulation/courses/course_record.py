"""What is counted in a run of a course, and when that is over."""

from __future__ import annotations

from msgspec import Struct, field

from qps.simulation.courses.course_input import (
    ClientOutcome,
    CourseInput,
    CourseResult,
    RunPoint,
)

_USUAL = 2.0
"""Backlogs up to so many times the largest one before are no trouble."""
_BACKLOG = 0.1
"""Nor are those of less than so many s of work."""
_LOST = 0.01
"""Nor is this part of the requests that is lost."""
_FEW = 20
_LEAST_WINDOW = 0.25
_RARE = 1e-3
"""Of fewer answers, a mean response time is chance."""


class _Tally(Struct, kw_only=True):
    sent: int = 0
    retries: int = 0
    lost: int = 0
    late: int = 0
    worst: float = 0.0
    answered: int = 0
    took: float = 0.0
    """Answers since the last point, and how long they took together."""
    window: float
    """So long after another, mean response times are compared, in s."""
    until: float = 0.0
    answered_in_window: int = 0
    took_in_window: float = 0.0

    def answer(self, now: float, took: float, *, is_hit: bool) -> None:
        """Count an answer; of all windows, the longest mean response time without hits is kept."""
        self.answered += 1
        self.took += took
        if is_hit:
            return
        if now >= self.until:
            if self.answered_in_window >= _FEW and self.until > self.window:
                self.worst = max(self.worst, self.took_in_window / self.answered_in_window)
            self.until = now + self.window
            self.answered_in_window, self.took_in_window = 0, 0.0
        self.answered_in_window += 1
        self.took_in_window += took


class CourseRecord(Struct, kw_only=True):
    """The counters of a run."""

    course: CourseInput
    points: list[RunPoint] = field(default_factory=list)
    outcomes: list[_Tally] = field(default_factory=list)
    hits: dict[str, list[int]] = field(default_factory=dict)
    offered: int = 0
    retries: int = 0
    answered: int = 0
    lost: int = 0
    usual_backlog: float = 0.0
    usual_lost: int = 0
    troubled_until: float = 0.0
    over_at: float | None = None

    def __post_init__(self) -> None:
        self.outcomes = [
            _Tally(window=max(_LEAST_WINDOW, 2 * _FEW / max(one.rate, _RARE)))
            for one in self.course.streams
        ]
        self.hits = {one.name: [0, 0] for one in self.course.caches}

    # -- events ------------------------------------------------------------------------------

    def offer(self, place: int, now: float) -> None:
        """Count a request that is sent for the first time."""
        self.offered += 1
        self.outcomes[place].sent += now >= 0

    def retry(self, place: int, now: float) -> None:
        """Count a request that is sent again."""
        self.retries += 1
        self.outcomes[place].retries += now >= 0

    def answer(self, place: int, first: float, now: float, took: float, *, is_hit: bool) -> None:
        """Count a request that is answered in time, after a hit in a cache or not."""
        self.answered += 1
        outcome, limit = self.outcomes[place], self.course.streams[place].limit
        outcome.answer(now, took, is_hit=is_hit)
        if first >= 0 and limit is not None and took > limit:
            outcome.late += 1

    def lose(self, place: int, first: float) -> None:
        """Count a request whose client gives up."""
        self.lost += 1
        self.outcomes[place].lost += first >= 0

    def look_up(self, cache: str, *, is_hit: bool) -> None:
        """Count a look into a cache."""
        self.hits[cache][is_hit] += 1

    # -- points ------------------------------------------------------------------------------

    def observe(
        self,
        now: float,
        backlogs: tuple[float, ...],
        machines: tuple[int, ...],
        *,
        is_steady: bool,
    ) -> bool:
        """Note a point, and return whether the course is over."""
        course = self.course
        took = sum(one.took for one in self.outcomes)
        point = RunPoint(
            at=now - course.width,
            offered=self.offered,
            retries=self.retries,
            answered=self.answered,
            lost=self.lost,
            response_time=took / self.answered if self.answered else 0.0,
            backlogs=backlogs,
            machines=machines,
            hit_rates=tuple(
                hits / (hits + misses) if hits + misses else 0.0
                for misses, hits in self.hits.values()
            ),
        )
        for one in self.outcomes:
            one.answered, one.took = 0, 0.0
        for counts in self.hits.values():
            counts[:] = 0, 0
        self.offered = self.retries = self.answered = self.lost = 0
        most = max(backlogs, default=0.0)
        if now <= 0:
            self.usual_backlog = max(self.usual_backlog, most)
            self.usual_lost = max(self.usual_lost, point.lost)
            return False
        self.points.append(point)
        is_troubled = most > max(_USUAL * self.usual_backlog, _BACKLOG) or (
            point.lost > _LOST * point.offered + _USUAL * self.usual_lost
        )
        if is_troubled:
            self.troubled_until = now
        if is_troubled or not is_steady or now < course.end:
            return False
        if now - max(self.troubled_until, course.end) < course.calm:
            return False
        self.over_at = self.troubled_until
        return True

    def run(self) -> CourseResult:
        """Return what was played."""
        return CourseResult(
            points=tuple(self.points),
            streams=tuple(
                ClientOutcome(
                    stream=stream.name,
                    sent=one.sent,
                    retries=one.retries,
                    lost=one.lost,
                    late=one.late,
                    worst=one.worst,
                )
                for stream, one in zip(self.course.streams, self.outcomes, strict=True)
            ),
            over_at=self.over_at,
        )
