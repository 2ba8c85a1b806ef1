"""Families and lists: what is said shortly answers exactly as what is written out."""

from __future__ import annotations

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
    costs = {result.text for name, result in graph.assumptions.items() if ".cpu.request" in name}
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


# -- several nodes, and all but some --------------------------------------------------

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
    configuration = found.configuration(None, [f"cart = {place}"])
    assert configuration.nodes["cart"].count == configuration.nodes["web"].count


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


# -- ports of a switch ----------------------------------------------------------------


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
def test_the_page_names_ports_as_the_text_does(open_page: Any) -> None:
    page = open_page(html_of(spec(LISTED)))
    assert page.run("() => qps.shown.trouble") is None
    output = page.page.inner_text("#resources")
    assert "fabric.auth.in, busiest of 7 ports" in output
    assert "fabric.cart" not in output
    assert "fabric.auth.in, busiest of 7 ports" in page.page.inner_text("#carried")
    assert "web.cpu, 7 ports of fabric, auth.cpu" in page.page.inner_text("#known")


def test_json_lists_every_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(answer(LISTED, tmp_path, monkeypatch, capsys, "--format", "json"))
    names = [resource["name"] for resource in found["resources"]]
    assert len([name for name in names if name.startswith("fabric.")]) == 7
