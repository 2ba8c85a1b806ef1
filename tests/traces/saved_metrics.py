"""Metrics of a small shop as a Prometheus answers a range query, written by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from math import sin
from pathlib import Path
from typing import Any

START, STEP, COUNT = 1_700_000_000, 30, 121
RATIOS = {
    ("user", "front"): 1.0,
    ("front", "cart"): 0.6,
    ("front", "catalog"): 2.0,
    ("cart", "redis"): 1.5,
    ("catalog", "redis"): 0.5,
}
VISITS = {"user": 1.0, "front": 1.0, "cart": 0.6, "catalog": 2.0}
COSTS = {"front": 0.004, "cart": 0.002, "catalog": 0.001}
IDLE = {"front": 0.02, "cart": 0.05, "catalog": 0.0}
SERVED = {"front": 0.03, "cart": 0.008, "catalog": 0.005, "redis": 0.001}
Series = dict[str, Any]


def series(labels: Mapping[str, str], values: Sequence[float], name: str = "") -> Series:
    """Return a series as JSON has it; without a name, of rates."""
    metric = {**({"__name__": name} if name else {}), **labels}
    return {
        "metric": metric,
        "values": [[START + STEP * n, str(value)] for n, value in enumerate(values)],
    }


def save(path: str, found: Iterable[Series], kind: str = "matrix") -> None:
    """Write the answer to a query."""
    answer = {"status": "success", "data": {"resultType": kind, "result": [*found]}}
    Path(path).write_text(json.dumps(answer), encoding="utf-8")


def requests(mean: float = 20.0, swing: float = 15.0, seed: int = 1) -> list[float]:
    """Return how many requests come in from outside in each step, the first of which is none."""
    draw = random.Random(seed)
    steps = range(1, COUNT)
    return [0.0, *((mean + swing * sin(n / 9)) * STEP * draw.uniform(0.97, 1.03) for n in steps)]


def counters(incoming: Sequence[float]) -> dict[tuple[str, str], list[float]]:
    """Return the calls of each edge, added up."""
    found: dict[tuple[str, str], list[float]] = {}
    for edge, ratio in RATIOS.items():
        total, sums = 0.0, []
        for one in incoming:
            total += one * VISITS[edge[0]] * ratio
            sums.append(total)
        found[edge] = sums
    return found


def tempo(incoming: Sequence[float]) -> list[Series]:
    """Return the service graph of Tempo, with times."""
    found = []
    for (client, server), sums in counters(incoming).items():
        labels = {"client": client, "server": server}
        if server == "redis":
            labels["connection_type"] = "database"
        base = "traces_service_graph_request"
        found.append(series(labels, sums, f"{base}_total"))
        for side, more in (("server", 0.0), ("client", 0.001)):
            mean = SERVED[server] + more
            found.append(series(labels, [mean * n for n in sums], f"{base}_{side}_seconds_sum"))
            found.append(series(labels, sums, f"{base}_{side}_seconds_count"))
    return found


def istio(incoming: Sequence[float]) -> list[Series]:
    """Return the metrics of Istio: each request is counted at both ends."""
    found = []
    for (caller, called), sums in counters(incoming).items():
        outside = caller == "user"
        labels = {
            "source_workload": "unknown" if outside else caller,
            "source_workload_namespace": "unknown" if outside else "shop",
            "destination_workload": called,
            "destination_workload_namespace": "shop",
        }
        for reporter in ("destination",) if outside else ("source", "destination"):
            mine = {**labels, "reporter": reporter}
            for code, share in (("200", 0.98), ("503", 0.02)):
                counted = [share * n for n in sums]
                of = {**mine, "response_code": code}
                found.append(series(of, counted, "istio_requests_total"))
            time = SERVED[called] + 0.001 * (reporter == "source")
            base = "istio_request_duration_milliseconds"
            found.append(series(mine, [1000 * time * n for n in sums], f"{base}_sum"))
            found.append(series(mine, sums, f"{base}_count"))
            found.append(series(mine, [2000 * n for n in sums], "istio_response_bytes_sum"))
            found.append(series(mine, sums, "istio_response_bytes_count"))
    return found


def used(incoming: Sequence[float], service: str, seed: int = 2) -> list[float]:
    """Return the seconds of processor that a service has used at each time."""
    draw = random.Random(f"{seed} {service}")
    total, sums = 0.0, []
    for number, one in enumerate(incoming):
        cost = COSTS[service] * draw.uniform(0.98, 1.02)
        total += (VISITS[service] * one * cost + IDLE[service] * STEP) * (number > 0)
        sums.append(total)
    return sums


def pods(incoming: Sequence[float]) -> list[Series]:
    """Return what cAdvisor has: containers, whole pods, and what keeps a pod together."""
    found = []
    for service in COSTS:
        sums = used(incoming, service)
        pod = {"namespace": "shop", "pod": f"{service}-7d9c5b6f4d-x2x9p"}
        name = "container_cpu_usage_seconds_total"
        found.append(series({**pod, "container": service}, sums, name))
        found.append(series(pod, [1.01 * one for one in sums], name))
        found.append(series({**pod, "container": "POD"}, [0.01 * one for one in sums], name))
    return found
