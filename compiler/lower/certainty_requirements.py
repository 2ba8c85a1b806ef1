"""Requirements that state a confidence level: only samples of what is not known answer them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NoReturn

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError


def confidence_requirement(model: ir.Model) -> ir.Requirement | None:
    """Return a requirement that must hold with a certainty, and of which no promise was found."""
    return next((one for one in with_certainty(model) if one.confidence_capacity is None), None)


def with_certainty(model: ir.Model) -> Iterator[ir.Requirement]:
    """Yield the requirements that must hold with a certainty, of all modes."""
    of_modes = (requirement for mode in model.modes for requirement in mode.requirements)
    for requirement in (*model.requirements, *of_modes):
        if requirement.certainty is not None:
            yield requirement


def as_stated(model: ir.Model, configuration: Configuration) -> ir.Model:
    """Return a model with values: requirements with a confidence level judge nothing.

    No value of a spec rests on them: such a requirement is no axis of quality, and leaves elastic
    parameters what they have. Itself where every number is certain.
    """
    is_sampled = model.derived(confidence_requirement) is not None and uncertain_in(configuration)
    return model.derived(_without_questions) if is_sampled else model


def _without_questions(model: ir.Model) -> ir.Model:
    return _with_all(model, ir.NOT_EVALUATED)


def without_confidence(model: ir.Model) -> ir.Model:
    """Return a model in which requirements are judged by one value of each number, as in a sample.

    Unlike those that state no confidence level they are still known by that. Itself where no
    requirement does.
    """
    if model.derived(confidence_requirement) is None:
        return model
    return _with_all(model, ir.WITHOUT_CONFIDENCE)


def _with_all(model: ir.Model, confidence: ir.ConfidenceCapacity) -> ir.Model:
    """Return a model whose requirements with a certainty are what none of them was promised."""
    return _with_each(
        model,
        lambda one: one if one.certainty is None else replace(one, confidence_capacity=confidence),
    )


def without_certainty(model: ir.Model) -> ir.Model:
    """Return a model in which every requirement is a plain one: in a sample all is certain."""
    return _with_each(model, plainly)


def _with_each(model: ir.Model, change: Callable[[ir.Requirement], ir.Requirement]) -> ir.Model:
    """Return a model with every requirement changed, those of its modes too."""
    modes = (
        replace(mode, requirements=tuple(map(change, mode.requirements))) for mode in model.modes
    )
    return replace(model, requirements=tuple(map(change, model.requirements)), modes=tuple(modes))


def with_factor(model: ir.Model, name: str, factor: Fraction) -> ir.Model:
    """Return a model in which the limits of the requirements of a name are multiplied."""

    def changed(one: ir.Requirement) -> ir.Requirement:
        if one.name != name:
            return one
        stated = one.limit.expr
        expr: ir.Expr = ir.Product((stated, ir.Constant(factor)))
        if isinstance(stated, ir.Constant):
            expr = ir.Constant(stated.value * factor)
        return replace(one, limit=replace(one.limit, expr=expr))

    return _with_each(model, changed)


def plainly(requirement: ir.Requirement) -> ir.Requirement:
    """Return a requirement that states no confidence level."""
    return replace(requirement, certainty=None, confidence_capacity=None)


def refuse_confidence(model: ir.Model, configuration: Configuration, hint: str = "") -> None:
    """Raise a QpsError where a requirement states a confidence level, and numbers are not certain.

    Where every number is, it holds for certain or not at all: it is a requirement like others.
    """
    without = model.derived(confidence_requirement)
    if without is not None and uncertain_in(configuration):
        refuse_confidence_requirement(without, hint)


def refuse_confidence_requirement(requirement: ir.Requirement, hint: str = "") -> NoReturn:
    """Raise a QpsError: a question that samples do not answer; else `hint` is called."""
    raise QpsError.single(
        codes.NO_ANSWER,
        requirement.span,
        f"this command does not evaluate the certainty of `{requirement.name}`",
        hint=f"{hint or '`qps solve` evaluates it'}; or fix all uncertain inputs with `--set "
        "'name = value'`",
    )
