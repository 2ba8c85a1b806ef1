"""Where a function is likely to be above zero first, by its values."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest

from qps.solver.search.likely_failures import likely_failure

_MOST_VALUES = 25
"""Halves of a million would be 20, and half of them far from where it fails."""


def _waiting(at: float) -> float:
    """Return a wait that grows without end, above its limit from 12,001 on."""
    return 0.1 / (1 - at / 20_000) - 0.25 if at < 20_000 else inf


_FUNCTIONS: dict[str, tuple[Callable[[float], float], int]] = {
    "wait": (_waiting, 12_001),
    "line": (lambda at: at - 777.3, 778),
    "cube": (lambda at: (at / 1e4) ** 3 - 1, 10_001),
    "steep": (lambda at: (at / 3e4) ** 20 - 1, 30_001),
    "jump": (lambda at: -1.0 if at < 4_321 else 1.0, 4_321),
    "without a value": (lambda at: -1.0 if at < 4_321 else nan, 4_321),
    "next to the end": (lambda at: at - 999_999.5, 1_000_000),
    "next to the start": (lambda at: at - 1.5, 2),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_a_first_failure_is_found_in_few_values(name: str) -> None:
    function, first = _FUNCTIONS[name]
    options: list[float] = []

    def value(at: float) -> float:
        options.append(at)
        return function(at)

    assert likely_failure(value, 1, 1_000_000) == first
    assert len(options) <= _MOST_VALUES
    assert len(set(options)) == len(options)


@pytest.mark.parametrize(("low", "high"), [(1, 777), (778, 1_000), (5, 5)])
def test_what_does_not_change_between_two_ends_is_not_found(low: int, high: int) -> None:
    assert likely_failure(lambda at: at - 777.3, low, high) is None


def test_of_several_failures_one_is_found_that_passes_just_before() -> None:
    def value(at: float) -> float:
        return (at - 100.5) * (at - 5_000.5) * (at - 60_000.5)

    found = likely_failure(value, 1, 1_000_000)
    assert found is not None
    assert value(found) > 0 >= value(found - 1)
