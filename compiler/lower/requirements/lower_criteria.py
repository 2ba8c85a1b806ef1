"""What a graph is judged by: its requirements, its targets, and the metric of quality."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.ir.parts import subjects
from qps.compiler.lower.expressions.label_propagation import certainties_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.lower_parameters import MeasureOf
from qps.compiler.lower.expressions.power_limits import power_errors_placed
from qps.compiler.lower.load_graph import Criteria, Criterion, NamedMeasure
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.requirements.lower_targets import bounds_load
from qps.compiler.lower.requirements.quality_axes import axes_of, axis_of, joined_axes
from qps.compiler.lower.requirements.serial_losses import waits_of
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.quantities.certainty import Certainty, opposite, together
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, Formula, number


def lower_criteria(
    requirements: tuple[ir.Requirement, ...],
    measured: Measures,
    queues: Collection[str],
    expressions: ExpressionLowering,
) -> Criteria:
    """Return what a graph is judged by: of served items, with the values of all to show."""
    model, in_series = expressions.model, measured.in_series
    served, served_in_series = measured.of_what_is_served, in_series.of_what_is_served
    criteria = _criteria(requirements, expressions, served, served_in_series, queues)
    quality = quality_value = _quality(model, expressions, served.of, criteria)
    if served is not measured:
        overall = _criteria(requirements, expressions, measured, in_series, queues)
        quality_value = _quality(model, expressions, measured.of, overall)
        pairs = zip(criteria, overall, strict=True)
        criteria = tuple(
            replace(one, value=other.measure, axis_value=other.axis) for one, other in pairs
        )
    known, there = _quality_known(model, expressions, served, served_in_series, criteria)
    return Criteria(
        criteria=criteria,
        quality=quality,
        quality_value=quality_value,
        quality_known=known,
        quality_in_series=there,
        quality_unmodeled_queues=measured.unmodeled_queues(model.quality.formula)
        if model.quality.formula
        else (),
    )


def named_measures(measured: Measures, expressions: ExpressionLowering) -> dict[str, NamedMeasure]:
    """Return the measures of the spec's own, but of streams that are not there."""
    return {
        one.name: _named(one, expressions, measured)
        for one in expressions.model.measures
        if measured.absent.isdisjoint(subjects(one.value))
    }


def _named(
    measure: ir.Measure, expressions: ExpressionLowering, measured: Measures
) -> NamedMeasure:
    value, stated = lowered_quantity(measure.value, expressions, measured.of), measure.value
    known, there = both_known(measure.value, expressions, measured, measured.in_series)
    expressions.cite(measure.name, stated.text, stated.span, measure.source, value)
    return NamedMeasure(
        name=measure.name,
        value=value,
        dimension=stated.dimension,
        doc=measure.doc,
        rests_on=subjects(stated),
        known=known,
        known_in_series=there,
        waits_of=waits_of(stated.expr),
        percentile_of=measure.percentile_of,
    )


def _criteria(
    requirements: tuple[ir.Requirement, ...],
    expressions: ExpressionLowering,
    measured: Measures,
    in_series: Measures,
    queues: Collection[str],
) -> tuple[Criterion, ...]:
    """Return the requirements, and that no resource is loaded beyond its target.

    What is waited for must stay below 1, whatever the spec allows: a queue at 1 has no end.
    """
    stated = []
    resources = measured.resources
    bounded: set[str] = set()
    for requirement in requirements:
        promised = requirement.confidence_capacity
        if promised == ir.NOT_EVALUATED:
            continue
        if promised is not None and promised.population is not None:
            known = both_known(requirement.measure, expressions, measured, in_series)
            stated.append(
                _confidence_criterion(requirement, promised, known, measured, expressions)
            )
            continue
        measure = lowered_quantity(requirement.measure, expressions, measured.of)
        limit = expressions.symbol(f"limit of {requirement.name}", requirement.limit)
        known = both_known(requirement.measure, expressions, measured, in_series)
        axis = axis_of(requirement, expressions, measure, limit) if requirement.is_axis else None
        bounded.update(n for n in resources if bounds_load(requirement, n, resources))
        stated.append(
            Criterion(
                name=requirement.name,
                measure=measure,
                value=measure,
                limit=limit,
                at_most=requirement.at_most,
                strict=requirement.strict,
                dimension=requirement.measure.dimension,
                span=requirement.span,
                axis=axis,
                axis_value=axis,
                rests_on=subjects(requirement.measure, requirement.limit),
                known=known[0],
                known_in_series=known[1],
                waits_of=waits_of(requirement.measure.expr),
                unmodeled_queues=measured.unmodeled_queues(requirement.measure),
                certainty=None if promised is None else _certainty(requirement),
            )
        )
    for name, resource in measured.resources.items():
        is_endless_at_target = name in queues and resource.target is ONE
        if name not in bounded and not is_endless_at_target:
            stated.append(_unsaturated(resource, resource.target, strict=False))
        if name in queues:
            stated.append(_unsaturated(resource, ONE, strict=True))
    return tuple(stated)


def _confidence_criterion(
    requirement: ir.Requirement,
    confidence: ir.ConfidenceCapacity,
    known: tuple[Certainty, Certainty],
    measured: Measures,
    expressions: ExpressionLowering,
) -> Criterion:
    """Return that no more users come than those up to which a requirement holds with certainty.

    It is known as the measure is: what is judged too mildly is promised to too many.
    """
    assert confidence.population is not None, "requirements by samples have a population"
    certainty = known_by(
        "requirement-by-samples",
        requirement.name,
        case="approximate" if confidence.error else "",
        samples=confidence.samples,
        most=100 * (confidence.error or 0.0),
    )
    both = (one if requirement.at_most else opposite(one) for one in known)
    plain, in_series = (together(one, certainty) for one in both)
    return Criterion(
        name=requirement.name,
        measure=expressions.population,
        value=expressions.population,
        limit=number(confidence.population),
        at_most=True,
        strict=False,
        dimension=DIMENSIONLESS,
        span=requirement.span,
        axis=None,
        confidence=_certainty(requirement),
        unmodeled_queues=measured.unmodeled_queues(requirement.measure),
        rests_on=subjects(requirement.measure, requirement.limit),
        known=plain,
        known_in_series=in_series,
    )


def _certainty(requirement: ir.Requirement) -> float | None:
    return None if requirement.certainty is None else float(requirement.certainty)


def _unsaturated(resource: ResourceLoad, limit: Formula, *, strict: bool) -> Criterion:
    measure, known = resource.demand_at(limit)
    return Criterion(
        name=utilization_of(resource.name),
        measure=measure,
        value=measure,
        limit=limit,
        at_most=True,
        strict=strict,
        dimension=DIMENSIONLESS,
        span=None,
        axis=None,
        known=known,
        known_in_series=known,
    )


def _quality(
    model: ir.Model,
    expressions: ExpressionLowering,
    measure_of: MeasureOf,
    criteria: tuple[Criterion, ...],
) -> Formula | None:
    """Return the metric over all axes (Claypool 1997, section 2.3)."""
    formula = model.quality.formula
    if formula is not None:
        return expressions.lower(formula.expr, measure_of)
    axes = axes_of(criteria)
    return joined_axes(model.quality.metric, axes) if axes else None


def _quality_known(
    model: ir.Model,
    expressions: ExpressionLowering,
    measured: Measures,
    in_series: Measures,
    criteria: tuple[Criterion, ...],
) -> tuple[Certainty, Certainty]:
    """Return how the metric is known, also of losses in series: it rises with each axis."""
    formula = model.quality.formula
    if formula is not None:
        return both_known(formula, expressions, measured, in_series)
    axes = [one for one in criteria if one.axis is not None]
    return (
        together(*(_axis_known(one, one.known) for one in axes)),
        together(*(_axis_known(one, one.known_in_series) for one in axes)),
    )


def _axis_known(criterion: Criterion, known: Certainty) -> Certainty:
    """Return how an axis is known: of a measure that must not fall, less of it is further off."""
    return known if criterion.at_most else opposite(known)


def both_known(
    quantity: ir.Quantity, expressions: ExpressionLowering, measured: Measures, in_series: Measures
) -> tuple[Certainty, Certainty]:
    """Return how a value is known, and how where losses follow each other."""
    known, there = certainties_of(quantity.expr, expressions, (measured.known, in_series.known))
    return known, there


def lowered_quantity(
    quantity: ir.Quantity, expressions: ExpressionLowering, measure_of: MeasureOf
) -> Formula:
    """Return a quantity of measures; what has no place where it fails is shown at the quantity."""
    try:
        with power_errors_placed(quantity.span):
            return expressions.lower(quantity.expr, measure_of)
    except QpsError as error:
        label = Label(quantity.span, "")
        raise QpsError(
            [replace(d, primary=d.primary or label) for d in error.diagnostics]
        ) from error
