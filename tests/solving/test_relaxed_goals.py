"""A less strict goal: which one, by how much, and what is supported with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.answers import answer_of
from helpers.specs import checked
from qps.cli import main
from qps.reports.text.solutions.change_wording import wording
from qps.solver.answers.answer_parts import Advice, ChangeKind
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.advice import advise

SPEC = """
users N in 1..{most}
param goal = 60 ms in 1..70 ms
machine box {{ cpu {cores} core, queueing mmc; price 900 $ }}
machine fixed {{ }}
network wire {{ propagation 5 ms }}
component work {{ cpu 10 ms/request }}
topology {{ node web = box; node desk = fixed; link lan = wire between web, desk }}
stream page for each user {{ traffic 1 request/s; at desk {{ call web {{ work }} }} }}
measure free = 1 - web.cpu.utilization
{needs}
"""


def _text(needs: str, *, cores: int = 1, most: int = 100_000) -> str:
    return SPEC.format(needs=needs, cores=cores, most=most)


def _goals(text: str) -> tuple[int | None, list[Advice]]:
    spec = checked(text)
    configuration = spec.configuration()
    solution = solve_model(spec.model, configuration)
    advice = advise(spec.model, configuration, solution)
    return solution.capacity, [one for one in advice if one.kind is ChangeKind.GOAL]


def _with(text: str, setting: str) -> int | None:
    spec = checked(text).with_parts_of((setting,))
    return solve_model(spec.model, spec.configuration(None, (setting,))).capacity


@pytest.mark.parametrize(
    ("needs", "name", "setting"),
    [
        ("require { page.latency <= 30 ms }", "limit of page.latency", "45 ms"),
        ("require { page.p99 <= 100 ms }", "limit of page.p99", "150 ms"),
        # of what is left to 100 %, half
        ("target cpu 60 %", "target of cpu", "80 %"),
        ("require { web.cpu.utilization <= 60 % }", "limit of web.cpu.utilization", "80 %"),
        ("require { free >= 40 % }", "limit of free", "28 %"),
        ("require { free >= 80 % }", "limit of free", "70 %"),
        ("require { share(page.latency > 70 ms) <= 1 % }", "limit of page.late", "1.5 %"),
    ],
)
def test_a_goal_gives_what_it_does_when_it_is_set(needs: str, name: str, setting: str) -> None:
    text = _text(needs, cores=4)
    now, goals = _goals(text)
    assert now is not None
    (goal,) = goals
    if "late" not in name:
        assert goal.name == name
    assert goal.capacity == _with(text, f"{goal.name} = {setting}") > now


def test_a_goal_is_relaxed_no_further_than_the_next_limit() -> None:
    """With 18 ms more the processor is what limits: 30 ms more would give nothing else."""
    text = _text("require { page.latency <= 60 ms; web.cpu.utilization <= 84 % }")
    now, (goal,) = _goals(text)
    assert now == 80
    assert goal.capacity == 84
    assert goal.factor == pytest.approx(1.3)


@pytest.mark.parametrize(
    "needs",
    [
        "require { web.cpu.utilization <= 100 % }",  # there is no more
        "require { 50 - N >= 0 }",  # of nothing no part is less
        "require { page.latency <= 2 * goal }",  # worked out from another number
        "",  # a processor can do no more than all
    ],
)
def test_what_is_no_number_to_relax_is_left_as_it_is(needs: str) -> None:
    text = _text(needs).replace("measure free", "measure left = 50 - N\nmeasure free")
    assert _goals(text.replace("50 - N >= 0", "left >= 0"))[1] == []


def test_a_parameter_that_is_a_limit_stays_in_its_range() -> None:
    text = _text("require { page.latency <= goal }")
    _, (goal,) = _goals(text)
    assert goal.name == "goal"
    assert goal.factor == pytest.approx(1.1)  # 66 ms; 72 ms are out of its range
    assert goal.capacity == _with(text, "goal = 66 ms")


def test_where_nobody_is_supported_a_goal_is_relaxed_until_somebody_is() -> None:
    text = _text("require { page.latency <= 13 ms }")
    now, (goal,) = _goals(text)
    assert now is None
    assert goal.factor == pytest.approx(1.6)  # 20.8 ms; one request takes 20.1 ms
    assert goal.capacity == _with(text, "limit of page.latency = 20.8 ms")


def test_a_goal_stands_behind_what_can_be_had_and_displaces_none_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.qps"
    text = _text("require { page.p99 <= 70 ms }")
    file.write_text(text, encoding="utf-8")
    spec = checked(text)
    words = wording(spec.model, spec.configuration(), answer_of(spec, advice=True))
    kinds = [words.kind(one) for one in words.by_kind]
    assert kinds[-1] == "goal"
    assert kinds.count("goal") == 1
    assert "buy" in kinds
    goal = words.by_kind[-1]
    assert (goal.words, goal.price) == ("page p99 limit: 70 -> 105 ms", 0)
    assert main(["solve", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (one for one in lines if one.startswith("  Relax goal "))
    assert "page p99 limit: 70 -> 105 ms" in line
    assert "$" not in line


def test_the_share_of_calls_is_no_time_that_a_faster_core_would_halve() -> None:
    text = """
users N in 1..1_000
machine box { cpu 4 core, queueing mmc }
network lan { propagation 0 s }
component work { cpu 1 us/request; delay 100 ms }
topology { node front, east, west = box; link net = lan between front, east, west }
stream asks for each user {
  traffic 1 request/s
  at front { call east * 50 % { work }; call west * 50 % { work } }
}
require { asks.p80 <= 150 ms }
"""
    spec = checked(text)
    solution = solve_model(spec.model, spec.configuration())
    assert solution.capacity is None
    advice = advise(spec.model, spec.configuration(), solution)
    assert not [one.change for one in advice if "core" in one.change]


def test_a_goal_that_counts_things_stays_whole() -> None:
    text = _text("unit seat\nparam seats = 7 seat\nrequire { N * 1 seat <= seats }")
    text = text.replace(
        "require { N * 1 seat <= seats }", "measure taken = N * 1 seat\nrequire { taken <= seats }"
    )
    now, (goal,) = _goals(text)
    assert (now, goal.capacity) == (7, 10)
    assert round(7 * (goal.factor or 0)) == 10
