"""How long the numbers of queues take: on arrays, and one by one."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np

from qps.engine.queueing import queue_arrays, queue_numbers
from timings import TimingTable

_COUNT = 4096
_ONES = 256
_LOADS = np.linspace(0.3, 0.995, _COUNT)
_P99 = np.full(_COUNT, 0.99)
_MILLIONS = np.full(_COUNT, 5e6)
_FLOWS = np.geomspace(2, 1e6, _COUNT)

_ASKED: dict[str, tuple[str, tuple[np.ndarray, ...]]] = {
    "erlang_c, 16 servers": ("erlang_c", (np.full(_COUNT, 16.0), 16 * _LOADS)),
    "erlang_c, 5,000,000 servers": ("erlang_c", (_MILLIONS, _MILLIONS * _LOADS)),
    "periodic_wait, to 10^6 flows": ("periodic_wait", (_FLOWS, _LOADS)),
    "md1_quantile, 99 %": ("md1_quantile", (_LOADS, _P99)),
    "batch_quantile, 99 %": ("batch_quantile", (_LOADS, _P99)),
    "sojourn_quantile, 99 %": ("sojourn_quantile", (_LOADS**4, 16 * (1 - _LOADS), _P99)),
    "gamma_quantile, 99 %": ("gamma_quantile", (_LOADS, np.full(_COUNT, 0.25), _P99)),
    "periodic_quantile, to 10^6 flows, 99 %": ("periodic_quantile", (_FLOWS, _LOADS, _P99)),
    "md1_tail": ("md1_tail", (_LOADS, np.full(_COUNT, 5.0))),
    "periodic_tail, to 10^6 flows": ("periodic_tail", (_FLOWS, _LOADS, np.full(_COUNT, 5.0))),
}


def numbers() -> TimingTable:
    """Return for each number of queues what an element costs, alone and in an array."""
    rows = []
    for title, (name, columns) in _ASKED.items():
        alone = getattr(queue_numbers, name)
        alone = getattr(alone, "__wrapped__", alone)  # what is kept is not measured
        every = [column[:: _COUNT // _ONES].tolist() for column in columns]
        ones = _microseconds(lambda: [alone(*row) for row in zip(*every, strict=True)], _ONES)  # noqa: B023 - run at once
        array = _microseconds(lambda: getattr(queue_arrays, name)(*columns), _COUNT)  # noqa: B023
        slopes = _microseconds(lambda: getattr(queue_arrays, f"{name}_slopes")(*columns), _COUNT)  # noqa: B023
        told = f"{ones:.2f}", f"{array:.2f}", f"{slopes:.2f}", f"{ones / array:.0f}"
        rows.append((title, *told))
    return TimingTable(
        "Numbers of queues",
        f"In µs of processor time an element, of loads from 0.3 to 0.995, {_COUNT:,} in an array.",
        ("number", "one by one", "in an array", "all slopes", "times faster"),
        tuple(rows),
    )


def _microseconds(work: Callable[[], object], count: int) -> float:
    """Return what an element takes, of three runs the fastest; the first one warms up."""
    work()
    times = []
    for _ in range(3):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times) / count * 1e6
