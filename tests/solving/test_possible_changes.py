"""Which changes can be had, also where nobody is supported."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.specs import checked
from qps.cli import main
from qps.solver.answers.answer_parts import Advice, ChangeKind
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.available_changes import kinds_at_hand
from solving.test_advice import SERVER, _advised, _by

# -- what can be had ------------------------------------------------------------------

OFFERED = """
users N in 1..1000
{declared}
machine desk {{ cpu 1 core{price} }}
machine better = desk with cpu 2 core
machine archive {{ cpu 8 core; disk 6 MByte/s; price 10 $ }}
machine camera {{ cpu 8 core }}
network slow {{ switched; rate 1 Mbit/s; price 200 $ }}
network gift {{ switched; rate 1 Gbit/s }}
network dear {{ switched; rate 1 Gbit/s; price 5000 $ }}
component show {{ cpu 1 ms/request }}
component fetch {{ cpu 0.01 ms/request }}
topology {{
  node store = archive
  node eye = camera
  node seat = desk * {seats}
  link lan = slow between store, seat, eye
}}
stream page for each user {{
  traffic pace, {size} byte/request
  at store {{ fetch }}
  over lan
  at seat {{ show; show if how == often }}
}}
stream picture {{ traffic 1 request/s, 10 byte/request; at eye {{ fetch }}; over lan; at seat {{ fetch }} }}
"""


def _offered(**parts: str) -> dict[str, Advice]:
    usual = {"declared": "", "price": "; price 20 $", "seats": "1", "size": "10"} | parts
    text = OFFERED.format(**usual)
    if "option how" not in text:
        text = text.replace("; show if how == often", "")
    if "param pace" not in text:
        text += "param pace = 10 request/s\n"
    return {one.change: one for one in _advised(text)[1]}


@pytest.mark.parametrize(
    ("declared", "is_offered"),
    [
        ("option how = often or seldom", True),
        ('option how = often or seldom source "assumed: nobody counted"', False),
        ("option how = often or as_figure_5", True),
        ('"""How often."""\noption how = often or left_out', True),
        ('option how = often or ample source "as the hypothesis of figure 5 has it"', False),
        ('"""Often, or as seldom as figure 5 assumes."""\noption how = often or seldom', False),
    ],
)
def test_what_is_assumed_is_no_help(declared: str, is_offered: bool) -> None:
    found = _offered(declared=declared)
    assert found
    assert any(change.startswith("how = ") for change in found) is is_offered


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("", {"pace", "times"}),
        # What users send may be less, however well its number is known.
        ('source "our own choice; 0.9 is fitted to a table"', {"pace"}),
        ('source "an assumption"', {"pace"}),
        ('fitted "to a table"', set()),
    ],
)
def test_what_is_fitted_is_no_help(said: str, offered: set[str]) -> None:
    declared = (
        f"param pace = 10 request/s in 1..20 request/s {said}\nparam times = 1 in 0..2 {said}"
    )
    text = OFFERED.format(declared=declared, price="", seats="1", size="10")
    _, advice = _advised(
        text.replace("; show if how == often", "").replace("pace,", "pace * times,")
    )
    assert {
        name for name in ("pace", "times") if f"10 % less {name}" in _changes(advice)
    } == offered


@pytest.mark.parametrize(
    ("said", "is_offered"),
    [
        ("", True),
        ('source "a data sheet"', True),
        ('fitted "to figure 6.12"', False),
        ('source "measured: 9.8 to 10.3, its 95 % interval"', False),
    ],
)
def test_a_capacity_that_is_fitted_is_not_bought(said: str, is_offered: bool) -> None:
    text = SERVER.replace("rated * 2", "made") + (
        f"param power = 10 score in 1..100 score {said}\nmachine made {{ cpu power }}\n"
    )
    _, advice = _advised(text)
    assert ("twice the power" in _by(advice, ChangeKind.CAPACITY)) is is_offered


def _changes(advice: tuple[Advice, ...]) -> set[str]:
    return {one.change for one in advice}


@pytest.mark.parametrize(
    "choices", [("as_measured", "as_published"), ("counted", "left_out"), ("included", "ignored")]
)
def test_an_option_that_says_as_what_something_counts_is_no_help(choices: tuple[str, str]) -> None:
    text = OFFERED.replace("if how == often", f"if how == {choices[0]}")
    declared = f"option how = {choices[0]} or {choices[1]}\nparam pace = 10 request/s"
    _, advice = _advised(text.format(declared=declared, price="", seats="1", size="10"))
    assert advice
    assert not any(one.change.startswith("how = ") for one in advice)


def test_a_capacity_without_end_is_no_help() -> None:
    declared = "option how = often or seldom\noption lines = real or endless\n"
    text = OFFERED.replace(
        "cpu 1 core{price}", "cpu if lines == endless then 1_000_000 core else 1 core{price}"
    )
    _, advice = _advised(
        text.format(declared=declared + "param pace = 10 request/s", price="", seats="1", size="10")
    )
    answer = [one.change for one in advice]
    assert "how = seldom" in answer
    assert "lines = endless" not in answer


@pytest.mark.parametrize(("seats", "kinds"), [("1", ["better", "camera"]), ("N", ["better"])])
def test_hardware_with_a_purpose_elsewhere_is_no_help(seats: str, kinds: list[str]) -> None:
    """An archive has a disk; users have no camera each; what is better is of the family."""
    text = OFFERED.format(declared="param pace = 1 request/s", price="", seats=seats, size="10")
    spec = checked(text.replace("; show if how == often", ""))
    assert list(kinds_at_hand(spec.model, spec.configuration(), "seat")) == kinds
    assert list(kinds_at_hand(spec.model, spec.configuration(), "lan")) == ["gift", "dear"]


@pytest.mark.parametrize(
    ("change", "price"), [("lan = dear", 4800), ("lan = gift", None), ("lan = slow * 2", 200)]
)
def test_what_has_no_price_saves_nothing(change: str, price: float | None) -> None:
    found = _offered(size="12500")
    assert found[change].price == price


# -- where nobody is carried ----------------------------------------------------------

NOBODY = """
users N in {low}..100
machine server {{ cpu 4 core }}
machine pc {{ }}
network wire {{ switched; rate {rate}; propagation {propagation} }}
component answer {{ cpu 8 ms/request }}
topology {{ node web = server; node user = pc * N; link lan = wire between web, user }}
stream page for each user {{
  traffic {pace} request/s, 10 kB/request
  at web {{ answer }}; over lan; at user {{ }}
}}
require {{ {needs} }}
"""

USUAL = {
    "low": "1", "rate": "1 Gbit/s", "propagation": "1 ms", "pace": "1", "needs": "page.latency <= 50 ms",
}  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # 9.08 ms, of which 8 are of the processor: to be 4.92 at most
        (
            {"needs": "page.latency <= 6 ms"},
            {
                "cores twice as fast for web.cpu",
                "0.6 times the answer.cpu.request",
                "1.6 times the limit of page.latency",
            },
        ),
        # 2,500 a second of 8 ms keep 20 cores busy; one server has four
        (
            {"pace": "2500"},
            {
                "8 times the web.cpu.cores",
                "web = server * 8",
                "0.2 times the answer.cpu.request",
                "0.2 times the page.traffic",
            },
        ),
        (
            {"propagation": "90 ms"},
            {"0.4 times the lan.propagation", "2 times the limit of page.latency"},
        ),
        (
            {"rate": "1 Mbit/s"},
            {
                "twice the lan.rate",
                "0.5 times the page.byte_per_request",
                "1.8 times the limit of page.latency",
            },
        ),
        (
            {"needs": "page.rate >= 3 request/s"},
            {"3 times the page.traffic", "0.3 times the limit of page.rate"},
        ),
        # from 60 users on: 9.6 cores
        (
            {"low": "60", "pace": "20"},
            {
                "4 times the web.cpu.cores",
                "web = server * 4",
                "0.4 times the answer.cpu.request",
                "0.4 times the page.traffic",
            },
        ),
    ],
)
def test_where_nobody_is_carried_larger_steps_are_tried(
    parts: dict[str, str], expected: set[str]
) -> None:
    text = NOBODY.format(**(USUAL | parts))
    solution, advice = _advised(text)
    assert solution.capacity is None
    assert {one.change for one in advice} == expected
    assert all(one.capacity >= solution.graph.low for one in advice)


def test_what_helps_comes_first_where_nobody_is_carried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nobody.qps"
    file.write_text(NOBODY.format(**USUAL | {"needs": "page.latency <= 6 ms"}))
    assert main(["solve", str(file)]) == 1
    out = capsys.readouterr().out
    assert "\n  Possible fixes " in out
    assert "\n  Buy          cores twice as fast for web CPU " in out
    setting = "answer.cpu.request = 4.8 ms/request"
    assert f"--set '{setting}'" in out
    spec = checked(file.read_text()).with_parts_of((setting,))
    assert solve_model(spec.model, spec.configuration(None, (setting,))).capacity


def test_faster_cores_are_offered_where_more_of_them_do_not_help() -> None:
    text = """
    users N in 1..10_000
    machine vm { cpu 4 core, queueing mmc }
    component page { cpu 10 ms/request }
    topology { node web = vm * 3 }
    stream ask for each user { traffic 0.2 request/s; at web { page } }
    require { ask.p99 <= 20 ms }
    """
    found = _changes(_advised(text)[1])
    assert any("cores" in one and "as fast" in one for one in found)
