"""Erlang's share of those who wait, of rows: of a few numpy takes longer than floats one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing import erlang_arrays, queue_numbers

_FEW, _FEW_SERVERS = 12, 100


def erlang_c(servers: ArrayLike, traffic: ArrayLike) -> Array:
    """Return the share of calls that wait; all of them from as much traffic as servers on."""
    return in_blocks(_of_block, servers, traffic)


def _of_block(servers: Array, traffic: Array) -> Array:
    if servers.size <= _FEW and np.all(servers <= _FEW_SERVERS):
        return row_by_row(queue_numbers.erlang_c)(servers, traffic)
    return erlang_arrays.erlang_c(servers, traffic)
