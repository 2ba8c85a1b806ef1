"""The processor time of a request at each service: CPU over requests, window by window.

Where rates vary enough, the part that a service uses without requests is fitted and taken
away; where they hardly vary, CPU divided by requests is the most that a request can cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from msgspec import Struct

from qps.compiler.measurement.student_t import student_quantile
from qps.compiler.measurement.traces.cpu_tables import CpuRow, CpuTable
from qps.compiler.measurement.traces.elapsed_spreads import FEWEST, LEVEL, ratio_spread

_LEAST_VARIATION = 0.2
"""Of rates, relative to their mean: with less, a slope is noise."""
_FEWEST_REQUESTS = 1e-9
_OF_FEW_WINDOWS = 0.5
_ANYTHING = 0.99
"""A relative spread: nothing more is known than an upper end."""


class CpuCost(Struct, frozen=True, kw_only=True):
    """The processor time of a request in s, `spread` to either side (95 %), relative.

    `idle` is what the service uses without requests, in cores, 0 where that is not known; `rate`
    are its mean requests per s, and `variation` is how much they vary from window to window.
    """

    service: str
    seconds: float
    spread: float
    idle: float
    windows: int
    rate: float
    variation: float
    notes: tuple[str, ...] = ()


class CpuCosts(Struct, frozen=True, kw_only=True):
    """Costs by service, from which file, and what is to be said of all of them."""

    file: str
    services: Mapping[str, CpuCost]
    notes: tuple[str, ...] = ()


def cpu_costs(table: CpuTable, services: Iterable[str]) -> CpuCosts:
    """Return the costs of services, by the names that traces have for them."""
    found: dict[str, CpuCost] = {}
    by_name = {_plain(name): rows for name, rows in table.rows.items()}
    names = [*services]
    for service in names:
        rows = by_name.get(_plain(service), ())
        cost = _cost(service, rows)
        if cost is not None:
            found[service] = cost
    notes = [*table.notes]
    unknown = sorted(set(by_name) - set(map(_plain, names)))
    if unknown:
        shown = ", ".join(unknown[:5]) + ", …" * (len(unknown) > 5)  # noqa: PLR2004
        notes.append(f"services of `{table.file}` that have no requests: {shown}")
    notes += _doubts(found.values())
    return CpuCosts(file=table.file, services=found, notes=tuple(notes))


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _cost(service: str, rows: Sequence[CpuRow]) -> CpuCost | None:
    """Return the cost of one service, None where it served nothing."""
    requests = sum(row.rate for row in rows)
    cores = sum(row.cores for row in rows)
    if requests <= _FEWEST_REQUESTS or cores <= 0:
        return None
    fitted = _with_idle(rows)
    if fitted is not None:
        seconds, spread, idle = fitted
        notes: tuple[str, ...] = ()
        if idle > cores / len(rows) / 2:
            unused = 100 * idle * len(rows) / cores
            ratio = 1000 * cores / requests
            note = f"{unused:.0f} % of its CPU is used without requests; CPU divided by requests"
            notes = (f"{note} would be {ratio:.3g} ms",)
    else:
        seconds, idle = cores / requests, 0.0
        of_ratio = ratio_spread([(row.rate, row.cores) for row in rows])
        spread = _OF_FEW_WINDOWS if of_ratio is None else of_ratio
        notes = ()
    return CpuCost(
        service=service,
        seconds=seconds,
        spread=min(spread, _ANYTHING),
        idle=idle,
        windows=len(rows),
        rate=requests / len(rows),
        variation=_variation(rows),
        notes=notes,
    )


def _doubts(costs: Iterable[CpuCost]) -> Iterable[str]:
    """Yield which costs may be too high, as it is not known what services use without requests."""
    steady = [one for one in costs if not one.idle and one.variation < _LEAST_VARIATION]
    if steady:
        shown = ", ".join(f"{one.service} {100 * one.variation:.0f} %" for one in steady)
        yield (
            f"warning: rates hardly vary ({shown}), so what these services use without requests "
            "cannot be separated: it is part of their cost, which may be lower"
        )


def _variation(rows: Sequence[CpuRow]) -> float:
    mean = sum(row.rate for row in rows) / len(rows)
    squares = sum((row.rate - mean) ** 2 for row in rows)
    return sqrt(squares / max(1, len(rows) - 1)) / mean if mean else 0.0


def _with_idle(rows: Sequence[CpuRow]) -> tuple[float, float, float] | None:
    """Return slope, its relative spread and the part without requests, where both are certain."""
    count = len(rows)
    if count < FEWEST + 2 or _variation(rows) < _LEAST_VARIATION:
        return None
    x, y = [row.rate for row in rows], [row.cores for row in rows]
    mean_x, mean_y = sum(x) / count, sum(y) / count
    spread_x = sum((one - mean_x) ** 2 for one in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread_x
    idle = mean_y - slope * mean_x
    rest = sum((b - idle - slope * a) ** 2 for a, b in zip(x, y, strict=True)) / (count - 2)
    quantile = student_quantile(LEVEL, count - 2)
    of_slope = quantile * sqrt(rest / spread_x)
    of_idle = quantile * sqrt(rest * (1 / count + mean_x**2 / spread_x))
    if idle <= of_idle or slope + of_slope <= 0:
        return None
    if slope > of_slope:
        return slope, of_slope / slope, idle
    # It may cost next to nothing, or up to the end of the interval.
    middle = (slope + of_slope) / 2
    return middle, _ANYTHING, max(0.0, mean_y - middle * mean_x)
