"""A load-dependent station fitted to throughput by the number of clients.

The model is the closed network of `closed_loop`. Its numbers are those that miss the logarithms of
the measured throughputs by the least squares: noise is a share of what is measured. Which numbers
a table shows is chosen by the information criterion of H. Akaike (1974), with a noise that is
expected to be small: `NOISE` of the throughput, which counts as `NOISE_ROWS` rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.scalability.closed_loop import log_throughput
from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.scalability.station_fit import StationFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOISE = 0.03
"""Share of a throughput by which one run is expected to differ from the next."""
NOISE_ROWS = 4
"""How many rows that expectation counts as."""

_OPTIONAL = ("delay", "parallel", "contention", "coherency")
"""Numbers that are there only where a table shows them; the demand always is."""
_BOUNDS = {
    "demand": (-inf, inf),
    "delay": (log(1e-6), log(1e6)),
    "contention": (log(1e-6), 0.0),
    "coherency": (log(1e-9), 0.0),
    "parallel": (0.0, log(1e6)),
}
"""Of the logarithms of the numbers; a delay is a multiple of the demand."""
_DELAYS = (0.3, 3.0)
_CONTENTION, _COHERENCY = 0.03, 1e-4
"""Where numbers are looked for first."""
_MOST_KNOTS = 48
_FEWEST_SETTINGS = 3
"""Numbers of clients from which one may be left out."""


class _Rows(Struct, frozen=True, eq=False, dict=True):
    """Numbers of clients, and the logarithms of their throughputs."""

    clients: NDArray[np.int64]
    logs: NDArray[np.float64]

    @cached_property
    def settings(self) -> int:
        """How many different numbers of clients there are."""
        return len(set(self.clients.tolist()))

    @cached_property
    def knots(self) -> NDArray[np.int64]:
        """Numbers of clients at which throughputs are computed; between them, they are lines.

        All numbers, or so many that neighbors differ by a seventh: lines miss by a thousandth or
        two there.
        """
        counts = np.unique(self.clients)
        if len(counts) <= _MOST_KNOTS:
            return counts
        spaced = np.geomspace(counts[0], counts[-1], _MOST_KNOTS)
        return np.unique(spaced.round().astype(np.int64))

    def errors(self, law: ScalabilityLaw) -> NDArray[np.float64]:
        """Return by how much a law misses the logarithm of each throughput."""
        found = log_throughput(law, self.knots)
        lines = np.interp(np.log(self.clients), np.log(self.knots), found)
        errors: NDArray[np.float64] = lines - self.logs
        return errors

    @cached_property
    def shortest_cycle(self) -> float:
        """The cycle of the fewest clients (s), as if none of them waited for another."""
        first = int(self.clients.argmin())
        return float(self.clients[first]) / exp(self.logs[first])

    @cached_property
    def speed_up(self) -> float:
        """How many clients without any wait have the largest throughput."""
        return max(1.001, exp(float(self.logs.max())) * self.shortest_cycle)

    def without(self, clients: int) -> _Rows:
        """Return the rows of other numbers of clients."""
        others = self.clients != clients
        return _Rows(self.clients[others], self.logs[others])


class _Candidate(Struct, frozen=True, kw_only=True, eq=False):
    """A choice of numbers, their best logarithms, and how well they do."""

    names: tuple[str, ...]
    point: NDArray[np.float64]
    errors: NDArray[np.float64]
    jacobian: NDArray[np.float64]
    squares: float
    criterion: float


def station_fit(table: ClosedTable) -> StationFit:
    """Return the station that fits the throughputs of a table best; DataError without SciPy."""
    _need_scipy(table)
    rows = _rows(table)
    best = _best(rows)
    law = _law(best.names, best.point)
    freedom = NOISE_ROWS + max(0, len(rows.logs) - len(best.names))
    variance = (NOISE_ROWS * NOISE**2 + best.squares) / freedom
    return StationFit(
        table=table,
        law=law,
        numbers=best.names,
        weights=_weights(law, best, variance),
        freedom=freedom,
        noise=sqrt(variance),
        errors=tuple(np.expm1(best.errors).tolist()),
    )


def _need_scipy(table: ClosedTable) -> None:
    """Make sure that SciPy is there, an extra of QPS."""
    try:
        import scipy.optimize  # noqa: F401, PLC0415 - 100 MB, and slow to load
    except ImportError as missing:
        raise DataError(
            f"a fit of `{table.file}` by {table.by} requires SciPy, which is not installed",
            "run `pip install scipy`",
        ) from missing


def unseen_errors(table: ClosedTable) -> tuple[float, ...] | None:
    """Return, for each row, how far off a fit without its number of clients predicts it.

    Predicted throughput over the measured one, less 1; None where too few settings are left.
    """
    rows = _rows(table)
    if rows.settings < _FEWEST_SETTINGS:
        return None
    predicted: dict[int, float] = {}
    for clients in sorted(set(table.clients)):
        best = _best(rows.without(clients))
        at = np.array([clients])
        predicted[clients] = exp(float(log_throughput(_law(best.names, best.point), at)[0]))
    pairs = zip(table.clients, table.throughputs, strict=True)
    return tuple(predicted[clients] / measured - 1 for clients, measured in pairs)


def fitted_throughputs(law: ScalabilityLaw, most: int) -> list[float]:
    """Return the throughputs (1/s) of 1 to `most` clients."""
    found: list[float] = np.exp(log_throughput(law, np.arange(1, most + 1))).tolist()
    return found


def _rows(table: ClosedTable) -> _Rows:
    return _Rows(np.array(table.clients), np.log(np.array(table.throughputs)))


def _best(rows: _Rows) -> _Candidate:
    """Return the choice of numbers of the best criterion."""
    return min(_candidates(rows), key=lambda found: found.criterion)


def _candidates(rows: _Rows) -> Iterator[_Candidate]:
    """Yield the best fit of each choice of numbers that there are rows for."""
    most = max(1, min(len(_OPTIONAL), rows.settings - 2))
    for count in range(most + 1):
        for chosen in combinations(_OPTIONAL, count):
            if "coherency" in chosen and "contention" not in chosen:
                continue  # a little noise would be read as a collapse
            yield _candidate(rows, ("demand", *chosen))


def _candidate(rows: _Rows, names: tuple[str, ...]) -> _Candidate:
    from scipy.optimize import least_squares  # noqa: PLC0415 - an extra, and slow to load

    low, high = zip(*(_BOUNDS[name] for name in names), strict=True)

    tried = [
        least_squares(lambda point: rows.errors(_law(names, point)), start, bounds=(low, high))
        for start in _starts(rows, names)
    ]
    best: Any = min(tried, key=lambda found: float(found.cost))
    squares = 2 * float(best.cost)
    seen = NOISE_ROWS + len(rows.logs)
    return _Candidate(
        names=names,
        point=best.x,
        errors=best.fun,
        jacobian=best.jac,
        squares=squares,
        criterion=seen * log(NOISE_ROWS * NOISE**2 + squares) + 2 * len(names),
    )


def _law(names: tuple[str, ...], point: NDArray[np.float64]) -> ScalabilityLaw:
    """Return the law whose numbers have these logarithms."""
    values = {name: exp(value) for name, value in zip(names, point.tolist(), strict=True)}
    if "delay" in values:
        values["delay"] *= values["demand"]
    return ScalabilityLaw(**values)


def _starts(rows: _Rows, names: tuple[str, ...]) -> Iterator[list[float]]:
    """Yield the points from which the best numbers are looked for."""
    for delay in _DELAYS if "delay" in names else (0.0,):
        start = {
            "demand": rows.shortest_cycle / (1 + delay),
            "delay": delay,
            "contention": _CONTENTION,
            "coherency": _COHERENCY,
            "parallel": max(1.001, rows.speed_up / (1 + delay)),
        }
        yield [log(start[name]) for name in names]


def _weights(
    law: ScalabilityLaw, best: _Candidate, variance: float
) -> tuple[tuple[float, ...], ...]:
    """Return a root of the covariance of the numbers, each in its own unit."""
    inverse = np.linalg.pinv(best.jacobian.T @ best.jacobian)
    values, vectors = np.linalg.eigh(inverse * variance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    if "delay" in best.names:  # its logarithm is that of a multiple of the demand
        root[best.names.index("delay")] += root[best.names.index("demand")]
    scales = np.array([[float(getattr(law, name))] for name in best.names])
    return tuple(map(tuple, (root * scales).tolist()))
