"""Values at upper ends of bounds, for what may have none there."""

from __future__ import annotations

from qps.engine.distributions.chance_bounds import stages_quantile, stages_tail

__all__ = ["stages_quantile", "stages_tail"]
