"""CPU of pods beside their requests: the cores of each service, window by window.

cAdvisor counts a pod as a whole, each of its containers, and the one that only keeps the pod
together (`POD`): where there are containers, these alone count. A pod without a workload's name in
its own is one of its Deployment: `cart-7d9c5b6f4d-x2x9p`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil
from statistics import median

from qps.compiler.diagnostics.suggest import listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.service_graphs.growing_series import GrowingSeries
from qps.compiler.measurement.service_graphs.service_edges import ServiceEdge
from qps.compiler.measurement.traces.cpu_tables import CpuRow, CpuTable, service_of

CPU = "container_cpu_usage_seconds_total"
_PODS = ("pod", "pod_name", "kubernetes_pod_name")
_CONTAINERS = ("container", "container_name")
_WORKLOADS = ("workload", "deployment", "service", "app", "name", *_CONTAINERS)
_PAUSE = "POD"
_LEAST_WINDOW, _MOST_WINDOWS = 60.0, 200
_FEWEST_WINDOWS = 5


def is_cpu(series: GrowingSeries) -> bool:
    """Return whether a series is of the CPU of pods; without a name, by its labels."""
    if series.name:
        return series.name == CPU
    return any(label in series.labels for label in (*_PODS, *_CONTAINERS))


def pod_cpu(
    series: Sequence[GrowingSeries], requests: Mapping[str, Sequence[ServiceEdge]], file: str
) -> CpuTable:
    """Return windows of cores and requests per s of each service in `requests`.

    DataError where CPU was counted, but only once.
    """
    notes: list[str] = []
    found: dict[str, list[GrowingSeries]] = {}
    for one in _without_duplicates(series, notes):
        found.setdefault(_service(one.labels, requests), []).append(one)
    rows = {
        service: _rows(cpu, [one for edge in requests.get(service, ()) for one in edge.counts])
        for service, cpu in found.items()
    }
    return CpuTable(file=file, rows=rows, notes=tuple(notes))


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _without_duplicates(series: Sequence[GrowingSeries], notes: list[str]) -> list[GrowingSeries]:
    """Return the series that count each second once."""
    instant = [one for one in series if one.is_instant]
    if instant:
        raise DataError(
            f"`{CPU}` has one value for each container, and no rate",
            "save it with `query_range`, or query `rate(…[5m])`",
        )
    pods: dict[tuple[str, str], list[GrowingSeries]] = {}
    for one in series:
        key = one.labels.get("namespace", ""), _first(one.labels, _PODS)
        pods.setdefault(key, []).append(one)
    found: list[GrowingSeries] = []
    twice: dict[str, None] = {}
    for of in pods.values():
        containers = [one for one in of if _first(one.labels, _CONTAINERS) not in ("", _PAUSE)]
        chosen = containers or [one for one in of if _first(one.labels, _CONTAINERS) != _PAUSE]
        totals = [one for one in chosen if one.labels.get("cpu", "total") == "total"]
        once: dict[tuple[tuple[str, str], ...], GrowingSeries] = {}
        for one in totals or chosen:
            labels = {k: v for k, v in one.labels.items() if k not in _SCRAPED}
            what = tuple(sorted(labels.items()))
            if what in once:
                twice[one.labels.get("job", "?")] = None
            else:
                once[what] = one
        found += once.values()
    if twice:
        jobs = listed([f"`{shortened(one)}`" for one in twice], "and")
        notes.append(f"series of the same containers were scraped twice; those of {jobs} left out")
    return found


_SCRAPED = ("job", "instance", "prometheus", "endpoint", "metrics_path", "replica")
"""Labels that say who asked, not what was counted."""


def _service(labels: Mapping[str, str], services: Iterable[str]) -> str:
    """Return which service a series is of: by its pod, else by a label with its name."""
    known = {_plain(one): one for one in services}
    pod = _first(labels, _PODS)
    candidates = [service_of(pod), _of_set(pod), *(labels.get(name, "") for name in _WORKLOADS)]
    space = labels.get("namespace", "")
    for one in filter(None, candidates):
        for name in (f"{one}.{space}", one):
            if _plain(name) in known:
                return known[_plain(name)]
    return candidates[0] or _first(labels, _WORKLOADS) or "?"


def _of_set(pod: str) -> str:
    """Return the StatefulSet of a pod: its name without the number.

    >>> _of_set("db-0"), _of_set("db")
    ('db', 'db')
    """
    head, _, number = pod.rpartition("-")
    return head if number.isdecimal() else pod


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _rows(cpu: Sequence[GrowingSeries], requests: Sequence[GrowingSeries]) -> tuple[CpuRow, ...]:
    """Return windows within the time of both; none of a service without requests."""
    if not requests:
        return ()
    times = sorted({time for one in cpu for time in one.times})
    begin = max(times[0], min(one.times[0] for one in requests))
    end = min(times[-1], max(one.times[-1] for one in requests))
    if end <= begin:
        return ()
    step = median(b - a for a, b in pairwise(times))
    length = max(step, (end - begin) / _MOST_WINDOWS, min(_LEAST_WINDOW, _fifth(begin, end)))
    count = max(1, int((end - begin) / (step * ceil(length / step - 1e-9)) + 1e-9))
    edges = [begin + (end - begin) * number / count for number in range(count + 1)]
    return tuple(
        CpuRow(cores=_rate(cpu, a, b), rate=_rate(requests, a, b)) for a, b in pairwise(edges)
    )


def _fifth(begin: float, end: float) -> float:
    return (end - begin) / _FEWEST_WINDOWS


def _rate(series: Sequence[GrowingSeries], begin: float, end: float) -> float:
    grown = sum(one.up_to(end) - one.up_to(begin) for one in series)
    return grown / (end - begin)
