"""Unlike calls at once to one machine: the last of those that come together counts."""

from __future__ import annotations

import pytest

from stages.unlike_calls_at_once import Calls, predicted, simulated

# Seeds of `tests/stages/unlike_calls_at_once.py`: percentiles had been up to 45 % too short.
_CASES = [
    Calls((20.0, 12.0, 30.0), 1, 0.5),
    Calls((16.49, 17.35, 25.15), 4, 0.7),
    Calls((33.22, 22.77, 55.86, 22.69), 2, 0.3),
]


@pytest.mark.parametrize("calls", _CASES, ids=str)
def test_the_time_of_all_responses_is_that_of_the_last(calls: Calls) -> None:
    for (value, known), truth in zip(predicted(calls), simulated(calls, 1), strict=True):
        assert value == pytest.approx(truth, rel=0.12)
        assert known.error is not None
        assert known.error <= 0.2


def test_one_server_serves_the_batch_from_end_to_end() -> None:
    """Pollaczek and Khinchine: of batches as services, the mean time is known exactly."""
    calls = Calls((12.0, 18.0, 10.0, 20.0), 1, 0.85)
    work = sum(calls.services) / 1e3
    square = work**2 + sum(ms**2 for ms in calls.services) / 1e6
    mean, _ = predicted(calls)[-1]
    assert mean == pytest.approx(calls.rate * square / 2 / 0.15 + work, rel=1e-3)


def test_services_far_apart_state_no_error_of_this_kind() -> None:
    """Errors were measured of services that differ up to ten times."""
    *_, (_, known) = predicted(Calls((1.0, 100.0), 2, 0.5))
    assert "calls-that-meet" not in {one.method for one in known.because}
