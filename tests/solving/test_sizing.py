"""What it takes to carry a population: every capacity at once."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qps
from helpers.nightly import examples
from helpers.specs import checked
from qps.cli import main
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.expressions.formulas import Formula, apply, minimum, symbol
from qps.reports.text.changes.sizing_sentences import sizing_answer
from qps.reports.text.changes.sizing_text import sizing_text
from qps.solver.answers.worst_mode import solve_model
from qps.solver.search.boxes import UndecidedBoxesError
from qps.solver.search.whole_multiples import least_whole
from qps.solver.what_if.growth import Countable, Counts, grown
from qps.solver.what_if.sizing import size
from qps.solver.what_if.sizing_result import ResourceNeed, Sizing

TIMES = symbol("times")
few = settings(max_examples=examples(20), deadline=None)

# A user's request is 2 ms of work and 400 kbit; the processor is busy 10 % besides.
SHOP = """
users N in 1..10_000
machine box { cpu 4 core, idle 10 %; memory 8 GB; price 50 $/month }
machine pc { }
network wire { duplex; rate 1 Mbit/s }
component serve { cpu 2 ms/request; memory 10 MB }
topology {
  node web  = box
  node user = pc * N
  link line = wire between web, user
}
stream pages for each user {
  traffic 1 request/s, 50 kB/request
  at web { serve }
  at user { }
}
target cpu 60 %
"""


def sized(text: str, population: int, *changes: str) -> Sizing:
    spec = checked(text)
    return size(spec.model, spec.configuration(None, changes), population)


def needed(text: str, name: str, population: int, *changes: str) -> ResourceNeed:
    return next(n for n in sized(text, population, *changes).needed if n.resource == name)


def test_each_resource_has_its_required_capacity() -> None:
    found = {one.resource: one for one in sized(SHOP, 3000).needed}
    # 6 cores' work, 50 % of each core to spare for it; 1.2 Gbit/s; 30 GB
    cpu = found["web.cpu"]
    assert cpu.load == pytest.approx(1.6)
    assert (cpu.capacity.has, cpu.takes, cpu.exact) == (4, 12, pytest.approx(12))
    assert found["line.forth"].takes == pytest.approx(1.2e9)
    assert found["web.memory"].takes == pytest.approx(30e9 * 8)
    assert not any(one.suffices for one in found.values())
    # three boxes of four cores do as well; four boxes of 8 GB
    assert cpu.machines is not None
    assert (cpu.machines.now, cpu.machines.takes) == (1, 3)
    assert cpu.machines.is_running
    assert cpu.machines.price == pytest.approx(3 * 50 * 12 / (365.25 * 86_400))
    memory = found["web.memory"].machines
    assert memory is not None
    assert memory.takes == 4


def test_cores_are_whole_with_the_exact_number_next_to_them() -> None:
    cpu = needed(SHOP, "web.cpu", 3100)
    assert (cpu.takes, cpu.exact) == (13, pytest.approx(12.4))
    assert needed(SHOP, "web.cpu", 100).suffices


@few
@given(st.integers(1, 9_000), st.integers(0, 40), st.integers(30, 100))
def test_the_reported_size_is_enough_and_less_is_not(users: int, idle: int, target: int) -> None:
    if idle >= target:
        return
    text = (
        SHOP.replace("cpu 4 core", "cpu power").replace("rate 1 Mbit/s", "rate speed")
        .replace("idle 10 %", f"idle {idle} %").replace("cpu 60 %", f"cpu {target} %")
        .replace("memory 8 GB", "memory ram")
        + "param power = 1 core\nparam speed = 1 Mbit/s\nparam ram = 1 GB\n"
    )  # fmt: skip
    spec = checked(text)
    sizing = size(spec.model, spec.configuration(), users)
    assert sizing.is_supported
    by_name = {one.resource: one for one in sizing.needed}

    def largest(cores: float, rate: float, memory: float) -> int:
        changes = (f"power = {cores!r} core", f"speed = {rate!r} bit/s", f"ram = {memory!r} bit")
        return solve_model(spec.model, spec.configuration(None, changes)).capacity or 0

    exact = [by_name[name].exact for name in ("web.cpu", "line.forth", "web.memory")]
    enough = [value * (1 + 1e-12) for value in exact if value is not None]
    assert largest(*enough) >= users
    for i in range(3):
        less = [*enough]
        less[i] *= 0.999
        assert largest(*less) < users


def test_a_single_thread_takes_no_number_of_cores() -> None:
    text = SHOP.replace("2 ms/request;", "2 ms/request single_thread;")
    sizing = sized(text, 600)
    thread = next(one for one in sizing.needed if one.resource == "web.cpu.serve")
    assert thread.takes is None
    assert not sizing.is_supported
    assert [one.criterion.name for one in sizing.fails_whatever] == ["web.cpu.serve.utilization"]
    # As many boxes as there are threads do: one carries 300.
    assert sizing_answer(sizing) == (
        "600 users are supported with 2 web servers (now 1) and more capacity for "
        "line.forth. Even with 10,000 times the capacity of each resource instead of more "
        "servers, "
        "web.cpu.serve.utilization is 120 % "
        "(limit 60 %)."
    )


def test_requirements_that_no_capacity_fixes_are_listed() -> None:
    text = SHOP + "measure crowd = N / 10\nrequire { crowd <= 20; pages.latency <= 1 s }\n"
    sizing = sized(text, 300)
    assert {f.criterion.name for f in sizing.fails_whatever} == {"crowd", "quality"}
    assert sizing.fails_still == ()
    assert sizing_answer(sizing) == (
        "300 users are not supported: even with 10,000 times the capacity of each "
        "resource, crowd is 30 (limit 20); up to 4,096 times as many web servers are not enough."
    )
    assert sizing.growth is not None
    assert sizing.growth.machines == ()
    assert not sizing.is_possible


def test_requirements_that_need_more_than_the_target_are_listed_separately() -> None:
    # At 60 % of a line, 50 kB take longer than 1 ms: only a faster line fixes that.
    sizing = sized(SHOP + "require { pages.latency <= 3 ms }\n", 300)
    assert sizing.fails_whatever == ()
    assert {f.criterion.name for f in sizing.fails_still} == {"pages.latency", "quality"}
    # 2 ms of work leave 1 ms for 400 kbit
    (fix,) = sizing.fixes
    assert (fix.resources, fix.takes) == (("line.forth",), pytest.approx(400e6))
    assert sizing_answer(sizing).endswith(
        "(limit 3 ms); to fix this, raise line.forth to ≥ 400 Mbit/s."
    )


def test_a_limit_of_a_load_is_its_target() -> None:
    assert needed(SHOP + "require { line.load <= 50 % }\n", "line.forth", 300).takes == (
        pytest.approx(240e6)
    )
    # the closest of both
    assert needed(SHOP + "require { web.cpu.load <= 35 % }\n", "web.cpu", 300).exact == (
        pytest.approx(2.4)
    )


def test_all_that_rests_on_a_parameter_follows_it() -> None:
    text = SHOP.replace("cpu 4 core", "cpu power") + (
        "param power = 4 core in 1..8 core\nmeasure thread = web.cpu.load * power / (1 core)\n"
        "require { thread <= 1 }\n"
    )
    sizing = sized(text, 3000)
    # with more cores each has less to do, but all of them together have not
    assert "thread" in {f.criterion.name for f in sizing.fails_whatever}
    # its range bounds what is set, not what it takes
    assert next(n for n in sizing.needed if n.resource == "web.cpu").takes == 12


def test_what_waits_must_stay_below_one() -> None:
    text = SHOP.replace("cpu 4 core, idle 10 %", "cpu 1 core, queueing mm1").replace(
        "target cpu 60 %", ""
    )
    sizing = sized(text, 1000, "N = 1..10_000")
    assert sizing.is_supported
    cpu = next(one for one in sizing.needed if one.resource == "web.cpu")
    assert cpu.exact == pytest.approx(2)


def test_of_several_modes_the_one_that_takes_most_counts() -> None:
    text = SHOP.replace("traffic 1 request/s", "traffic pace") + (
        "param pace = 1 request/s\nmode calm { pace = 0.5 request/s }\n"
        "mode rush { pace = 3 request/s }\n"
    )
    cpu = needed(text, "web.cpu", 1000)
    assert (cpu.takes, cpu.mode) == (12, "rush")


def test_elastic_rates_give_way_first() -> None:
    text = SHOP.replace("traffic 1 request/s", "traffic pace") + (
        "param pace elastic 1..10 request/s\n"
    )
    assert needed(text, "line.forth", 3000).takes == pytest.approx(1.2e9)


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


WAITING = """
users N in 1..3000
machine a { cpu 1 core, queueing ps }
component work { cpu 15 ms/request }
topology { node n0 = a }
stream s for each user { traffic 1 request, think 5 s; at n0 { work } }
require { n0.cpu.load <= 75 % }
"""


def test_a_utilization_limit_of_closed_users_is_met() -> None:
    # Of one core 400 ask for all; of 1.45 they take 75 %, by the exact rates of both.
    found = needed(WAITING, "n0.cpu", 400)
    assert (found.takes, found.exact) == (2, pytest.approx(1.45, abs=0.005))
    for cores, carries in (("2", True), ("1", False)):
        spec = checked(WAITING.replace("1 core", f"{cores} core").replace("1..3000", "1..400"))
        solution = solve_model(spec.model, spec.configuration())
        assert (solution.capacity == 400) is carries


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


# Ten users wait for their answers at two stations of one core each.
DESK = """
users N in 1..20
machine front { cpu 1 core, queueing mm1 }
machine back { cpu 1 core, queueing mm1 }
component form { cpu 20 ms/request }
component query { cpu 60 ms/request }
topology { node web = front; node db = back; link lan = wire between web, db }
network wire { propagation 1 ms }
stream job for each user {
  traffic 1 request, 1 kB/request, think 0.4 s
  at web { form }
  at db { query }
}
require { job.latency <= 200 ms }
"""


def test_what_is_not_turned_is_known_as_well_as_without_the_question() -> None:
    found = sized(DESK, 10)
    result = next(one for one in found.fails_still if one.criterion.name == "job.latency")
    assert result.known.is_exact
    assert found.known.is_exact
    assert found.growth is not None
    assert [one.nodes for one in found.growth.machines] == [("db",)]
    assert found.growth.known.is_exact
    # Of more cores than one an mm1 station is as one faster server: that alone approximates.
    (fix,) = found.fixes
    assert fix.resources == ("db.cpu",)
    assert fix.takes > 1
    assert fix.known.kind is CertaintyKind.APPROXIMATION
    assert any("db.cpu" in reason for reason in fix.known.reasons)
    assert not any("web.cpu" in reason for reason in fix.known.reasons)
    # What is told does, and a little less does not.
    for times, holds in (("1.001", True), ("0.999", False)):
        cores = float(fix.takes) * float(times)
        text = DESK.replace("back { cpu 1 core", f"back {{ cpu {cores:.6f} core")
        assert all(one.criterion.name != "job.latency" for one in sized(text, 10).fails_still) is (
            holds
        )


def test_capacities_that_fix_what_fails_need_not_be_searched_where_machines_suffice() -> None:
    spec = checked(DESK)
    found = size(spec.model, spec.configuration(), 10, with_fixes=False)
    assert (found.fixes, found.has_fixes) == ((), False)
    assert found.growth == sized(DESK, 10).growth
    assert sizing_answer(found) == "10 users are supported with 2 db servers (now 1)."
    # No number of machines helps: they are the only advice.
    line = checked(SHOP + "require { pages.latency <= 3 ms }\n")
    assert size(line.model, line.configuration(), 300, with_fixes=False).fixes


def test_a_population_beyond_the_range_is_refused() -> None:
    with pytest.raises(qps.QpsError, match="is outside the range"):
        sized(SHOP, 20_000)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("s.qps").write_text(SHOP, encoding="utf-8")
    return "s.qps"


def test_the_command_prints_a_table(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", spec, "--users", "3100"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "Sizing for 3,100 users s.qps"
    assert lines[2].startswith("Result 3,100 users are supported with more capacity for ")
    assert "Resource Today Utilization Limit Required Alternative" in lines
    assert "web CPU 4 cores 165 % 60 % 13 cores 4 servers" in lines
    assert "($200/month)" in lines  # below it, in the same cell
    assert any(line.endswith("1 Mbit/s 124,000 % 100 % 1.24 Gbit/s") for line in lines)
    assert main(["solve", spec, "--users", "N = 3100", "--format", "markdown"]) == 0
    assert "| web CPU | 4 cores | 165 % | 60 % | 13 cores |" in capsys.readouterr().out


def test_json_holds_the_keys_of_the_contract(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", spec, "--users", "3100", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert {key: output[key] for key in ("schema", "file", "population", "supported")} == {
        "schema": "qps/sizing/4", "file": "s.qps", "population": {"N": 3100}, "supported": True,
    }  # fmt: skip
    assert output["fails_whatever"] == output["fails_still"] == output["fixes"] == []
    assert output["growth"] is None
    (cpu,) = (one for one in output["resources"] if one["name"] == "web.cpu")
    assert cpu == {
        "name": "web.cpu",
        "utilization": pytest.approx(1.65),
        "target": 0.6,
        "unit": "core",
        "has": 4,
        "takes": 13,
        "exact": pytest.approx(12.4),
        "suffices": False,
        "machines": {
            "now": 1,
            "takes": 4,
            "price": pytest.approx(200 * 12 / (365.25 * 86_400)),
            "unit": "$/s",
        },
        "mode": None,
        "known": {"kind": "exact", "reasons": []},
    }


def test_python_answers_the_same(spec: str) -> None:
    model = qps.load(spec)
    view = model.size(3100)
    assert view == model.size(users=3100) == model.carry(population=3100)  # by its former names
    assert view.population == {"N": 3100}
    with pytest.warns(DeprecationWarning, match="`given` is called `population`"):
        assert view.given == view.population
    with pytest.warns(DeprecationWarning, match="`mends` is called `fixes`"):
        assert view.mends == view.fixes
    assert view.supported


def test_the_status_is_1_where_nothing_carries_them(spec: str) -> None:
    Path(spec).write_text(SHOP + "measure m = N\nrequire { m <= 5 }\n", encoding="utf-8")
    assert main(["solve", spec, "--users", "6"]) == 1


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
