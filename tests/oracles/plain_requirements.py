"""An oracle: which populations meet the requirements of a model, in plain fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from oracles.plain_model import PlainWalk, walked
from oracles.plain_numbers import UndefinedError, compare, square_root
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration


def acceptable(model: ir.Model, configuration: Configuration, population: int) -> bool:
    """Return whether every requirement holds, no load is beyond 1, and quality is at most 1."""
    try:
        return _Requirements(model, walked(model, configuration, population)).is_acceptable()
    except UndefinedError:
        return False


def largest_acceptable(model: ir.Model, configuration: Configuration) -> int | None:
    """Return the largest n such that every m up to n is acceptable, by trying them all."""
    for population in range(configuration.low, configuration.high + 1):
        if not acceptable(model, configuration, population):
            return None if population == configuration.low else population - 1
    return configuration.high


@dataclass
class _Requirements:
    model: ir.Model
    walker: PlainWalk

    def is_acceptable(self) -> bool:
        bounded: set[str] = set()
        axes: list[Fraction] = []
        for requirement in self.model.requirements:
            measure = self.walker.value(requirement.measure.expr)
            limit = self.walker.value(requirement.limit.expr)
            sign = compare(measure, limit) * (1 if requirement.at_most else -1)
            if sign > 0 or (sign == 0 and requirement.strict):
                return False
            options = requirement.measure.expr
            if isinstance(options, ir.Measured) and options.kind is ir.MeasureKind.LOAD:
                bounded.add(options.subject)
            elif requirement.at_most or requirement.ideal is not None:
                ideal = Fraction(0)
                if requirement.ideal is not None:
                    ideal = self.walker.value(requirement.ideal.expr)
                if ideal != limit:
                    axes.append(max(Fraction(0), (measure - ideal) / (limit - ideal)))
        for name, load in self.walker.result.loads.items():
            # A link is bounded with all that it has, a resource of a machine by itself.
            if name in bounded or name.partition(".")[0] in bounded:
                continue
            if load > self.walker.target(name):
                return False
        return compare(self.quality(axes), Fraction(1)) <= 0

    def quality(self, axes: list[Fraction]) -> Fraction:
        quality = self.model.quality
        if quality.formula is not None:
            return self.walker.value(quality.formula.expr)
        if quality.metric is ir.Metric.WORST:
            return max(axes, default=Fraction(0))
        return square_root(sum((axis * axis for axis in axes), Fraction(0)))
