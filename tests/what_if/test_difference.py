"""What changed between two specs, and how much of the answer each change explains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.cli import main
from qps.reports.text.changes.change_effects import changes_table, effects_of
from qps.reports.text.changes.difference_text import change_lines, spec_difference_view
from qps.solver.spec_difference import spec_difference
from qps.solver.what_if.assumption_changes import AssumptionChangeKind
from what_if.difference_specs import BASE, compare, reported, spec_of


def _modes(changes: Sequence[str]) -> str:
    return "".join(f"mode m{number} {{ {one} }}\n" for number, one in enumerate(changes))


def test_numbers_share_what_they_do_together() -> None:
    found = compare(BASE.format(work=10, pace=1), BASE.format(work=20, pace=2))
    assert (found.old.capacity, found.new.capacity) == (100, 25)
    assert found.users == -75
    # By hand: 100 -> 50 -> 25 in either order, so each explains (50 + 25) / 2.
    values = reported(found)
    assert values["pace"] in [(-50, -50, -37.5), (-50, -25, -37.5)]
    assert values["work.cpu.packet"] in [(-50, -50, -37.5), (-50, -25, -37.5)]
    assert sum(step or 0 for _, step, _ in values.values()) == -75
    assert [(c.before, c.after) for c in found.changes if c.name == "pace"] == [
        ("1 packet/s", "2 packet/s")
    ]


def test_nothing_changed() -> None:
    found = compare(BASE.format(work=10, pace=1), "# new\n" + BASE.format(work=10, pace=1))
    assert (found.changes, found.added, found.removed, found.users) == ((), (), (), 0)


def test_a_unit_written_otherwise_is_no_change() -> None:
    old = BASE.format(work=10, pace=1)
    assert compare(old, old.replace("10 ms/packet", "10_000 us/packet")).changes == ()


def test_the_range_is_a_change_of_its_own() -> None:
    old = BASE.format(work=10, pace=1)
    found = compare(old, old.replace("1..1000", "1..60"))
    assert reported(found) == {"N": (-40, -40, -40.0)}


def test_what_is_more_certain_than_it_was_is_reported_though_the_answer_stays() -> None:
    new = BASE.format(work=2, pace=2)
    found = compare(new.replace("2 packet/s", "2 packet/s +- 20 %"), new)
    (change,) = found.changes
    assert (change.name, change.kind) == ("pace", AssumptionChangeKind.SPREAD)
    assert (change.before, change.after) == ("2 packet/s +- 20 %", "2 packet/s")
    (row,) = changes_table(found.changes).rows
    assert row[-2:] == ("affects uncertainty only", "")


def test_a_spread_takes_no_share_of_what_numbers_move() -> None:
    old = BASE.format(work=2, pace=2).replace("2 ms/packet", "2 ms/packet +- 20 %")
    found = compare(old, old.replace("+- 20", "+- 5").replace("pace = 2", "pace = 4"))
    reported_for = {change.name: change for change in found.changes}
    assert set(reported_for) == {"pace", "work.cpu"}
    assert reported_for["work.cpu"].kind is AssumptionChangeKind.SPREAD
    assert reported_for["pace"].share == found.users == -125


@pytest.mark.parametrize(
    ("old", "new", "line", "users"),
    [
        ("server * 2", "server * 3", "host: 2 -> 3 servers", 100),
        ("server * 2", "server", "host: 2 -> 1 server", -100),
        ("box * 2", "box * 3", "host: 2 -> 3 boxes", 200),
        ("vm2 * 2", "vm2 * 3", "host: 2 -> 3 machines", 100),
        ("server * 2", "box * 3", "host: server * 2 -> box * 3", 400),
        ("server", "box", "host: server -> box", 100),
    ],
)
def test_what_stands_where_is_a_change_of_its_own(
    old: str, new: str, line: str, users: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        BASE.format(work=10, pace=1).replace("cpu 1 core", "cpu 2 core")
        + "machine server { cpu 1 core }\nmachine vm2 { cpu 1 core }\n"
    ).replace("flow {", "flow in all {")
    for name, machine in (("old", old), ("new", new)):
        written = text.replace("host = box", f"host = {machine}")
        (tmp_path / f"{name}.qps").write_text(written)
    assert main(["diff", str(tmp_path / "old.qps"), str(tmp_path / "new.qps")]) == 0
    assert f"  {line} ({users:+} users)\n" in capsys.readouterr().out


def test_what_moves_most_stands_first() -> None:
    old = BASE.format(work=10, pace=1)
    new = BASE.format(work=11, pace=3).replace("1..1000", "1..900")
    view = spec_difference_view(spec_difference(*(spec_of(text) for text in (old, new))))
    lines = change_lines(view)
    assert [line.name for line in lines] == ["pace", "work.cpu.packet", "N"]
    total = sum(float(line.effect.split()[0]) for line in lines if line.effect != "no effect")
    assert total == pytest.approx(view.users, abs=0.2)


OPTION = "option zip = off\ncomponent half { emit 50 % }\n"


def test_other_formulas_are_one_change() -> None:
    old = BASE.format(work=10, pace=1)
    new = old.replace("{ work }", "{ work * 4 }").replace("pace = 1", "pace = 2")
    found = compare(old, new)
    # 100; pace alone 50; four steps alone 25; both 12 (of 12.5).
    assert reported(found) == {"pace": (-50, -50, -31.5), "formulas": (-75, -38, -56.5)}


def test_added_and_removed_numbers() -> None:
    old = BASE.format(work=10, pace=1)
    new = old.replace("{ work }", "{ work; more }") + "component more { cpu 10 ms/packet }\n"
    found = compare(old, new)
    assert [a.name for a in found.added] == ["more.cpu.packet"]
    assert [a.name for a in compare(new, old).removed] == ["more.cpu.packet"]
    assert reported(found) == {"formulas": (-50, -50, -50.0)}


def test_an_option_and_a_parameter_that_a_condition_asks_for() -> None:
    old = (
        BASE.format(work=10, pace=1).replace("{ work }", "{ work; work if twice; work if n > 3 }")
        + "option twice = off\nparam n = 2\n"
    )
    new = old.replace("= off", "= on").replace("n = 2", "n = 4")
    found = compare(old, new)
    # 100, 50 with either, 33 with both.
    assert reported(found) == {"twice": (-50, -50, -33.5), "n": (-50, -17, -33.5)}


def test_half_way_may_lie_a_spec_without_an_answer() -> None:
    old = BASE.format(work=10, pace=1) + "option twice = off\nunit frame2\n"
    new = old.replace("{ work }", "{ work; draw if twice }").replace("= off", "= on")
    new += "component draw { cpu 1 ms/packet }\n"
    found = compare(old, new)
    assert found.users == -10
    assert {c.name for c in found.changes} == {"twice", "formulas"}


MANY = """\
users N in {low}..{high}
option zip = {zip}
param nodes = {nodes}
param pace = {pace} request/s
param extra = {extra}
machine box {{ cpu 1 core }}
machine large {{ cpu 2 core }}
network wire {{ switched; rate 1 Mbit/s }}
component work {{ cpu {work} ms/request }}
component pack {{ cpu 1 ms/request; emit 50 % }}
component more {{ cpu 2 ms/request }}
topology {{
  node db = box * nodes
  node web = {web}
  node far = box
  link bus = wire between db, web
  link lan = wire between web, far
}}
stream ask for each user {{
  traffic pace, {size} byte/request
  at db {{ work{times} }}
  at web {{ more; more if extra > 2; pack if zip }}
  at far {{ more }}
}}
{modes}
"""
SIZES = st.fixed_dictionaries(
    {
        "low": st.just(1),
        "high": st.sampled_from([1000, 60, 5]),
        "zip": st.sampled_from(["off", "on"]),
        "nodes": st.integers(1, 9),
        "pace": st.integers(1, 9),
        "extra": st.integers(1, 4),
        "work": st.integers(1, 40),
        "web": st.sampled_from(["box", "box * 2", "large", "large * 3", "box * nodes"]),
        "size": st.sampled_from([100, 1500]),
        "times": st.sampled_from(["", " * 2"]),
        "modes": st.lists(
            st.sampled_from(
                [
                    "nodes = 2",
                    "nodes = 1",
                    "pace = 3 request/s",
                    "zip = on",
                    "web = large",
                    "web = box * 3",
                    "extra = 3",
                ]
            ),
            max_size=3,
        ).map(_modes),
    }
)


@settings(max_examples=examples(12), deadline=None)
@given(SIZES, SIZES)
def test_parts_add_up_to_the_whole(old: dict[str, str | int], new: dict[str, str | int]) -> None:
    texts = [MANY.format(**each) for each in (old, new)]
    view = spec_difference_view(spec_difference(*map(spec_of, texts)))
    moving = [one for one in view.changes if one.kind.moves]
    assert view.users == (view.after.capacity or 0) - (view.before.capacity or 0)
    assert bool(moving) == (old != new)
    assert sum(one.step or 0 for one in moving) == view.users
    assert sum(one.share or 0.0 for one in moving) == pytest.approx(view.users, abs=1e-6)
    assert sum(users or 0 for users in effects_of(view.changes)) == view.users


@pytest.mark.parametrize(
    ("old", "new", "effects"),
    [
        # 100 users for each node, and two modes of which the worse one counts.
        ("nodes = 3 | lost { nodes = 2 }", "nodes = 4 | lost { nodes = 2 }", {"nodes": 0}),
        (
            "nodes = 3 | lost { nodes = 2 }",
            "nodes = 3 | lost { nodes = 1 }",
            {"nodes in lost": -100},
        ),
        (
            "nodes = 3 | lost { nodes = 4 }",
            "nodes = 2 | lost { nodes = 1 }",
            {"nodes": -50, "nodes in lost": -150},
        ),
        (
            "nodes = 3 | lost { db = box * 2 }",
            "nodes = 3 | lost { db = box * 1 }",
            {"db in lost": -100},
        ),
        ("nodes = 3 | lost { zip = on }", "nodes = 3 | lost { zip = off }", {"zip in lost": 150}),
        ("nodes = 3 | lost { nodes = 2 }", "nodes = 3 | lost { }", {"nodes in lost": 100}),
    ],
)
def test_a_change_outside_of_modes_leaves_what_they_set(
    old: str, new: str, effects: dict[str, int]
) -> None:
    found = compare(*(_of_modes(*text.split(" | ")) for text in (old, new)))
    assert {one.key: one.share for one in found.changes} == effects


def _of_modes(nodes: str, lost: str) -> str:
    return f"""users N in 1..1000
param {nodes}
option zip = off
machine box {{ cpu 1 core }}
component work {{ cpu 10 ms/request }}
topology {{ node db = box * nodes }}
stream ask for each user {{ traffic 1 request/s; at db {{ work; work if zip }} }}
mode whole {{ zip = off }}
mode {lost}
"""
