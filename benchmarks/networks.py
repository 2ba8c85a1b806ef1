"""How long closed networks take: a million rows, many customers, several classes."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np

from qps.engine.queueing_networks import multiclass_mva, product_form, product_form_arrays
from timings import TimingTable

_ROWS = 100_000
_MILLION = 10**6
_STATIONS = (0.040, 1, 0, 1, 0.050, 1, 0, 1, 0.060, 1, 0, 1)
_SEVERAL = (0.400, 8, 0, 1, 0.050, 1, 0, 1, 0.060, 1, 0, 1)


def closed() -> TimingTable:
    """Return what closed networks of three stations cost."""
    rows = [
        (f"10^6 rows, {count:,} customers, single servers", f"{_of_rows(count):.2f} s")
        for count in (200, 1000)
    ]
    for title, stations in (("single servers", _STATIONS), ("one with 8 servers", _SEVERAL)):
        for count in (200, _MILLION):
            took = _once(lambda: product_form.closed_rate(count, 15, *stations))  # noqa: B023
            rows.append((f"{count:,} customers, {title}", f"{took * 1e3:.2f} ms"))
    places = (1, 0, 1, 0.04, 0.02), (1, 0, 1, 0.05, 0.06), (1, 0, 1, 0.06, 0.01)
    for count in (100, 1000):
        told = (count, count, 15, 30, *(number for place in places for number in place))
        took = _once(lambda: multiclass_mva.class_rate(2, 1, *told))  # noqa: B023
        rows.append((f"two classes of {count:,} customers", f"{took * 1e3:.1f} ms"))
    return TimingTable(
        "Closed networks",
        "Processor time for throughput and all waits of three stations. Two classes of 1,000 are an"
        " approximation, the others exact.",
        ("network", "takes"),
        tuple(rows),
    )


def _of_rows(customers: int) -> float:
    """Return what a million networks would take, each with other demands."""
    chance = np.random.default_rng(16)
    columns: list[np.ndarray] = [np.full(_ROWS, float(customers)), chance.uniform(5, 20, _ROWS)]
    for asked in (0.04, 0.05, 0.06):
        columns.append(asked * chance.uniform(0.5, 1.5, _ROWS))
        columns += [np.full(_ROWS, number) for number in (1.0, 0.0, 1.0)]
    start = process_time()
    product_form_arrays.closed_rate(*columns)
    return (process_time() - start) * _MILLION / _ROWS


def _once(work: Callable[[], object]) -> float:
    """Return what a network takes of which nothing is remembered, of three the fastest."""
    times = []
    for _ in range(3):
        for kept in (product_form.waits_of, multiclass_mva.solved, multiclass_mva.class_rate):
            kept.cache_clear()
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)
