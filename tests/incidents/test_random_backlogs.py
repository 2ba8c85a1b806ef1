"""What waits by random variation alone, at a load near 100 %, against walks that share nothing."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

from helpers.specs import checked
from qps.engine.queueing.diffusion_backlogs import mean_backlog, mean_largest_backlog
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

HOSTS = """
users rate in 1..100_000
machine host { cpu 1 core, queueing mmc }
component work { cpu 10 ms/request }
topology { node hosts = host * 4 }
stream call in all { traffic rate * 1 request/s; at hosts { work } }
incident failure { lose 1 of hosts for 10 minute }
"""


def _answer(at: int) -> IncidentAnswer:
    spec = checked(HOSTS)
    configuration = spec.configuration((), ())
    return incident_answer(spec.model, configuration, spec.model.incidents[0], at)


def test_at_exactly_the_capacity_it_grows_like_the_square_root_of_time() -> None:
    for time in (1.0, 100.0, 1e6):
        assert mean_largest_backlog(0, 2.0, time) == pytest.approx(sqrt(pi * 2 * time / 2))
        assert mean_backlog(0, 2.0, time) == pytest.approx(sqrt(2 * 2 * time / pi))


def test_far_above_the_capacity_it_is_that_of_a_fluid() -> None:
    assert mean_largest_backlog(1.0, 1.0, 10_000.0) == pytest.approx(10_000, rel=0.001)
    assert mean_largest_backlog(1.0, 0.0, 5.0) == mean_backlog(1.0, 0.0, 5.0) == 5


@pytest.mark.parametrize("load", [0.98, 1.0, 1.02])
def test_it_is_the_mean_of_single_queues(load: float) -> None:
    """Of M/M/1, by the recursion of waiting work; times are service times."""
    random = np.random.default_rng(5)
    arrivals = round(4_000 * load)
    runs = 3_000
    waiting, most = np.zeros(runs), np.zeros(runs)
    for _ in range(arrivals):
        work = waiting + random.exponential(1, runs)
        most = np.maximum(most, work)
        waiting = np.maximum(0, work - random.exponential(1 / load, runs))
    variance = load * 2
    assert mean_largest_backlog(load - 1, variance, 4_000) == pytest.approx(most.mean(), rel=0.05)
    assert mean_backlog(load - 1, variance, 4_000) == pytest.approx(waiting.mean(), rel=0.05)


def test_a_load_of_exactly_the_capacity_has_a_backlog() -> None:
    """60 runs of single requests had 789 +- 42 requests, and were over 604.5 s after the start."""
    (backlog,) = _answer(300).random_backlogs
    assert 4 * backlog.worst / 0.010 == pytest.approx(sqrt(pi * 600 * 600 / 2), rel=1e-6)
    assert backlog.cleared_at == pytest.approx(604.5, abs=1.0)


@pytest.mark.parametrize(("at", "many"), [(280, 0), (298, 1), (302, 1), (330, 0)])
def test_it_is_said_only_near_the_capacity(at: int, many: int) -> None:
    assert len(_answer(at).random_backlogs) == many
