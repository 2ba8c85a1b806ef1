"""A load-dependent station fitted to throughput by the number of clients.

The model is the closed network of `closed_loop`. Its numbers are those that miss the logarithms of
the measured response times by the least squares: noise is a share of what is measured. Without
think time, that is the number of clients over the throughput; with it, the cycle of a client
without the think time, so that the throughput of a system that is hardly used does not hide what
a request takes. Which numbers a table shows is chosen by the information criterion of H. Akaike
(1974), with a noise that is expected to be small, but may be any (`noise_prior`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.noise_prior import expected_noise, noise_evidence
from qps.compiler.measurement.scalability.closed_loop import (
    NUMBERS,
    ClosedLoops,
    log_throughput,
)
from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.levenberg_marquardt import least_point
from qps.compiler.measurement.scalability.model_uncertainty import (
    LEAST_WEIGHT,
    choice_covariance,
    choice_weights,
    compared_clients,
)
from qps.compiler.measurement.scalability.percentile_variation import service_variation
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.scalability.station_fit import NOISE, SPREAD, StationFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OPTIONAL = ("delay", "parallel", "bonus", "contention", "coherency")
"""Numbers that are there only where a table shows them; the demand always is."""
_NEEDS = {"coherency": "contention", "bonus": "parallel"}
"""A number that is there only with another: a little noise would be read as a collapse."""
_BOUNDS = {
    "demand": (-inf, inf),
    "delay": (log(1e-6), log(1e6)),
    "parallel": (0.0, log(1e6)),
    "bonus": (log(1e-3), 0.0),
    "contention": (log(1e-6), 0.0),
    "coherency": (log(1e-9), 0.0),
}
"""Of the logarithms of the numbers; a delay is a multiple of the demand."""
_DELAYS = (0.3, 3.0)
_BONUS, _CONTENTION, _COHERENCY = 0.3, 0.03, 1e-4
"""Where numbers are looked for first."""
_MOST_KNOTS = 48
_FEWEST_SETTINGS = 3
"""Numbers of clients from which one may be left out."""
_POOR = 0.06
"""Root mean square of errors from which processor times do not belong to what limits a table."""
_CHOICE = 1.25
"""How much less certain the numbers are as they were chosen by the same table."""
_RANGE = 0.7
"""By what share of itself a number may be off, however little the rows show of it."""
_ALIKE = 0.01
"""Share of a response time by which one row may be missed more than by other numbers: noise."""
_EXPECTED = 1e-6
"""Squares of errors that no step is taken for."""
_NOTHING = 1e-12
"""A coherency that makes no difference."""
_SATURATING, _MOST_SATURATING = 16, 20_000
"""Clients, as a multiple of those that were measured, that keep all cores busy."""
_CHANGE = 0.05
"""By what share requests of many clients cost another time than those of the few that show what
busy cores can do: caches, processes, requests that are read together. A standard deviation."""
_FEWEST_FITS, _MOST_FITS = 3, 48
"""Numbers of clients up to which each is left out by itself; of more, several at once."""
_PARTS = 16
"""In how many parts rows of more numbers of clients are left out."""
_MOST_IN_ARRAY = 2**17
"""Clients of all those fits: of ten thousand each there are as few as take some seconds."""


class _Rows(Struct, frozen=True, eq=False, dict=True, kw_only=True):
    """Numbers of clients, the logarithms of their response times, and what else was measured.

    `think` is the time (s) that each client waits between a response and its next request;
    `demands` are logarithms of demands (s) that were measured by themselves. The last row may be no
    run: so many clients have the throughput of cores that are always busy, by a run of
    `limit_clients`.
    """

    clients: NDArray[np.int64]
    logs: NDArray[np.float64]
    think: float
    demands: NDArray[np.float64]
    limit_clients: int = 0

    @property
    def measured(self) -> NDArray[np.int64]:
        """The numbers of clients that were measured."""
        return self.clients[:-1] if self.limit_clients else self.clients

    @cached_property
    def settings(self) -> int:
        """How many different numbers of clients there are."""
        return len(set(self.clients.tolist()))

    @cached_property
    def knots(self) -> NDArray[np.int64]:
        """Numbers of clients at which response times are computed; between them, they are lines.

        All numbers, or so many that neighbors differ by a seventh: lines miss by a thousandth or
        two there.
        """
        counts = np.unique(self.clients)
        if len(counts) <= _MOST_KNOTS:
            return counts
        spaced = np.geomspace(counts[0], counts[-1], _MOST_KNOTS)
        return np.unique(spaced.round().astype(np.int64))

    @cached_property
    def loops(self) -> ClosedLoops:
        """The closed loops of the knots."""
        return ClosedLoops(self.knots)

    @cached_property
    def lines(self) -> NDArray[np.float64]:
        """How much of each knot is in each row."""
        at, knots = np.log(self.clients), np.log(self.knots)
        return np.stack([np.interp(at, knots, row) for row in np.eye(len(knots))], axis=1)

    def errors(
        self, names: Sequence[str], point: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return by how much numbers miss the logarithm of each row, and the slopes of that."""
        law = _law(names, point, self.think)
        found, slopes = self.loops.throughputs(law)
        cycles = self.knots / np.exp(found)
        responses = np.maximum(cycles - self.think, 1e-9 * cycles)
        slopes = -(cycles / responses)[:, None] * slopes
        errors = self.lines @ np.log(responses) - self.logs
        at = [NUMBERS.index(name) for name in names]
        jacobian = self.lines @ slopes[:, at]
        if "delay" in names:  # its logarithm is that of a multiple of the demand
            own = jacobian[:, names.index("delay")]
            own *= 1 - self.think / law.delay
            jacobian[:, 0] += own
        if len(self.demands):
            errors = np.concatenate([errors, point[0] - self.demands])
            of_demand = np.zeros((len(self.demands), len(names)))
            of_demand[:, 0] = 1.0
            jacobian = np.concatenate([jacobian, of_demand])
        return errors, jacobian

    @cached_property
    def shortest_response(self) -> float:
        """The response time of the fewest clients (s), as if none of them waited for another."""
        return exp(self.logs[int(self.clients.argmin())])

    @cached_property
    def speed_up(self) -> float:
        """How many clients without any wait have the largest throughput."""
        rates = self.clients / (np.exp(self.logs) + self.think)
        return max(1.001, float(rates.max()) * self.shortest_response)

    def without(self, clients: frozenset[int]) -> _Rows:
        """Return the rows of other numbers of clients."""
        others = ~np.isin(self.clients, list(clients))
        if self.limit_clients in clients:
            return self.unlimited(others)
        return replace(self, clients=self.clients[others], logs=self.logs[others])

    def unlimited(self, others: NDArray[np.bool_] | None = None) -> _Rows:
        """Return some of the rows, all where none are given, without the last one."""
        measured = np.ones(len(self.clients), dtype=bool) if others is None else others.copy()
        measured[-1] = False
        clients, logs = self.clients[measured], self.logs[measured]
        return replace(self, clients=clients, logs=logs, limit_clients=0)


class _Candidate(Struct, frozen=True, kw_only=True, eq=False):
    """A choice of numbers, their best logarithms, and how well they do."""

    names: tuple[str, ...]
    point: NDArray[np.float64]
    errors: NDArray[np.float64]
    jacobian: NDArray[np.float64]
    squares: float
    criterion: float


def station_fit(table: ClosedTable) -> StationFit:
    """Return the station that fits the throughputs of a table best."""
    rows = _rows(table)
    choices = [*_candidates(rows)]
    is_contradicted = False
    if rows.limit_clients:  # something else may limit: a lock, a disk, a single thread
        measured = rows.unlimited()
        without = [*_candidates(measured)]
        if _missed(_least(choices)) > max(_POOR, 2 * _missed(_least(without))):
            rows, choices = measured, without
    if len(rows.demands):
        plain = replace(rows, demands=rows.demands[:0])
        without = [*_candidates(plain)]
        is_contradicted = _missed(_least(choices)) > max(_POOR, 2 * _missed(_least(without)))
        if is_contradicted:
            rows, choices = plain, without
    best = _least(choices)
    law = _law(best.names, best.point, rows.think)
    count = len(best.names)
    best = _with_coherency(rows, best)
    expected = expected_noise(best.squares, max(0, len(best.errors) - count), NOISE, SPREAD)
    fitted = np.exp(log_throughput(law, np.array(table.clients)))
    return StationFit(
        table=table,
        law=law,
        numbers=best.names,
        weights=_weights(best, choices, expected.variance * _CHOICE**2, rows),
        freedom=expected.freedom,
        noise=sqrt(expected.variance),
        errors=tuple((fitted / np.array(table.throughputs) - 1).tolist()),
        variation=service_variation(table, law) if table.percentiles else None,
        is_cpu_contradicted=is_contradicted,
    )


def _with_coherency(rows: _Rows, best: _Candidate) -> _Candidate:
    """Return a choice with a coherency of next to nothing, if the table shows none.

    It may be there all the same: a table that ends before the peak does not show it. Of drawn
    tables, 90 % intervals of the throughput of twice to four times the clients held 64 % without
    it, 84 % with it; of rows that were left out, 83 % and 87 %.
    """
    if "coherency" in best.names or rows.settings <= len(best.names):
        return best
    names, point = (*best.names, "coherency"), np.append(best.point, log(_NOTHING))
    errors, jacobian = rows.errors(names, point)
    return replace(best, names=names, point=point, errors=errors, jacobian=jacobian)


def _missed(found: _Candidate) -> float:
    """Return by how much the numbers miss the rows: the root of the mean square."""
    return sqrt(found.squares / len(found.errors))


def unseen_errors(fit: StationFit) -> tuple[float, ...] | None:
    """Return, for each row, how far off a fit without its number of clients predicts it.

    Predicted throughput over the measured one, less 1; None where too few settings are left. Of
    many numbers of clients, every so many are left out at once; then each fit has the same numbers
    as the whole table shows.
    """
    table, rows = fit.table, _rows(fit.table)
    if rows.settings < _FEWEST_SETTINGS:
        return None
    predicted: dict[int, float] = {}
    counts = sorted(set(table.clients))
    folds = min(_MOST_FITS, max(_FEWEST_FITS, _MOST_IN_ARRAY // counts[-1]))
    are_many = len(counts) > _MOST_FITS
    folds = min(folds, _PARTS) if are_many else min(folds, len(counts))
    for fold in range(folds):
        left_out = counts[fold::folds]
        others = rows.without(frozenset(left_out))
        best = _refitted(others, fit) if are_many else _least(_candidates(others))
        law = _law(best.names, best.point, rows.think)
        found = np.exp(log_throughput(law, np.array(left_out))).tolist()
        predicted |= dict(zip(left_out, found, strict=True))
    pairs = zip(table.clients, table.throughputs, strict=True)
    return tuple(predicted[clients] / measured - 1 for clients, measured in pairs)


def _refitted(rows: _Rows, fit: StationFit) -> _Candidate:
    """Return the best fit with the numbers of another one to most of the same rows."""
    law = fit.law
    values = {name: float(getattr(law, name) or 0.0) for name in fit.numbers}
    if "delay" in values:
        values["delay"] = (law.delay - rows.think) / law.demand
    names = tuple(name for name, value in values.items() if value > 2 * _NOTHING)
    return _candidate(rows, names, [np.log([values[name] for name in names])])


def _rows(table: ClosedTable) -> _Rows:
    clients, responses, limit_clients = [*table.clients], [*table.responses], 0
    if table.limit is not None:
        many = min(_SATURATING * table.most, max(2 * table.most, _MOST_SATURATING))
        clients.append(many)
        responses.append(max(many / table.limit.throughput - table.think, 1e-9))
        limit_clients = table.limit.clients
    return _Rows(
        clients=np.array(clients),
        logs=np.log(np.array(responses)),
        think=table.think,
        demands=np.log(np.array(table.demands)),
        limit_clients=limit_clients,
    )


def _least(choices: Iterable[_Candidate]) -> _Candidate:
    """Return the choice of numbers of the best criterion."""
    return min(choices, key=lambda found: found.criterion)


def _candidates(rows: _Rows) -> Iterator[_Candidate]:
    """Yield the best fit of each choice of numbers that there are rows for."""
    most = max(1, min(len(_OPTIONAL), rows.settings - 2))
    for count in range(most + 1):
        for chosen in combinations(_OPTIONAL, count):
            if all(_NEEDS.get(name, name) in chosen for name in chosen):
                yield _candidate(rows, ("demand", *chosen))


def _candidate(
    rows: _Rows, names: tuple[str, ...], starts: Sequence[NDArray[np.float64]] = ()
) -> _Candidate:
    low, high = map(np.array, zip(*(_BOUNDS[name] for name in names), strict=True))
    tried = [
        least_point(lambda point: rows.errors(names, point), start, low, high, _EXPECTED)
        for start in starts or _starts(rows, names)
    ]
    best = min(tried, key=lambda found: found.squares)
    return _Candidate(
        names=names,
        point=best.point,
        errors=best.errors,
        jacobian=best.jacobian,
        squares=best.squares,
        criterion=_criterion(best.squares, len(best.errors), len(names)),
    )


def _criterion(squares: float, rows: int, numbers: int) -> float:
    """Return the information criterion of so many numbers that miss rows by squares of errors."""
    return 2 * numbers - 2 * noise_evidence(squares + rows * _ALIKE**2, rows, NOISE, SPREAD)


def _law(names: Sequence[str], point: NDArray[np.float64], think: float) -> ScalabilityLaw:
    """Return the law whose numbers have these logarithms."""
    values = {name: exp(value) for name, value in zip(names, point.tolist(), strict=True)}
    delay = values.pop("delay", 0.0) * values["demand"] + think
    return ScalabilityLaw(**values, delay=delay)


def _starts(rows: _Rows, names: tuple[str, ...]) -> Iterator[NDArray[np.float64]]:
    """Yield the points from which the best numbers are looked for."""
    for delay in _DELAYS if "delay" in names else (0.0,):
        start = {
            "demand": rows.shortest_response / (1 + delay),
            "delay": delay,
            "parallel": max(1.001, rows.speed_up / (1 + delay)),
            "bonus": _BONUS,
            "contention": _CONTENTION,
            "coherency": _COHERENCY,
        }
        yield np.log([start[name] for name in names])


def _weights(
    best: _Candidate, choices: Sequence[_Candidate], variance: float, rows: _Rows
) -> tuple[tuple[float, ...], ...]:
    """Return a root of the covariance of the numbers, each in its own unit."""
    law = _law(best.names, best.point, rows.think)
    own = {name: float(getattr(law, name) or 0.0) for name in best.names}
    own["delay"] = law.delay - rows.think
    slopes = best.jacobian.copy()
    if "delay" in best.names:  # its logarithm is that of a multiple of the demand
        slopes[:, 0] -= slopes[:, best.names.index("delay")]
    values = np.array([own[name] for name in best.names])
    expected = np.diag(np.where(values > 2 * _NOTHING, (_RANGE * values) ** -2.0, 0.0))
    precision = (slopes / values).T @ (slopes / values) / variance + expected
    lengths = np.sqrt(np.maximum(np.diag(precision), _NOTHING))
    scales = np.outer(lengths, lengths)
    covariance = np.linalg.pinv(precision / scales)
    weights = choice_weights([one.criterion for one in choices])
    clients = compared_clients(int(rows.measured.min()), int(rows.measured.max()))
    middle, slopes = ClosedLoops(clients).throughputs(law)
    slopes = slopes[:, [NUMBERS.index(name) for name in best.names]]
    if "delay" in best.names:  # of its part that is no think time
        slopes[:, best.names.index("delay")] *= own["delay"] / law.delay
    laws = [
        _law(one.names, one.point, rows.think)
        for one, weight in zip(choices, weights, strict=True)
        if weight > LEAST_WEIGHT
    ]
    covariance += choice_covariance(
        slopes / values / lengths / sqrt(variance),
        (np.stack([log_throughput(one, clients) for one in laws]) - middle) / sqrt(variance),
        weights[weights > LEAST_WEIGHT],
        expected / scales,
    )
    if rows.limit_clients and "parallel" in best.names:
        at = best.names.index("parallel")
        covariance[at, at] += (_CHANGE * values[at] * lengths[at]) ** 2
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) / lengths[:, None]
    return tuple(map(tuple, root.tolist()))
