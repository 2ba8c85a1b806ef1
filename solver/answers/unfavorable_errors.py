"""A model judged with every measured model error at its unfavorable end.

An approximation that is off by at most an error, as a part of the true value, stays within its
limit in truth if it stays within a tighter one: `limit * (1 - error)` for an upper limit, and
`limit * (1 + error)` for a lower one. An ideal is moved with its limit, which keeps the axis of
quality what it would be of the true value. A utilization is tightened by its target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.measure_names import resource_in
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import MOST_STATED, CertaintyKind
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.expressions.formulas import ONE
from qps.solver.answers.answer_certainty import may_truly_fail
from qps.solver.answers.answer_parts import ModelError
from qps.solver.answers.graph_criteria import in_order
from qps.solver.answers.solution import QUALITY

_DENOMINATOR = 1_000_000
"""Errors are stated with a few digits: as a fraction they are no longer than that."""


class UnfavorableErrors(Struct, frozen=True, kw_only=True):
    """The model errors that can lower a capacity: those with a number, and the others by name."""

    allowed_for: tuple[ModelError, ...]
    unmeasured: tuple[str, ...]
    requirements: Mapping[Span, Fraction]
    """By what the limit of a requirement is multiplied."""
    targets: tuple[ir.Target, ...]
    """Tighter ones, of resources whose utilization is an approximation."""

    def tightened(self, model: ir.Model) -> ir.Model:
        """Return a model with the limits and targets that allow for the errors, in every mode."""
        if not self.requirements and not self.targets:
            return model
        own = {(one.scope, one.name) for one in self.targets}
        others = (one for one in model.targets if (one.scope, one.name) not in own)
        modes = (
            replace(mode, requirements=self._tightened(mode.requirements)) for mode in model.modes
        )
        return replace(
            model,
            requirements=self._tightened(model.requirements),
            modes=tuple(modes),
            targets=(*self.targets, *others),
        )

    def of(self, requirements: Iterable[ir.Requirement]) -> tuple[ir.Requirement, ...]:
        """Return the requirements that have a measured error."""
        return tuple(one for one in requirements if one.span in self.requirements)

    def _tightened(self, requirements: Iterable[ir.Requirement]) -> tuple[ir.Requirement, ...]:
        return tuple(
            one if one.span not in self.requirements else _moved(one, self.requirements[one.span])
            for one in requirements
        )


def unfavorable_errors(model: ir.Model, modes: Iterable[LoadGraph], at: int) -> UnfavorableErrors:
    """Return the model errors of all that is judged at a population; the largest of each counts."""
    allowed: dict[str, float] = {}
    unmeasured: dict[str, None] = {}
    requirements: dict[Span, Fraction] = {}
    by_place: dict[Span, float] = {}
    targets: dict[str, ir.Target] = {}
    for graph, criterion in _doubtful(model, modes, at):
        factor, error = _factor(graph, criterion), criterion.known.error
        if factor is None or error is None:
            unmeasured[criterion.name] = None
            continue
        if error < allowed.get(criterion.name, 0.0):
            continue
        if criterion.span is not None:
            # Those of a family stand at one place: the largest of their errors counts.
            if error >= by_place.get(criterion.span, 0.0):
                by_place[criterion.span] = error
                requirements[criterion.span] = factor
        else:
            resource = resource_in(criterion.name)
            targets[resource] = _target(model, graph, resource, factor)
        allowed[criterion.name] = error
    return UnfavorableErrors(
        allowed_for=tuple(
            ModelError(name=name, error=error)
            for name, error in allowed.items()
            if name not in unmeasured
        ),
        unmeasured=tuple(unmeasured),
        requirements=requirements,
        targets=tuple(targets.values()),
    )


def _doubtful(
    model: ir.Model, modes: Iterable[LoadGraph], at: int
) -> Iterator[tuple[LoadGraph, Criterion]]:
    """Yield what may fail in truth where it seems to hold, as it is known at a population.

    Quality over axes is judged as those are; by a formula of the spec it has no limit to move.
    """
    has_formula = model.quality.formula is not None
    for graph in modes:
        for each in in_order(graph):
            criterion = replace(each, known=known_at(graph, each, at))
            if may_truly_fail(criterion) and (criterion.name != QUALITY or has_formula):
                yield graph, criterion


def _factor(graph: LoadGraph, criterion: Criterion) -> Fraction | None:
    """Return by what a limit is multiplied to allow for an error; None where nothing does.

    A limit below zero moves the other way: further from zero is stricter from above.
    """
    known, error = criterion.known, criterion.known.error
    is_quality = criterion.name == QUALITY
    if (
        known.kind is not CertaintyKind.APPROXIMATION
        or error is None
        or error >= MOST_STATED
        or is_quality
    ):
        return None
    if _is_by_demand(graph, criterion):
        return None
    is_positive = graph.number(criterion.limit) >= 0
    share = Fraction(error).limit_denominator(_DENOMINATOR)
    return 1 - share if criterion.at_most is is_positive else 1 + share


def _is_by_demand(graph: LoadGraph, criterion: Criterion) -> bool:
    """Return whether a resource is judged by what is demanded of it, which no target can tighten.

    Users who wait for answers demand no more than there is: below 1 the utilization is judged.
    """
    if criterion.span is not None:
        return False
    resource = graph.resources[resource_in(criterion.name)]
    return criterion.limit is ONE and resource.open_load is not None


def _moved(requirement: ir.Requirement, factor: Fraction) -> ir.Requirement:
    ideal = requirement.ideal
    return replace(
        requirement,
        limit=_times(requirement.limit, factor),
        ideal=None if ideal is None else _times(ideal, factor),
    )


def _target(model: ir.Model, graph: LoadGraph, resource: str, factor: Fraction) -> ir.Target:
    """Return the target of a resource, tightened; the closest of those that are stated holds."""
    place = graph.network.place_of(resource)
    is_link = place in graph.network.links
    ranked = [(one.rank(resource, place, is_link=is_link), one) for one in model.targets]
    rank, stated = max(ranked, key=lambda pair: pair[0], default=((0, 0), None))
    if stated is None or not any(rank):
        span = model.nodes[0].span
        value = ir.Quantity(expr=ir.Constant(factor), dimension=DIMENSIONLESS, span=span)
        return ir.Target(name=resource, scope=ir.ResourceScope.PLACE, span=span, value=value)
    value = _times(stated.value, factor)
    return ir.Target(name=resource, scope=ir.ResourceScope.PLACE, span=stated.span, value=value)


def _times(quantity: ir.Quantity, factor: Fraction) -> ir.Quantity:
    return replace(quantity, expr=ir.Product((quantity.expr, ir.Constant(factor))))
