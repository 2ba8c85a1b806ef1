"""Waits for several servers where services are short or long by chance, of many rows at once.

The laws are those of `unlike_laws`. Of a few rows numpy takes longer than floats one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing import unlike_laws, unlike_numbers
from qps.engine.queueing.erlang_arrays import erlang_c

_FEW = 24
"""Rows that are computed one by one."""


class _Arrays:
    """Functions of arrays."""

    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    square = staticmethod(np.square)
    root = staticmethod(np.sqrt)
    exponential = staticmethod(np.exp)
    logarithm = staticmethod(np.log)
    erlang_c = staticmethod(erlang_c)


_BY = _Arrays()


def _arrays(
    law: Callable[..., Array], number: Callable[..., float], *, is_endless: bool = False
) -> Callable[..., Array]:
    """Return a law of arrays, and of a few rows as it is of one number."""

    def of_block(*operands: Array) -> Array:
        load = operands[-1]
        if load.size <= _FEW:
            return row_by_row(number)(*operands)
        found = law(_BY, *operands)
        is_there = unlike_laws.are_there(*operands)
        found = np.where(is_there & np.isfinite(found), found, np.nan)
        return np.where(is_there & (load >= 1), np.inf, found) if is_endless else found

    def found(*operands: ArrayLike) -> Array:
        return in_blocks(of_block, *operands)

    return found


unlike_ratio = _arrays(unlike_laws.unlike_ratio, unlike_numbers.unlike_ratio)
unlike_share = _arrays(unlike_laws.unlike_share, unlike_numbers.unlike_share)
unlike_short = _arrays(unlike_laws.unlike_short, unlike_numbers.unlike_short)
unlike_long = _arrays(unlike_laws.unlike_long, unlike_numbers.unlike_long, is_endless=True)
