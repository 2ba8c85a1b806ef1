"""How many machines carry a population: counts as printed, as built, and by a bounded search."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qps
from qps.cli import main
from qps.engine.expressions.formulas import Formula, apply, minimum, symbol
from qps.reports.text.changes.sizing_sentences import sizing_answer
from qps.reports.text.changes.sizing_text import sizing_text
from qps.solver.search.boxes import UndecidedBoxesError
from qps.solver.search.whole_multiples import least_whole
from qps.solver.what_if.growth import Countable, Counts, grown
from what_if.sized_shop import SHOP, few, sized

TIMES = symbol("times")


# Each box holds what its own sessions need; a larger processor holds no more of it.
SESSIONS = (
    SHOP.replace("= box\n", "= box * boxes\n").replace("memory 8 GB; ", "")
    .replace("; memory 10 MB", "").replace("rate 1 Mbit/s", "rate 10 Gbit/s")
    + "param boxes = 2 in 1..100\nmeasure held = N / boxes * 4 MB\nrequire { held <= 1 GB }\n"
)  # fmt: skip


def test_more_machines_are_tried_against_all_requirements() -> None:
    sizing = sized(SESSIONS, 3100)
    assert not sizing.is_supported
    assert sizing.is_possible
    growth = sizing.growth
    assert growth is not None
    # 250 sessions fit a box: 12.4 boxes; for the processor alone 4 would do, which nobody is told.
    assert [(m.nodes, m.now, m.takes) for m in growth.machines] == [(("web",), 2, 13)]
    assert growth.are_least
    cpu = next(one for one in sizing.needed if one.resource == "web.cpu")
    assert cpu.machines is not None
    assert cpu.machines.takes == 13
    assert sizing_answer(sizing) == (
        "3,100 users are supported with 13 web servers (now 2). Even with 10,000 times the "
        "capacity of each resource instead of more servers, held is 6.2 GB (limit 1 GB)."
    )


TIERS = (
    SHOP.replace("= box\n", "= box * boxes\n  node db = box * stores\n")
    .replace("link line", "link back = wire between web, db\n  link line")
    .replace("memory 8 GB; ", "").replace("; memory 10 MB", "").replace("1 Mbit/s", "10 Gbit/s")
    .replace("  at user { }\n", "  over back\n  at db { }\n", 1)
    .replace("  at web { serve }\n", "  at web { serve }\n")
    + "param boxes = 1 in 1..100\nparam stores = 3 in 1..100\n"
    "measure held = N / boxes * 4 MB\nmeasure kept = N / stores * 2 MB\n"
    "require { held <= A GB; kept <= B GB }\nquality worst\n"
)  # fmt: skip


@few
@given(st.integers(10, 3000), st.integers(1, 8), st.integers(1, 8))
def test_the_reported_machine_counts_are_enough_and_fewer_are_not(
    users: int, held: int, stored: int
) -> None:
    text = TIERS.replace("A GB", f"{held} GB").replace("B GB", f"{stored} GB")
    sizing = sized(text, users)
    # By hand: 4 MB of each user on boxes, 2 MB on stores, and 2 ms of work beside 10 % of 60 %.
    boxes = max(-(-users * 4 // (1000 * held)), 1)
    stores = max(-(-users * 2 // (1000 * stored)), 3)
    if sizing.is_supported:
        assert (boxes, stores) == (1, 3)
        return
    assert sizing.growth is not None
    by_name = {m.nodes[0]: m.takes for m in sizing.growth.machines}
    work = -(-users * 2 // 2000)
    assert by_name.get("db", 3) == stores
    assert by_name.get("web", 1) == max(boxes, work)


@pytest.mark.parametrize(
    "text", [SESSIONS, SESSIONS.replace("* boxes", "* 2").replace("held <= 1 GB", "N >= 0")]
)
def test_numbers_of_machines_are_set_as_printed(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sessions.qps"
    path.write_text(text)
    assert main(["solve", str(path), "--users", "3000", "-q"]) == 0
    output = capsys.readouterr().out
    (setting,) = re.findall(r"web: 2 -> \d+ servers +--set '(.+)'", output)
    assert main(["solve", str(path), "--set", setting, "--format", "json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["capacity"] >= 3000


def test_one_thing_has_one_figure() -> None:
    def rows(text: str, population: int, head: str) -> list[str]:
        found = sizing_text(sized(text, population), "s").splitlines()
        return [" ".join(line.split()) for line in found if line.strip().startswith(head)]

    # what 3,100 sessions take is 13 boxes, wherever it is told
    assert rows(SESSIONS, 3100, "web.cpu") == ["web.cpu 4 cores 87.5 % 60 % 7 cores 13 servers"]
    assert rows(SESSIONS, 3100, "($650/month)")  # below it, in the same cell
    # 60 % of a line is not enough for 3 ms: it takes what the answer says
    (line,) = rows(SHOP + "require { pages.latency <= 3 ms }\n", 300, "line.forth")
    assert line.endswith(" ≥ 400 Mbit/s")


SPARE = """
users N in 1..10_000
param nodes = 3 in 1..99
param gone = 0
machine box { cpu 1 core }
component work { cpu 10 ms/request }
topology { node db = box * COUNT }
stream ask for each user { traffic 1 request/s; at db { work } }
mode whole { gone = 0 }
mode lost { LOST }
"""


@pytest.mark.parametrize(
    ("count", "lost", "expected"),
    [
        # 9 must be left: of so many that are built
        ("(nodes - gone)", "gone = 1", "10 servers"),
        ("(nodes - 2 * gone)", "gone = 1", "11 servers"),
        ("nodes", "db = box * (nodes - 1)", "10 servers"),
        ("(2 * nodes - gone)", "gone = 1", "10 servers"),
        ("(2 * nodes)", "gone = 1", "10 servers"),
        # how many are built is not told by how many are left
        ("nodes", "db = box * 2", "9 servers in mode lost"),
        ("nodes", "nodes = 2", "9 servers in mode lost"),
    ],
)
def test_machines_are_reported_as_they_are_built(count: str, lost: str, expected: str) -> None:
    text = SPARE.replace("COUNT", count).replace("LOST", lost)
    (row,) = (
        line for line in sizing_text(sized(text, 900), "s").splitlines() if "db.cpu" in line[:9]
    )
    assert row.split("  ")[-1].strip() == expected


def test_a_search_is_bounded_and_says_so() -> None:
    nodes = [Countable(f"n{i}", (f"node{i}",), 1) for i in range(40)]
    options: list[Counts] = []

    def holds(counts: Counts) -> bool:
        options.append(counts)
        return all(count >= 1000 + i for i, count in enumerate(counts.values()))

    found = grown(nodes, holds)
    assert found is not None
    assert not found.are_least
    assert holds(found.counts)
    assert len(options) <= 152
    assert grown(nodes, lambda _: False) is None


def test_machines_that_are_in_the_way_of_others_stay() -> None:
    nodes = [Countable("a", ("web",), 2), Countable("b", ("bus",), 1)]
    found = grown(nodes, lambda counts: counts["a"] >= 7 and counts["b"] < 2)
    assert found is not None
    assert found.counts == {"a": 7, "b": 1}


@pytest.mark.parametrize(
    ("over", "strict", "least"),
    [
        (5 / TIMES - 4, False, 4),  # of three there are: 15 / 4
        (4 / TIMES - 4, False, 3),
        (4 / TIMES - 4, True, 4),
        (TIMES - 1000, False, None),  # the most fail
        (29_000 / TIMES - 3, False, 29_000),  # no power of two from there on is among the most
        (29_000 / TIMES - 2, False, None),
        (TIMES**0 - 2, False, 1),
        (apply("erlang_c", 4 * TIMES, 3) - apply("erlang_c", 9, 3), False, 7),
    ],
    ids=str,
)
def test_of_what_counts_whole_numbers_alone_are_looked_at(
    over: Formula, least: int | None, *, strict: bool
) -> None:
    assert least_whole(over, TIMES, Fraction(3), 3 * 10**4, strict=strict) == least


def test_what_fails_again_beyond_is_reported() -> None:
    over = minimum(abs(TIMES - 1) - 2, 5 - TIMES)  # holds up to nine, fails from ten to fourteen
    with pytest.raises(UndecidedBoxesError, match="10"):
        least_whole(over, TIMES, Fraction(3), 3 * 10**4, strict=False)


QUEUES = """
users N in 1..1_000_000
machine m0 { cpu 2 core, queueing mmc; price 60 $/month }
machine m1 { cpu 8 core, queueing mmc; price 210 $/month }
component first { cpu 8 ms/request }
component second { cpu 3 ms/request }
network lan { switched; rate 100 Gbit/s; queueing none }
topology { node a = m0 * 2; node b = m1 * 2; link net = lan between all }
stream page for each user {
  traffic 0.1 request/s, 1 kB/request
  at a { first }
  over net
  at b { second }
}
require { page.latency <= 12 ms; a.cpu.utilization <= 80 % }
choose { a in [m0 * 1..200]; b in [m1 * 2] }
"""


@pytest.mark.parametrize("users", [3_000, 9_000, 20_000])
def test_machines_in_place_of_more_cores_meet_every_requirement(users: int) -> None:
    """Many small machines wait for longer than few large ones with as many cores."""
    model = qps.loads(QUEUES)
    (need,) = (one for one in model.size(users).resources if one.name == "a.cpu")
    assert need.machines is not None
    least = need.machines.takes
    assert (model.solve(set={"a": f"m0 * {least}"}).capacity or 0) >= users
    assert (model.solve(set={"a": f"m0 * {least - 1}"}).capacity or 0) < users
    best = model.plan(users).cheapest
    assert best is not None
    assert best.choices["a"] == f"m0 * {least}"
