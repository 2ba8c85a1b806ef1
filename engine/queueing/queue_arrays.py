"""Numbers of queues on arrays, each by the name it has in `queue_numbers`, each with its slopes.

`name_slopes` returns the derivatives of `name` by each of its arguments. A derivative is
not-a-number where there is none: by a number of flows that counts whole, and where the function is
infinite or not-a-number.
"""

from qps.engine.distributions.sum_arrays import stages_quantile
from qps.engine.distributions.sum_tail_arrays import stages_tail
from qps.engine.queueing.erlang_arrays import (
    erlang_b,
    erlang_b_slopes,
    erlang_c_slopes,
    inverse_erlang_b,
    periodic_wait,
    periodic_wait_slopes,
)
from qps.engine.queueing.erlang_rows import erlang_c
from qps.engine.queueing.md1_arrays import (
    batch_quantile,
    batch_quantile_slopes,
    md1_quantile,
    md1_quantile_slopes,
    md1_tail,
    md1_tail_slopes,
)
from qps.engine.queueing.on_off_arrays import burst_quantile, burst_wait, uneven
from qps.engine.queueing.periodic_arrays import (
    periodic_quantile,
    periodic_quantile_slopes,
    periodic_tail,
    periodic_tail_slopes,
)
from qps.engine.queueing.sojourn_arrays import (
    gamma_quantile,
    gamma_quantile_slopes,
    normal_quantile,
    normal_quantile_slopes,
    normal_tail,
    normal_tail_slopes,
    sojourn_quantile,
    sojourn_quantile_slopes,
)

__all__ = [
    "batch_quantile",
    "batch_quantile_slopes",
    "burst_quantile",
    "burst_wait",
    "erlang_b",
    "erlang_b_slopes",
    "erlang_c",
    "erlang_c_slopes",
    "gamma_quantile",
    "gamma_quantile_slopes",
    "inverse_erlang_b",
    "md1_quantile",
    "md1_quantile_slopes",
    "md1_tail",
    "md1_tail_slopes",
    "normal_quantile",
    "normal_quantile_slopes",
    "normal_tail",
    "normal_tail_slopes",
    "periodic_quantile",
    "periodic_quantile_slopes",
    "periodic_tail",
    "periodic_tail_slopes",
    "periodic_wait",
    "periodic_wait_slopes",
    "sojourn_quantile",
    "sojourn_quantile_slopes",
    "stages_quantile",
    "stages_tail",
    "uneven",
]
