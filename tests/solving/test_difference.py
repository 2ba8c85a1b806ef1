"""What changed between two specs, and how much of the answer each change explains."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.reports.text.changes.change_effects import changes_table, effects_of
from qps.reports.text.changes.difference_text import change_lines, spec_difference_view
from qps.solver.spec_difference import spec_difference
from qps.solver.what_if.assumption_changes import AssumptionChangeKind, ConfiguredModel
from qps.solver.what_if.difference import Difference, difference


def _modes(changes: Sequence[str]) -> str:
    return "".join(f"mode m{number} {{ {one} }}\n" for number, one in enumerate(changes))


# The load of the host is N * pace * work: it carries 1 / (pace * work) users.
BASE = """\
users N in 1..1000
machine box {{ cpu 1 core }}
component work {{ cpu {work} ms/packet }}
param pace = {pace} packet/s source "us"
topology {{ node host = box }}
stream flow {{ traffic N * pace; at host {{ work }} }}
"""


def _checked(text: str) -> Spec:
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    return spec


def compare(old: str, new: str) -> Difference:
    """Return the difference of two texts."""
    sides = [
        ConfiguredModel(spec.model, spec.configuration()) for spec in map(_checked, (old, new))
    ]
    return difference(*sides)


def reported(found: Difference) -> dict[str, tuple[int | None, int | None, float | None]]:
    return {c.name: (c.alone, c.step, c.share) for c in found.changes}


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
    view = spec_difference_view(spec_difference(*(_checked(text) for text in (old, new))))
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
    view = spec_difference_view(spec_difference(*map(_checked, texts)))
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


WAITING = """users N in 1..1000
param work = {work} ms/request
machine box {{ cpu 1 core, queueing mg1 cv 2 }}
component answer {{ cpu work }}
topology {{ node host = box }}
stream ask for each user {{ traffic 1 request/s; at host {{ answer }} }}
require {{ quantile(ask.latency, 99 %) <= 30 ms }}
"""


def test_less_than_the_model_error_is_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for work in (1, 1.02, 1.5):
        files.append(str(tmp_path / f"{work}.qps"))
        Path(files[-1]).write_text(WAITING.format(work=work))
    assert main(["diff", *files[:2], "--fail-on", "worse"]) == 0
    out = capsys.readouterr().out
    # The quantile is within 10 %: 2 % more work moves it by less at either capacity.
    assert "Capacity     ~ 615 -> ~ 595 users (unchanged within the model error)\n" in out
    assert "work: 1 -> 1.02 ms/request (no effect, within the model error)\n" in out
    assert main(["diff", *files[:2], "--fail-on", "capacity -3 %"]) == 1
    assert main(["diff", files[0], files[2], "--fail-on", "worse"]) == 1
    assert "~ 615 -> ~ 286 users (-329, -53.5 %)" in capsys.readouterr().out


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose spec, and the module that it uses, have changed since the commit."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "specs"
    (folder / "parts").mkdir(parents=True)
    module = "machine box { cpu 2 core }\n"
    text = 'use "parts/hardware.qps" as hw\n' + BASE.format(work=10, pace=1).replace(
        "machine box { cpu 1 core }\n", ""
    ).replace("= box", "= hw.box")
    (folder / "app.qps").write_text(text)
    (folder / "parts" / "hardware.qps").write_text(module)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "a")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    (folder / "parts" / "hardware.qps").write_text(module.replace("2 core", "4 core"))
    return tmp_path


def test_a_revision_of_git(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main:specs/app.qps", "specs/app.qps", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "qps/diff/7"
    assert found["users"] == 200
    assert [change["name"] for change in found["changes"]] == ["host.cpu.cores"]
    assert found["before"]["file"] == "main:specs/app.qps"


def test_worse_fails_where_it_is_requested(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["specs/app.qps", "main:specs/app.qps"]
    assert main(["diff", *files]) == 0
    assert main(["diff", *files, "--fail-on", "worse"]) == 1
    assert main(["diff", *reversed(files), "--fail-on", "worse"]) == 0
    assert "400 -> 200 users (-200, -50 %)" in capsys.readouterr().out
    assert main(["diff", *files, "--fail-on", "capacity -50 %"]) == 1
    assert "fails: capacity falls from 400 to 200 users (-200, -50 %)" in capsys.readouterr().err
    assert main(["diff", *files, "--fail-on", "capacity -51 %", "--fail-on", "cost +1 %"]) == 0
    assert main(["diff", *files, "--fail-on", "better"]) == 2


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("nix:specs/app.qps", "unknown git revision `nix`"),
        ("--output=x:specs/app.qps", "required"),
        ("main:specs/nope.qps", "`specs/nope.qps` does not exist at `main`"),
        ("main:/etc/passwd", "unknown git revision `main`"),
        ("nowhere.qps", "does not exist"),
    ],
)
def test_what_cannot_be_compared(
    repository: Path, old: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", old, "specs/app.qps"]) == 2
    assert message in capsys.readouterr().err
    assert not (repository / "x").exists()


def test_many_users_are_reported_to_the_last_so_that_parts_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, pace, work in (("old", 1, 7), ("new", 2, 9)):
        text = BASE.format(work=work, pace=pace).replace("ms/packet", "ns/packet")
        text = "target cpu 75 %\n" + text.replace("1..1000", "1..1_000_000_000")
        (tmp_path / f"{name}.qps").write_text(text)
    main(["diff", str(tmp_path / "old.qps"), str(tmp_path / "new.qps")])
    out = capsys.readouterr().out
    # 0.75 / 7 ns, 0.75 / 18 ns
    assert "Capacity     107,142,857 -> 41,666,666 users (-65,476,191, -61.1 %)" in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("  pace", "  work"))]
    steps = [int(row[-2].replace(",", "")) for row in rows]
    assert sum(steps) == 41_666_666 - 107_142_857
    shares = [float(row[-1].replace(",", "")) for row in rows]
    assert sum(shares) == pytest.approx(sum(steps), abs=0.1)
    assert "host CPU at 75 % (target)" in out


@pytest.mark.parametrize("work", ["0.067", "0.0683", "0.0011"])
def test_populations_are_whole_and_rounded_down_alike(
    work: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "old.qps", tmp_path / "new.qps"]
    for file, cost in zip(files, ("7", work), strict=True):
        text = BASE.format(work=cost, pace=1).replace("1..1000", "1..10_000_000")
        file.write_text(text, encoding="utf-8")
    whole = f"{floor(1000 / Fraction(work)):,}"
    main(["diff", *map(str, files)])
    (row,) = (row for row in capsys.readouterr().out.splitlines() if "  host CPU at 100 %" in row)
    assert row.split()[-2:] == ["142", whole]
    for options, heading in (
        ([], "Saturates at"),
        (["--all"], "first to saturate: host CPU, above"),
    ):
        main(["solve", str(files[1]), "--no-advice", *options])
        out = capsys.readouterr().out
        assert heading in out
        assert f" {whole} " in out.replace(".", " ")


def test_the_text(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", "main:specs/app.qps", "specs/app.qps"])
    assert (
        capsys.readouterr().out
        == """\
main:specs/app.qps -> specs/app.qps

  Capacity     200 -> 400 users (+200, +100 %)
  Bottleneck   host CPU (unchanged)
  Change       host.cpu.cores: 2 -> 4 (+200 users)

  Limit              Before  After
  host CPU at 100 %     200    400
"""
    )


def test_expressions_written_alike_show_their_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BASE.format(work=10, pace=1).replace("10 ms/packet", "slow(10 ms/packet)")
    for name, factor in (("a", 2), ("b", 3)):
        (tmp_path / f"{name}.qps").write_text(f"{text}func slow(x) = {factor} * x\n")
    main(["diff", str(tmp_path / "a.qps"), str(tmp_path / "b.qps")])
    row = " ".join(capsys.readouterr().out.split())
    assert "(20 ms/packet)" in row
    assert "(30 ms/packet)" in row


def test_another_way_of_waiting_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """users N in 1..100
machine box { cpu 1 core, queueing mm1 }
network wire { rate 1 Mbit/s; queueing mm1 }
component work { cpu 1 ms/packet }
topology { node host = box; node far = box; link lan = wire between host, far }
stream flow { traffic N * 1 packet/s, 100 byte/packet; at host { work }; at far { work } }
"""
    needs = "require { flow.latency <= 2.2 ms + 0.8 ms }\n"
    other = text.replace("core, queueing mm1", "core, queueing mg1 cv 2")
    other = other.replace("Mbit/s; queueing mm1", "Mbit/s")
    for name, written in (("a", text), ("b", other), ("c", text + needs), ("d", other + needs)):
        (tmp_path / f"{name}.qps").write_text(written)
    for old, new in (("a", "b"), ("c", "d")):
        main(["diff", str(tmp_path / f"{old}.qps"), str(tmp_path / f"{new}.qps")])
        out = capsys.readouterr().out
        text = " ".join(out.split())
        assert "host.cpu.queueing: mm1 -> mg1 cv 2 (part of other model changes)" in text
        assert "lan.queueing: mm1 -> none (part of other model changes)" in text
        assert "half-way" not in out


CLAIMS = """
expect most { largest_acceptable >= 90; source "us" }
expect few { largest_acceptable <= 80; source "us" }
expect still { largest_acceptable >= 1; source "us" }
"""


def test_claims_that_fail_now_and_that_hold_now_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.qps", tmp_path / "new.qps"
    old.write_text(BASE.format(work=1, pace=10) + CLAIMS, encoding="utf-8")
    new.write_text(
        BASE.format(work=2, pace=10)
        + CLAIMS.replace("still", "later")
        + 'expect fresh { largest_acceptable >= 60; source "us" }\n',
        encoding="utf-8",
    )
    words = ["diff", str(old), str(new), "--format", "json"]
    assert main([*words, "--fail-on", "worse"]) == 1
    output = json.loads(capsys.readouterr().out)["claims"]
    names = {kind: [one["name"] for one in output[kind]] for kind in ("now_fail", "now_hold")}
    assert names == {"now_fail": ["most", "fresh"], "now_hold": ["few"]}
    assert [(one["name"], one["before"], one["after"]) for one in output["others"]] == [
        ("later", None, "holds"),
        ("still", "holds", None),
    ]
    assert main(["diff", str(new), str(old), "--fail-on", "worse"]) == 1  # `few` fails again
    assert "Newly failing" in capsys.readouterr().out
    assert main([*words, "--no-claims"]) == 0
    assert json.loads(capsys.readouterr().out)["claims"] is None
