"""Calls of which some are slow by chance state no error that a simulation exceeds."""

from __future__ import annotations

import pytest

from stages.alternatives_at_once import Calls, predicted, simulated


@pytest.mark.parametrize(
    "calls",
    [
        Calls(5, 1, 10, 0.5, are_at_once=True),
        Calls(2, 5, 2, 0.7, are_at_once=True),
        Calls(5, 1, 20, 0.7, are_at_once=False),
        Calls(5, 1, 100, 0.5, are_at_once=False),
        Calls(3, 20, 10, 0.5, are_at_once=False),
        Calls(3, 5, 10, 0.7, are_at_once=False),
    ],
)
def test_no_number_is_further_off_than_is_stated(calls: Calls) -> None:
    truths = simulated(calls, 7, 60_000)
    for (value, known), truth in zip(predicted(calls), truths, strict=True):
        if known.error is not None:  # and what noise a simulation has
            assert value == pytest.approx(truth, rel=known.error + 0.05)


def test_services_that_are_near_each_other_state_an_error() -> None:
    *percentiles, (_, mean) = predicted(Calls(3, 20, 10, 0.5, are_at_once=False))
    assert [known.error for _, known in percentiles] == [0.6] * 3
    assert mean.error == 0.03
    assert [known.error for _, known in predicted(Calls(5, 1, 100, 0.5, are_at_once=True))] == (
        [None] * 4
    )


@pytest.mark.parametrize(
    "calls",
    [
        Calls(5, 1, 10, 0.5, are_at_once=True),
        Calls(3, 20, 10, 0.7, are_at_once=True),
        Calls(8, 20, 5, 0.7, are_at_once=True),
    ],
)
def test_the_mean_of_a_batch_is_that_of_pollaczek_and_khinchine(calls: Calls) -> None:
    """Of n draws as one service: it was up to 2.2 times too long, as if they were independent."""
    chance, count = calls.percent / 100, calls.count
    mean = (1 - chance + chance * calls.apart) / 1e3
    square = 2 * (1 - chance + chance * calls.apart**2) / 1e6
    of_batch = count * (square - mean**2) + (count * mean) ** 2
    expected = calls.rate * of_batch / 2 / (1 - calls.load) + count * mean
    *percentiles, (found, _) = predicted(calls)
    assert found == pytest.approx(expected, rel=1e-6)
    truths = simulated(calls, 11)
    for (value, _), truth in zip(percentiles, truths, strict=False):
        assert value == pytest.approx(truth, rel=0.3)
