"""Numbers that a spec states in place are set by the names that `explain` calls them.

What is set so answers what the spec answers with that number written there.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from msgspec import structs
from msgspec.json import encode

import qps
from helpers.specs import at, checked
from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration, changed
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.own_numbers import own_numbers, with_parameters
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, load
from qps.engine.expressions.formulas import number
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.solved_spec import SolvedSpec, solved_spec
from qps.solver.uncertainty.interval_result import Sampling

SHOP = """
users N in 1..100_000
unit score of rating
param rate = 1 request / 20 s
option cached = on
machine browser { }
machine pod { cpu 4 core * 10 score, idle 5 %, efficiency 90 %; disk 200 MB/s; price 0.1 $/hour }
machine big { cpu 8 core * 12 score; disk 500 MB/s; price 0.5 $/hour }
machine store { cpu 2 core; memory 64 GB; price 900 $ }
network mesh { switched; rate 1 Gbit/s; header 66 byte/packet; loss 0.1 %; propagation 50 us }
network line { rate 200 Mbit/s; cap 9_000 packet/s; propagation 5 ms; price 2_000 $ }
component page { cpu 2 ms/request + 3 ns/byte measured on pod; disk 10 kB/request }
component query { cpu 3 ms/request; memory 20 kB; delay 4 ms }
component part(t) { cpu t measured on pod }
group room of 12 users
topology {
  node client = browser * N
  node web = pod * 3
  node db = store
  link wan = line between client, web
  link lan = mesh between web, db
}
stream ask for each user {
  traffic rate, 20 kB/request, 1460 byte/packet
  at client { }
  at web { page; part(1 ms/request); call db, sends 300 byte/request { query } }
}
stream log for 2 in each room {
  traffic 1 request/s, 1 kB/request, 500 byte/packet
  at client { }
  at web { page if cached }
}
target cpu 80 %
quality euclidean
require { ask.latency <= 200 ms ideal 20 ms; ask.loss <= 1 % }
"""

LAWS = """
users N in 1..1000
unit score of rating
machine box { cpu 1 core * 10 score }
machine slow { cpu 1 core * 5 score }
machine late { cpu 1 core * 12 score, jitter 4 ms^2 * load * (10 score) / rating }
network lan { duplex; rate 1 Gbit/s; jitter 40 ms^2 * (load + (1 kbit/s) / rate) }
network wan { rate 50 Mbit/s; jitter 1 ms^2 * (if rate > 20 Mbit/s then 1 else 3) * load }
component work { cpu 1 ms/packet measured on box }
topology {
  node a = late
  node b = box
  node c = box
  link near = lan between a, b
  link far = wan between b, c
}
stream flow in all {
  traffic N * 20 packet/s, 1250 byte/packet
  at a { work }
  over near
  at b { work }
  over far
  at c { }
}
require { flow.jitter <= 1 ms^2 }
"""
"""Jitter laws that name the rate, or the rating, of what has them."""

EDITS = [
    ("wan.rate", "100 Mbit/s", "rate 200 Mbit/s", "rate 100 Mbit/s"),
    ("wan.cap", "4000 packet/s", "cap 9_000 packet/s", "cap 4000 packet/s"),
    ("wan.propagation", "30 ms", "propagation 5 ms", "propagation 30 ms"),
    ("wan.price", "1000 $", "price 2_000 $", "price 1000 $"),
    ("lan.header", "500 byte/packet", "header 66 byte/packet", "header 500 byte/packet"),
    ("lan.loss", "0.5 %", "loss 0.1 %", "loss 0.5 %"),
    ("web.cpu.cores", "16 core", "cpu 4 core *", "cpu 16 core *"),
    ("web.cpu.efficiency", "80 %", "efficiency 90 %", "efficiency 80 %"),
    ("web.cpu.idle", "20 %", "idle 5 %", "idle 20 %"),
    ("web.disk.capacity", "1 MB/s", "disk 200 MB/s", "disk 1 MB/s"),
    ("web.price", "1 $/hour", "price 0.1 $/hour", "price 1 $/hour"),
    ("db.cpu.cores", "3", "cpu 2 core;", "cpu 3 core;"),
    ("db.memory.capacity", "1 MB", "memory 64 GB", "memory 1 MB"),
    ("page.cpu.request", "6 ms/request", "cpu 2 ms/request +", "cpu 6 ms/request +"),
    ("page.cpu.byte", "300 ns/byte", "3 ns/byte", "300 ns/byte"),
    ("page.disk.request", "2 MB/request", "disk 10 kB/request", "disk 2 MB/request"),
    ("part.cpu.request at web", "9 ms/request", "part(1 ms/request)", "part(9 ms/request)"),
    ("query.cpu.request", "1 ms/request", "cpu 3 ms/request", "cpu 1 ms/request"),
    ("query.memory.share", "20 MB", "memory 20 kB", "memory 20 MB"),
    ("query.delay", "90 ms", "delay 4 ms", "delay 90 ms"),
    ("room.size", "3", "of 12 users", "of 3 users"),
    ("ask.byte_per_request", "200 kB/request", "20 kB/request", "200 kB/request"),
    ("ask.byte_per_packet", "200 byte/packet", "1460 byte/packet", "200 byte/packet"),
    ("ask.db.sends", "9 kB/request", "sends 300 byte/request", "sends 9 kB/request"),
    ("log.traffic", "5 request/s", "traffic 1 request/s", "traffic 5 request/s"),
    ("log.flows", "7", "for 2 in each", "for 7 in each"),
    ("target of cpu", "40 %", "cpu 80 %", "cpu 40 %"),
    ("limit of ask.latency", "50 ms", "<= 200 ms", "<= 50 ms"),
    ("limit of ask.loss", "0.2 %", "<= 1 %", "<= 0.2 %"),
    ("ideal of ask.latency", "1 ms", "ideal 20 ms", "ideal 1 ms"),
]


ELASTIC = """
users N in 1..1000
machine box { cpu 1 core }
network lan { rate 10 Mbit/s }
component work { cpu 1 ms/packet }
param pace elastic 5..40 packet/s
topology {
  node a = box
  node b = box * N
  link near = lan between a, b
}
stream flow for each b {
  traffic pace, 1250 byte/packet
  at b { }
  over near
  at a { work }
}
require { flow.latency <= 100 ms; flow.rate >= 6 packet/s }
"""
ELASTIC_EDITS = [
    ("pace.least", "9 packet/s", "5..40", "9..40"),
    ("pace.most", "5.5 packet/s", "5..40", "5..5.5"),
]
LAW_EDITS = [
    ("near.rate", "100 Mbit/s", "rate 1 Gbit/s", "rate 100 Mbit/s"),
    ("a.cpu.speed", "20 score", "1 core * 12 score", "1 core * 20 score"),
    ("box.score", "5 score", "measured on box", "measured on slow"),
]


def solved(spec: Spec, *settings: str) -> SolvedSpec:
    return solved_spec(spec, None, settings, advice=False, sampling=Sampling())


def reported(one: SolvedSpec) -> dict[str, object]:
    """Return what is told of a spec, but where its numbers come from."""
    view = solve_view(one.answer)
    return {
        name: getattr(view, name)
        for name in view.__struct_fields__
        if name not in ("settings", "assumptions", "file", "sensitivity", "warnings")
    }


CASES = [
    *((SHOP, *edit) for edit in EDITS),
    *((LAWS, *edit) for edit in LAW_EDITS),
    *((ELASTIC, *edit) for edit in ELASTIC_EDITS),
]


@pytest.mark.parametrize(
    ("text", "name", "value", "before", "after"), CASES, ids=[case[1] for case in CASES]
)
def test_a_number_that_is_set_answers_as_one_that_is_written(
    text: str, name: str, value: str, before: str, after: str
) -> None:
    assert text.count(before) == 1
    plain = reported(solved(checked(text)))
    by_name = reported(solved(checked(text), f"{name} = {value}"))
    by_hand = reported(solved(checked(text.replace(before, after))))
    # what is measured on another machine has its name in formulas
    assert encode(by_name) == encode(by_hand).replace(b"slow.score", b"box.score")
    assert encode(by_name) != encode(plain)


SPECS = ["audioconference", "iri", "sfu", "applications/shop", "applications/thirteen_services"]


@pytest.mark.parametrize("name", SPECS)
def test_what_graphs_call_numbers_is_what_they_are_set_by(name: str) -> None:
    """Every number of a spec that a graph rests on is found under its name, with its value."""
    spec = load(Path(f"specs/{name}.qps"))
    graph = lower(spec.model, spec.configuration())
    known = own_numbers(spec.model)
    parameters = {parameter.name.split(".")[0] for parameter in spec.model.parameters}
    for one in graph.assumptions.values():
        if one.name.split(".")[0] in parameters and one.name not in known:
            continue
        stated = known[one.name].stated
        assert stated.span == one.span, one.name


CHANGES = """
scenario narrow { wan.rate = 100 Mbit/s; limit of ask.latency = 50 ms }
scenario packed { web = big; web.cpu.cores = 16 core; page.cpu.request = 1 ms/request }
matrix lines {
  wan.rate in [50, 100, 300 Mbit/s]
  page.cpu.request in [2, 6 ms/request]
  web in [pod, big]
}
matrix kept {
  wan.rate in [50, 100, 300 Mbit/s]
  exclude wan.rate > 200 Mbit/s
  column double = wan.rate * 2
  where wan.rate >= 100 Mbit/s
  order by wan.rate descending
}
matrix limits { limit of ask.latency in [20 ms, 200 ms]; target of cpu in 40..80 % by 20 % }
figure f { over wan.rate in 50..400 Mbit/s; line wan.load with N = 100 }
expect e {
  largest_acceptable ~ 1 within 1 with wan.rate = 100 Mbit/s
  source "none"
}
"""


def by_hand(text: str, *edits: tuple[str, str]) -> str:
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def test_scenarios_set_numbers_as_they_set_parameters() -> None:
    changed = checked(SHOP + CHANGES)
    assert reported(solved(changed)) == reported(solved(checked(SHOP)))
    narrow = by_hand(SHOP, ("rate 200 Mbit/s", "rate 100 Mbit/s"), ("<= 200 ms", "<= 50 ms"))
    packed = by_hand(
        SHOP,
        ("web = pod", "web = big"),
        ("cpu 8 core", "cpu 16 core"),
        ("cpu 2 ms/request +", "cpu 1 ms/request +"),
    )
    for scenario, text in (("narrow", narrow), ("packed", packed)):
        one = solved_spec(changed, scenario, (), advice=False, sampling=Sampling())
        assert answer(one) == answer(solved(checked(text)))


def answer(one: SolvedSpec) -> dict[str, object]:
    return {name: value for name, value in reported(one).items() if name != "scenario"}


def test_an_axis_of_a_matrix_is_a_number_that_is_set(tmp_path: Path) -> None:
    (tmp_path / "shop.qps").write_text(SHOP + CHANGES, encoding="utf-8")
    rows = qps.load(tmp_path / "shop.qps").matrix("lines").to_arrow().to_pylist()
    assert len(rows) == 12
    for row in rows[::5]:
        rate, cost = row["wan.rate"], row["page.cpu.request"]
        settings = f"wan.rate = {rate} bit/s", f"page.cpu.request = {cost} s/request"
        one = solved(checked(SHOP), *settings, f"web = {row['web']}").answer
        assert row["capacity"] == one.capacity
        assert row["saturates_at"] == pytest.approx(one.bottleneck.saturates_at)


def test_conditions_and_columns_name_such_an_axis(tmp_path: Path) -> None:
    (tmp_path / "shop.qps").write_text(SHOP + CHANGES, encoding="utf-8")
    rows = qps.load(tmp_path / "shop.qps").matrix("kept").to_arrow().to_pylist()
    assert [(row["wan.rate"], row["double"]) for row in rows] == [(1e8, 2e8)]


@pytest.mark.parametrize(
    ("setting", "reported"),
    [
        ("wan.rat = 2 Gbit/s", "unknown name `wan.rat`"),
        ("wan.rate = 2 ms", "`wan.rate` must be a data rate (bit/s), not a time (s)"),
        ("wan.rate = 2", "`wan.rate` must be a data rate (bit/s), not a plain number"),
        ("wan.rate = 0 bit/s", "a rate must be above zero"),
        ("wan.rate = 1..2 Gbit/s", "`wan.rate` takes one value, not a range"),
        ("page.cpu.request = -1 s/request", "a service demand must be zero or more"),
        ("page.cpu = 1 s/request", "unknown name `page.cpu`"),
        ("web.cpu.cores = 8 GB", "`web.cpu.cores` must be a count of `core`, not an amount"),
        ("web.cpu.idle = 200 %", "an idle utilization must be below 100 %"),
        ("pod.score = 0 score", "a rating must be above zero"),
        ("room.size = 2.5", "the size of `room` must be a whole number above zero"),
        ("ask.traffic = 1 request/s", "`ask.traffic` is computed from `rate`"),
        ("lan.cap = 9 packet/s", "`lan.cap` cannot be set: mesh has no `cap`"),
        ("limit of ask.latenc = 1 s", "unknown name `limit of ask.latenc`"),
        ("limit of ask.loss = 3", "the limit of `ask.loss` must be between"),
    ],
)
def test_what_cannot_be_set_is_reported_with_its_fix(setting: str, reported: str) -> None:
    with pytest.raises(QpsError) as refused:
        solved(checked(SHOP), setting)
    (found,) = refused.value.diagnostics
    assert found.message.startswith(reported)
    assert found.hints
    assert found.primary.span.source.label in ("--set", "spec.qps")


def test_other_hardware_takes_what_is_set_in_its_place() -> None:
    """Whatever a scenario puts there: what is set beside it wins, as for a parameter."""
    text = SHOP + "scenario larger { web = big * 2 }"
    hand = by_hand(SHOP, ("web = pod * 3", "web = big * 2"), ("cpu 8 core", "cpu 3 core"))
    setting = ("web.cpu.cores = 3 core",)
    one = solved_spec(checked(text), "larger", setting, advice=False, sampling=Sampling())
    assert answer(one) == answer(solved(checked(hand)))


def test_what_a_law_decides_by_is_not_set_and_what_it_comes_to_is_checked() -> None:
    with pytest.raises(QpsError, match="wan uses `rate` in its jitter model"):
        solved(checked(LAWS), "far.rate = 10 Mbit/s")
    with pytest.raises(QpsError, match=r"the jitter of near\.forth is negative"):
        solved(checked(LAWS.replace("40 ms^2 * (load +", "-40 ms^2 * (0 +")))
    with pytest.raises(
        QpsError,
        match="the largest and the least value of `pace` must be zero or more",
    ):
        solved(checked(ELASTIC), "pace.most = 4 packet/s")
    with pytest.raises(AssertionError, match="divides by zero"):
        checked(LAWS.replace("/ rate)", "/ (rate - 1 Gbit/s))"))


@pytest.mark.parametrize("name", SPECS)
def test_a_number_that_is_set_moves_loads_as_that_of_the_graph_does(name: str) -> None:
    """As `--for` and pages move it: put into the graph of the spec as it stands."""
    spec = load(Path(f"specs/{name}.qps"))
    graph = lower(spec.model, spec.configuration())
    known = own_numbers(spec.model)
    fixed = graph.basis.evaluated | graph.basis.decided
    moving = [n for n, one in known.items() if one.is_plain and n in graph.assumptions]
    moving = [n for n in moving if n not in fixed and not n.endswith(".cores")]
    for one in Random(name).sample(moving, min(8, len(moving))):
        assumed = graph.assumptions[one]
        value = assumed.fraction * Fraction(9, 10)
        model = with_parameters(spec.model, [one], known)
        change = ir.SetParameter(one, ir.Constant(value), assumed.span)
        after = lower(model, changed(base_configuration(model), [change]))
        moved = structs.replace(assumed, value=number(value))
        before = graph.with_assumptions({one: moved})
        for resource in graph.resources:
            values = [at(g, g.resources[resource].load, graph.low + 7) for g in (before, after)]
            assert values[0] == values[1], (one, resource)
