"""How far a value may be off at a population, and by which numbers, where some are not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, sqrt

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, in_force, uncertain_in
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower_as_one_of_many
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.gradients import gradient
from qps.solver.matrix.compilation.row_questions import FormulaOf
from qps.solver.matrix.limits.row_preparation import Bools, Floats
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.uncertainty.capacity_interval import ends_of_values
from qps.solver.uncertainty.interval_result import (
    PROBABILITY,
    Ends,
    Sampling,
    Share,
    SurrogateModel,
    ValueUncertainty,
)
from qps.solver.uncertainty.ranks import ranks
from qps.solver.uncertainty.sample_design import Design
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    axis_of,
    half_width,
    uncertain_numbers,
)
from qps.solver.uncertainty.sample_solver import as_matrix, left_out, nothing_possible
from qps.solver.uncertainty.value_modes import FEW
from qps.solver.uncertainty.value_samples import value_solver

_FEW = 0.01
"""Share of the samples, at each end, that make most of a variance where it is that of few."""
_NO_ROUNDING = 1e-12
"""Part of a value by which samples differ that are alike but for rounding."""


def spread_of(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    at: int,
    read: FormulaOf,
    sampling: Sampling,
) -> ValueUncertainty | None:
    """Return the spread of what is read off a graph, in its mode; None where that is known.

    QpsError where the graph has no such formula, or not one sample can be.
    """
    model, mode = in_mode_of(graph, as_stated(model, configuration), configuration)
    own = uncertain_in(in_force(mode))
    numbers = _resting_on(model, mode, graph, read, own) if own else ()
    if not numbers:
        return None
    design = Design(numbers=numbers, samples=sampling.samples, seed=sampling.seed)
    axis = axis_of(numbers, design.values, model)
    found = _sampled(model, mode, axis, at, read)
    samples = min(sampling.samples, FEW) if found.is_partial else sampling.samples
    can_be = found.is_answered[:samples]
    values = found.values[:samples][can_be]
    if not can_be.any():
        raise nothing_possible(found.reasons, numbers[0].written)
    finite = values[~np.isnan(values)]
    if not finite.size or (_are_alike(finite) and finite.size == samples):
        return None
    of_ranks = _is_of_few(finite)
    answers = np.where(found.is_answered, found.values, np.nan)
    if of_ranks:
        answers = ranks(answers, finite)
    return ValueUncertainty(
        probability=PROBABILITY,
        interval=ends_of_values(finite),
        linear_interval=_by_slopes(numbers, graph, read(graph, mode), at),
        shares=() if found.is_partial else tuple(_shares(design, answers)),
        of_ranks=of_ranks,
        samples=samples,
        seed=sampling.seed,
        left_out=left_out(found.reasons, samples),
        undefined=float(np.mean(can_be) - finite.size / samples),
        endless=float(np.mean(np.isinf(finite))),
        surrogate_model=found.surrogate_model,
    )


def in_mode_of(
    graph: LoadGraph, model: ir.Model, configuration: Configuration
) -> tuple[ir.Model, Configuration]:
    """Return a model and a configuration in the mode of a graph, or outside of any."""
    if configuration.mode is not None or not model.modes:
        return model, configuration
    if graph.mode is None:
        return replace(model, modes=()), configuration
    (mode,) = (one for one in model.modes if one.name == graph.mode)
    return model, changed(configuration, [ir.SetMode(mode.name, mode.changes, mode.span)])


def _resting_on(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    read: FormulaOf,
    own: Mapping[str, ir.Uncertain],
) -> tuple[UncertainNumber, ...]:
    """Return the numbers that are not known and on which a formula rests, or its form."""
    named = _named_in(read(graph, configuration), own)
    if not own.keys() & graph.basis.evaluated <= named:
        # Their values were requested while it was made: what remains requests none of them.
        graph = lower_as_one_of_many(model, configuration, dict.fromkeys(own, True))
        named = _named_in(read(graph, configuration), own) | (own.keys() & graph.basis.decided)
    return tuple(
        number
        for number in uncertain_numbers(model, configuration)
        if not named.isdisjoint(name for name, _ in number.parameters)
    )


def _named_in(formula: Formula, own: Mapping[str, ir.Uncertain]) -> set[str]:
    return {one.name for one in formula.symbols} & own.keys()


# -- samples -----------------------------------------------------------------------------


class _ValueSamples(Struct, frozen=True, eq=False, kw_only=True):
    """A value for each sample; not-a-number where there is none, or it `is_partial`."""

    values: Floats
    is_answered: Bools
    reasons: Mapping[int, str]
    surrogate_model: SurrogateModel | None
    is_partial: bool


def _sampled(
    model: ir.Model, configuration: Configuration, axis: ir.Axis, at: int, read: FormulaOf
) -> _ValueSamples:
    matrix = as_matrix(model, configuration, axis, at)
    solver = value_solver(compile_matrix(model, matrix, further=(read,)), at)
    (rows,) = solver.row_blocks(0, axis.count)
    return _ValueSamples(
        values=rows.columns[-1],
        is_answered=rows.is_answered,
        reasons=rows.reasons,
        surrogate_model=solver.surrogate_model,
        is_partial=solver.is_partial,
    )


def _are_alike(values: Floats) -> bool:
    if np.isinf(values).any():
        return bool((values == values[0]).all())
    return float(np.ptp(values)) <= _NO_ROUNDING * float(np.abs(values).max())


# -- where it comes from -----------------------------------------------------------------


def _is_of_few(values: Floats) -> bool:
    """Return whether a few of some values make most of their variance, or it is without end.

    Then shares are those of their ranks (A. Saltelli and I. M. Sobol, About the use of rank
    transformation in sensitivity analysis of model output, Reliability Engineering and System
    Safety 50, 1995).
    """
    if np.isinf(values).any():
        return True
    ordered = np.sort(values)
    few = round(_FEW * values.size)
    central = ordered[few : values.size - few]
    return float(np.var(central)) < float(np.var(ordered)) / 2


def _shares(design: Design, values: Floats) -> Iterator[Share]:
    """Yield what each number has to do with the spread of a value, the most first.

    One that has nothing to do with it moves no sample at all.
    """
    shares = design.shares(values)
    moving = [i for i, share in enumerate(shares) if share.total > 0]
    for i in sorted(moving, key=lambda i: -shares[i].total):
        yield Share(
            number=design.numbers[i].name,
            stated=design.numbers[i].stated,
            first_order=shares[i].first_order,
            total=shares[i].total,
        )


def _by_slopes(
    numbers: Sequence[UncertainNumber], graph: LoadGraph, formula: Formula, at: int
) -> Ends | None:
    """Return the interval that the slopes of a value give: it is straight in all numbers."""
    point = graph.at(at)
    value = point.number(formula)
    if not isfinite(value):
        return None
    own = {name for number in numbers for name, _ in number.parameters}
    slopes = {symbol.name: slope for symbol, slope in gradient(formula, point, own).items()}
    if not all(map(isfinite, slopes.values())):
        return None
    width = sqrt(sum(half_width(one, slopes, PROBABILITY) ** 2 for one in numbers))
    return Ends(least=value - width, most=value + width)
