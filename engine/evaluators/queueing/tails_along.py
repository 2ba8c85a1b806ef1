"""Tails in balls along the line of integration of some floats, for what has a slope by its tail."""

from __future__ import annotations

from qps.engine.evaluators.queueing.sum_balls import tail_along as stages_tail

__all__ = ["stages_tail"]
