"""Machines with parameters, and components that run in others."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.test_families import answer, spec
from qps.cli import main
from qps.compiler import ir
from qps.compiler.diagnostics.source import Source
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source

# -- machines with parameters ---------------------------------------------------------

MADE = """
users N in 1..100_000
unit score of rating
machine box { }
machine vm(count, room: GB, power) {
  cpu count * 1 core * power, idle 5 %, queueing mmc
  memory room
  price 0.04 $/hour * count
}
machine small(count) = vm(count, 8 GB, 100 score)
machine huge = small(32) with memory 256 GB
network mesh { switched; rate 10 Gbit/s; header 66 byte/packet }
component work { cpu 40 ms/request measured on huge; memory 1 MB }
topology {
  node client = box * N
  node web = vm(4, 8 GB, 100 score) * 3
  node db = 2 * small(8)
  link lan = mesh between client, web, db
}
stream ask for each client {
  traffic 1 request / 20 s, 1 kB/request, 1448 byte/packet
  at client { }
  at web { work }
  at db { work }
}
scenario bigger { web = vm(8, 16 GB, 120 score); db = huge }
matrix sizes { web in [vm(4, 8 GB, 100 score), small(8) * 2, huge]; where web != small(8) }
expect enough { web.cpu.load <= 50 % with web = small(64), N = 100; source model }
"""

SIZES = {  # cores, GB, score
    "four": (4, 8, 100), "eight": (8, 8, 100), "quick": (8, 16, 120), "huge": (32, 256, 100),
    "many": (64, 8, 100), "other": (16, 8, 90),
}  # fmt: skip

WRITTEN = "".join(
    f"machine {name} {{ cpu {cores} core * {power} score, idle 5 %, queueing mmc; "
    f"memory {room} GB; price 0.04 $/hour * {cores} }}\n"
    for name, (cores, room, power) in SIZES.items()
)

PLAIN = MADE[: MADE.index("machine vm")] + WRITTEN + MADE[MADE.index("network mesh") :]

for _made, _plain in (
    ("vm(4, 8 GB, 100 score)", "four"),
    ("vm(8, 16 GB, 120 score)", "quick"),
    ("small(8)", "eight"),
    ("small(64)", "many"),
):
    PLAIN = PLAIN.replace(_made, _plain)


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        ((), ()),
        (("--scenario", "bigger"), ("--scenario", "bigger")),
        (("--set", "web = vm(16,8  GB, 90 score) * 2"), ("--set", "web = other * 2")),
        (("--for", "web.cpu.speed", "--users", "N = 500"),) * 2,
        (
            ("--users", "900", "--set", "db = 3 * small(64)"),
            ("--users", "900", "--set", "db = many * 3"),
        ),
    ],
)  # fmt: skip
def test_machines_with_arguments_answer_as_machines_that_are_written_out(
    made: tuple[str, ...], plain: tuple[str, ...], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """All that is printed is alike, but for what the machines are called."""
    ours, theirs = (
        answer(text, tmp_path, monkeypatch, capsys, *more).partition("\n")[2]
        for text, more in ((MADE, made), (PLAIN, plain))
    )
    assert reported(ours) == reported(theirs) != []


def reported(text: str) -> list[str]:
    """Return the lines of an answer that name no machine: there are other ones to advise."""
    lines = [
        line for line in text.splitlines() if not re.search("Most would|  .* = |cpu.cores", line)
    ]
    return [re.sub(" +", " ", line) for line in lines]


def test_a_matrix_has_machines_with_arguments_on_its_axes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for text in (MADE, PLAIN):
        Path("spec.qps").write_text(text, encoding="utf-8")
        assert main(["matrix", "spec.qps", "--format", "csv"]) == 0
        found.append(list(csv.reader(capsys.readouterr().out.splitlines())))
    ours, theirs = ([line[1:] for line in lines] for lines in found)
    assert ours == theirs
    assert [line[0] for line in found[0]] == ["web", "vm(4, 8 GB, 100 score)", "huge"]
    Path("spec.qps").write_text(MADE, encoding="utf-8")
    assert main(["matrix", "spec.qps"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0].split()[:2] == ["Matrix:", "sizes"]
    assert "Result           3 configurations; 2 meet the conditions" in lines
    assert any(line.startswith("vm(4, 8 GB, 100 score) ") for line in lines)
    Path("spec.qps").write_text(PLAIN, encoding="utf-8")
    assert main(["test", "spec.qps"]) == 0


def test_what_a_setting_makes_is_checked_as_what_the_spec_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.qps").write_text(MADE, encoding="utf-8")
    for place, what in (
        ("vm(-4, 8 GB, 1 score)", "must be above zero"),
        ("vm(4, 8 GB)", "takes 3 arguments, but 2 were given"),
        ("vm(4, 8 ms, 1 score)", "must be an amount of information"),
        ("small(1.5)", "must be whole and above zero"),
    ):
        assert main(["solve", "spec.qps", "--set", f"web = {place}"]) == 2
        assert what in capsys.readouterr().err


def test_arguments_are_those_of_the_file_that_writes_them(tmp_path: Path) -> None:
    """Two files may call two numbers alike: the machines made with them are two."""
    region = MADE[: MADE.index("matrix")].replace("unit score", "param k = 4\nunit score")
    region = region.replace("vm(4, 8 GB, 100 score)", "vm(k * # cores\n    1, 8 GB, 100 score)")
    (tmp_path / "region.qps").write_text(region, encoding="utf-8")
    text = 'use "region.qps" as eu with population = 100\nusers N in 1..9\nparam k = 16\n'
    outcome = check_source(Source("spec.qps", text, tmp_path))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    made = outcome.value
    assert "eu.vm(eu.k * 1, 8 GB, 100 score)" in made.model.machines
    settings = ["eu.web = eu.vm(k * 1, 8 GB, 100 eu.score)"]
    other = made.with_parts_of(settings)
    node = other.configuration(None, settings).nodes["eu.web"]
    cpu = other.model.machines[node.machine].resource("cpu")
    assert cpu is not None
    assert ir.ParameterValue("k") in set(parts_of(cpu.capacity.expr))


def test_numbers_of_machines_with_arguments_say_what_was_put_in() -> None:
    found = spec(MADE).model.machines["small(8)"]
    cpu = found.resource("cpu")
    assert cpu is not None
    assert cpu.speed is not None
    assert (cpu.capacity.bound, cpu.speed.bound) == ("count = 8", "power = 100 score")
    assert found.family == ("small", "vm")


# -- components that run in others ----------------------------------------------------

RUNS = """
users N in 1..100_000
option cached = on
param times = 3
machine box { }
machine pod { cpu 2 core, queueing mmc; memory 4 GB }
network mesh { switched; rate 10 Gbit/s; header 66 byte/packet }
component parse { cpu 0.2 ms/request; memory 1 kB }
component query(t) { cpu t; delay 1 ms }
component part(t) { run query(t / 2) * 2; drop 1 % }
component handle(t) {
  run parse
  cpu 1 ms/request single_thread
  run part(t) * times if cached
  run query(t)
  delay 2 ms
}
topology {
  node client = box * N
  node web = pod * 4
  link lan = mesh between client, web
}
stream ask for each client {
  traffic 1 request / 20 s, 1 kB/request, 1448 byte/packet
  at client { }
  at web { handle(4 ms/request) * 2 if times < 9 }
}
measure parsing = share(parse, web.cpu)
measure handling = share(handle, web.cpu)
require { ask.latency <= 1 second }
"""

UNROLLED = RUNS[: RUNS.index("component part")] + """
component first { }
component part { drop 1 % }
component handle { cpu 1 ms/request single_thread }
component last { delay 2 ms }
""" + RUNS[RUNS.index("topology") :].replace(
    "handle(4 ms/request) * 2 if times < 9",
    "parse * 2 if times < 9; handle * 2 if times < 9; "
    "query((4 ms/request) / 2) * (2 * times * 2) if cached and times < 9; "
    "part * (times * 2) if cached and times < 9; "
    "query(4 ms/request) * 2 if times < 9; last * 2 if times < 9",
)  # fmt: skip


@pytest.mark.parametrize("settings", [(), ("cached = off",), ("times = 5",), ("times = 9",)])
def test_components_that_run_in_others_answer_as_all_of_their_steps(
    settings: tuple[str, ...], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    more = [word for setting in settings for word in ("--set", setting)]
    runs, unrolled = (
        [
            re.sub(" +", " ", line.replace("last, fixed", "handle, fixed"))
            for line in text.splitlines()
        ]
        for text in (answer(t, tmp_path, monkeypatch, capsys, *more) for t in (RUNS, UNROLLED))
    )
    assert runs == unrolled
    assert any("parsing" in line for line in runs)


def test_what_runs_several_times_takes_its_delay_so_often() -> None:
    """It was counted once, also of a step that was done no times."""
    text = """users N in 1..9
        param times = 3
        machine pc { cpu 1 core }
        component query { cpu 2 ms/packet; delay 1 ms }
        component handle { run query * times; run query }
        topology { node a = pc * N }
        stream s_ for each a { traffic 1 packet/s, 9 byte/packet; at a { handle * 2; query * 0 } }
    """
    for times in (0, 1, 3):
        graph = lower(
            (checked := spec(text)).model, checked.configuration(None, [f"times={times}"])
        )
        value = graph.at(1).number(graph.streams["s_"].mean_latency)
        assert value == pytest.approx(0.003 * (times + 1) * 2)


def test_what_runs_in_a_component_is_used_and_may_be_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "steps.qps").write_text(
        "component parse { cpu 1 ms/request }\ncomponent handle(n) { run parse * n; delay 1 ms }"
    )
    text = RUNS.replace("component part(t)", 'use "steps.qps" as other\ncomponent part(t)')
    text = text.replace(
        "handle(4 ms/request) * 2 if times < 9", "other.handle(3); handle(1 us/request)"
    )
    outcome = check_source(Source("spec.qps", text, tmp_path))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    assert not [d.message for d in outcome.diagnostics if "no stream uses" in d.message]
    visits = [leg for leg in outcome.value.model.streams[0].legs if isinstance(leg, ir.Visit)]
    names = [step.component.name for step in visits[1].steps]
    assert names[:2] == ["other.parse", "other.handle"]


def test_what_runs_twice_as_often_each_time_is_refused_at_once() -> None:
    lines = ["component h0(x) { cpu x }"]
    lines += [f"component h{i}(x) {{ run h{i - 1}(x); run h{i - 1}(2 * x) }}" for i in range(1, 38)]
    found = check_source(Source("spec.qps", "\n".join(lines))).diagnostics
    assert {d.code.slug for d in found} == {"too-deep"}


@given(st.data())
def test_what_runs_in_others_costs_what_all_of_it_adds_up_to(data: st.DataObject) -> None:
    """Of any components that run in each other: the load is that of plain arithmetic."""
    own: list[int] = []
    runs: list[list[tuple[int, int]]] = []
    for i in range(data.draw(st.integers(1, 6))):
        own.append(data.draw(st.integers(0, 9)))
        inner = st.tuples(st.integers(0, i - 1), st.integers(0, 3))
        runs.append(data.draw(st.lists(inner, max_size=3)) if i else [])
    total: list[int] = []
    for cost, inner_runs in zip(own, runs, strict=True):
        total.append(cost + sum(times * total[j] for j, times in inner_runs))
    components = [
        f"component c{i}(x) {{ cpu {cost} * x; "
        + "; ".join(f"run c{j}(x) * {times}" for j, times in inner_runs)
        + " }"
        for i, (cost, inner_runs) in enumerate(zip(own, runs, strict=True))
    ]
    last, times = len(own) - 1, data.draw(st.integers(1, 4))
    text = "\n".join(
        [
            "users N in 1..9\nmachine pc { cpu 1 core }\ntopology { node a = pc * N }",
            *data.draw(st.permutations(components)),
            "stream s_ for each a { traffic 1 packet/s, 9 byte/packet",
            f"  at a {{ c{last}(1 us/packet) * {times} }} }}",
        ]
    )
    checked = spec(text)
    graph = lower(checked.model, checked.configuration())
    load = graph.at(1).number(graph.resources["a.cpu"].load)
    assert load == pytest.approx(times * total[last] * 1e-6)
