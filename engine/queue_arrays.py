"""Numbers of queues on arrays, each by the name it has in `queue_numbers`, each with its slopes.

`name_slopes` returns the derivatives of `name` by each of its arguments. A derivative is
not-a-number where there is none: by a number of flows that counts whole, and where the function is
infinite or not-a-number.
"""

from qps.engine.erlang_arrays import (
    erlang_b,
    erlang_b_slopes,
    erlang_c,
    erlang_c_slopes,
    inverse_erlang_b,
    periodic_wait,
    periodic_wait_slopes,
)

__all__ = [
    "erlang_b",
    "erlang_b_slopes",
    "erlang_c",
    "erlang_c_slopes",
    "inverse_erlang_b",
    "periodic_wait",
    "periodic_wait_slopes",
]
