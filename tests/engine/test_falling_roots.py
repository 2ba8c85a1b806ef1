"""Roots of falling functions: a point that no step leaves is the last one that is looked at."""

from math import inf, isinf

import numpy as np

from qps.engine.numerics import array_blocks, falling_roots

_MOST_LOOKS = 12


def test_what_has_no_end_is_looked_at_few_times() -> None:
    looks = []

    def value(time: float) -> tuple[float, float]:
        looks.append(time)
        return -1.0, 0.0

    assert isinf(falling_roots.falling_root(value, 0.0, inf, inf))
    assert len(looks) <= _MOST_LOOKS


def test_rows_without_end_do_not_move_the_other_roots() -> None:
    looks = []

    def values(time: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        looks.append(time.size)
        has_end = root < inf
        return np.where(has_end, 1 - time / root, -1.0), np.where(has_end, -1 / root, 0.0)

    roots = np.array([2.0, inf, 0.25, inf])
    with np.errstate(all="ignore"):
        found = array_blocks.falling_root(values, np.zeros(4), roots * 4, roots * 4, roots)
    assert found.tolist() == [2.0, inf, 0.25, inf]
    assert sum(looks) <= _MOST_LOOKS
