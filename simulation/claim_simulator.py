"""Who plays the claims of what is `simulated`: nothing is imported before the first is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qps.compiler.lower.load_graph import LoadGraph
    from qps.solver.claims.claim_results import Near
    from qps.solver.claims.simulated_claims import Player, PredictedMeasure


def player(seconds: float = 60.0) -> Player:
    """Return who plays claims, for so long each at most."""

    def simulate_measures(
        graph: LoadGraph, at: int, predicted: Sequence[PredictedMeasure]
    ) -> Sequence[Near]:
        from qps.simulation.replications import Effort  # noqa: PLC0415 - slow to import, seldom needed
        from qps.simulation.tolerance_claims import player_of  # noqa: PLC0415

        return player_of(Effort(seconds=seconds))(graph, at, predicted)

    return simulate_measures
