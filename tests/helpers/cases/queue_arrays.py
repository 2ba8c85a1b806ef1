"""Functions of queues on arrays, drawn operands, and the exact formulas of Erlang."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.queueing import queue_arrays, queue_numbers

law = settings(max_examples=examples(40), deadline=None)
ARRAYS: dict[str, Callable[..., Any]] = {
    name: getattr(queue_arrays, name) for name in queue_arrays.__all__
}
DIGITS = 40


def assert_same(found: Any, expected: Any, within: float = 1e-10, least: float = 0.0) -> None:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    with np.errstate(invalid="ignore"):
        is_same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        is_same |= np.abs(found - expected) <= within * np.abs(expected) + least
    assert is_same.all(), list(zip(found[~is_same], expected[~is_same], strict=True))


def one_by_one(name: str, columns: list[list[float]]) -> list[float]:
    function = getattr(queue_numbers, name)
    return [function(*row) for row in zip(*columns, strict=True)]


def draw_columns(draw: st.DrawFn, *kinds: st.SearchStrategy[float]) -> list[list[float]]:
    count = draw(st.integers(1, 12))
    return [draw(st.lists(kind, min_size=count, max_size=count)) for kind in kinds]


def powers_of_ten(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda power: 10**power)


# below 1: small, middling, and next to 1
SHARES = st.one_of(
    powers_of_ten(-6, 0), st.floats(0.01, 0.99), powers_of_ten(-6, -1).map(lambda x: 1 - x)
)


def exact_slopes(function: Callable[..., Any], *arguments: float) -> list[float]:
    with mpmath.workdps(DIGITS):
        at = [mpmath.mpf(argument) for argument in arguments]
        step = mpmath.mpf(10) ** -18
        found = []
        for k, argument in enumerate(at):
            more, less = (
                function(*at[:k], argument * (1 + sign * step), *at[k + 1 :]) for sign in (1, -1)
            )
            found.append(float((more - less) / (2 * step * argument)))
        return found
