"""Families and lists: what is said shortly answers exactly as what is written out."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of
from qps.cli import main
from qps.compiler import ir
from qps.compiler.diagnostics.source import Source
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, check_source
from qps.reports.text.words import labels

HEAD = """
users N in 1..100_000
unit score of rating
machine box { }
"""
TAIL = """
topology {
  node client = box * N
  node web = big * 2
  node db = pod
  link wide = far between client, web
  link lan = mesh between web, db
}
stream ask for each client {
  traffic 1 request / 20 s, 2 kB/request, 1448 byte/packet
  at client { }
  at web { quick }
  at db { slow }
}
require { ask.latency <= 1 second }
"""


def spec(text: str) -> Spec:
    outcome = check_source(Source("spec.qps", text))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    return outcome.value


def answer(
    text: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *more: str,
) -> str:
    """Return what `qps solve` says of a text, by identifiers."""
    monkeypatch.setattr(
        "qps.reports.text.solutions.change_wording.labels_of", lambda _: labels.PLAIN
    )
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.chdir(folder)
    Path("spec.qps").write_text(text, encoding="utf-8")
    status = main(["solve", "--all", "spec.qps", *more])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    return printed.out


SHORT = """
machine pod { cpu 2 core * 10 score, idle 5 %, queueing mmc; memory 4 GB; price 0.08 $/hour }
machine big = pod with cpu 8 core, memory 32 GB, price 0.40 $/hour
network mesh { switched; rate 10 Gbit/s; header 66 byte/packet; propagation 50 us; queueing md1 }
network far = mesh with propagation 20 ms
component slow { cpu 5 ms/request measured on pod; memory 1 MB; delay 3 ms; drop 1 % }
component quick = slow with cpu 2 ms/request measured on pod, delay 1 ms
"""
LONG = """
machine pod { cpu 2 core * 10 score, idle 5 %, queueing mmc; memory 4 GB; price 0.08 $/hour }
machine big { cpu 8 core * 10 score, idle 5 %, queueing mmc; memory 32 GB; price 0.40 $/hour }
network mesh { switched; rate 10 Gbit/s; header 66 byte/packet; propagation 50 us; queueing md1 }
network far { switched; rate 10 Gbit/s; header 66 byte/packet; propagation 20 ms; queueing md1 }
component slow { cpu 5 ms/request measured on pod; memory 1 MB; delay 3 ms; drop 1 % }
component quick { cpu 2 ms/request measured on pod; memory 1 MB; delay 1 ms; drop 1 % }
"""


def test_members_of_families_answer_as_what_is_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short, long = (
        answer(HEAD + text + TAIL, tmp_path, monkeypatch, capsys) for text in (SHORT, LONG)
    )
    assert short == long
    assert "web.cpu" in short


def resource(text: str, machine: str, name: str) -> ir.Resource:
    found = spec(text).model.machines[machine].resource(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("member", "written_out"),
    [
        ("cpu 8 core", "cpu 8 core * 10 score, idle 5 %, jitter 2 ms^2 * load"),
        ("cpu 30 score", "cpu 2 core * 30 score, idle 5 %, jitter 2 ms^2 * load"),
        ("cpu 1 core * 30 score, idle 1 %", "cpu 30 score, idle 1 %, jitter 2 ms^2 * load"),
        ("cpu 1 core, queueing mm1", "cpu 10 score, idle 5 %, jitter 2 ms^2 * load, queueing mm1"),
        ("cpu 10 Gbit/s", "cpu 10 Gbit/s, idle 5 %, jitter 2 ms^2 * load"),
    ],
)  # fmt: skip
def test_what_is_not_named_of_a_resource_stays(member: str, written_out: str) -> None:
    pod = "unit score of rating\nmachine pod { cpu 2 core * 10 score, idle 5 %, "
    pod += "jitter 2 ms^2 * load }\n"
    ours = resource(f"{pod}machine big = pod with {member}", "big", "cpu")
    theirs = resource(f"{pod}machine big {{ {written_out} }}", "big", "cpu")
    assert ours.numbers == theirs.numbers
    assert ours.kind is theirs.kind
    assert (ours.queueing is None) == (theirs.queueing is None)
    assert ours.jitter is not None
    assert theirs.jitter is not None
    assert ours.jitter.expr == theirs.jitter.expr


def test_a_jitter_law_sees_the_rating_of_the_member() -> None:
    pod = (
        "unit score of rating\nmachine pod { cpu 10 score, jitter 20 ms^2 * (10 score) / rating }\n"
    )
    ours = resource(f"{pod}machine fast = pod with cpu 40 score", "fast", "cpu").jitter
    theirs = resource(pod.replace("cpu 10", "cpu 40"), "pod", "cpu").jitter
    assert ours is not None
    assert theirs is not None
    assert ours.expr == theirs.expr


@given(st.data())
def test_a_chain_of_members_is_the_last_word_on_everything(data: st.DataObject) -> None:
    """However many generations, and whatever they name: what holds was said last."""
    words = {"cpu": "core", "disk": "MB/s", "memory": "GB"}
    lines = ["machine m0 { cpu 1 core; disk 1 MB/s; price 1 $ }"]
    last: dict[str, str] = {"cpu": "1 core", "disk": "1 MB/s", "price": "1 $"}
    count = data.draw(st.integers(1, 6))
    for i in range(1, count + 1):
        named = data.draw(st.lists(st.sampled_from([*words, "price"]), unique=True, max_size=3))
        said = {word: f"{data.draw(st.integers(1, 99))} {words.get(word, '$')}" for word in named}
        last |= said
        items = ", ".join(f"{word} {value}" for word, value in said.items())
        lines.append(f"machine m{i} = m{i - 1}" + (f" with {items}" if items else ""))
    order = data.draw(st.permutations(lines))  # declarations stand in any order
    written_out = "; ".join(f"{word} {value}" for word, value in last.items())
    ours = spec("\n".join(order)).model.machines[f"m{count}"]
    theirs = spec(f"machine m {{ {written_out} }}").model.machines["m"]
    assert {r.name: r.numbers for r in ours.resources} == {
        r.name: r.numbers for r in theirs.resources
    }
    assert ours.price is not None
    assert theirs.price is not None
    assert ours.price.expr == theirs.price.expr
    assert ours.family == tuple(f"m{i}" for i in reversed(range(count)))


def test_a_member_may_be_of_a_module_and_its_numbers_keep_their_sources() -> None:
    own = SHORT.replace("= pod with", "= ws.alpha with").replace(" measured on pod", "")
    found = spec("use std.claypool1997.workstations as ws" + HEAD + own + TAIL).model
    alpha, big = found.machines["ws.alpha"], found.machines["big"]
    assert big.family == ("ws.alpha",)
    theirs, ours = alpha.ratings[0][1], big.ratings[0][1]
    assert big.origin(ours) == alpha.origin(theirs) is not None
    assert big.price is not None
    assert big.origin(big.price) is None, "the price is its own, and names no source"


def test_a_cost_measured_on_a_parent_counts_for_the_family() -> None:
    """Of alternatives the nearest one's counts, whichever stands first."""
    text = HEAD + SHORT + TAIL
    text = text.replace("slow {", "slow { cpu 9 ms/request measured on other;")
    text = text.replace("machine box {", "machine other { cpu 1 score }\nmachine box {")
    text = text.replace("slow with cpu 2 ms/request measured on pod", "slow with drop 2 %")
    graph = lower(spec(text).model, spec(text).configuration())
    costs = {told.text for name, told in graph.assumptions.items() if ".cpu.request" in name}
    assert costs == {"5 ms/request"}
    assert "other.score" not in graph.assumptions


def test_of_a_family_without_ratings_cores_are_alike() -> None:
    text = (HEAD + SHORT + TAIL).replace(" * 10 score", "")
    assert spec(text).configuration()
    stranger = text.replace("machine big = pod with", "machine big = box with")
    found = check_source(Source("spec.qps", stranger)).diagnostics
    assert {d.code.slug for d in found if d.is_error} == {"no-rating"}


def test_what_a_component_names_replaces_all_of_that_kind_in_its_place() -> None:
    text = """
component one { keep 50 %; cpu 1 ms/packet; emit 2; keep 30 %; delay 2 ms }
component two = one with keep 10 %, queue 3 packet, cpu 2 ms/packet, cpu 3 %
"""
    head = "users N in 1..9\nmachine pc { cpu 1 core }\ntopology { node a = pc * N }\n"
    end = "stream voice for each a { traffic 1 packet/s, 9 byte/packet; at a { one; two } }"
    first, second = (
        step.component
        for leg in spec(head + text + end).model.streams[0].legs
        if isinstance(leg, ir.Visit)
        for step in leg.steps
    )
    assert [e.kind.value for e in first.effects] == ["keep", "emit", "keep", "delay"]
    assert [e.kind.value for e in second.effects] == ["keep", "emit", "delay", "queue"]
    assert [term.text for cost in second.costs for term in cost.terms] == ["2 ms/packet", "3 %"]


def test_a_member_with_formals_hands_them_on() -> None:
    text = """
users N in 1..9
machine pc { cpu 1 core }
topology { node a = pc * N }
component one(x, y) { cpu x; delay y }
component two(z) = one(2 * z, 3 ms) with delay 7 ms
stream voice for each a { traffic 1 packet/s, 9 byte/packet; at a { two(4 ms/packet) } }
"""
    long = text.replace("component two(z) = one(2 * z, 3 ms) with delay 7 ms",
                        "component two(z) { cpu 2 * z; delay 7 ms }")  # fmt: skip
    ours, theirs = (lower(s.model, s.configuration()) for s in (spec(text), spec(long)))
    assert str(ours.resources) == str(theirs.resources)


# -- several nodes, and all but some -----------------------------------------------------------

LISTED = """
users N in 1..1000
machine pod { cpu 2 core, idle 5 %; price 0.08 $/hour }
machine box { }
network mesh { switched; rate 10 Gbit/s; header 66 byte/packet; propagation 50 us }
component work { cpu 2 ms/request }
topology {
  node client = box * N
  link edge, spare_edge = mesh between client, web
  link fabric = mesh between all but client
  node auth, profile, cart = 2 * pod
  node web = N / 3 * pod
}
stream ask for each client {
  traffic 1 request / 1 s, 1 kB/request, 1448 byte/packet
  at client { }
  over edge
  at web { work }
  at auth { work }
  at web { }
  at cart { work }
  at profile { work }
}
"""
WRITTEN_OUT = LISTED.replace(
    "link edge, spare_edge = mesh between client, web",
    "link edge = mesh between client, web; link spare_edge = mesh between client, web",
).replace("between all but client", "between auth, profile, cart, web").replace(
    "node auth, profile, cart = 2 * pod",
    "node auth = pod * 2; node profile = pod * 2; node cart = pod * 2",
).replace("node web = N / 3 * pod", "node web = pod * (N / 3)")  # fmt: skip


def test_lists_answer_as_what_is_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed, written_out = (
        answer(text, tmp_path, monkeypatch, capsys) for text in (LISTED, WRITTEN_OUT)
    )
    assert listed == written_out
    assert "profile.cpu" in listed


@pytest.mark.parametrize(
    ("ends", "joined"),
    [
        ("all but client", ("auth", "profile", "cart", "web")),
        ("all", ("client", "auth", "profile", "cart", "web")),
        ("edge, cart, all but client", ("edge", "cart", "auth", "profile", "web")),
        ("edge, all but client, spare", ("edge", "auth", "profile", "cart", "web")),
    ],
)
def test_all_nodes_are_those_of_the_whole_file(ends: str, joined: tuple[str, ...]) -> None:
    text = LISTED.replace("all but client", ends) + "topology { node spare = pod * 0 }"
    model = spec(text).model
    fabric = next(link for link in model.links if link.name == "fabric")
    assert fabric.ends == (*joined, *(["spare"] if "spare" not in ends else []))


@pytest.mark.parametrize(
    "place",
    ["3 * pod", "pod * 3", "(1 + 2) * pod", "N * pod", "ws.alpha * 2", "2 * ws.alpha",
     "k * pod * 2", "k * 2 * pod", "k / 2 * pod"],
)  # fmt: skip
def test_the_count_stands_before_a_machine_or_behind_it(place: str) -> None:
    text = "use std.claypool1997.workstations as ws\nparam k = 4\n" + LISTED.replace(
        "N / 3 * pod", place
    )
    found = spec(text)
    node = next(node for node in found.model.nodes if node.name == "web")
    assert node.machine == ("ws.alpha" if "alpha" in place else "pod")
    settled = found.configuration(None, [f"cart = {place}"])
    assert settled.nodes["cart"].count == settled.nodes["web"].count


def test_a_node_that_no_stream_visits_may_have_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = LISTED.replace("node web", "node spare = pod * spares\n  node web")
    text = "param spares = 0 in 0..9\n" + text
    nothing = answer(text, tmp_path, monkeypatch, capsys, "--set", "spare = pod * 0")
    assert "spare" not in nothing.partition("\n")[2].replace("spare_edge", "")
    none = answer(text, tmp_path, monkeypatch, capsys)
    assert re.search(r"spare.cpu +0 % +never", none)
    three = answer(text, tmp_path, monkeypatch, capsys, "--set", "spares = 3")
    assert re.search(r"spare.cpu +5 % +never", three)
    assert main(["solve", "spec.qps", "--set", "cart = pod * 0"]) == 2
    assert "`ask` visits it here" in capsys.readouterr().err


# -- ports of a switch -------------------------------------------------------------------------


def rows(text: str) -> list[str]:
    """Return what the resources of an answer are called, in the order of its table."""
    table = text.partition("\n  Utilization ")[2].partition("\n\n")[0]
    return [re.split(r"  +", line.strip())[0] for line in table.splitlines()[1:]]


def test_ports_of_a_switch_are_one_line_unless_one_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = answer(LISTED, tmp_path, monkeypatch, capsys)
    assert [name for name in rows(text) if name.startswith("fabric")] == [
        "fabric.auth.in, busiest of 7 ports"
    ]
    assert [name for name in rows(text) if name.startswith("edge")] == [
        "edge.web.in",
        "edge.client.out",
    ]
    slow = LISTED.replace("fabric = mesh", "fabric = slow").replace(
        "component", "network slow { switched; rate 1 Mbit/s }\ncomponent"
    )
    text = answer(slow, tmp_path, monkeypatch, capsys)
    assert [name for name in rows(text) if name.startswith("fabric")] == [
        "fabric.auth.in",  # saturates first
        "fabric.auth.out, busiest of 6 other ports",
    ]


def test_reasons_count_the_ports_of_a_switch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = answer(LISTED + "measure late = ask.latency", tmp_path, monkeypatch, capsys)
    assert (
        "`late` is a lower bound (true value may be higher): queueing delay at "
        "`edge.client.out`, `edge.web.in`, `web.cpu`, 7 ports of `fabric`, `auth.cpu`, `cart.cpu` "
        "and `profile.cpu` is excluded." in text
    )


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_the_page_tells_ports_as_the_text_does(open_page: Any) -> None:
    page = open_page(html_of(spec(LISTED)))
    assert page.run("() => qps.shown.trouble") is None
    told = page.page.inner_text("#resources")
    assert "fabric.auth.in, busiest of 7 ports" in told
    assert "fabric.cart" not in told
    assert "fabric.auth.in, busiest of 7 ports" in page.page.inner_text("#carried")
    assert "web.cpu, 7 ports of fabric, auth.cpu" in page.page.inner_text("#known")


def test_json_tells_every_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(answer(LISTED, tmp_path, monkeypatch, capsys, "--format", "json"))
    names = [resource["name"] for resource in found["resources"]]
    assert len([name for name in names if name.startswith("fabric.")]) == 7


# -- machines with parameters ------------------------------------------------------------------

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
    """All that is told is alike, but for what the machines are called."""
    ours, theirs = (
        answer(text, tmp_path, monkeypatch, capsys, *more).partition("\n")[2]
        for text, more in ((MADE, made), (PLAIN, plain))
    )
    assert told(ours) == told(theirs) != []


def told(text: str) -> list[str]:
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
    assert lines[0].split()[:2] == ["Matrix", "sizes"]
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


# -- components that run in others ------------------------------------------------------------

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
        told = graph.at(1).number(graph.streams["s_"].mean_latency)
        assert told == pytest.approx(0.003 * (times + 1) * 2)


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
