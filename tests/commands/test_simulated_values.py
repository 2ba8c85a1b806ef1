"""Simulated values of known queues, pools and flows."""

from __future__ import annotations

import pytest

from helpers.cases.simulated_specs import DESK, graph_of
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.simulation.agreement import PredictionVerdict, compared
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, Simulation, simulate
from qps.simulation.simulated_model import Call, Take
from qps.simulation.statistics import estimate, warm_up


def reported(
    text: str, at: int = 1, precision: float = 0.02, seconds: float = 2.0, seed: int = 1
) -> tuple[LoadGraph, Simulation]:
    graph = graph_of(text)
    effort = Effort(precision=precision, seconds=seconds, seed=seed, workers=1)
    return graph, simulate(simulated_model(graph, at), effort)


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
    assert verdicts["job", "latency"] is PredictionVerdict.AGREES
    assert verdicts["rare", "rate"] is PredictionVerdict.UNKNOWN


def test_nothing_is_judged_before_the_steady_state() -> None:
    text = one_station("1 core, queueing mm1", "1 s/request", traffic="0.9999 request/s")
    graph, found = reported(text, seconds=0.2)
    assert not found.has_converged
    assert {one.verdict for one in compared(graph, found)} == {PredictionVerdict.UNKNOWN}


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


def test_a_closed_station_whose_speeds_fall_is_utilized_to_100_percent_at_most() -> None:
    graph, found = reported(
        '"""x"""\nusers N in 1..40\n'
        "machine m { cpu 1 core, queueing ps speeds [1, 1.9, 2.7, 3, 3, 3, 2.9, 2.8, 2.6] }\n"
        "component c { cpu 10 ms/request }\n"
        "topology { node a = m }\n"
        "stream job for each user { traffic 1 request, think 100 ms; at a { c } }\n",
        at=34,
    )
    utilization = found.loads["a.cpu"]
    assert utilization.mean == pytest.approx(1, abs=0.02)
    assert utilization.mean <= 1
    assert all(one.is_right for one in compared(graph, found))
