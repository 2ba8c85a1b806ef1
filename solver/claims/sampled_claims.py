"""Queries of claims where numbers are not known: quantiles of the answer, how likely something is.

Every configuration that a claim is about is solved for the same samples.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import operands_of, parts_of
from qps.solver.matrix.limits.row_preparation import Ints
from qps.solver.uncertainty.interval_result import SAMPLES, SEED
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import holding, solved_for

_VARYING = (ir.Measured, ir.Population, ir.NodeCount, ir.Members, ir.GroupCount)
ANSWERS = (ir.MeasureKind.LARGEST, ir.MeasureKind.SATURATION)


def is_answer(part: ir.Expr) -> bool:
    """Return whether solving alone gives it: the largest population, or where it saturates."""
    return isinstance(part, ir.Measured) and part.kind in ANSWERS


def _is_of_users(part: ir.Expr) -> bool:
    return isinstance(part, _VARYING) and not is_answer(part)


class SampledClaims(Struct, kw_only=True):
    """Solves configurations of a model for samples of what is not known, each of them once."""

    model: ir.Model
    _answers: dict[object, Ints] = field(default_factory=dict)

    def quantile(
        self, configuration: Configuration, key: object, level: Fraction, span: Span
    ) -> int:
        """Return a quantile of the answer, 0 for none acceptable.

        QpsError where every number is known, or not one sample can be.
        """
        if key not in self._answers:
            self._answers[key] = self._sorted(configuration, span)
        answers = self._answers[key]
        return int(answers[floor(level * answers.size)])

    def chance(
        self,
        configuration: Configuration,
        condition: ir.Condition,
        population: int | None,
        span: Span,
    ) -> Fraction:
        """Return the share of the samples in which a condition holds, of those that can be.

        What has no value in a sample does not hold there. QpsError as for a quantile, and where it
        is not said for how many users.
        """
        axis = self.drawn(configuration, span)
        parts = [part for side in operands_of(condition) for part in parts_of(side)]
        if population is None and any(map(_is_of_users, parts)):
            name = self.model.population.name
            _fail(span, f"this depends on the population: add `with {name} = …`")
        model = self.model
        if configuration.mode is None and not any(map(is_answer, parts)):
            model = replace(model, modes=())  # a measure is that of the model as it stands
        at = configuration.low if population is None else population
        there = in_its_range(configuration, span)
        met, is_decided = holding(model, there, axis, at, condition)
        if not is_decided.any():
            _fail(span, "no sample is valid")
        return Fraction(int(met[is_decided].sum()), int(is_decided.sum()))

    def _sorted(self, configuration: Configuration, span: Span) -> Ints:
        axis = self.drawn(configuration, span)
        found = solved_for(self.model, in_its_range(configuration, span), axis, None)
        populations = found.largest[found.is_answered]
        if not populations.size:
            _fail(span, f"no sample is valid: {next(iter(found.reasons.values()))}")
        return np.sort(np.where(populations < configuration.low, 0, populations))

    def drawn(self, configuration: Configuration, span: Span) -> ir.Axis:
        """Return samples of what is not known; QpsError where everything is."""
        numbers = uncertain_numbers(self.model, configuration)
        if not numbers:
            _fail(
                span,
                "a probability needs an uncertain input, and the spec has none",
                "add one: `param reply = 80 kB/request +- 10 %`",
            )
        return drawn_axis(numbers, self.model, SAMPLES, SEED)


def in_its_range(configuration: Configuration, span: Span) -> Configuration:
    """Return a configuration whose range no scenario of it narrows to one population."""
    return changed(configuration, [ir.SetPopulation(configuration.low, configuration.high, span)])


def _fail(span: Span, message: str, hint: str | None = None) -> None:
    raise QpsError.single(codes.NO_ANSWER, span, message, hint=hint)
