"""Loads, requirements and quality over the populations that a page draws."""

from __future__ import annotations

from math import ceil

from msgspec import Struct

from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at, quality_known_at
from qps.compiler.quantities.certainty import Certainty
from qps.solver.answer import Answer
from qps.solver.answers.sweep import sweep

_POINTS = 181


class MeasureCurve(Struct, frozen=True, kw_only=True):
    """The values of a measure, in base units, and how they are known at all populations drawn."""

    name: str
    values: tuple[float, ...]
    known: Certainty


class Curves(Struct, frozen=True, kw_only=True):
    """Curves over the populations `at`: each load by its resource, each requirement in order."""

    at: tuple[float, ...]
    loads: dict[str, MeasureCurve]
    requirements: tuple[MeasureCurve, ...]
    quality: MeasureCurve | None


def curves_of(answer: Answer, graph: LoadGraph) -> Curves:
    """Return the curves from the start of the range to somewhat past the answer."""
    low, high = _range_shown(answer)
    at = [low + (high - low) * point / (_POINTS - 1) for point in range(_POINTS)]
    table = sweep(graph, at)
    farthest = ceil(at[-1])  # there most resources are overloaded

    def curve(name: str, known: Certainty) -> MeasureCurve:
        return MeasureCurve(name=name, values=tuple(table[name].tolist()), known=known)

    stated = [criterion for criterion in graph.criteria if criterion.span is not None]
    quality = quality_known_at(graph, farthest)
    return Curves(
        at=tuple(at),
        loads={
            name: curve(utilization_of(name), one.known) for name, one in graph.resources.items()
        },
        requirements=tuple(curve(one.name, known_at(graph, one, farthest)) for one in stated),
        quality=None if graph.quality_value is None else curve("quality", quality),
    )


def _range_shown(answer: Answer) -> tuple[float, float]:
    """Return the populations to draw: somewhat past the answer and the first saturations."""
    points = sorted(r.saturation.at for r in answer.resources if r.saturation.at is not None)
    wanted = [1.25 * answer.at, *(1.15 * point for point in points[:2])]
    if len(points) == 0 and answer.capacity == answer.high:
        wanted.append(float(answer.high))
    low = float(answer.low)
    # A second saturation far away would squash what matters into a corner.
    nearest = max(1.25 * answer.at, 1.25 * points[0] if points else 0.0)
    return low, max(min(max(wanted), 3 * nearest), low + 4)
