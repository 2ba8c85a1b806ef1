"""Phrases of the metrics and dashboards that `qps metrics` writes."""

from __future__ import annotations

MONITORING_PHRASES: dict[str, str] = {
    "metrics.dashboard_written": "{output}: a Grafana dashboard of {panels} panels",
    "metrics.title": "Capacity of {model}",
    "metrics.written": "{samples} metrics at {users} written to {output}",
    # What Prometheus shows of each metric.
    "metrics.help.capacity_users": (
        "Maximum population that meets all requirements, with nominal inputs"
    ),
    "metrics.help.measure": "Value of a measure of the spec, in the unit of its label",
    "metrics.help.population_users": "Population for which these values are predicted",
    "metrics.help.reliable_capacity_users": (
        "Maximum population that meets all requirements at a confidence level, with model errors"
    ),
    "metrics.help.limit_info": "What limits the capacity",
    "metrics.help.requirement": "Predicted value of a requirement, in the unit of its label",
    "metrics.help.requirement_headroom_ratio": (
        "Distance of the predicted value from its limit, as a fraction of the limit"
    ),
    "metrics.help.requirement_limit": "Limit of a requirement, in the unit of its label",
    "metrics.help.requirement_supported_users": "Maximum population that meets the requirement",
    "metrics.help.resource_headroom_ratio": "Utilization limit minus predicted utilization",
    "metrics.help.resource_limit_ratio": "Utilization limit of the resource",
    "metrics.help.resource_saturation_users": (
        "Population at which the resource reaches its utilization limit"
    ),
    "metrics.help.resource_utilization_ratio": "Predicted utilization of the resource",
    "metrics.help.stream_latency_seconds": "Predicted mean latency of the stream",
    "metrics.help.stream_loss_ratio": "Predicted fraction of items that are lost",
    "metrics.help.stream_rate_per_second": "Predicted rate of all items of the stream",
    # Panels of the dashboard.
    "metrics.panel.capacity": "Capacity",
    "metrics.panel.drift": "Drift: measured relative to predicted",
    "metrics.panel.headroom": "Requirements: headroom",
    "metrics.panel.latency": "Predicted mean latency",
    "metrics.panel.limit": "Limited by",
    "metrics.panel.measured": "{name}: measured and predicted",
    "metrics.panel.population": "Users of the prediction",
    "metrics.panel.rate": "Predicted rates",
    "metrics.panel.reliable": "Reliable capacity",
    "metrics.panel.supported": "Users up to which each limit is met",
    "metrics.panel.utilization": "Predicted utilization",
    "metrics.series.limit": "limit",
    "metrics.series.measured": "measured",
    "metrics.series.predicted": "predicted",
    "metrics.series.capacity": "capacity",
}
