"""The simulator of `simulated` claims, which is imported with the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qps.compiler.lower.load_graph import LoadGraph
    from qps.solver.claims.claim_results import SimulatedValue
    from qps.solver.claims.simulated_claims import PredictedMeasure, Simulator


def claim_simulator(seconds: float = 60.0) -> Simulator:
    """Return a simulator of claims that simulates each configuration for at most `seconds`."""

    def simulate_measures(
        graph: LoadGraph, at: int, predicted: Sequence[PredictedMeasure]
    ) -> Sequence[SimulatedValue]:
        from qps.simulation.replications import Effort  # noqa: PLC0415 - slow to import, seldom needed
        from qps.simulation.tolerance_claims import simulator_of  # noqa: PLC0415

        return simulator_of(Effort(seconds=seconds))(graph, at, predicted)

    return simulate_measures
