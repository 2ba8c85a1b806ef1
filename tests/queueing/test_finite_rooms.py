"""Finite rooms: `room 100` holds so many, those served among them; who finds it full is lost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import lowered
from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.serial_losses import loss_known
from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.measured_errors import ErrorQuantity, table
from qps.engine.operations import OPERATIONS
from qps.engine.queueing.queue_numbers import erlang_b, erlang_c
from qps.solver.answers.saturation import saturation_of

LOSS, WAIT = OPERATIONS["room_loss"], OPERATIONS["room_wait"]


# -- the rows ------------------------------------------------------------------------------


def _chain(servers: int, room: int, traffic: Fraction) -> tuple[Fraction, Fraction]:
    """Return the loss and the mean wait of births and deaths, as fractions."""
    weights = [Fraction(1)]
    for there in range(1, room + 1):
        weights.append(weights[-1] * traffic / min(there, servers))
    shares = [weight / sum(weights) for weight in weights]
    waits = sum(shares[n] * (n - servers + 1) / servers for n in range(servers, room))
    return shares[-1], Fraction(waits / (1 - shares[-1]))


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 12), st.integers(0, 20), st.fractions(Fraction(1, 9), 3, max_denominator=9))
def test_they_are_those_of_a_chain(servers: int, places: int, load: Fraction) -> None:
    at = servers, servers + places, load * servers
    loss, wait = _chain(*at)
    assert LOSS.exact(*map(Fraction, at)) == loss
    assert WAIT.exact(*map(Fraction, at)) == wait
    assert LOSS.number(*map(float, at)) == pytest.approx(float(loss), rel=1e-12)
    assert WAIT.number(*map(float, at)) == pytest.approx(float(wait), rel=1e-12)


@pytest.mark.parametrize("off", [0.0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-7, -1e-7, 1e-6])
def test_near_full_load_nothing_is_lost_of_the_digits(off: float) -> None:
    room = 10**6
    r = 1 + off
    powers = [r**k for k in (0, room // 2, room)]
    loss = powers[2] * off / (r ** (room + 1) - 1) if abs(off) > 1e-8 else 1 / (room + 1)
    within = 1e-9 if abs(off) > 1e-8 or not off else 1e-2
    assert LOSS.number(1, room, r) == pytest.approx(loss, rel=within)
    assert float(LOSS.array(1.0, room, r)) == pytest.approx(LOSS.number(1, room, r), rel=1e-9)
    assert float(WAIT.array(1.0, room, r)) == pytest.approx(WAIT.number(1, room, r), rel=1e-9)


def test_their_limits_are_those_of_erlang() -> None:
    assert LOSS.number(7, 7, 9) == pytest.approx(erlang_b(7, 9))
    assert LOSS.number(7, 5, 9) == pytest.approx(erlang_b(5, 9))
    assert WAIT.number(3, 10**6, 2.4) == pytest.approx(erlang_c(3, 2.4) / 0.6)
    assert WAIT.number(1, 10**6, 2.0) == pytest.approx(10**6 - 2, rel=1e-6)


# -- specs ---------------------------------------------------------------------------------


def _box(queueing: str, cores: int = 1, users: int = 100) -> LoadGraph:
    return lowered(
        f"users N in 1..{users}\ncomponent work {{ cpu 10 ms/packet }}\n"
        f"machine box {{ cpu {cores} core, queueing {queueing} }}\ntopology {{ node far = box }}\n"
        "stream flow for each user { traffic 1 packet/s, 1 kB/packet; at far { work } }\n"
    )


def _reported(graph: LoadGraph, population: int) -> tuple[float, float, float]:
    """Return the loss, the mean wait and the load."""
    flow, at = graph.streams["flow"], graph.at(population)
    return (
        at.number(flow.loss),
        at.number(flow.mean_latency) - 0.01,
        at.number(graph.resources["far.cpu"].load),
    )


def test_a_room_holds_those_who_are_served_too() -> None:
    loss, wait, load = _reported(_box("mmc room 6", 4), 250)
    at = 4, 6, Fraction(250, 100)
    assert (loss, wait * 100) == pytest.approx([float(one) for one in _chain(*at)])
    assert load == pytest.approx(2.5 / 4 * (1 - loss))
    assert _box("mm1 room 6").streams["flow"].latency_certainty.kind is CertaintyKind.EXACT


def test_beyond_saturation_a_room_is_full_and_nothing_is_endless() -> None:
    loss, wait, load = _reported(_box("mm1 room 10", users=10**5), 10**5)
    assert loss == pytest.approx(0.999)
    assert wait == pytest.approx(0.09, rel=1e-2)
    assert load == pytest.approx(1)


def test_other_services_are_reported_as_approximated() -> None:
    graph = _box("md1 room 20")
    loss = graph.streams["flow"].losses[0]
    assert loss.known.kind is CertaintyKind.APPROXIMATION
    assert (
        loss_known(ir.MeasureKind.LOSS, graph.streams["flow"], {}).kind
        is CertaintyKind.APPROXIMATION
    )
    fixed, random = (_reported(_box(f"{law} room 20"), 90) for law in ("md1", "mm1"))
    assert fixed[0] < random[0] / 4
    assert fixed[1] < random[1]


def test_a_room_stands_behind_a_variation_too() -> None:
    """`mg1 cv 1` is as random as `mm1`; a unit may be called `room` all the same."""
    other, known = (_reported(_box(f"{law} room 20"), 90) for law in ("mg1 cv 1", "mm1"))
    assert other == pytest.approx(known, rel=1e-6)
    assert _reported(_box("mgc cv 1 room 2 * 3", 4), 250)[0] > 0
    lowered(
        "users N in 1..9; unit room; param beds = 5 room in 1..5 room; param more = 2 room * 3\n"
        "machine hotel { cpu 1 core, queueing mg1 cv 2 room 3; rooms beds - more / 6 }\n"
        "component stay { cpu 1 ms/guest; rooms 1 s * 1 room/guest }; unit guest\n"
        "topology { node inn = hotel }\n"
        "stream guests { traffic N * 1 guest/s; at inn { stay } }"
    )


def test_a_port_has_a_room_and_what_is_lost_there_loads_nothing_behind() -> None:
    graph = lowered(
        "users N in 1..100\nmachine box { }\n"
        "network line { rate 80 kbit/s; duplex; queueing mm1 room 5 }\n"
        "network wide { rate 1 Mbit/s; duplex; queueing mm1 }\n"
        "topology { node a, b, c = box; link first = line between a, b; "
        "link second = wide between b, c }\n"
        "stream flow for each user { traffic 1 packet/s, 1 kB/packet; at a { }; at b { }; at c { } "
        "}\n"
    )
    loss, _ = _chain(1, 5, Fraction(12, 10))
    at = graph.at(12)
    assert at.number(graph.streams["flow"].loss) == pytest.approx(float(loss))
    assert at.number(graph.resources["second.forth"].load) == pytest.approx(
        0.096 * (1 - float(loss))
    )


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(1, 6), st.integers(1, 12), st.floats(0.2, 2.0), st.sampled_from([0.5, 0.99]))
def test_quantiles_are_those_of_a_mixture_of_erlangs_laws(
    servers: int, places: int, load: float, level: float
) -> None:
    room, traffic = servers + places, load * servers
    time = OPERATIONS["room_quantile"].number(servers, room, traffic, level)
    weights = [1.0]
    for there in range(1, room):
        weights.append(weights[-1] * traffic / min(there, servers))
    later = sum(
        weight * _later(time, servers, max(0, n - servers + 1)) for n, weight in enumerate(weights)
    )
    assert later / sum(weights) == pytest.approx(1 - level, rel=1e-7)


def _later(time: float, servers: int, ahead: int) -> float:
    """Return P(T > t) of a service behind so many of all servers: the rate of one is 1."""
    rates = [float(servers)] * ahead + [1.0]
    steps = np.diag([-rate for rate in rates]) + np.diag(rates[:-1], 1)
    power, scaled = np.eye(len(rates)), steps * time / 2**20
    for k in range(12, 0, -1):
        power = np.eye(len(rates)) + scaled @ power / k
    for _ in range(20):
        power = power @ power
    return float(power[0].sum())


FIXED_ROOMS = [
    # cores, places, load offered, p50, p95 and p99 in service times, as simulated
    (1, 3, 0.4, 1.0, 2.311, 2.786),
    (1, 10, 0.9, 3.354, 8.70, 9.715),
    (2, 4, 0.7, 1.0, 1.848, 1.963),
    (4, 6, 1.2, 1.179, 1.583, 1.711),
    (4, 10, 0.4, 1.0, 1.185, 1.544),
    (4, 10, 0.9, 1.348, 2.29, 2.531),
    (4, 10, 1.2, 2.032, 2.5365, 2.677),
    (4, 30, 0.9, 1.6055, 4.2235, 5.725),
    (8, 12, 1.2, 1.264, 1.5485, 1.6435),
    (8, 20, 0.7, 1.0, 1.4025, 1.689),
]


@pytest.mark.parametrize(("cores", "places", "load", "half", "most", "nearly"), FIXED_ROOMS)
def test_percentiles_of_fixed_services_in_a_room(
    cores: int, places: int, load: float, half: float, most: float, nearly: float
) -> None:
    graph = _box(f"mdc room {places}" if cores > 1 else f"md1 room {places}", cores, 2000)
    flow, at = graph.streams["flow"], graph.at(round(load * cores * 100))
    for level, true in ((50, half), (95, most), (99, nearly)):
        found = at.number(flow.latency_quantile(Fraction(level, 100))) * 100
        assert found == pytest.approx(true, rel=0.2)
        assert 1 <= found <= -(-places // cores)  # its own service, and those before it


@pytest.mark.parametrize("queueing", ["mgc cv 1.5 room 6", "mgc cv 3 room 5", "mg1 cv 4 room 2"])
def test_no_percentile_of_a_room_is_below_zero(queueing: str) -> None:
    flow = (graph := _box(queueing, 4 if "mgc" in queueing else 1, 2000)).streams["flow"]
    for users in (20, 200, 2000):
        found = [
            graph.at(users).number(flow.latency_quantile(Fraction(level, 100)))
            for level in (1, 25, 50, 75, 99)
        ]
        assert found == sorted(found)
        assert found[0] > 0


def test_users_who_wait_for_what_may_be_lost_are_refused_by_name() -> None:
    with pytest.raises(QpsError, match=r"closed stream `flow` loses requests at far\.cpu"):
        lowered(
            "users N in 1..9\ncomponent work { cpu 10 ms/packet }\n"
            "machine box { cpu 1 core, queueing mm1 room 5 }\ntopology { node far = box }\n"
            "stream flow for each user { traffic 1 packet, 1 kB/packet, think 1 s\n"
            "at far { work } }\n"
        )


def test_what_loses_who_finds_no_room_never_saturates() -> None:
    assert saturation_of(_box("mm1 room 5"), "far.cpu").at is None
    assert saturation_of(_box("loss", 4), "far.cpu").at is None
    assert saturation_of(_box("mm1"), "far.cpu").at == 100


def test_what_is_lost_nearly_is_nearly_known_behind_it() -> None:
    """Loads, rates and losses behind a room are known as well as what finds it full."""
    text = (
        "users N in 1..300\nmachine m { cpu 1 core, queueing mm1 room 10 }\nmachine box { }\n"
        "network wire { propagation 1 ms }\ncomponent c { cpu 10 ms/request }\n"
        "topology { node first = m\n node second = m\n node host = box\n"
        " link l = wire between host, first, second }\n"
        "stream job { traffic N * 1 request/s; at host { }; at first { c }; at second { c } }\n"
    )
    graph = lowered(text)
    kinds = {name: one.known.kind for name, one in graph.resources.items()}
    assert kinds == {"first.cpu": CertaintyKind.EXACT, "second.cpu": CertaintyKind.APPROXIMATION}
    assert graph.streams["job"].lost_known.kind is CertaintyKind.APPROXIMATION


# arrivals cv, service cv, places besides those of the servers, servers, load: what finds no room,
# by a simulation that shares nothing with ours (240,000 arrivals each)
UNEVEN_ROOMS = [
    (0.0, 0.1443, 3, 1, 1.0, 0.00394),
    (0.0, 1.0, 3, 1, 1.0, 0.116),
    (0.5, 0.5, 3, 1, 1.0, 0.0719),
    (0.5, 1.0, 3, 2, 0.8, 0.0507),
    (2.0, 1.0, 3, 1, 0.8, 0.298),
    (2.0, 1.0, 10, 2, 1.0, 0.176),
    (0.0, 1.0, 10, 1, 1.0, 0.0445),
]


@pytest.mark.parametrize(("arrivals", "cv", "wait", "servers", "load", "lost"), UNEVEN_ROOMS)
def test_how_uneven_arrivals_are_counts_in_a_room(
    arrivals: float, cv: float, wait: int, servers: int, load: float, lost: float
) -> None:
    """By the clock 0.39 % find a room of four full where at random 12.7 % would."""
    graph = lowered(
        "users N in 1..2\n"
        f"machine box {{ cpu {servers} core, queueing mgc cv {cv} room {servers + wait} }}\n"
        "component work { cpu 10 ms/packet }\n"
        "topology { node a = box }\n"
        f"stream flow in all {{ traffic N * {100 * load * servers} packet/s\n"
        f"arrivals cv {arrivals}; at a {{ work }} }}"
    )
    stream = graph.streams["flow"]
    assert graph.at(1).number(stream.loss) == pytest.approx(lost, rel=0.3)
    assert loss_known(ir.MeasureKind.LOSS, stream, {}).kind is CertaintyKind.APPROXIMATION


def test_a_loss_takes_no_error_of_a_wait() -> None:
    """Behind an uneven queue twice as much is lost, where the wait is hardly off."""
    graph = lowered(
        "users N in 1..200\n"
        "machine first { cpu 1 core, queueing mg1 cv 2 }\n"
        "machine second { cpu 2 core, queueing mmc room 12 }\n"
        "component c0 { cpu 9.2 ms/request }\ncomponent c1 { cpu 14.6 ms/request }\n"
        "network wire { propagation 0.5 ms }\n"
        "topology { node a = first; node b = second; link lan = wire between a, b }\n"
        "stream s for each user { traffic 0.435 request/s; at a { c0 }; over lan; at b { c1 } }\n"
    )
    stream = graph.streams["s"]
    assert stream.latency_certainty.error is not None
    known = loss_known(ir.MeasureKind.LOSS, stream, {})
    assert known.kind is CertaintyKind.APPROXIMATION
    assert known.error == table()[ErrorQuantity.LOSS].row_of(known.methods).error  # type: ignore[union-attr]
    # What little is lost moves the rate by little: that has an error of its own.
    known = loss_known(ir.MeasureKind.RATE, stream, {})
    rates = table()[ErrorQuantity.RATE]
    assert known.error in {one.error for one in (*rates.rows, *rates.at_points)}
    assert known.error != stream.latency_certainty.error


_BEHIND = """
users N in 1..200
machine first {{ cpu 1 core, queueing {first} }}
machine second {{ cpu 2 core, queueing mmc room {room} }}
component c {{ cpu 9.2 ms/request }}
component d {{ cpu 14.6 ms/request }}
topology {{ node a = first; node b = second; link l = wire between a, b }}
network wire {{ propagation 0 s }}
stream s {{ traffic {rate} request/s; at a {{ c }}; over l; at b {{ d }} }}
"""


@pytest.mark.parametrize(
    ("first", "room", "rate", "simulated", "most"),
    [
        ("mg1 cv 2", 12, 87, 0.0275, 2.0),  # as if at random it was 0.0019
        ("mg1 cv 2", 4, 87, 0.212, 1.7),
        ("md1", 6, 100, 0.0132, 2.6),
    ],
)
def test_what_leaves_a_queue_unevenly_counts_in_the_room_behind_it(
    first: str, room: int, rate: float, simulated: float, most: float
) -> None:
    graph = lowered(_BEHIND.format(first=first, room=room, rate=rate))
    stream = graph.streams["s"]
    value = graph.at(1).number(stream.loss)
    assert 1 / most <= value / simulated <= most
    assert stream.lost_known.kind is CertaintyKind.APPROXIMATION


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 9), st.integers(1, 40), st.floats(0.001, 0.999))
def test_the_traffic_of_a_wait_is_the_inverse_of_the_wait(
    servers: int, places: int, share: float
) -> None:
    """Those who get in wait for the places that there are at most."""
    room, wait = servers + places, share * places / servers
    traffic = OPERATIONS["room_traffic"].number(float(servers), float(room), wait)
    assert WAIT.number(float(servers), float(room), traffic) == pytest.approx(wait, rel=1e-9)


# arrivals cv, servers, places to wait, load: mean, p50, p95 and p99 in mean services, by the exact
# chain of phases of arrivals and items there, as who gets in finds it
UNEVEN_PERCENTILES = [
    (1.5, 1, 1, 0.8, 1.485, 1.130, 4.089, 5.964),
    (1.5, 1, 10, 0.8, 4.707, 3.860, 11.91, 15.56),
    (2.236, 1, 3, 0.8, 2.565, 2.162, 6.332, 8.653),
    (2.236, 3, 10, 1.3, 3.102, 2.993, 6.117, 7.800),
    (3.0, 1, 1, 0.4, 1.405, 1.047, 3.952, 5.816),
]


def _of_uneven_arrivals(servers: int, room: int, load: float, cv: float) -> LoadGraph:
    law = "mm1" if servers == 1 else "mmc"
    return lowered(
        "users N in 1..2\n"
        f"machine box {{ cpu {servers} core, queueing {law} room {room} }}\n"
        "component work { cpu 1 s/packet }\ntopology { node a = box }\n"
        f"stream flow in all {{ traffic N * {load * servers} packet/s\n"
        f"arrivals cv {cv}; at a {{ work }} }}"
    )


@pytest.mark.parametrize(
    ("cv", "servers", "wait", "load", "mean", "p50", "p95", "p99"), UNEVEN_PERCENTILES
)
def test_percentiles_behind_uneven_arrivals_end_with_the_room(
    cv: float, servers: int, wait: int, load: float, mean: float, p50: float, p95: float, p99: float
) -> None:
    """They are as far off as the mean wait: as sums of gamma laws, p99 was 1.2 to 2.1 times it."""
    stream = _of_uneven_arrivals(servers, servers + wait, load, cv)
    point, flow = stream.at(1), stream.streams["flow"]
    off = max(0.03, abs(point.number(flow.mean_latency) / mean - 1))
    for level, value in ((50, p50), (95, p95), (99, p99)):
        found = point.number(flow.latency_quantile(Fraction(level, 100)))
        assert found == pytest.approx(value, rel=1.5 * off)


@pytest.mark.parametrize(("cores", "room"), [(1, 1), (2, 2), (4, 1)])
@pytest.mark.parametrize("cv", [0.5, 2])
def test_percentiles_where_nobody_waits_are_those_of_the_service(
    cores: int, room: int, cv: float
) -> None:
    """They were no number: no traffic waits for nothing, and a range around none was refused."""
    graph = _of_uneven_arrivals(cores, room, 0.4, cv)
    flow, there = graph.streams["flow"], graph.at(1)
    for level in (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100)):
        found = there.number(flow.latency_quantile(level)) / there.number(flow.mean_latency)
        assert found == pytest.approx(-np.log(float(1 - level)))
