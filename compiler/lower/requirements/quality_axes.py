"""The axes of quality: measures from their ideals to their limits, and how they are joined.

Also which requirements limit the same: what is said twice of a measure is one axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler import ir
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Criterion
from qps.engine.expressions.formulas import HALF, ZERO, Formula, maximum, power, total
from qps.engine.expressions.point_values import sign

_NEVER_NEGATIVE = (
    ir.MeasureKind.LATENCY,
    ir.MeasureKind.QUANTILE,
    ir.MeasureKind.LOSS,
    ir.MeasureKind.JITTER,
    ir.MeasureKind.MAX_WAIT,
    ir.MeasureKind.WAIT,
    ir.MeasureKind.WAIT_QUANTILE,
    ir.MeasureKind.QUEUE,
    ir.MeasureKind.TIME_SHARE,
)


def what_is_limited(requirement: ir.Requirement | Criterion) -> tuple[str, bool]:
    """Return the measure as it is written, and the direction: two names may have one formula."""
    return "".join(requirement.name.split()), requirement.at_most


def axis_of(
    requirement: ir.Requirement,
    expressions: ExpressionLowering,
    measure: Formula,
    limit: Formula,
) -> Formula | None:
    """Return a measure scaled so that its limit is 1 and its ideal 0; better than ideal is 0.

    None where the limit is the ideal itself, such as a loss of at most 0, or where it lies beyond
    the ideal of zero that nobody stated, such as a gap of at most -3 ms: it is met or not.
    """
    ideal: Formula = ZERO
    if requirement.ideal is not None:
        ideal = expressions.symbol(f"ideal of {requirement.name}", requirement.ideal)
    distance = expressions.put_in(limit - ideal)
    if distance is ZERO or (requirement.ideal is None and sign(distance) == -1):
        return None
    axis = (measure - ideal) / (limit - ideal)
    expr = requirement.measure.expr
    never_negative = isinstance(expr, ir.Measured) and expr.kind in _NEVER_NEGATIVE
    return axis if never_negative and requirement.ideal is None else maximum(0, axis)


def axes_of(criteria: Iterable[Criterion]) -> tuple[Formula, ...]:
    """Return the axes of quality: of one measure the tightest counts, once."""
    return tuple(axes_by_criterion(criteria))


def axes_by_criterion(criteria: Iterable[Criterion]) -> dict[Formula, Criterion]:
    """Return the axes of quality, each with the first of the requirements that it stands for.

    Those on one measure, as it is written, in one direction are one axis, the largest of theirs;
    so are axes that are the same formula.
    """
    by_measure: dict[tuple[str, bool], list[Criterion]] = {}
    for criterion in criteria:
        if criterion.axis is not None:
            by_measure.setdefault(what_is_limited(criterion), []).append(criterion)
    found: dict[Formula, Criterion] = {}
    for alike in by_measure.values():
        axes = dict.fromkeys(one.axis for one in alike if one.axis is not None)
        found.setdefault(next(iter(axes)) if len(axes) == 1 else maximum(*axes), alike[0])
    return found


def joined_axes(metric: ir.Metric, axes: Sequence[Formula]) -> Formula:
    """Return what a metric makes of the axes: 0 is ideal, 1 the limit of what is acceptable.

    Both metrics are norms, as Claypool 1997, section 2.3, requires of one: symmetric, with the
    triangle inequality, growing with each axis, and with a convex acceptable region.
    """
    if metric is ir.Metric.WORST:
        return maximum(*axes)
    squares = [power(axis, 2) for axis in axes]
    return power(total(squares), HALF)
