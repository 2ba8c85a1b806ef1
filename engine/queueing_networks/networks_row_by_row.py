"""Closed networks on arrays that are solved row by row, equal ones once.

Of several classes, also with pools that these share, and with calls made together.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing_networks import (
    fork_join_mva,
    multiclass_cycle_times,
    multiclass_load_dependent_numbers,
    multiclass_mva,
)

_ALL: set[Callable[..., Array]] = set()


def _of_rows(function: Callable[..., float]) -> Callable[..., Array]:
    def found(*operands: ArrayLike) -> Array:
        return in_blocks(row_by_row(function), *operands)

    _ALL.add(found)
    return found


def is_row_by_row(function: Callable[..., Array]) -> bool:
    """Return whether a function of arrays is one of these."""
    return function in _ALL


class_rate = _of_rows(multiclass_mva.class_rate)
class_wait = _of_rows(multiclass_mva.class_wait)
class_open_wait = _of_rows(multiclass_mva.class_open_wait)
class_quantile = _of_rows(multiclass_cycle_times.class_quantile)
shared_rate = _of_rows(multiclass_load_dependent_numbers.shared_rate)
shared_time = _of_rows(multiclass_load_dependent_numbers.shared_time)
shared_wait = _of_rows(multiclass_load_dependent_numbers.shared_wait)
forked_rate = _of_rows(fork_join_mva.forked_rate)
forked_time = _of_rows(fork_join_mva.forked_time)
forked_wait = _of_rows(fork_join_mva.forked_wait)
