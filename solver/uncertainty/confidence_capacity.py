"""Up to how many users a requirement holds with its confidence level.

A sample is the spec with one value of each number that is not known. In it, a requirement holds up
to some population: the last before the first at which it fails, or a resource has more to do than
it can. That of which so large a share of the samples has no less is what is promised.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed
from qps.compiler.lower.certainty_requirements import confidence_requirement, plainly
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.uncertainty.capacity_interval import failures_allowed, least
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import nothing_possible, solved_for


class IsolatedRequirement(Struct, frozen=True, eq=False, kw_only=True):
    """A requirement with a certainty as samples judge it: a model that requests it alone.

    The samples lie along an `axis`.
    """

    requirement: ir.Requirement
    certainty: Fraction
    model: ir.Model
    configuration: Configuration
    axis: ir.Axis

    @property
    def draws(self) -> dict[str, Floats]:
        """The values of each uncertain number in all samples."""
        return {one.name: numbers_of(one) for one in self.axis.parameters}

    @property
    def may_fail(self) -> int:
        """In how many samples it may fail, if each of them has an answer."""
        return failures_allowed(self.axis.count, self.certainty)


def isolated_requirements(
    model: ir.Model, configuration: Configuration, sampling: Sampling
) -> Iterator[IsolatedRequirement]:
    """Yield the requirements with a certainty that rest on samples, those of all modes."""
    own = [(one, configuration) for one in model.requirements]
    for mode in model.modes:
        within = _within(mode, configuration)
        own += [(one, within) for one in mode.requirements]
    for requirement, within in own:
        found = _isolated(requirement, model, within, sampling)
        if found is not None:
            yield found


def with_confidence_limits(
    model: ir.Model, configuration: Configuration, sampling: Sampling
) -> ir.Model:
    """Return a model in which each requirement with a certainty is what can be promised by it.

    The other requirements are judged with the numbers as they are stated. QpsError where not one
    sample can be.
    """
    if model.derived(confidence_requirement) is None:
        return model
    modes = []
    for mode in model.modes:
        within = _within(mode, configuration)
        own = tuple(_limited_requirement(r, model, within, sampling) for r in mode.requirements)
        modes.append(replace(mode, requirements=own))
    every = tuple(
        _limited_requirement(r, model, configuration, sampling) for r in model.requirements
    )
    return replace(model, requirements=every, modes=tuple(modes))


def _within(mode: ir.Mode, configuration: Configuration) -> Configuration:
    if configuration.mode == mode.name:
        return configuration
    return changed(configuration, [ir.SetMode(mode.name, mode.changes, mode.span)])


def _isolated(
    requirement: ir.Requirement, model: ir.Model, configuration: Configuration, sampling: Sampling
) -> IsolatedRequirement | None:
    """Return how samples judge a requirement; None where none are needed."""
    if requirement.certainty is None:
        return None
    alone = _alone(requirement, model)
    numbers = uncertain_numbers(alone, configuration)
    if not numbers:
        return None
    return IsolatedRequirement(
        requirement=requirement,
        certainty=requirement.certainty,
        model=alone,
        configuration=configuration,
        axis=drawn_axis(numbers, alone, sampling.samples, sampling.seed),
    )


def _limited_requirement(
    requirement: ir.Requirement,
    model: ir.Model,
    configuration: Configuration,
    sampling: Sampling,
) -> ir.Requirement:
    """Return a requirement with its capacity at confidence; itself where it states no level."""
    if requirement.certainty is None:
        return requirement
    isolated = _isolated(requirement, model, configuration, sampling)
    if isolated is None:
        return plainly(requirement)
    found = solved_for(isolated.model, configuration, isolated.axis, None)
    if not found.is_answered.any():
        raise nothing_possible(found.reasons, requirement.span)
    populations = found.largest[found.is_answered]
    promised = least(populations, isolated.certainty)
    error = max((surface.error for surface in found.surfaces), default=0.0)
    return replace(
        requirement,
        confidence_capacity=ir.ConfidenceCapacity(promised, int(populations.size), error),
    )


def _alone(requirement: ir.Requirement, model: ir.Model) -> ir.Model:
    """Return a model that requests one requirement, and that no resource has more than it can do.

    Targets are no limits of a requirement, but elastic parameters take what they leave.
    """
    requirements = tuple[ir.Requirement, ...]()
    is_elastic = any(parameter.is_elastic for parameter in model.parameters)
    if is_elastic:
        requirements = tuple(one for one in model.requirements if _is_on_a_load(one))
    return replace(
        model,
        requirements=(
            *(plainly(one) for one in requirements if one is not requirement),
            plainly(requirement),
        ),
        modes=tuple(replace(mode, requirements=()) for mode in model.modes),
        targets=model.targets if is_elastic else (),
    )


def _is_on_a_load(requirement: ir.Requirement) -> bool:
    measured = requirement.measure.expr
    return isinstance(measured, ir.Measured) and measured.kind is ir.MeasureKind.LOAD
