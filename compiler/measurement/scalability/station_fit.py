"""A station and a delay that fit a closed load test, and how far off their numbers may be."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw

NOISE = 0.03
"""Share of a throughput by which one run is expected to differ from the next: the median."""
SPREAD = 1.2
"""Standard deviation of its logarithm, from table to table."""


class StationFit(Struct, frozen=True, kw_only=True):
    """The law that fits a table best, and how far its numbers may be off together.

    `numbers` names those that were fitted; the others are those of no effect. They have a
    multivariate t distribution with `freedom`: each is off by its row of `weights`, in its own
    unit, times independent standard normal numbers, all of these over one root of chi-squared over
    `freedom`. `noise` is the standard deviation of one more run, as a share of its throughput.
    `errors` are, for each row, the fitted throughput over the measured one, less 1. `variation` is
    the coefficient of variation of service times, None where no percentile shows it.
    `is_cpu_contradicted` says that measured processor times were not used: with them, no law fits.
    """

    table: ClosedTable
    law: ScalabilityLaw
    numbers: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    freedom: int
    noise: float
    errors: tuple[float, ...]
    variation: float | None = None
    is_cpu_contradicted: bool = False

    @property
    def delay(self) -> float:
        """The part of a response time (s) during which no request waits for another."""
        return self.law.delay - self.table.think

    @property
    def has_limit(self) -> bool:
        """Whether throughput was seen to fall behind the number of clients."""
        slowing = self.law.contention + self.law.coherency
        return self.law.parallel is not None or slowing > 0

    def value_of(self, name: str) -> float:
        """Return a fitted number, in its own unit."""
        return self.delay if name == "delay" else float(getattr(self.law, name))

    def weights_of(self, name: str) -> tuple[float, ...]:
        """Return how far a fitted number may be off, in its own unit."""
        return self.weights[self.numbers.index(name)]
