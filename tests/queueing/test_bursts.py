"""Flows that are on and off: the fluid queue of the table, and what specs come to with it."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.specs import lowered
from oracles.on_off import on_off_row, on_off_times, on_off_waits
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.queueing.queue_numbers import burst_quantile, burst_wait

P99 = 0.99

SHARES, LEVELS = st.floats(0.02, 0.98), st.floats(0.0, 0.999)
COUNTS = st.integers(1, 40) | st.floats(0.2, 40.0)


# -- the rows ------------------------------------------------------------------------------


def test_one_source_is_worked_by_hand() -> None:
    """On for 1, off for 2, at twice what is served: V is exponential with rate 1 - 1/2 = 1/2.

    P(V > x) = load exp(-x/2), so that an item finds exp(-x/2), which is served in x.
    """
    assert burst_wait(1, 1 / 3, 2) == pytest.approx(2)
    assert burst_quantile(1, 1 / 3, 2, 0.99) == pytest.approx(-2 * np.log(0.01))


def test_all_at_once_wait_for_nothing_where_they_are_served() -> None:
    assert burst_wait(30, 1 / 3, 1 / 30) == 0
    assert burst_quantile(30, 1 / 3, 1 / 30, 0.999) == 0
    assert burst_wait(30, 1 / 3, 0.1) == inf  # load 1


@pytest.mark.parametrize(
    ("sources", "active", "served"), [(2, 0.3, 1.0), (5, 0.4, 2.7), (12, 0.2, 4)]
)
def test_the_fluid_queue_is_that_of_its_equations(
    sources: int, active: float, served: float
) -> None:
    """The chain is played out from jump to jump, the fluid in closed form between them."""
    rng = np.random.default_rng(5)
    starts, on, level = active / (1 - active), round(sources * active), 0.0
    times, found, items = rng.exponential(size=400_000), 0.0, 0.0
    turns = rng.random(400_000)
    for time, turn in zip(times.tolist(), turns.tolist(), strict=True):
        rate = on + (sources - on) * starts
        lasts, rises = time / rate, on - served
        after = level + rises * lasts
        area = (level + after) / 2 * lasts if after > 0 else level and level * level / (-2 * rises)
        found, items = found + on * area, items + on * lasts
        level = max(0.0, after)
        on += -1 if turn < on / rate else 1
    value = burst_wait(sources, active, 1 / served)
    assert found / items / served == pytest.approx(value, rel=0.05)


@settings(deadline=None)
@given(COUNTS, SHARES, st.floats(0.001, 3.0), LEVELS, st.floats(1.0, 1.3))
def test_more_of_anything_waits_longer(
    sources: float, active: float, peak: float, level: float, more: float
) -> None:
    wait = burst_wait(sources, active, peak)
    quantile = burst_quantile(sources, active, peak, level)
    others = (
        (sources * more, active, peak),
        (sources, active ** (1 / more), peak),
        (sources, active, peak * more),
    )
    for other in others:
        assert burst_wait(*other) >= wait * (1 - 1e-9)
        assert burst_quantile(*other, level) >= quantile * (1 - 1e-9) - 1e-12
    assert burst_quantile(sources, active, peak, 1 - (1 - level) / more) >= quantile * (1 - 1e-9)


def test_the_mean_is_that_of_the_quantiles() -> None:
    levels = (np.arange(4000) + 0.5) / 4000
    values = [burst_quantile(30, 1 / 3, 0.08, float(level)) for level in levels]
    assert np.mean(values) == pytest.approx(burst_wait(30, 1 / 3, 0.08), rel=0.02)


def test_many_sources_are_nearly_as_many_as_are_summed_up() -> None:
    exact, scaled = (burst_wait(count, 0.3, 0.93 / count / 0.3) for count in (200, 201))
    assert scaled == pytest.approx(exact, rel=0.02)
    assert burst_wait(10**9, 0.3, 0.9 / 10**9 / 0.3) == 0


# -- specs ---------------------------------------------------------------------------------

SPEC = """
users N in 1..37
machine box { }
network lan { rate 1 Mbit/s; queueing periodic }
component vad { active 1/3 for 1 s }
topology { node phone = box * N; node far = box; link net = lan between phone, far }
stream voice for each phone { traffic 50 packet/s, 200 byte/packet
 at phone { vad }; over net; at far { } }
"""


def _wait(graph: LoadGraph, population: int, stream: str = "voice") -> float:
    [result] = [
        graph.at(population).number(part.value)
        for part in graph.streams[stream].latency
        if part.queue is not None
    ]
    return result


def _quantile(graph: LoadGraph, population: int, level: float = P99) -> float:
    stream = graph.streams["voice"]
    return graph.at(population).number(stream.latency_quantile(Fraction(str(level))))


def test_thirty_telephones() -> None:
    """The fluid waits 35.4 ms, and the packets of ten telephones 0.8 services besides."""
    graph = lowered(SPEC)
    assert _wait(graph, 30) == pytest.approx(0.0353932 + 0.00118, abs=0.0002)
    stream = graph.streams["voice"]
    assert stream.latency_certainty.kind is CertaintyKind.APPROXIMATION
    assert "are modeled as fluid on/off sources" in " ".join(stream.latency_certainty.reasons)


def test_bursts_of_no_length_are_averaged_out() -> None:
    short = lowered(SPEC.replace("for 1 s", "for 1 us"))
    plain = lowered(SPEC.replace(" for 1 s", ""))
    assert _wait(short, 30) == pytest.approx(_wait(plain, 30), rel=1e-3)
    assert plain.streams["voice"].latency_certainty.kind is CertaintyKind.LOWER_BOUND


def test_what_is_overloaded_waits_without_end() -> None:
    graph = lowered(SPEC.replace("1..37", "1..60"))
    for queueing in ("periodic", "md1", "mm1"):
        graph = lowered(SPEC.replace("1..37", "1..60").replace("periodic", queueing))
        assert _wait(graph, 40) == inf
        assert _quantile(graph, 40) == inf


def test_others_wait_behind_bursts_too() -> None:
    """A steady stream takes a tenth: it leaves so much less, and finds bursts at any time."""
    text = SPEC.replace("network lan { rate", "network lan { duplex; rate") + (
        "stream film in all { traffic 50 packet/s, 250 byte/packet; "
        "at phone { }; over net; at far { } }"
    )
    graph = lowered(text)
    with_bursts, without = _wait(graph, 25), _wait(graph, 25, "film")
    fluid = burst_wait(25, 1 / 3, 0.08 / 0.9) * 0.9
    assert with_bursts == pytest.approx(fluid, rel=0.2)
    assert without == pytest.approx(fluid * (25 * 0.08 / 3) / 0.9, rel=0.2)


@pytest.mark.parametrize("is_periodic", [True, False])
@pytest.mark.parametrize(
    ("sources", "active", "load"), [(20, 0.2, 0.8), (5, 0.5, 0.9), (60, 0.2, 0.6)]
)
def test_it_is_as_long_as_simulated(
    sources: int, active: float, load: float, *, is_periodic: bool
) -> None:
    """Within what the label says; packets of 100 bytes, ten of them in a burst."""
    bursts = 3_000_000 // sources // 10
    runs = [
        on_off_waits(
            sources, active, load, 10, is_periodic=is_periodic, bursts=bursts // 4, seed=seed
        )
        for seed in range(3)
    ]
    rate = sources * active * 10 * 800 / load
    text = (
        SPEC.replace("1 Mbit/s", f"{rate} bit/s")
        .replace("active 1/3", f"active {active}")
        .replace("1..37", "1..90")
        .replace("50 packet/s, 200 byte", "10 packet/s, 100 byte")
        .replace("periodic", "periodic" if is_periodic else "md1")
    )
    graph = lowered(text)
    simulated = float(np.mean([run.mean() for run in runs]))
    late = float(np.mean([np.quantile(run, P99) for run in runs])) + 800 / rate
    assert 0.74 < _wait(graph, sources) / simulated < 1.25
    assert 0.65 < _quantile(graph, sources) / late < 1.2


def test_several_kinds_of_bursts_count_as_one() -> None:
    """Equal flows that are declared twice are as many of one kind."""
    text = SPEC.replace(
        "node phone = box * N", "node phone = box * N; node other = box * N"
    ).replace("between phone, far", "between phone, other, far")
    text += (
        "component quiet { active 1/3 for 1 s }\n"
        "stream more for each other { traffic 50 packet/s, 200 byte/packet; "
        "at other { quiet }; over net; at far { } }"
    )
    twice = lowered(text)
    assert _wait(twice, 15) == pytest.approx(_wait(lowered(SPEC), 30), rel=1e-6)
    longer = lowered(text.replace("quiet { active 1/3 for 1 s }", "quiet { active 1/3 for 2 s }"))
    assert _wait(lowered(SPEC), 30) < _wait(longer, 15) < 2 * _wait(lowered(SPEC), 30)


def test_random_items_wait_a_bit_longer_than_both() -> None:
    """What is random is no less than the fluid and M/D/1 together.

    Four times 12 million packets took 6.7, 140, 480 and 880 ms at these levels.
    """
    graph = lowered(SPEC.replace("periodic", "md1"))
    assert _wait(graph, 30) > 0.0353932 + 0.0032
    values = [_quantile(graph, 30, level) for level in (0.5, 0.9, 0.99, 0.999)]
    assert values == pytest.approx([0.0067, 0.140, 0.480, 0.880], rel=0.2)


_ROW = """
users N in 1..500
component talk {{ active {active} for 1 s }}
machine box {{ cpu 1 core, queueing mm1 }}
component one {{ cpu {one} s/request }}
component two {{ cpu {two} s/request }}
network wire {{ propagation 0 s }}
topology {{ node a = box; node b = box; node c = box; link l = wire between a, b, c }}
stream s for each user {{
  traffic {rate} request/s, 1 bit/request
  at c {{ talk }}; over l; at a {{ one }}; over l; at b {{ two }}
}}
"""


@pytest.mark.parametrize(
    ("sources", "active", "per_burst", "loads", "within"),
    [
        (300, 0.3, 5, (0.6, 0.75), 0.15),  # hardly ever too many are on
        (300, 0.3, 5, (0.75, 0.6), 0.15),
        (20, 0.3, 20, (0.8, 0.7), 0.4),  # often
        (20, 0.3, 20, (0.5, 0.8), 0.4),
    ],
)
def test_quantiles_of_a_row_are_as_simulated(
    sources: int, active: float, per_burst: float, loads: tuple[float, float], within: float
) -> None:
    """Quantiles of all queues were added up, twice as long as played at 99 %, and so were means."""
    rng = np.random.default_rng(3)
    bursts = int(1_500_000 / sources / per_burst)
    times = on_off_times(rng, sources, active, per_burst, is_periodic=False, bursts=bursts)
    one, two = (load / (sources * active * per_burst) for load in loads)
    played = on_off_row(times, (one, two), rng)
    graph = lowered(_ROW.format(active=active, one=one, two=two, rate=per_burst))
    stream = graph.streams["s"]
    for level in ("0.5", "0.9", "0.99"):
        value = graph.at(sources).number(stream.latency_quantile(Fraction(level)))
        assert value == pytest.approx(np.quantile(played, float(level)), rel=within)
    value = graph.at(sources).number(stream.mean_latency)
    assert value == pytest.approx(np.mean(played), rel=0.15)
    assert stream.quantile_certainty(Fraction(1, 2)).error is not None


def test_bursts_that_pass_the_first_queue_alone_take_nothing_off_the_second() -> None:
    """What they pile up there says nothing of what comes on."""
    more = """stream o for each c {{ traffic {rate} request/s, 1 bit/request
      at c {{ talk }}; over l; at a {{ one }} }}"""
    numbers = {"active": 0.3, "one": 4e-3, "two": 8e-3, "rate": 20}
    alone = lowered(_ROW.format(**numbers | {"one": 0}))
    shared = lowered((_ROW + more).format(**numbers))
    row = lowered(_ROW.format(**numbers | {"one": 8e-3}))
    graphs = (alone, shared, row)
    values = [graph.at(18).number(graph.streams["s"].latency[-2].value) for graph in graphs]
    assert values[0] == values[1] > 2 * values[2]


def test_one_queue_of_bursts_has_no_quantile_below_its_service() -> None:
    """What is below the mean service counted as a wait that is below nothing, and 3.5 times so."""
    graph = lowered(_ROW.format(active=0.1, one=1e-3, two=1e-6, rate=10))
    stream = graph.streams["s"]
    value = graph.at(100).number(stream.latency_quantile(Fraction(1, 10)))
    assert value == pytest.approx(1e-3 / 0.9 * -np.log(0.9), rel=0.05)


SPREAD = """
users N in 1..60
machine server {{ cpu 1 core, queueing mm1 }}
machine thing {{ }}
component talk {{ active 1/5 for 1 s }}
component work {{ cpu 10 ms/request }}
network wire {{ propagation 0.5 ms }}
topology {{ node web = server * {servers}; node client = thing * N
link l = wire between web, client }}
stream s for each client {{ traffic {rate} request/s
at client {{ talk }}; over l; at web {{ work }} }}
"""


def test_items_of_a_burst_go_to_any_of_the_machines() -> None:
    """By a simulation that shares nothing with ours 65 to 67 ms; 183 ms if flows had their own."""
    graph = lowered(SPREAD.format(servers=3, rate=18))
    value = graph.at(60).number(graph.streams["s"].mean_latency)
    assert value == pytest.approx(0.066, rel=0.1)


def test_one_machine_has_all_of_every_flow() -> None:
    """As many flows at a third of the rate, before one machine, come as items of all to a third."""
    three, one = (
        lowered(SPREAD.format(servers=servers, rate=rate)) for servers, rate in ((3, 18), (1, 6))
    )
    waits = [g.at(60).number(g.streams["s"].mean_latency) for g in (three, one)]
    assert waits[0] == pytest.approx(waits[1], rel=1e-6)


def test_each_flow_has_the_machine_that_it_is_for_each_of() -> None:
    """Its own bursts wait at its own machine, however many others there are."""
    text = (
        SPREAD.format(servers=3, rate=18)
        .replace("machine thing { }", "machine thing { cpu 1 core, queueing mm1 }")
        .replace("at client { talk }", "at client { talk; work }")
    )
    graph = lowered(text)
    waits = [
        graph.at(users).number(part.value)
        for users in (1, 60)
        for part in graph.streams["s"].latency
        if part.queue is not None and part.queue.resource == "client.cpu"
    ]
    assert waits[0] == pytest.approx(waits[1])
