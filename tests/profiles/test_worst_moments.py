"""What limits over a day is its worst moment: against capacities worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.specs import checked
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.solver.answer import Answer
from qps.solver.configured_answer import configured_answer
from qps.solver.uncertainty.interval_result import Sampling

HEAD = """
users N in 1..1_000_000
machine vm { cpu 4 core }
component work { cpu 10 ms/request }
component report { cpu 300 ms/job }
unit job
"""
SHOP = (
    HEAD
    + """
profile visits over day { 08:00..22:00 = 0.6; 18:00..21:00 = 1; else = 0.1 }
profile nightly over day { 01:00..04:00 = 1; else = 0 }
topology { node db = vm }
stream page for each user { traffic 0.1 request/s * visits; at db { work } }
stream etl { traffic RATE job/s * nightly; at db { report } }
target cpu 80 %
"""
)


def _answer(spec: Spec, *settings: str) -> Answer:
    configuration = spec.configuration((), settings)
    return configured_answer(spec, configuration, settings, sampling=Sampling()).answer


def _errors(text: str) -> str:
    found = check_source(Source("spec.qps", text))
    assert found.value is None
    return " ".join(one.message for one in found.diagnostics)


@pytest.mark.parametrize(
    ("rate", "capacity", "moment"), [("2", 3200, "18:00"), ("10", 2000, "01:00")]
)
def test_the_night_limits_if_its_jobs_leave_less_than_the_peak_needs(
    rate: str, capacity: int, moment: str
) -> None:
    # 3.2 cores are available; a user takes 1 ms/s at the peak, a tenth of that at night.
    night = floor((Fraction("3.2") - Fraction(rate) * Fraction("0.3")) / Fraction("0.0001"))
    assert min(3200, night) == capacity
    answer = _answer(checked(SHOP.replace("RATE", rate)))
    assert (answer.capacity, answer.mode) == (capacity, moment)
    assert answer.course is not None
    assert answer.course.worst.name == moment


def test_moments_with_less_of_all_traffic_are_no_states() -> None:
    modes = [mode.name for mode in checked(SHOP.replace("RATE", "2")).model.modes]
    assert modes == ["01:00", "18:00"]


def test_a_window_that_takes_servers_counts_with_the_load_in_it() -> None:
    text = (
        HEAD.replace("component report { cpu 300 ms/job }\nunit job\n", "")
        + """
profile visits over week { weekday 09:00..17:00 = 1; WINDOW = 0.5; else = 0.1 }
profile rollout over week { WINDOW = 1; else = 0 }
topology { node web = vm * (4 - 2 * rollout) }
stream page for each user { traffic 0.1 request/s * visits; at web { work } }
"""
    )
    night = _answer(checked(text.replace("WINDOW", "sunday 02:00..03:00")))
    assert (night.capacity, night.limited_by) == (16_000, "web.cpu.utilization")
    text = text.replace("WINDOW = 0.5; ", "")
    noon = _answer(checked(text.replace("WINDOW", "friday 12:00..12:30")))
    assert (noon.capacity, noon.mode) == (8_000, "12:00 on Friday")


@given(
    st.lists(st.integers(1, 40), min_size=24, max_size=24),
    st.fractions(Fraction(1, 4), 4, max_denominator=12),
)
def test_scaling_a_profile_divides_the_capacity(values: list[int], factor: Fraction) -> None:
    def capacity(by: Fraction) -> int | None:
        hours = "; ".join(
            f"{hour:02d}:00..{hour + 1:02d}:00 = {value} * {by}"
            for hour, value in enumerate(values)
        )
        return _answer(
            checked(
                HEAD.replace("component report { cpu 300 ms/job }\nunit job\n", "")
                + f"profile busy over day {{ {hours} }}\n"
                + "topology { node web = vm }\n"
                + "stream page for each user { traffic 0.01 request/s * busy; at web { work } }\n"
            )
        ).capacity

    expected = Fraction(4) / (Fraction("0.0001") * max(values))
    assert capacity(Fraction(1)) == floor(expected)
    assert capacity(factor) == floor(expected / factor)


def test_a_constant_profile_changes_nothing() -> None:
    plain = HEAD.replace("component report { cpu 300 ms/job }\nunit job\n", "") + (
        "topology { node web = vm }\n"
        "stream page for each user { traffic 0.01 request/s FACTOR; at web { work } }\n"
        "require { page.latency <= 40 ms }\n"
    )
    usual = _answer(checked(plain.replace("FACTOR", "")))
    profile = "profile busy over week { else = 1 }\n"
    found = _answer(checked(profile + plain.replace("FACTOR", "* busy")))
    assert found.capacity == usual.capacity
    assert found.modes == ()


def test_a_profile_that_is_set_does_not_change() -> None:
    spec = checked(SHOP.replace("RATE", "10"))
    found = _answer(spec, "nightly = 0")
    assert found.capacity == 3200
    assert found.course is not None
    assert found.course.profiles == ("visits",)


def test_a_stream_has_no_traffic_while_its_profile_is_zero() -> None:
    text = SHOP.replace("RATE", "10") + "require { etl.latency <= 10 s }\n"
    answer = _answer(checked(text))
    assert (answer.capacity, answer.mode) == (2000, "01:00")
    assert "a rate must be above zero" in _errors(text.replace("10 job/s", "0 job/s"))


def test_each_mode_is_there_at_each_moment() -> None:
    spec = checked(SHOP.replace("RATE", "2") + "mode calm { db.cpu.load <= 50 % }\nmode busy { }\n")
    answer = _answer(spec)
    assert (answer.capacity, answer.mode) == (2000, "calm, 18:00")
    assert [mode.mode for mode in answer.modes] == [
        "calm, 01:00", "calm, 18:00", "busy, 01:00", "busy, 18:00"
    ]  # fmt: skip
    chosen = _answer(spec, "mode = busy")
    assert (chosen.capacity, chosen.mode) == (3200, "busy, 18:00")
    assert answer.course is not None
    assert answer.course.worst.name == "18:00"


def test_failures_are_survived_at_the_worst_moment() -> None:
    text = SHOP.replace("RATE", "10").replace("node db = vm", "node db = vm * 3")
    text = text.replace("stream etl {", "stream etl in all {")
    survived = text + "survive any one of db\n"
    night = floor((Fraction("6.4") - 3) / Fraction("0.0001"))
    assert night > 6400
    answer = _answer(checked(survived))
    assert answer.capacity == 6400
    assert answer.mode is not None
    assert answer.mode.endswith(", 18:00")


def test_too_many_states_are_refused() -> None:
    modes = "".join(f"mode m{n} {{ }}\n" for n in range(101))
    assert "states can be compared" in _errors(SHOP.replace("RATE", "2") + modes)
