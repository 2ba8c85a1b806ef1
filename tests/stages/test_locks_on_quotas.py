"""A lock that is held on a CPU with a limit: p99 is far too short, states no error, and warns."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.answers import answer_of
from helpers.specs import checked, lowered
from qps.compiler.diagnostics import codes
from stages.locks_on_quotas import Pod, predicted, simulated

THROTTLED = Pod(cores=1, host=8, step=10, held=3, pauses=False, load=0.7)
"""That of seed 4102 of `locks_on_quotas.py`."""


def _warnings(pod: Pod) -> list[str]:
    found = answer_of(checked(pod.text)).warnings
    return [one.message for one in found if one.code is codes.THROTTLED_HOLD]


def test_a_lock_on_a_throttled_cpu_states_no_error_and_warns() -> None:
    (*_, late, mean) = predicted(THROTTLED)
    assert late[1].error is mean[1].error is None

    (warning,) = _warnings(THROTTLED)
    assert "web.lock is held while the CPU limit pauses web.cpu" in warning
    assert "`asks.p99` may be several times longer than predicted" in warning
    truth = simulated(THROTTLED, 4102)
    assert truth[2] > 2 * late[0]  # the warning has a reason
    assert mean[0] == pytest.approx(truth[3], rel=0.3)


def test_a_cpu_that_is_hardly_throttled_warns_of_nothing() -> None:
    calm = Pod(cores=4, host=8, step=1, held=0.1, pauses=False, load=0.3)
    assert _warnings(calm) == []
    *_, throttled = simulated(calm, 1, 2000)
    assert throttled == 0


def test_without_a_lock_errors_of_the_quota_are_stated() -> None:
    text = THROTTLED.text.replace("take lock; critical; give lock", "critical")
    assert lowered(text).streams["asks"].quantile_certainty(Fraction(99, 100)).error is not None
