"""Claims that are judged by playing: each measure of them near what simulation tells.

Who plays is given from outside: the solver knows nothing of how it is done.
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
from qps.solver.claims.claim_results import ClaimResult, Near, simulated_result
from qps.solver.claims.claim_runner import ClaimRunner


class PredictedMeasure(Struct, frozen=True, kw_only=True):
    """A measure as predicted, and how near that must come to what is played."""

    measure: ir.Measured
    predicted: float
    tolerance: ir.Tolerance


Player = Callable[[LoadGraph, int, Sequence[PredictedMeasure]], Sequence[Near]]
"""Plays a model for so many users, until it can tell of each measure whether it is near."""


def is_alone(claim: ir.Claim) -> bool:
    """Return whether a claim is of a measure that is simulated, and says nothing else of it."""
    says_more = claim.claimed is not None or not isinstance(claim.value, ir.Quantity)
    return claim.simulated is not None and not says_more


class SimulatedClaims(Struct, kw_only=True):
    """The simulated claims of a model: those of one configuration are played together, once.

    Without a player none of them is judged.
    """

    runner: ClaimRunner
    player: Player | None = None
    _near: dict[object, dict[PredictedMeasure, Near] | QpsError] = field(default_factory=dict)
    _together: dict[object, dict[PredictedMeasure, None]] = field(default_factory=dict)

    def results(
        self, name: str, expectation: ir.Expectation, claim: ir.Claim
    ) -> Iterator[ClaimResult]:
        """Yield what becomes of each measure of a claim."""
        assert claim.simulated is not None
        base = base_configuration(self.runner.model)
        for quantity, asked in zip(claim.simulated.measures, self._predicted(claim), strict=True):
            yield simulated_result(
                name if is_alone(claim) else f"{name} {quantity.span.text}",
                expectation,
                claim.span,
                asked.predicted,
                None if self.player is None else self._simulate(claim, asked),
                dimension=quantity.dimension,
                tolerance=asked.tolerance,
                known=self.runner.known(asked.measure, base, claim.changes),
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

    def _simulate(self, claim: ir.Claim, measure: PredictedMeasure) -> Near:
        """Return what playing told of a measure; QpsError where it cannot be played."""
        assert self.player is not None
        key, graph, at = self.runner.simulation_case(claim.changes, claim.span)
        if key not in self._near:
            try:
                together = list(self._measures_by_configuration[key])
                near = self.player(graph, at, together)
                self._near[key] = dict(zip(together, near, strict=True))
            except QpsError as error:
                self._near[key] = error
        known = self._near[key]
        if isinstance(known, QpsError):
            (why,) = known.diagnostics
            raise QpsError.single(
                codes.NOT_SIMULATED, claim.span, why.message, hint=" ".join(why.hints) or None
            )
        return known[measure]

    @property
    def _measures_by_configuration(self) -> dict[object, dict[PredictedMeasure, None]]:
        """What is asked of each configuration by all claims that can be asked."""
        if not self._together:
            for expectation in self.runner.model.expectations:
                for claim in expectation.claims:
                    if claim.simulated is None:
                        continue
                    try:
                        key, _, _ = self.runner.simulation_case(claim.changes, claim.span)
                        asked = dict.fromkeys(self._predicted(claim))
                    except QpsError:
                        continue  # it is told where that claim is judged
                    self._together.setdefault(key, {}).update(asked)
        return self._together
