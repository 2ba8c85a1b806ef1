"""A dashboard for Grafana: predictions, and beside them what is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from qps.reports.text.monitoring.metric_families import PREFIX, MetricFamily
from qps.reports.text.words.phrases import phrase

_WIDTH = 24
"""Columns of a dashboard."""
_SMALL, _HALF = 6, 12
_STAT_HEIGHT, _HEIGHT = 4, 8
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_OF_SPEC = '{spec="$spec"}'
_SCHEMA = 39
"""Version of Grafana's format, of its version 10.2."""
_DRIFT_LIMIT = 0.2
POPULATION = "users"
"""What the measured population is called: it is compared with the capacity."""


class _Layout:
    """Places panels from left to right, in rows."""

    def __init__(self) -> None:
        self.panels: list[dict[str, Any]] = []
        self._x = self._y = self._row = 0

    def add(self, panel: dict[str, Any], width: int, height: int) -> None:
        """Place a panel in this row, or in the next one if it is full."""
        if self._x + width > _WIDTH:
            self._x, self._y = 0, self._y + self._row
            self._row = 0
        place = {"x": self._x, "y": self._y, "w": width, "h": height}
        self.panels.append(panel | {"id": len(self.panels) + 1, "gridPos": place})
        self._x, self._row = self._x + width, max(self._row, height)


def grafana_dashboard(
    title: str, families: Sequence[MetricFamily], measured: Mapping[str, str]
) -> dict[str, Any]:
    """Return a dashboard of metrics, as Grafana imports it.

    `measured` has the queries that are compared, by the prediction that each is compared with, in
    the form of `prediction_queries`.
    """
    spec = families[0].samples[0].labels["spec"]
    names = {one.name for one in families}
    layout = _Layout()
    for panel in _stats(names):
        layout.add(panel, _SMALL, _STAT_HEIGHT)
    for panel in _charts(names):
        layout.add(panel, _HALF, _HEIGHT)
    if measured:
        predicted = prediction_queries(families)
        pairs = {n: (predicted[n], query) for n, query in measured.items() if n != POPULATION}
        if pairs:
            layout.add(_drift(pairs), _WIDTH, _HEIGHT)
        for name, query in measured.items():
            layout.add(_comparison(name, predicted[name], query), _HALF, _HEIGHT)
    return {
        "title": title,
        "uid": None,
        "tags": ["qps", "capacity"],
        "timezone": "browser",
        "schemaVersion": _SCHEMA,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-7d", "to": "now"},
        "templating": {"list": [*_variables(spec)]},
        "annotations": {"list": []},
        "panels": layout.panels,
    }


def prediction_queries(families: Sequence[MetricFamily]) -> dict[str, str]:
    """Return the query of each prediction that one measures, by the name of what is measured.

    Utilizations have the name of their resource, latencies and rates that of the measure, and the
    population that of its metric.
    """
    found = {POPULATION: f"{PREFIX}capacity_users{_OF_SPEC}"}
    for family in families:
        ending = _ENDINGS.get(family.name)
        if ending is None:
            continue
        label, suffix = ending
        for sample in family.samples:
            of = sample.labels[label]
            found[of + suffix] = f'{family.full_name}{{spec="$spec",{label}={_quoted(of)}}}'
    return found


_ENDINGS = {
    "resource_utilization_ratio": ("resource", ""),
    "stream_rate_per_second": ("stream", ".rate"),
    "stream_latency_seconds": ("stream", ".latency"),
}
"""What is predicted and measured: the label of whose it is, and how the name of that ends."""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _variables(spec: str) -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Source"}
    yield {
        "name": "spec",
        "type": "query",
        "label": "Spec",
        "datasource": _SOURCE,
        "query": {"query": f"label_values({PREFIX}capacity_users, spec)", "refId": "spec"},
        "refresh": 2,
        "current": {"text": spec, "value": spec},
    }


def _stats(names: set[str]) -> Iterator[dict[str, Any]]:
    """Yield panels of single numbers."""
    yield _stat(phrase("metrics.panel.capacity"), _query("capacity_users"))
    if "reliable_capacity_users" in names:
        yield _stat(phrase("metrics.panel.reliable"), _query("reliable_capacity_users"))
    yield _stat(phrase("metrics.panel.population"), _query("population_users"))
    limited = _target(_query("limit_info"), "{{limited_by}}")
    yield _panel("stat", phrase("metrics.panel.limit"), [limited], "short") | {
        "options": {"textMode": "name", "reduceOptions": {"calcs": ["lastNotNull"]}}
    }


def _charts(names: set[str]) -> Iterator[dict[str, Any]]:
    """Yield panels of what is predicted, over time: predictions change with the spec."""
    loads = [
        _target(_query("resource_utilization_ratio"), "{{resource}}"),
        _target(_query("resource_limit_ratio"), "{{resource}} " + phrase("metrics.series.limit")),
    ]
    yield _panel("timeseries", phrase("metrics.panel.utilization"), loads, "percentunit")
    charts = (
        ("requirement_headroom_ratio", "headroom", "{{requirement}}", "percentunit"),
        ("requirement_supported_users", "supported", "{{requirement}}", "short"),
        ("stream_latency_seconds", "latency", "{{stream}}", "s"),
        ("stream_rate_per_second", "rate", "{{stream}}", "short"),
    )
    for name, title, legend, unit in charts:
        if name in names:
            targets = [_target(_query(name), legend)]
            yield _panel("timeseries", phrase(f"metrics.panel.{title}"), targets, unit)


def _drift(pairs: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the panel of how much what is measured differs from what is predicted."""
    targets = [
        _target(drift_query(predicted, measured), name)
        for name, (predicted, measured) in pairs.items()
    ]
    panel = _panel("timeseries", phrase("metrics.panel.drift"), targets, "percentunit")
    steps = [{"color": "green", "value": None}, {"color": "red", "value": _DRIFT_LIMIT}]
    panel["fieldConfig"]["defaults"]["thresholds"] = {"mode": "absolute", "steps": steps}
    panel["fieldConfig"]["defaults"]["custom"] = {"thresholdsStyle": {"mode": "line"}}
    return panel


def drift_query(predicted: str, measured: str) -> str:
    """Return the query of a relative difference; its sides need not have the same labels."""
    return f"scalar({measured}) / {predicted} - 1"


def _comparison(name: str, predicted: str, measured: str) -> dict[str, Any]:
    series = "capacity" if name == POPULATION else "predicted"
    targets = [
        _target(measured, phrase("metrics.series.measured")),
        _target(predicted, phrase(f"metrics.series.{series}")),
    ]
    is_share = "resource_utilization_ratio" in predicted
    unit = "percentunit" if is_share else "s" if name.endswith(".latency") else "short"
    return _panel("timeseries", phrase("metrics.panel.measured", name=name), targets, unit)


def _stat(title: str, query: str) -> dict[str, Any]:
    return _panel("stat", title, [_target(query, "")], "short")


def _panel(kind: str, title: str, targets: list[dict[str, Any]], unit: str) -> dict[str, Any]:
    lettered = [one | {"refId": chr(ord("A") + place)} for place, one in enumerate(targets)]
    return {
        "type": kind,
        "title": title,
        "datasource": _SOURCE,
        "targets": lettered,
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
    }


def _target(query: str, legend: str) -> dict[str, Any]:
    return {"datasource": _SOURCE, "expr": query, "legendFormat": legend}


def _query(name: str) -> str:
    return f"{PREFIX}{name}{_OF_SPEC}"
