"""What `qps solve` tells besides the largest acceptable population: its own words, measures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.cli import main
from solving.test_ties import SHOP, answered


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (SHOP.replace(" for each user", ""), "a stream for one user only"),
        (SHOP.replace("pc * N", "pc * 10"), "ten users, whatever N is"),
    ],
)
def test_where_nothing_depends_on_the_users_that_is_reported(text: str, wrong: str) -> None:
    solution, view, _ = answered(text, "power = 4 core", "speed = 100 Mbit/s")
    assert view.answer.startswith("Capacity does not depend on the number of users: "), wrong
    (warning,) = solution.warnings
    assert warning.code.id == "QPS0608"
    assert warning.message == "no utilization or requirement depends on N"
    assert "`stream … for each user`" in warning.hints[0]


def test_what_nobody_moves_may_be_too_much_all_the_same() -> None:
    solution, view, _ = answered(SHOP.replace(" for each user", ""), "power = 0.001 core")
    assert view.answer.startswith("Not even 100 users are supported: web.cpu")
    assert "QPS0608" in [warning.code.id for warning in solution.warnings]


def test_one_number_of_users_is_no_range() -> None:
    settings = ("power = 4 core", "speed = 1000 Mbit/s")
    solution, view, text = answered(SHOP, *settings, "N = 200")
    assert view.answer == "All requirements pass at 200 users."
    assert not solution.warnings
    assert "Bottleneck   first to saturate: web.cpu, above 2,000 users." in text
    assert "Sensitivity to " in text
    assert answered(SHOP, *settings, "N = 1")[1].answer == "All requirements pass at 1 user."
    _, view, text = answered(SHOP, "N = 300")
    assert view.answer.startswith("300 users are not supported: line.forth utilization is 12,000 %")
    assert "Bottleneck   line.forth is saturated at 300 users." in text


MEASURES = (
    SHOP
    + '''
"""Volume per day.
The pages alone."""
measure in_a_day = line.forth.throughput * 1 day
measure idle_share = 1 - web.cpu.load
measure crowd = N / 10
require { crowd <= 20 }
'''
)


def test_measures_are_reported_at_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.qps").write_text(MEASURES, encoding="utf-8")
    settings = ["--set", "power=4 core", "--set", "speed=1000 Mbit/s", "--no-advice"]
    assert main(["solve", "--all", "s.qps", *settings]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    # 200 users, 50 kB a second each: 864 GB a day
    assert "volume per day 864 GB in_a_day" in lines
    assert "idle share 0.9 idle_share" in lines
    assert "crowd 20 ≤ 20 200 crowd" in lines
    assert main(["solve", "s.qps", *settings, "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)["measures"]
    assert output[0] == {
        "name": "in_a_day",
        "value": pytest.approx(864e9 * 8),
        "unit": "bit",
        "doc": "Volume per day.\nThe pages alone.",
        "known": {"kind": "exact", "reasons": []},
    }
    assert [one["name"] for one in output] == ["in_a_day", "idle_share", "crowd"]
    assert main(["solve", "s.qps", *settings, "--format", "markdown"]) == 0
    assert "| volume per day | 864 GB | in\\_a\\_day |" in capsys.readouterr().out
