"""A station and a delay that fit a closed load test, and how far off their numbers may be."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw


class StationFit(Struct, frozen=True, kw_only=True):
    """The law that fits a table best, and how far its numbers may be off together.

    `numbers` names those that were fitted; the others are those of no effect. They have a
    multivariate t distribution with `freedom`: each is off by its row of `weights`, in its own
    unit, times independent standard normal numbers, all of these over one root of chi-squared over
    `freedom`. `noise` is the standard deviation of one more run, as a share of its throughput.
    `errors` are, for each row, the fitted throughput over the measured one, less 1.
    """

    table: ClosedTable
    law: ScalabilityLaw
    numbers: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    freedom: int
    noise: float
    errors: tuple[float, ...]

    @property
    def has_limit(self) -> bool:
        """Whether throughput was seen to fall behind the number of clients."""
        return any(name in self.numbers for name in ("contention", "coherency", "parallel"))

    def weights_of(self, name: str) -> tuple[float, ...]:
        """Return how far a fitted number may be off, in its own unit."""
        return self.weights[self.numbers.index(name)]
