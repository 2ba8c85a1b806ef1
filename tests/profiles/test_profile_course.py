"""The course of a day: utilizations, backlogs, server-hours and slow queues, by hand."""

from __future__ import annotations

from math import ceil, pi, sqrt

import pytest

from helpers.specs import checked
from qps.solver.configured_answer import configured_answer
from qps.solver.profiles import profile_course
from qps.solver.profiles.course_answer import CourseAnswer
from qps.solver.uncertainty.interval_result import Sampling

SHOP = """
users N in 1..1_000_000
profile visits over day { 08:00..22:00 = 0.6; 18:00..21:00 = 1; else = 0.1 }
machine vm { cpu 4 core }
component work { cpu 10 ms/request }
topology { node web = vm * 5 }
stream page for each user { traffic 0.1 request/s * visits; at web { work } }
"""
"""A user takes 1 ms/s at the peak, of 20 cores."""

CALLS = """
users customers in 1..100_000
profile calls over day { 09:00..18:00 = 0.6; 11:00..11:15 = 1; else = 0.02 }
machine desk { cpu 10 core, queueing mmc }
component talk { cpu 6 minute/request }
topology { node team = desk }
stream call for each user { traffic 0.001 request/minute * calls; at team { talk } }
"""


def _course(text: str, *settings: str) -> CourseAnswer:
    spec = checked(text)
    configuration = spec.configuration((), settings)
    found = configured_answer(spec, configuration, settings, sampling=Sampling()).answer.course
    assert found is not None
    return found


def test_moments_have_their_loads_at_the_capacity() -> None:
    found = _course(SHOP)
    assert found.at == 20_000
    assert [(one.name, one.utilization) for one in found.moments] == [
        ("00:00", pytest.approx(0.1)),
        ("08:00", pytest.approx(0.6)),
        ("18:00", pytest.approx(1.0)),
        ("21:00", pytest.approx(0.6)),
        ("22:00", pytest.approx(0.1)),
    ]
    assert found.worst.name == "18:00"
    assert all(one.is_met for one in found.moments)
    assert found.backlogs == ()
    assert found.transient == ()


def test_servers_follow_the_load_in_whole_numbers() -> None:
    (one,) = _course(SHOP).servers
    hours = [(10, 0.1), (11, 0.6), (3, 1.0)]
    assert (one.node, one.count, one.hours) == ("web", 5, 120)
    assert one.needed == sum(many * ceil(5 * load - 1e-9) for many, load in hours)


def test_servers_that_follow_the_load_are_paid_for_by_the_hour() -> None:
    text = SHOP.replace("cpu 4 core }", "cpu 4 core; price 144 $/day }")
    assert text != SHOP
    (one,) = _course(text).servers
    assert one.cost == pytest.approx(6 * 120)
    assert one.needed_cost == pytest.approx(6 * one.needed)
    (without,) = _course(SHOP).servers
    assert (without.cost, without.needed_cost) == (None, None)


def test_a_population_that_is_set_has_its_backlog() -> None:
    found = _course(SHOP, "N = 24_000")
    assert found.at == 24_000
    (peak,) = found.backlogs
    # The load is 1.2 for three hours, then 0.72 for one, then 0.12.
    assert (peak.resource, peak.start, peak.worst_at) == ("web.cpu", 18 * 60, 21 * 60)
    assert peak.worst == pytest.approx(0.2 * 3 * 3600)
    left = 0.2 * 180 - 0.28 * 60
    assert peak.cleared_at == pytest.approx(22 * 60 + left / 0.88)
    assert [one.is_met for one in found.moments] == [True, True, False, False, True]
    assert [one.backlog > 0 for one in found.moments] == [False, False, True, True, False]


def test_a_load_above_the_capacity_on_average_never_clears() -> None:
    (peak,) = _course(SHOP, "N = 90_000").backlogs
    assert peak.cleared_at is None


def test_a_quarter_of_an_hour_is_too_short_for_calls_of_six_minutes() -> None:
    found = _course(CALLS, "customers = 1_400")
    (one,) = found.transient
    assert (one.resource, one.at) == ("team.cpu", "11:15")
    assert one.steady_wait is not None
    assert one.wait < 0.5 * one.steady_wait
    lasting = _course(CALLS.replace("11:00..11:15 = 1; ", "").replace("0.6", "1"), "customers=1400")
    assert lasting.transient == ()
    assert lasting.worst.name == "09:00"


@pytest.mark.parametrize(("text", "settings"), [(SHOP, "N = 24_000"), (CALLS, "customers = 1_400")])
def test_many_states_in_floats_are_as_few_exact_ones(
    text: str, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = _course(text, settings)
    monkeypatch.setattr(profile_course, "_FEW", 0)
    found = _course(text, settings)
    assert [one.is_met for one in found.moments] == [one.is_met for one in exact.moments]
    for one, other in zip(found.moments, exact.moments, strict=True):
        assert one.utilization == pytest.approx(other.utilization, rel=1e-9)
        assert one.used == pytest.approx(other.used, rel=1e-9)
        assert one.backlog == pytest.approx(other.backlog, rel=1e-9)
    assert [one.wait for one in found.transient] == pytest.approx(
        [one.wait for one in exact.transient], rel=1e-6
    )


def test_minutes_are_rounded_up_to_hundredths_of_the_largest_value() -> None:
    minutes = "; ".join(
        f"{m // 60:02d}:{m % 60:02d}..{(m + 1) // 60:02d}:{(m + 1) % 60:02d} = {1000 + m} / 2439"
        for m in range(1440)
    )
    text = SHOP.replace(SHOP[SHOP.index("{") : SHOP.index("machine")], f"{{ {minutes} }}\n")
    found = _course(text)
    assert found.at == 20_000
    assert len({one.values for one in found.moments}) <= 100
    assert found.worst.utilization == pytest.approx(1.0)
    assert all(one.is_met for one in found.moments)


def test_a_load_of_exactly_the_capacity_has_a_queue_that_grows_with_the_root_of_time() -> None:
    """Of M/M/1, the mean is that of a reflected Brownian motion, √(2 (2 λ) t / π) requests."""
    spec = checked(
        "users rate in 1..100_000\n"
        "profile visits over day { 10:00..10:10 = 1; else = 0.5 }\n"
        "machine host { cpu 1 core, queueing mm1 }\ncomponent work { cpu 10 ms/request }\n"
        "topology { node hosts = host }\n"
        "stream call in all { traffic rate * 1 request/s * visits; at hosts { work } }\n"
    )
    course = profile_course.profile_course(spec.model, spec.configuration((), ()), 100)
    assert course is not None
    (queue,) = course.transient
    assert queue.wait == pytest.approx(0.010 * sqrt(2 * 200 * 600 / pi), rel=0.01)
    assert (queue.at, queue.steady_wait) == ("10:10", None)
