"""What the scripts of a page need to follow an incident when its settings change.

All numbers that a spec states of an incident must be constants: a page has no other values of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import isfinite

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.validation_cache import names_in
from qps.compiler.quantities.dimension import TIME
from qps.reports.pages.json_values import Json
from qps.reports.text.incidents.incident_text import constant_facts
from qps.reports.text.solutions.course_text import duration_scale
from qps.reports.text.words.phrases import phrase, phrases
from qps.solver.incidents.incident_result import IncidentAnswer
from qps.solver.incidents.incident_system import ScalingPolicy

_LEAST = (2 * 60 * 60.0, 2 * 60.0, 0.0)
"""From which times on they are read in hours, in minutes and in seconds, in s."""
_TEXTS = [
    "at",
    "at_once",
    "attempts",
    "backlog",
    "by_chance",
    "by_chance_short",
    "errors",
    "errors_or_timeout",
    "extrapolated",
    "in_time",
    "late",
    "lost",
    "lost_after",
    "lost_so_far",
    "mode",
    "mode_lost",
    "never",
    "never_retries",
    "never_short",
    "no_backlog",
    "none",
    "over",
    "page_random",
    "page_random_over",
    "random_waits",
    "random_waits_short",
    "retries",
    "retry",
    "same_servers",
    "servers",
    "servers_at_most",
    "users_at",
    "users_in",
    "worst",
]
_LABELS = [
    "accuracy",
    "at",
    "attempts",
    "backlog",
    "happens",
    "late",
    "lost",
    "modes",
    "over",
    "servers",
    "worst",
]
_TITLES = {"load": "load_of"} | {key: key for key in ("requests", "backlog", "servers", "hits")}
_NAMES = {"load": "load", "capacity": "capacity"} | {
    "offered": "first", "retries": "retries", "answered": "answered", "failed": "lost"
}  # fmt: skip
_REASONS = [
    "hits_are_set",
    "many_routes",
    "not_followed",
    "not_linear",
    "other_load",
    "overloaded",
    "several_caches",
    "short_timeout",
    "too_long",
    "too_many_machines",
]


def followed_incident(
    answer: IncidentAnswer, incident: ir.Incident, model: ir.Model, configuration: Configuration
) -> Mapping[str, Json] | None:
    """Return what scripts follow an incident from, and what it comes to; None if they cannot."""
    if not _is_constant(incident, model):
        return None
    system, course = answer.system, answer.course
    stated = _Stated(Folder(configuration=in_force(configuration), population=Fraction(answer.at)))
    fixed = [one.name for one in configuration.explicit if isinstance(one, ir.SetParameter)]
    worst = [max(one.backlogs[at] for one in course.points) for at in range(len(system.stations))]
    return {
        "name": answer.name,
        "facts": constant_facts(answer, incident),
        "modes": list(answer.modes),
        "solved": {
            "at": answer.at,
            "clearedAt": course.cleared_at if isfinite(course.cleared_at) else None,
            "lost": course.lost,
            "late": course.late,
            "backlogs": list(worst),
        },
        "capacityChanges": list(_capacity_changes(answer, incident)),
        "trafficChanges": [
            stated.surge(one)
            for one in incident.disturbances
            if one.kind is ir.DisturbanceKind.SURGE
        ],
        "flushes": [{"cache": one.cache, "at": one.at} for one in system.flushes],
        "caches": [
            {"name": one.name, "items": one.items, "exponent": one.zipf, "size": one.size}
            for one in model.caches
        ],
        "fixed": list(fixed),
        "retries": {one.stream: stated.retry(one) for one in model.retrying},
        "scalers": [_scaler(one) for one in system.scalers],
        "time": str(TIME),
        "since": phrase("course.chart.since"),
        "percent": [0.01, "%"],
        "rate": [1.0, phrase("course.chart.rate")],
        "scales": [[*duration_scale(least), least] for least in _LEAST],
        "titles": {key: phrases()[f"course.chart.{of}"] for key, of in _TITLES.items()},
        "names": {key: phrase(f"course.chart.{of}") for key, of in _NAMES.items()},
        "labels": {key: phrase(f"incident.label.{key}") for key in _LABELS},
        "texts": {
            **{key: phrases()[f"incident.{key}"] for key in _TEXTS},
            "minutes": phrases()["course.minutes"],
            "hours": phrases()["course.hours"],
        },
        "reasons": {key: phrases()[f"incident.reason.{key}"] for key in _REASONS},
    }


def _is_constant(incident: ir.Incident, model: ir.Model) -> bool:
    """Return whether no parameter is in what the spec states of an incident."""
    stated: list[ir.Quantity | None] = []
    for one in incident.disturbances:
        stated += [one.amount, one.start, one.length]
    for each in model.retrying:
        stated += each.settings.values()
    for scaler in model.autoscalers:
        stated += [scaler.least, scaler.most, *scaler.settings.values()]
    return not names_in(*(one.expr for one in stated if one is not None))


class _Stated(Struct, frozen=True):
    """The numbers that a spec states, which are constants."""

    folder: Folder

    def value(self, stated: ir.Quantity | None) -> float:
        """Return a number; 0 where none is stated."""
        exact = None if stated is None else self.folder.fold(stated.expr)
        return 0.0 if exact is None else float(exact)

    def times(self, of: ir.Disturbance) -> dict[str, Json]:
        """Return when something starts and ends, in s."""
        start = self.value(of.start)
        return {"start": start, "end": start + self.value(of.length)}

    def surge(self, of: ir.Disturbance) -> Json:
        """Return by how many times a stream has more traffic."""
        return {"stream": of.target, "factor": 1 + self.value(of.amount), **self.times(of)}

    def retry(self, of: ir.Retrying) -> Json:
        """Return what clients do without an answer in time."""
        budget = of.settings.get("budget")
        return {
            "timeout": self.value(of.settings["timeout"]),
            "retries": round(self.value(of.settings["retries"])),
            "backoff": self.value(of.settings.get("backoff")),
            "budget": None if budget is None else self.value(budget),
        }


def _capacity_changes(answer: IncidentAnswer, incident: ir.Incident) -> Iterator[Json]:
    """Yield what happens to nodes: scripts have the factors of some of their machines anew."""
    kinds = (ir.DisturbanceKind.LOSE, ir.DisturbanceKind.FAIL, ir.DisturbanceKind.SLOW)
    stated = (one for one in incident.disturbances if one.kind in kinds)
    for one, change in zip(stated, answer.system.capacity_changes, strict=True):
        yield {
            "kind": one.kind.value,
            "count": one.count,
            "node": change.node,
            "factor": change.factor,
            "start": change.start,
            "end": change.end,
            "isSlower": change.is_slower,
            "answersErrors": change.answers_errors,
        }


def _scaler(one: ScalingPolicy) -> Json:
    return {
        "node": one.node,
        "least": one.least,
        "most": one.most,
        "target": one.target,
        "startup": one.startup,
        "sync": one.sync,
        "stabilization": one.stabilization,
        "tolerance": one.tolerance,
        "step": one.step,
        "growth": one.growth,
        "period": one.period,
    }
