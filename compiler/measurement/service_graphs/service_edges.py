"""Who calls whom, how often and how long, by the metrics of Tempo's service graphs or of Istio.

Istio counts a request at its source and at its destination; of an edge, one of them counts: that of
the destination where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from qps.compiler.measurement.service_graphs.growing_series import GrowingSeries
from qps.compiler.measurement.traces.span_names import service_name

Edge = tuple[str, str]
"""A caller and what it calls."""
_TEMPO = "traces_service_graph_request_"
_PAIRS = (
    ("client", "server"),
    ("source_workload", "destination_workload"),
    ("source_canonical_service", "destination_canonical_service"),
    ("source_app", "destination_app"),
)
_UNKNOWN = ("unknown", "")
_FAILED = ("5", "0")
"""With what a code of a response begins that is a failure: 0 is that of none."""
_COUNTS = {f"{_TEMPO}total", "istio_requests_total", ""}
_FAILURES = {f"{_TEMPO}failed_total"}
_TIMES = {
    f"{_TEMPO}server_seconds": ("server_time", 1.0),
    f"{_TEMPO}client_seconds": ("client_time", 1.0),
    "istio_request_duration_milliseconds": ("duration", 1e-3),
    "istio_request_bytes": ("sent", 1.0),
    "istio_response_bytes": ("returned", 1.0),
}
DATABASE, MESSAGES = "database", "messaging_system"


class EdgeMean(Struct, kw_only=True):
    """A mean of requests: what they have together, and how many they are."""

    total: float = 0.0
    count: float = 0.0

    @property
    def value(self) -> float | None:
        """The mean, None of nothing."""
        return self.total / self.count if self.count > 0 else None


class ServiceEdge(Struct, kw_only=True):
    """Calls of a service by another: the series that count them, and what they have in mean.

    `server_time` is how long the service takes, `client_time` how long its caller waits, in s.
    """

    counts: list[GrowingSeries] = field(default_factory=list)
    failed: float = 0.0
    server_time: EdgeMean = field(default_factory=EdgeMean)
    client_time: EdgeMean = field(default_factory=EdgeMean)
    sent: EdgeMean = field(default_factory=EdgeMean)
    returned: EdgeMean = field(default_factory=EdgeMean)
    connection: str = ""

    @property
    def count(self) -> float:
        """How many calls there were."""
        return sum(one.total for one in self.counts)


class ServiceEdges(Struct, frozen=True, kw_only=True):
    """All edges; whether Istio counted them, and names that many workloads have."""

    edges: Mapping[Edge, ServiceEdge]
    is_istio: bool


def is_edge(series: GrowingSeries) -> bool:
    """Return whether a series is of calls between services."""
    known = series.name in _COUNTS | _FAILURES or _mean_of(series.name) is not None
    return known and _pair(series.labels) is not None


def service_edges(series: Sequence[GrowingSeries]) -> ServiceEdges:
    """Return what series say of each edge."""
    mine = [one for one in series if is_edge(one)]
    shared = _shared_names(mine)
    by_edge: dict[Edge, list[GrowingSeries]] = {}
    for one in mine:
        by_edge.setdefault(_edge(one, shared), []).append(one)
    found = {edge: _edge_of(of) for edge, of in by_edge.items()}
    return ServiceEdges(
        edges={edge: one for edge, one in found.items() if one.count > 0},
        is_istio=any("reporter" in one.labels or _is_istio(one.labels) for one in mine),
    )


def _is_istio(labels: Mapping[str, str]) -> bool:
    return any(name.startswith("destination_") for name in labels)


def _mean_of(name: str) -> tuple[str, float, bool] | None:
    """Return which mean a series is a part of, its unit, and whether it is the sum."""
    base, _, ending = name.rpartition("_")
    if base not in _TIMES or ending not in ("sum", "count"):
        return None
    return *_TIMES[base], ending == "sum"


def _pair(labels: Mapping[str, str]) -> tuple[str, str] | None:
    return next((one for one in _PAIRS if one[0] in labels and one[1] in labels), None)


def _shared_names(series: Iterable[GrowingSeries]) -> frozenset[str]:
    """Return the names that workloads of several namespaces have."""
    spaces: dict[str, set[str]] = {}
    for one in series:
        for side in _PAIRS[1]:
            space = one.labels.get(f"{side}_namespace", "")
            if space not in _UNKNOWN:
                spaces.setdefault(one.labels.get(side, ""), set()).add(space)
    return frozenset(name for name, of in spaces.items() if len(of) > 1)


def _edge(series: GrowingSeries, shared: frozenset[str]) -> Edge:
    labels = series.labels
    pair = _pair(labels)
    assert pair is not None
    names = []
    for side in pair:
        name = labels[side]
        space = labels.get(f"{side}_namespace", "")
        if name in _UNKNOWN and side.startswith("destination"):
            name = labels.get("destination_service_name") or name
        name = f"{name}.{space}" if name in shared and space else name
        names.append(service_name(name))
    return names[0], names[1]


def _edge_of(series: Sequence[GrowingSeries]) -> ServiceEdge:
    """Return what the series of one edge say, by one reporter of its counts."""
    reporters = {one.labels.get("reporter", "") for one in series if one.name in _COUNTS}
    reporter = "destination" if "destination" in reporters else min(reporters, default="")
    found = ServiceEdge()
    for one in series:
        found.connection = one.labels.get("connection_type", "") or found.connection
        by = one.labels.get("reporter", "")
        if one.name in _COUNTS and by == reporter:
            found.counts.append(one)
            code = one.labels.get("response_code", one.labels.get("status_code", ""))
            found.failed += one.total * (code[:1] in _FAILED and bool(code))
        elif one.name in _FAILURES:
            found.failed += one.total
        else:
            _add_mean(found, one, by, is_chosen=by == reporter)
    return found


def _add_mean(edge: ServiceEdge, series: GrowingSeries, by: str, *, is_chosen: bool) -> None:
    mean = _mean_of(series.name)
    if mean is None:
        return
    name, unit, is_sum = mean
    if name == "duration":
        name = "client_time" if by == "source" else "server_time"
    elif by and not is_chosen:
        return
    into: EdgeMean = getattr(edge, name)
    if is_sum:
        into.total += unit * series.total
    else:
        into.count += series.total
