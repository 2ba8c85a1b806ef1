"""The last column of samples at a population, from the solver of one value of a mode."""

from __future__ import annotations

from dataclasses import dataclass, field

from qps.compiler import ir
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix, CompiledMode
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.uncertainty.interval_result import SurrogateModel
from qps.solver.uncertainty.sample_solver import SampleSolver
from qps.solver.uncertainty.surface_modes import StatedPoints
from qps.solver.uncertainty.value_modes import LimitedTail, PointsByCost, ValueModeSolver


@dataclass
class ValueSolver(SampleSolver):
    """Computes the last column of samples at a population; `solvers` has one for each mode."""

    population: int = field(kw_only=True)
    solvers: list[ValueModeSolver] = field(default_factory=list, kw_only=True)
    points: PointsByCost = field(default_factory=dict, kw_only=True)
    tails: tuple[LimitedTail | None, ...] = field(default=(), kw_only=True)

    def solver_of(
        self, mode: CompiledMode, axes: tuple[ir.Axis, ...], most: int
    ) -> ValueModeSolver:
        """Return the solver of the value of `most` samples, at most, the last of some axes."""
        drawn = {one.name: numbers_of(one) for one in axes[-1].parameters}
        solver = ValueModeSolver(
            mode=mode,
            axes=axes,
            at=None,
            most=most,
            drawn=drawn,
            stated=self.stated,
            population=self.population,
            points=self.points,
            tails=self.tails,
        )
        self.solvers.append(solver)
        return solver

    @property
    def surrogate_model(self) -> SurrogateModel | None:
        """How well a surface estimates the value, at worst; None where each sample has it."""
        surfaces = [found for one in self.solvers if (found := one.surrogate_model()) is not None]
        return max(surfaces, key=lambda one: one.error, default=None)

    @property
    def unreliable(self) -> frozenset[int]:
        """The places of columns that a surface estimates too badly to report them."""
        return frozenset[int]().union(*(one.unreliable for one in self.solvers))

    @property
    def is_partial(self) -> bool:
        """Whether it was computed for some samples alone."""
        return any(one.is_partial for one in self.solvers)


def value_solver(
    compiled: CompiledMatrix,
    population: int,
    points: PointsByCost | None = None,
    certainty: float | None = None,
    tails: tuple[LimitedTail | None, ...] = (),
) -> ValueSolver:
    """Return the solver of the last column of a matrix whose last axis is drawn.

    `points` are those of surfaces at another population, and become those of the last one.
    What a share of `certainty` of the samples is not above is to be known well, and best where the
    `tails` of the last columns end next to their limits.
    """
    return ValueSolver(
        compiled,
        stated=StatedPoints({}, {}, tail=certainty),
        outcomes=None,
        population=population,
        points={} if points is None else points,
        tails=tails,
    )
