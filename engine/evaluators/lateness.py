"""By how much more items than allowed are later than a time, for what has a quantile by it."""

from __future__ import annotations

from qps.engine.distributions.sum_lateness import lateness as stages_quantile
from qps.engine.forks.answer_arrays import order_lateness as order_quantile
from qps.engine.forks.fork_arrays import fork_lateness as fork_quantile

__all__ = ["fork_quantile", "order_quantile", "stages_quantile"]
