"""Profiles as hours: what they are at each minute, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import checked
from qps.compiler.diagnostics.source import Source
from qps.compiler.ir import Profile
from qps.compiler.pipeline import check_source

SPEC = """
users N in 1..10_000
{profile}
machine vm {{ cpu 1 core }}
component work {{ cpu 10 ms/request }}
topology {{ node web = vm }}
stream page for each user {{ traffic 0.01 request/s * busy; at web {{ work }} }}
"""
_HOUR = 60
_DAY = 24 * _HOUR


def _profile(text: str) -> Profile:
    (found,) = checked(SPEC.format(profile=text)).model.profiles
    return found


def _at(profile: Profile, minute: int) -> Fraction:
    (value,) = (one.value for one in profile.periods if one.start <= minute < one.end)
    return value


def test_later_hours_replace_a_part_of_earlier_ones() -> None:
    found = _profile("profile busy over day { 09:00..17:00 = 1; 12:00..13:00 = 140 %; else = 1/5 }")
    assert found.cycle == _DAY
    assert [(one.start // _HOUR, one.end // _HOUR, one.value) for one in found.periods] == [
        (0, 9, Fraction(1, 5)),
        (9, 12, 1),
        (12, 13, Fraction(7, 5)),
        (13, 17, 1),
        (17, 24, Fraction(1, 5)),
    ]


def test_hours_go_on_past_midnight_and_past_the_end_of_the_week() -> None:
    found = _profile("profile busy over day { 22:00..02:30 = 1; else = 0.1 }")
    assert [_at(found, minute) for minute in (0, 149, 150, 1319, 1320)] == [
        1, 1, Fraction(1, 10), Fraction(1, 10), 1
    ]  # fmt: skip
    week = _profile("profile busy over week { sunday 22:00..02:00 = 1; else = 0.1 }")
    assert [_at(week, minute) == 1 for minute in (0, 120, 6 * _DAY + 1320, 22 * _HOUR)] == [
        True, False, True, False
    ]  # fmt: skip


def test_days_can_be_listed_and_hours_left_out() -> None:
    found = _profile(
        "profile busy over week { weekend = 0.3; weekday = 1; friday, saturday 20:00..24:00 = 2 }"
    )
    evening = 21 * _HOUR
    assert [_at(found, day * _DAY + evening) for day in range(7)] == [
        1, 1, 1, 1, 2, 2, Fraction(3, 10)
    ]  # fmt: skip
    assert _at(found, 5 * _DAY) == Fraction(3, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("over day { 09:00..17:00 = 1 }", "the profile has no value from 00:00 to 09:00"),
        ("over week { weekday = 1 }", "no value from 00:00 on Saturday to 00:00 on Monday"),
        ("over day { }", "the profile has no value from 00:00 to 00:00"),
        ("over month { else = 1 }", "a profile cannot be over `month`"),
        ("over day { friday = 1; else = 0 }", "a profile over a day has no days of the week"),
        ("over week { fryday = 1; else = 0 }", "`fryday` is not a day of the week"),
        ("over day { 09:00..25:00 = 1; else = 0 }", "`25:00` is not a time of the day"),
        ("over day { 09:00..09:00 = 1; else = 0 }", "these hours have no duration"),
        ("over day { 24:00..02:00 = 1; else = 0 }", "`24:00` is the end of the day"),
        ("over day { 09:00..17:00 = -1; else = 1 }", "cannot be negative"),
        ("over day { 09:00..17:00 = 1 +- 10 %; else = 1 }", "must be a known number"),
        ("over day { 09:00..17:00 = 3 s; else = 1 }", "a value of a profile must be"),
        ("over day { 09:00..17:00 = 0; else = 0 }", "this profile is 0 at all times"),
        ("over day { else = 0; else = 1 }", "`else` is stated twice"),
        (
            "over day { 09:00..12:00 = 1; 11:00..14:00 = 2; else = 0 }",
            "overlap earlier ones, at 11",
        ),
        (
            "over week { weekday 09:00..17:00 = 1; friday 16:00..20:00 = 2; else = 0 }",
            "overlap earlier ones, at 16:00 on Friday",
        ),
    ],
)
def test_other_profiles_are_refused(text: str, message: str) -> None:
    found = check_source(Source("spec.qps", SPEC.format(profile=f"profile busy {text}")))
    assert found.value is None
    assert any(message in one.message for one in found.diagnostics)
