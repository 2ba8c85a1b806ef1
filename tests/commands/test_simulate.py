"""`qps simulate`: what is played, how it is judged, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from helpers.reasons import reason
from helpers.specs import lowered
from qps import worker_processes
from qps.cli import main
from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    approximation,
    lower_bound,
    upper_bound,
)
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME
from qps.reports.text.claims.simulation_text import simulated_tables
from qps.simulation.agreement import Compared, Verdict, compare, compared
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, Simulation, simulate
from qps.simulation.simulated_model import Call, Take
from qps.simulation.statistics import Estimate, estimate, warm_up
from qps.solver.answers.worst_mode import solve_model

SHOP = '''"""A shop"""
users N in 1..100
machine web { cpu 1 core, queueing mm1 }
machine store { cpu 2 core, queueing mmc }
machine desk { }
network wire { propagation 1 ms }
component page { cpu 8 ms/request }
component query { cpu 20 ms/request }
topology { node user = desk; node w = web; node db = store; link l = wire between user, w, db }
stream job {
  traffic N * 1 request/s, 1 kB/request
  at user { }
  at w { page; call db { query } }
  at user { }
}
require { job.latency <= 80 ms; quantile(job.latency, 98 %) <= 2 s }
'''


def checked(text: str) -> ir.Model:
    outcome = check_source(Source("x.qps", text))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    return outcome.value.model


def graph_of(text: str) -> LoadGraph:
    model = checked(text)
    return lower(model, base_configuration(model))


def reported(
    text: str, at: int = 1, precision: float = 0.02, seconds: float = 2.0, seed: int = 1
) -> tuple[LoadGraph, Simulation]:
    graph = graph_of(text)
    effort = Effort(precision=precision, seconds=seconds, seed=seed, workers=1)
    return graph, simulate(simulated_model(graph, at), effort)


def run(tmp_path: Path, text: str, *flags: str) -> int:
    path = tmp_path / "shop.qps"
    path.write_text(text, encoding="utf-8")
    return main(["simulate", str(path), "--precision", "50 %", *flags])


# -- what the command prints ----------------------------------------------------------------


def test_it_prints_predicted_label_simulated_and_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk.qps").write_text(DESK, encoding="utf-8")
    assert main(["simulate", "desk.qps", "--at", "50", "--precision", "50 %"]) == 0
    first = capsys.readouterr().out
    assert first == GOLDEN
    # The same seed makes the same runs, on any number of cores, however processes begin.
    monkeypatch.setattr(worker_processes, "START", "spawn")
    assert (
        main(["simulate", "desk.qps", "--at", "50", "--precision", "50 %", "--workers", "2"]) == 0
    )
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert capsys.readouterr().out == first
    flags = ["--at", "50", "--precision", "50 %", "--seed", "2"]
    assert main(["simulate", "desk.qps", *flags]) == 0
    assert capsys.readouterr().out != first


DESK = '''"""A desk"""
users N in 1..100
machine host { cpu 1 core, queueing mm1 }
component page { cpu 8 ms/request }
topology { node w = host }
stream job { traffic N * 1 request/s, 1 kB/request; at w { page } }
require { job.latency <= 80 ms; quantile(job.latency, 98 %) <= 2 s }
'''
GOLDEN = """\
Simulation at 50 users                                                  desk.qps

  Result       all 6 predictions agree; all requirements pass

  Measure                Predicted       Simulated, 95 % CI  Agreement
  job latency, mean       13.33 ms          13.38 ± 0.13 ms  agrees
  job p50                 9.242 ms           9.257 ± 0.1 ms  agrees
  job p95                 39.94 ms          40.33 ± 0.64 ms  agrees
  job p99                  61.4 ms           60.61 ± 1.2 ms  agrees
  job throughput     50 requests/s  49.94 ± 0.39 requests/s  agrees
  w CPU                       40 %           40.07 ± 0.36 %  agrees

  Requirement  Limit    Predicted  Simulated, 95 % CI  Outcome
  job latency  ≤ 80 ms   13.33 ms     13.38 ± 0.13 ms  pass
  job p98      ≤ 2 s     52.16 ms      52.1 ± 0.99 ms  pass

  20 replications of 150 s, first 10 % discarded as warm-up; seed 1. Items
  measured: 134,842 (job).
  For means and utilization, the 95 % confidence intervals are no wider than
  ±50 %.
"""


def test_of_many_loads_that_agree_the_fullest_are_reported() -> None:
    def load(name: str, mean: float, verdict: Verdict) -> Compared:
        return Compared(
            subject=name,
            measure="load",
            dimension=DIMENSIONLESS,
            predicted=mean,
            known=EXACT,
            simulated=Estimate(mean, 0.0, 20),
            verdict=verdict,
            is_share=True,
        )

    found = [load(f"m{k}.cpu", k / 100, Verdict.AGREES) for k in range(1, 31)]
    found.append(load("odd.cpu", 0.001, Verdict.DIFFERS))
    (table,) = simulated_tables(found)
    names = [row[0] for row in table.rows]
    assert names == [*(f"m{k}.cpu.utilization" for k in range(19, 31)), "odd.cpu.utilization"]
    assert simulated_tables(found[:12])[0].rows[0][0] == "m1.cpu.utilization"


def test_json_has_it_in_base_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, SHOP, "--at", "50", "--format", "json") == 0
    view = json.loads(capsys.readouterr().out)
    assert view["at"] == 50
    assert view["runs"] == 20
    assert view["is_precise"] is True
    assert view["agrees"] is True
    (latency,) = [
        one for one in view["results"] if (one["subject"], one["measure"]) == ("job", "latency")
    ]
    assert latency["unit"] == "s"
    assert latency["known"] == "exact"
    assert latency["agrees"] == "agrees"
    assert latency["predicted"] == pytest.approx(0.002 * 2 + 0.008 / 0.6 + 0.02 / 0.75, rel=1e-2)
    assert latency["simulated"] == pytest.approx(latency["predicted"], rel=0.1)
    required = [one for one in view["results"] if one["subject"] == "requirement"]
    assert [one["met_as_simulated"] for one in required] == [True, True]


def test_by_default_it_simulates_the_capacity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, SHOP, "--format", "json") == 0
    configuration = base_configuration(checked(SHOP))
    assert json.loads(capsys.readouterr().out)["at"] == solve_model(checked(SHOP), configuration).at


def test_the_status_is_1_where_a_label_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(graph: LoadGraph, simulation: Simulation) -> tuple[Compared, ...]:
        from msgspec.structs import replace

        return compare(
            [replace(one, predicted=2 * one.predicted) for one in compared(graph, simulation)]
        )

    monkeypatch.setattr("qps.commands.simulate.compared", twice)
    assert run(tmp_path, SHOP, "--at", "50") == 1
    assert "outside the stated model error" in " ".join(capsys.readouterr().out.split())


def test_it_says_where_the_precision_is_not_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.qps"
    path.write_text(SHOP, encoding="utf-8")
    assert main(["simulate", str(path), "--precision", "0.01 %", "--seconds", "0.1"]) == 0
    assert "wider than ±0.01 % after" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--precision", "0"), "`--precision` must be between"),
        (("--precision", "two"), "`--precision` must be between"),
        (("--time-limit", "-1"), "`--time-limit` must be above 0"),
        (("--seconds", "∞"), "`--time-limit` must be above 0"),
        (("--at", "0"), "N = 0 is outside the range 1 to 100"),
        (("--workers", "0"), "`0` is not a number from 1 to 999999"),
        (("--seed", "x"), "invalid int value"),
        (("--at", "100"), "utilization of `w.cpu` is"),
        (("--sead", "2"), "has no flag `--sead`"),
    ],
)
def test_bad_flags_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "shop.qps"
    path.write_text(SHOP.replace("8 ms", "10 ms"), encoding="utf-8")
    assert main(["simulate", str(path), *flags]) == 2
    assert message in capsys.readouterr().err


def test_what_is_not_played_is_refused_by_name() -> None:
    text = SHOP.replace("{ page;", "{ shed; page; both;").replace(
        "topology", "component both { merge }\ncomponent shed { drop 1 % }\ntopology"
    )
    text = text.replace("node user = desk", "node user = desk * N").replace(
        "N * 1 request", "1 request"
    )
    text = text.replace("stream job {", "stream job for each user {")
    with pytest.raises(QpsError, match="merging by both after copies, losses or calls"):
        simulated_model(graph_of(text), 50)


def test_a_report_has_a_section_of_what_was_simulated(tmp_path: Path) -> None:
    spec, page = tmp_path / "desk.qps", tmp_path / "desk.html"
    spec.write_text(DESK, encoding="utf-8")
    for flags in ([], ["--simulate"]):
        assert main(["report", str(spec), "-o", str(page), "--no-advice", "-q", *flags]) == 0
        assert ('<section class="long" id="simulated">' in page.read_text("utf-8")) is bool(flags)
    assert "predictions agree" in page.read_text("utf-8")


# -- known values ---------------------------------------------------------------------------


def one_station(queueing: str, service: str, more: str = "", traffic: str = "0.8 request/s") -> str:
    return (
        f'"""x"""\nusers N in 1..2\nmachine m {{ cpu {queueing} }}\n'
        f"component c {{ cpu {service} }}\n"
        f"topology {{ node a = m }}\n"
        f"stream job in all {{ traffic {traffic}, 1 bit/request; at a {{ c{more} }} }}\n"
    )


@pytest.mark.parametrize(
    ("text", "mean", "p99"),
    [
        pytest.param(one_station("1 core, queueing mm1", "1 s/request"), 5.0, 23.03, id="mm1"),
        pytest.param(one_station("1 core, queueing md1", "1 s/request"), 3.0, None, id="md1"),
        pytest.param(
            one_station("4 core, queueing mmc", "1 s/request", traffic="3.2 request/s"),
            1.746,
            6.89,
            id="mmc",
        ),
        pytest.param(
            one_station("1 core, queueing mg1 cv 2", "1 s/request", traffic="0.7 request/s"),
            1 + 0.7 * 5 / 2 / 0.3,
            None,
            id="mg1",
        ),
    ],
)
def test_queues_come_to_what_is_known_of_them(text: str, mean: float, p99: float | None) -> None:
    _, found = reported(text)
    stream = found.streams["job"]
    assert stream.mean is not None
    assert abs(stream.mean.mean - mean) <= stream.mean.half_width(0.9999)
    if p99 is not None:
        tail = stream.quantiles[0.99]
        assert abs(tail.mean - p99) <= tail.half_width(0.9999) + 0.01 * p99
    (load,) = found.loads.values()
    assert abs(load.mean - {"mg1": 0.7}.get("", load.mean)) == 0


def test_users_who_wait_are_played_as_such() -> None:
    # N = 10 users, 4 s of thought, 1 s of service: the repair model, 6.053 s (exact).
    text = one_station("1 core, queueing mm1", "1 s/request", traffic="10 request").replace(
        "1 bit/request;", "1 bit/request, think 4 s;"
    )
    _, found = reported(text, seconds=8)
    mean = found.streams["job"].mean
    assert mean is not None
    assert abs(mean.mean - 6.053) <= mean.half_width(0.9999)


MANY = """
users N in 1..10_000_000
machine host { cpu 1 core, queueing mm1 }
component page { cpu 20 ms/request }
topology { node w = host }
stream job for each user { traffic 1 request, 1 kB/request, think 100 s; at w { page } }
"""


def test_of_many_users_nobody_keeps_who_thinks() -> None:
    graph, found = reported(MANY, at=4_000, seconds=1)
    mean = found.streams["job"].mean
    assert mean is not None
    assert found.loads["w.cpu"].mean == pytest.approx(0.8, rel=0.03)
    assert mean.mean == pytest.approx(0.0998, rel=0.25)
    with pytest.raises(QpsError, match="9,995,000 items in flight at once at N = 10000000"):
        simulated_model(graph, 10_000_000)


def test_fixed_cycles_are_played_over_many_phases() -> None:
    text = """
    users N in 1..2
    machine box { }
    machine line { cpu 1 core, queueing periodic }
    component c { cpu 19 ms/packet }
    network w { propagation 1 us }
    topology { node p = box * 40; node b = line; link l = w between p, b }
    stream s for each p { traffic 1 packet/s, 1 bit/packet; at p { }; at b { c } }
    """
    graph, found = reported(text)
    mean = found.streams["s"].mean
    assert found.network.episode is not None
    assert mean is not None
    predicted = graph.at(1).number(graph.streams["s"].mean_latency)
    assert abs(mean.mean - predicted) <= mean.half_width(0.9999)


def test_what_is_called_together_waits_for_the_slowest() -> None:
    text = """
    users N in 1..2
    machine m { cpu 1 core, queueing mm1 }
    machine front { }
    network w { propagation 1 us }
    component c { cpu 1 s/request }
    component d { cpu 1 s/request }
    topology { node f = front; node a = m; node b = m; link l = w between f, a, b }
    stream job {
      traffic 0.5 request/s, 1 bit/request
      at f { together { call a { c }; call b { d } } }
    }
    """
    graph, found = reported(text)
    mean = found.streams["job"].mean
    assert mean is not None
    # Flatto and Hahn 1984: (12 - load) / 8 times the wait of one of them.
    assert abs(mean.mean - (12 - 0.5) / 8 * 2 - 2e-6) <= mean.half_width(0.9999)
    predicted = graph.at(1).number(graph.streams["job"].mean_latency)
    assert predicted == pytest.approx((12 - 0.5) / 8 * 2, rel=0.05)


TRUNK = """
users N in 1..90
machine m { lines 4 core, queueing loss }
component c { lines 180 s/call }
component d { lines 90 s/call }
topology { node a = m }
stream talk { traffic N * 1 call/hour; at a { c } }
"""


def test_who_finds_no_room_is_lost() -> None:
    graph, found = reported(TRUNK, at=80, precision=0.05)
    lost = found.streams["talk"].lost["blocked"]
    # Erlang's B, for 4 erlang at 4 lines.
    assert abs(lost.mean - 0.3107) <= lost.half_width(0.9999)
    assert graph.at(80).number(graph.streams["talk"].loss) == pytest.approx(0.3107, abs=1e-4)
    assert found.loads["a.lines"].mean == pytest.approx(1 - 0.3107, abs=0.02)
    assert not [one for one in compared(graph, found) if not one.is_right]


MIXED = """
users N in 1..9
machine phone { }
machine bridge { cpu 2 core }
network w { propagation 1 ms }
component receive { cpu 1 ms/packet }
component mix { cpu 2 ms/packet; merge }
topology { node user = phone * N; node b = bridge; link l = w between user, b }
stream voice for each user {
  traffic 10 packet/s, 100 byte/packet
  at user { }
  at b { receive; mix }
}
"""


def test_flows_that_merge_go_on_as_one() -> None:
    graph, found = reported(MIXED, at=4, precision=0.05)
    voice = found.streams["voice"]
    # Four are received by two cores, 2 ms; three of them are mixed, 6 ms.
    assert voice.mean is not None
    assert voice.mean.mean == pytest.approx(0.001 + 0.002 + 0.006)
    assert voice.rate.mean == pytest.approx(10, rel=0.05)
    assert found.loads["b.cpu"].mean == pytest.approx((40 + 60) / 2000, rel=0.05)
    assert not [one for one in compared(graph, found) if not one.is_right]


def test_flows_that_merge_wait_for_each_other() -> None:
    text = MIXED.replace("2 core", "2 core, queueing mmc")
    _, found = reported(text, at=4, precision=0.05)
    assert found.loads["b.cpu"].mean == pytest.approx((40 + 60) / 2000, rel=0.05)
    mean = found.streams["voice"].mean
    # Of four exponential ones at two cores the last is done after 3 times a half and 1, on average.
    assert mean is not None
    assert mean.mean > 0.001 + 0.0025 + 0.006


def test_bare_bytes_are_played_in_pieces() -> None:
    text = """
    users N in 1..9
    machine m { cpu 1 core }
    machine box { }
    network w { rate 1 Mbit/s; loss 10 % }
    component c { cpu 1 us/byte }
    component pack { cpu 1 us/byte; emit 0.5 }
    topology { node a = m; node b = box; link l = w between a, b }
    stream film { traffic N * 80 kbit/s; at a { c; pack; c }; at b { } }
    """
    graph, found = reported(text, at=5, precision=0.05)
    film = found.streams["film"]
    assert film.rate.mean == pytest.approx(180e3, rel=0.05)
    assert film.mean is not None
    assert film.mean.mean == pytest.approx(graph.at(5).number(graph.streams["film"].mean_latency))
    assert not [one for one in compared(graph, found) if not one.is_right]


def test_jitter_is_played_as_a_normal_law() -> None:
    text = """
    users N in 1..9
    machine box { }
    network w { rate 1 Mbit/s; jitter 4 ms^2; propagation 20 ms }
    topology { node a = box; node b = box; link l = w between a, b }
    stream film { traffic N * 10 packet/s, 100 byte/packet; at a { }; at b { } }
    """
    _, found = reported(text, at=5, precision=0.05)
    film = found.streams["film"]
    assert film.quantiles[0.95].mean == pytest.approx(0.0208 + 1.645 * 0.002, rel=0.005)


def test_rare_events_keep_nothing_else_from_being_reported() -> None:
    text = DESK.replace(
        "require {",
        "stream rare { traffic 1e-9 request/s, 1 kB/request; at w { page } }\nrequire {",
    )
    graph, found = reported(text, at=50, seconds=0.5)
    verdicts = {(one.subject, one.measure): one.verdict for one in compared(graph, found)}
    assert verdicts["job", "latency"] is Verdict.AGREES
    assert verdicts["rare", "rate"] is Verdict.UNKNOWN


def test_nothing_is_judged_before_it_has_settled() -> None:
    text = one_station("1 core, queueing mm1", "1 s/request", traffic="0.9999 request/s")
    graph, found = reported(text, seconds=0.2)
    assert not found.has_converged
    assert {one.verdict for one in compared(graph, found)} == {Verdict.UNKNOWN}


def test_a_quantile_is_reported_when_enough_were_late_apart_from_each_other() -> None:
    text = one_station("1 core, queueing mm1", "1 s/request", traffic="0.95 request/s")
    _, found = reported(text, seconds=0)
    # Ten of a run of 2,000 are later than its p99.5, but all in one long queue.
    assert found.streams["job"].items > 20 * 2_000
    assert 0.99 not in found.streams["job"].quantiles


def test_losses_thin_what_comes_behind_them() -> None:
    text = one_station("1 core, queueing none", "0.1 s/request", "; shed; c").replace(
        "topology", "component shed { drop 0.25 }\ntopology"
    )
    graph, found = reported(text)
    reported_for = found.streams["job"]
    assert reported_for.lost["any"].mean == pytest.approx(0.25, abs=0.02)
    assert reported_for.rate.mean == pytest.approx(0.6, rel=0.05)
    assert graph.at(1).number(graph.streams["job"].loss) == 0.25


def test_an_estimate_is_of_runs_that_count_alike() -> None:
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.half_width() == pytest.approx(4.303 / 3**0.5, abs=1e-3)
    assert estimate([2.0, 2.0]).half_width() == 0


def test_the_cut_is_where_warming_up_ends() -> None:
    series = [[10.0] * 15 + [1.0, 1.1] * 42 + [1.0] for _ in range(5)]
    assert 0.14 <= warm_up(series, 0.1, 0.5) <= 0.17
    assert warm_up([[1.0, 1.1] * 25], 0.1, 0.5) == 0.1


# -- verdicts -------------------------------------------------------------------------------


def test_what_is_seldom_idle_may_never_have_been() -> None:
    one = Compared(
        subject="a.cpu",
        measure="load",
        dimension=DIMENSIONLESS,
        predicted=0.99999,
        known=EXACT,
        simulated=Estimate(1.0, 0.0, 20),
        items=100_000,
    )
    assert compare([one])[0].verdict is Verdict.AGREES


@pytest.mark.parametrize(
    ("known", "predicted", "verdict"),
    [
        (EXACT, 1.001, Verdict.AGREES),
        (EXACT, 1.2, Verdict.DIFFERS),
        (approximation(reason("x")), float("nan"), Verdict.DIFFERS),
        (upper_bound(reason("x")), float("inf"), Verdict.AGREES),
        (upper_bound(reason("x")), 1.2, Verdict.AGREES),
        (upper_bound(reason("x")), 0.8, Verdict.DIFFERS),
        (lower_bound(reason("x")), 0.8, Verdict.AGREES),
        (lower_bound(reason("x")), 1.2, Verdict.DIFFERS),
        (approximation(reason("x")), 2.0, Verdict.UNSTATED),
        (approximation(reason("x")), 1.001, Verdict.AGREES),
        (approximation(reason("x"), error=0.25), 1.2, Verdict.AGREES),
        (approximation(reason("x"), error=0.1), 1.2, Verdict.DIFFERS),
    ],
)
def test_a_label_allows_what_it_says(known: Certainty, predicted: float, verdict: Verdict) -> None:
    one = Compared(
        subject="job",
        measure="latency",
        dimension=TIME,
        predicted=predicted,
        known=known,
        simulated=Estimate(1.0, 0.001, 20),
    )
    (found,) = compare([one])
    assert found.verdict is verdict
    assert found.is_right is (verdict is not Verdict.DIFFERS)


@pytest.mark.parametrize("measure", ["load", "loss"])
def test_nothing_agrees_of_which_nothing_came(measure: str) -> None:
    one = Compared(
        subject="job",
        measure=measure,
        dimension=DIMENSIONLESS,
        predicted=0.9,
        known=EXACT,
        simulated=Estimate(0.0, 0.0, 20),
    )
    same = replace(one, predicted=0.0)
    assert [found.verdict for found in compare([one, same])] == [Verdict.UNKNOWN, Verdict.AGREES]


def test_users_who_wait_take_of_a_pool_what_it_is_measured_in() -> None:
    """Of 50 GB on each box 55 can take 0.9 GB: as many bytes are there, not 55 bytes."""
    graph = graph_of("""
users people in 1..2_000
machine person { }
machine gpu {
  gpu 1 core, queueing ps speeds [1, 1.9, 2.8]
  memory 50 GB
}
component write { gpu 6 s/request }
network wire { propagation 0 s }
topology { node desk = person * people; node box = gpu * 4; link lan = wire between all }
stream chat for each desk {
  traffic 1 request, think 1 minute
  at desk { call box { take memory 0.9 GB; write; give memory } }
}
""")
    way = simulated_model(graph, 20)
    (pool,) = (one for one in way.stations if one.name == "box.memory")
    (call,) = (step for step in way.sources[0].steps if isinstance(step, Call))
    (taken,) = (step for step in call.steps if isinstance(step, Take))
    assert (pool.copies, taken.node) == (4, "box")
    assert taken.capacity / taken.amount == pytest.approx(55)
    assert pool.servers == pytest.approx(taken.capacity)
    simulated = simulate(way, Effort(seconds=0, workers=1, runs=2))
    assert simulated.streams["chat"].items > 0
    predicted = graph.at(20).number(graph.resources["box.memory"].load)
    assert simulated.loads["box.memory"].mean == pytest.approx(predicted, rel=0.1)


def test_a_pool_is_played_at_the_machines_that_have_it_with_what_can_be_taken() -> None:
    """Four servers of 1 GB, 400 MB of it kept by sessions: of each, two can take 250 MB."""
    graph = graph_of("""
users N in 1..100
machine app_vm { cpu 1 core; memory 1 GB }
machine db_vm { cpu 1 core }
machine desk { }
component session { memory 400 MB }
component query { delay 1 s }
network wire { propagation 1 ms }
topology {
  node app = app_vm * 4
  node db = db_vm * 2
  node user = desk * 4
  link l = wire between user, app, db
}
stream job for each user {
  traffic N * 1 request / (40 s), 1 kB/request
  at user { }
  at app { session; call db { take app.memory 250 MB; query; give app.memory } }
}
""")
    way = simulated_model(graph, 8)
    (pool,) = (one for one in way.stations if one.name == "app.memory")
    (call,) = (step for step in way.sources[0].steps if isinstance(step, Call))
    (taken,) = (step for step in call.steps if isinstance(step, Take))
    assert (pool.copies, taken.node) == (4, "app")
    assert taken.capacity == pytest.approx(2 * 250e6 * 8)
    assert pool.background == pytest.approx(0.4)


SHIFTS = """
users clerks in 1..400
kinds shift of users { hasty 30 %; calm 70 % }
param pause by shift { hasty 5 s; calm 30 s }
machine server { cpu 1 core, queueing mm1 }
component work { cpu 40 ms/request }
topology { node app = server }
stream job for each user { traffic 1 request, think pause; at app { work } }
"""


def test_a_part_of_a_request_is_refused_with_a_number_of_users_that_has_none() -> None:
    graph = graph_of(SHIFTS)
    with pytest.raises(QpsError, match="the simulation needs a whole number") as refused:
        simulated_model(graph, 223)
    assert refused.value.diagnostics[0].hints == (
        "use a population that divides into whole numbers: `--at 220`",
    )
    assert simulated_model(graph, 220)


@pytest.mark.parametrize(
    ("predicted", "mean", "error", "verdict"),
    [
        (0.09, 0.095, 0.001, "pass"),
        (0.11, 0.12, 0.001, "FAIL"),
        (0.0999, 0.1001, 0.001, "undecided"),
        (0.09, 0.2, 0.001, "predicted pass, simulated FAIL"),
    ],
)
def test_a_limit_within_the_interval_is_undecided(
    predicted: float, mean: float, error: float, verdict: str
) -> None:
    graph = lowered(
        "users N in 1..9\nmachine box { cpu 1 core }\ncomponent work { cpu 1 ms/request }\n"
        "topology { node host = box }\n"
        "stream page for each user { traffic 1 request/s; at host { work } }\n"
        "require { page.latency <= 100 ms }\n"
    )
    criterion = graph.criteria[0]
    one = Compared(
        subject="page.latency",
        measure="page.latency",
        dimension=TIME,
        predicted=predicted,
        known=EXACT,
        simulated=Estimate(mean, error, 20),
        criterion=criterion,
        limit=0.1,
    )
    assert simulated_tables([one])[0].rows[0][-1] == verdict
