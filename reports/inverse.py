"""The question turned round, as text and as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.render import printable
from qps.reports.quantities import quantity
from qps.solver.inverse import Interval, InverseSolution


@dataclass(frozen=True)
class IntervalView:
    """Acceptable values, and what fails below and above them; null at an end of the range."""

    from_: float
    to: float
    fails_below: str | None
    fails_above: str | None


@dataclass(frozen=True)
class InverseView:
    """The values of a number with which a population is acceptable, in base units of `unit`."""

    schema: str
    file: str
    parameter: str
    given: dict[str, int]
    unit: str
    current: float
    range_: tuple[float, float]
    answer: str
    intervals: tuple[IntervalView, ...]


def inverse_view(solution: InverseSolution, file: str) -> InverseView:
    """Return the answer as plain values."""
    return InverseView(
        "qps/inverse/1",
        file,
        solution.name,
        {solution.population: solution.at},
        str(solution.dimension),
        solution.current,
        (solution.low, solution.high),
        inverse_answer(solution),
        tuple(
            IntervalView(i.low, i.high, i.fails_below, i.fails_above) for i in solution.intervals
        ),
    )


def inverse_answer(solution: InverseSolution) -> str:
    """Return the answer in words: how large the number must be, and what fails otherwise."""
    name = printable(solution.name)
    users = f"{solution.at:,} user{'s' * (solution.at != 1)}"
    now = f"It is {_told(solution, solution.current)} now."
    kind = "its range" if solution.is_declared_range else "a million times less and more than now"
    whole = f"{_told(solution, solution.low)} to {_told(solution, solution.high)}, {kind}"
    if not solution.intervals:
        return f"No {name} carries {users} (looked in {whole}). {now}"
    parts = [_interval(solution, interval) for interval in solution.intervals]
    if parts == [None]:
        return f"Every {name} carries {users} ({whole}). {now}"
    told = ", or ".join(part for part in parts if part is not None)
    return f"{users}: {name} must be {told}. {now}"


def _interval(solution: InverseSolution, interval: Interval) -> str | None:
    low, high = _told(solution, interval.low, 6), _told(solution, interval.high, 6)
    below, above = interval.fails_below, interval.fails_above
    if below is None and above is None:
        return None
    if above is None:
        return f"at least {low} (below it, {below} fails)"
    if below is None:
        return f"at most {high} (above it, {above} fails)"
    return f"between {low} (below it, {below} fails) and {high} (above it, {above} fails)"


def _told(solution: InverseSolution, value: float, digits: int = 4) -> str:
    return quantity(value, solution.dimension, digits)
