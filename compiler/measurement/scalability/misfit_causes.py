"""Why a fit by clients misses rows that it has not seen: what each of them alone shows.

A row decides what no other shows: the fewest clients the time of a single request, the most clients
how throughput levels off, one near the limit of parallel service where saturation begins. Without
it, an interval cannot hold what it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt

from msgspec import Struct

from qps.compiler.measurement.scalability.station_fit import StationFit

_LEAST = 0.05
_DEVIATIONS = 2.0
"""Share of a throughput, and deviations of a run, from which a row is missed by more than noise."""
_RISE = 1.2
"""Growth of the throughput per client that is no noise."""
_SMALL = 0.01
"""Share of a throughput by which a fit may miss rows, whatever shape they have."""
_FEWEST_ALIKE = 8
_ALIKE = 1.96
"""Rows from which neighbors are compared, and standard errors beyond which it is no chance."""


class ThroughputMisfit(Struct, frozen=True, kw_only=True):
    """A cause by its name, the run that shows it, and by how much a fit without it is off there.

    For throughput that grows faster than clients, `error` is by how much more one client has, from
    those of `clients` on.
    """

    cause: str
    line: int
    clients: int
    error: float
    until: int = 0


def misfit_causes(found: StationFit, unseen: Sequence[float] | None) -> Iterator[ThroughputMisfit]:
    """Yield why a fit to the other rows would miss some, one row of each cause."""
    yield from _superlinear(found)
    if _errors_are_alike(found):
        yield ThroughputMisfit(cause="other_shape", line=0, clients=0, error=0.0)
    if unseen is None:
        return
    least = max(_LEAST, _DEVIATIONS * found.noise)
    by_cause: dict[str, ThroughputMisfit] = {}
    table = found.table
    for line, clients, error in zip(table.lines, table.clients, unseen, strict=True):
        if abs(error) > least:
            cause = _cause(found, clients, error)
            known = by_cause.get(cause)
            if known is None or abs(error) > abs(known.error):
                by_cause[cause] = ThroughputMisfit(
                    cause=cause, line=line, clients=clients, error=error
                )
    yield from by_cause.values()


def _cause(found: StationFit, clients: int, error: float) -> str:
    counts = sorted(set(found.table.clients))
    at = counts.index(clients)
    if at == 0:
        return "only_unsaturated"
    if at == len(counts) - 1:
        return "only_saturated" if error > 0 else "still_rising"
    parallel = found.law.parallel
    if parallel is not None and counts[at - 1] <= parallel <= counts[at + 1]:
        return "knee"
    return "unlike_neighbors"


def _superlinear(found: StationFit) -> Iterator[ThroughputMisfit]:
    """Yield from where to where throughput grows faster than clients."""
    table = found.table
    rows = sorted(zip(table.clients, table.lines, table.throughputs, strict=True))
    each = [(throughput / clients, clients, line) for clients, line, throughput in rows]
    best: ThroughputMisfit | None = None
    for i, (rate, clients, line) in enumerate(each):
        later, until, _ = max(each[i:])
        if later > _RISE * rate and (best is None or later / rate - 1 > best.error):
            best = ThroughputMisfit(
                cause="superlinear", line=line, clients=clients, error=later / rate - 1, until=until
            )
    if best is not None:
        yield best


def _errors_are_alike(found: StationFit) -> bool:
    """Return whether errors of neighbors are alike by more than chance."""
    rows = sorted(zip(found.table.clients, found.errors, strict=True))
    errors = [error for _, error in rows]
    if len(errors) < _FEWEST_ALIKE:
        return False
    squares = sum(error * error for error in errors)
    products = sum(one * other for one, other in pairwise(errors))
    is_small = squares <= len(errors) * _SMALL**2
    return not is_small and products / squares * sqrt(len(errors)) > _ALIKE
