"""Predictions as metrics: a gauge for each kind of value, with what it is of as labels.

The text is valid both as OpenMetrics and in the text format of Prometheus, which takes its last
line for a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf, isnan

from msgspec import Struct

from qps.compiler.ir.measure_names import utilization_of
from qps.reports.text.words.phrases import phrase
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.population_values import PopulationValues, ResourceValues

PREFIX = "qps_"
Labels = Mapping[str, str]
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class MetricSample(Struct, frozen=True):
    """A value, and the labels that distinguish it from others of its metric."""

    value: float
    labels: Labels


class MetricFamily(Struct, frozen=True, kw_only=True):
    """The samples of a gauge, by its name without the prefix."""

    name: str
    samples: tuple[MetricSample, ...]

    @property
    def full_name(self) -> str:
        """The name in queries."""
        return PREFIX + self.name


def metric_families(values: PopulationValues) -> tuple[MetricFamily, ...]:
    """Return the metrics that have samples; what has no value has no sample."""
    answer = values.answer
    common = {"spec": answer.file, "model": answer.model}
    common |= {
        name: value
        for name, value in (("scenario", answer.scenario), ("mode", answer.mode))
        if value is not None
    }
    if answer.settings:
        common["settings"] = ", ".join(answer.settings)
    found = []
    for name, samples in _all_families(values):
        present = [
            MetricSample(value, common | dict(labels))
            for value, labels in samples
            if value is not None and not isnan(value)
        ]
        if present:
            found.append(MetricFamily(name=name, samples=tuple(present)))
    return tuple(found)


def metrics_text(families: Iterable[MetricFamily]) -> str:
    """Return metrics as a server of metrics reads them."""
    lines = []
    for family in families:
        name = family.full_name
        help_text = phrase(f"metrics.help.{family.name}")
        lines += [f"# HELP {name} {help_text}.", f"# TYPE {name} gauge"]
        lines += [f"{name}{_labels(one.labels)} {_number(one.value)}" for one in family.samples]
    return "\n".join([*lines, "# EOF", ""])


_Samples = Iterable[tuple[float | None, Labels]]


def _all_families(values: PopulationValues) -> Iterator[tuple[str, _Samples]]:
    answer, reliable = values.answer, values.answer.reliable
    yield "capacity_users", [(answer.capacity or 0, {})]
    if reliable is not None:
        sure = {} if reliable.confidence is None else {"confidence": f"{reliable.confidence:g}"}
        yield "reliable_capacity_users", [(reliable.capacity or 0, sure)]
    yield "limit_info", [(1, {"limited_by": answer.limited_by or "range"})]
    yield "population_users", [(values.at, {})]
    yield from _of_resources(values)
    yield from _of_requirements(values)
    streams = [(one, {"stream": one.name}) for one in values.streams]
    yield "stream_rate_per_second", [(s.rate, of | {"item": s.item}) for s, of in streams]
    yield "stream_latency_seconds", [(s.latency, of) for s, of in streams]
    yield "stream_loss_ratio", [(s.loss, of) for s, of in streams]
    yield (
        "measure",
        [(m.value, {"measure": m.name, "unit": str(m.dimension)}) for m in answer.measures],
    )


def _of_resources(values: PopulationValues) -> Iterator[tuple[str, _Samples]]:
    found = [(r, _limit_of(r, values.requirements), {"resource": r.name}) for r in values.resources]
    yield "resource_utilization_ratio", [(r.utilization, of) for r, _, of in found]
    yield "resource_limit_ratio", [(limit, of) for _, limit, of in found]
    yield "resource_headroom_ratio", [(limit - r.utilization, of) for r, limit, of in found]
    yield "resource_saturation_users", [(_saturation(r), of) for r, _, of in found]


def _limit_of(resource: ResourceValues, requirements: Iterable[RequirementAnswer]) -> float:
    """Return the lowest limit of a utilization: its target, or one that is required."""
    name = utilization_of(resource.name)
    required = [one.limit for one in requirements if one.name == name and one.at_most]
    return min([resource.target, *required])


def _saturation(resource: ResourceValues) -> float | None:
    found = resource.saturation
    if found.at is not None:
        return found.at
    return inf if found.not_below is None else None


def _of_requirements(values: PopulationValues) -> Iterator[tuple[str, _Samples]]:
    found = [(one, _requirement_labels(one)) for one in values.requirements]
    yield "requirement", [(one.now.value, of) for one, of in found]
    yield "requirement_limit", [(one.limit, of) for one, of in found]
    yield "requirement_headroom_ratio", [(_headroom(one), of) for one, of in found]
    yield "requirement_supported_users", [(one.met_up_to or 0, of) for one, of in found]


def _requirement_labels(one: RequirementAnswer) -> Labels:
    labels = {
        "requirement": one.name,
        "bound": "most" if one.at_most else "least",
        "unit": str(one.dimension),
    }
    return labels if one.confidence is None else labels | {"confidence": f"{one.confidence:g}"}


def _headroom(one: RequirementAnswer) -> float | None:
    """Return how far a value is from its limit, in limits; None where that is 0."""
    if not one.limit:
        return None
    distance = (one.limit - one.now.value) / abs(one.limit)
    return distance if one.at_most else -distance


def _labels(labels: Labels) -> str:
    shown = ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items())
    return f"{{{shown}}}"


def _number(value: float) -> str:
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)
