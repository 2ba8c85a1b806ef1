"""What it takes to carry a population: every capacity at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qps
from helpers.specs import checked
from qps.cli import main
from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.changes.sizing_sentences import sizing_answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.sizing import size
from what_if.sized_shop import SHOP, few, needed, sized

THREADS = """
unit thread
users N in 1..10_000
machine vm { cpu 4 core, queueing mmc; threads 200 thread }
machine pg { cpu 8 core, queueing mmc }
network lan { rate 1 Gbit/s; queueing none }
component render { cpu 5 ms/request }
component look { cpu 4 ms/request }
topology { node app = vm * 8; node db = pg; link wire = lan between app, db }
stream page for each user {
  traffic 0.1 request/s, 1 kB/request
  at app { take threads; render; call db { look }; give threads }
}
target cpu 80 %, threads 90 %
"""


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


def test_a_part_of_a_place_serves_nobody(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a pool at least one place is required, found among whole numbers of places."""
    Path(spec).write_text(THREADS, encoding="utf-8")
    assert main(["solve", spec, "--users", "500", "--no-advice", "--format", "json"]) == 0
    resources = {one["name"]: one for one in json.loads(capsys.readouterr().out)["resources"]}
    threads = resources["app.threads"]
    # Of 500 * 0.1 /s on 8 machines each works on 0.056 requests at once.
    assert threads["utilization"] * threads["has"] == pytest.approx(50 / 8 * 9.03e-3, rel=0.01)
    assert threads["takes"] == threads["exact"] == 1
    assert threads["known"]["kind"] != "exact"  # what waits in it is approximated
    assert resources["app.cpu"]["known"]["kind"] == "exact"


def test_a_required_capacity_is_known_as_its_load_is(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(spec).write_text(THREADS, encoding="utf-8")
    assert main(["solve", spec, "--users", "7000", "--no-advice"]) == 0
    rows = capsys.readouterr().out.splitlines()
    (row,) = (row for row in rows if row.startswith("  app threads  "))
    assert row.split("%")[-1].strip() == "~ 1 thread"
