"""Areas under curves that may have kinks and jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_DEEPEST = 40


def area(of: Callable[[float], float], points: Sequence[float], within: float = 1e-9) -> float:
    """Return the area between the first and the last of some points, off by so much at most.

    Stretches are halved until Gauss's rule says of one what it says of its halves.
    """
    ends = pairwise(points)
    return sum(_halved(of, low, high, _rule(of, low, high), within, 0) for low, high in ends)


def _halved(
    of: Callable[[float], float], low: float, high: float, whole: float, within: float, depth: int
) -> float:
    middle = (low + high) / 2
    left, right = _rule(of, low, middle), _rule(of, middle, high)
    if abs(left + right - whole) <= within or depth == _DEEPEST:
        return left + right
    return sum(
        _halved(of, start, end, part, within / 2, depth + 1)
        for start, end, part in ((low, middle, left), (middle, high, right))
    )


def _rule(of: Callable[[float], float], low: float, high: float) -> float:
    half = (high - low) / 2
    values = (of(low + half * (1 + float(node))) for node in _NODES)
    return half * sum(float(w) * v for w, v in zip(_WEIGHTS, values, strict=True))
