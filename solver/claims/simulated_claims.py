"""Claims that predictions agree with simulation.

The simulator is an argument: the solver does not import the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.point_values import in_floats
from qps.solver.claims.claim_results import ClaimResult, SimulatedValue, simulated_result
from qps.solver.claims.claim_runner import ClaimRunner


class PredictedMeasure(Struct, frozen=True, kw_only=True):
    """A predicted measure, and its tolerance around the simulated value."""

    measure: ir.Measured
    predicted: float
    tolerance: ir.Tolerance


Simulator = Callable[[LoadGraph, int, Sequence[PredictedMeasure]], Sequence[SimulatedValue]]
"""Simulates a model at a population, until each measure is decided."""


def is_alone(claim: ir.Claim) -> bool:
    """Return whether a claim is of a measure that is simulated, and says nothing else of it."""
    says_more = claim.claimed is not None or not isinstance(claim.value, ir.Quantity)
    return claim.simulated is not None and not says_more


class SimulatedClaims(Struct, kw_only=True):
    """The simulated claims of a model; those of one configuration share one simulation.

    Without a simulator, they have no verdict.
    """

    runner: ClaimRunner
    simulator: Simulator | None = None
    _results: dict[object, dict[PredictedMeasure, SimulatedValue] | QpsError] = field(
        default_factory=dict
    )
    _together: dict[object, dict[PredictedMeasure, None]] = field(default_factory=dict)

    def results(
        self, name: str, expectation: ir.Expectation, claim: ir.Claim
    ) -> Iterator[ClaimResult]:
        """Yield what becomes of each measure of a claim."""
        assert claim.simulated is not None
        base = base_configuration(self.runner.model)
        for quantity, predicted in zip(
            claim.simulated.measures, self._predicted(claim), strict=True
        ):
            yield simulated_result(
                name if is_alone(claim) else f"{name} {quantity.span.text}",
                expectation,
                claim.span,
                predicted.predicted,
                None if self.simulator is None else self._simulate(claim, predicted),
                dimension=quantity.dimension,
                tolerance=predicted.tolerance,
                known=self.runner.known(predicted.measure, base, claim.changes),
            )

    def _predicted(self, claim: ir.Claim) -> list[PredictedMeasure]:
        assert claim.simulated is not None
        base = base_configuration(self.runner.model)
        found = []
        for quantity in claim.simulated.measures:
            assert isinstance(quantity.expr, ir.Measured)
            value = self.runner.value(quantity.expr, base, claim.changes, claim.span)
            found.append(
                PredictedMeasure(
                    measure=quantity.expr,
                    predicted=in_floats(value),
                    tolerance=claim.simulated.tolerance,
                )
            )
        return found

    def _simulate(self, claim: ir.Claim, measure: PredictedMeasure) -> SimulatedValue:
        """Return the simulated value of a measure; QpsError if it cannot be simulated."""
        assert self.simulator is not None
        key, graph, at = self.runner.simulation_case(claim.changes, claim.span)
        if key not in self._results:
            try:
                together = list(self._measures_by_configuration[key])
                values = self.simulator(graph, at, together)
                self._results[key] = dict(zip(together, values, strict=True))
            except QpsError as error:
                self._results[key] = error
        known = self._results[key]
        if isinstance(known, QpsError):
            (why,) = known.diagnostics
            raise QpsError.single(
                codes.NOT_SIMULATED, claim.span, why.message, hint=" ".join(why.hints) or None
            )
        return known[measure]

    @property
    def _measures_by_configuration(self) -> dict[object, dict[PredictedMeasure, None]]:
        """The measures of all claims that can be simulated, by configuration."""
        if not self._together:
            for expectation in self.runner.model.expectations:
                for claim in expectation.claims:
                    if claim.simulated is None:
                        continue
                    try:
                        key, _, _ = self.runner.simulation_case(claim.changes, claim.span)
                        measures = dict.fromkeys(self._predicted(claim))
                    except QpsError:
                        continue  # reported with the result of that claim
                    self._together.setdefault(key, {}).update(measures)
        return self._together
