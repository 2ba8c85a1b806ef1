"""Streams that go before others: Cobham's formula, preemption, several servers, beyond load 1."""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from math import exp
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE, lowered
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import CertaintyKind

law = settings(max_examples=examples(40), deadline=None)
_QUANTILES = ("90", "95", "99", "99.9")


def _served(queueing: str, *streams: tuple[str, int, float], cores: int = 1) -> str:
    """Return streams, each with a priority or '', so many packet/s and ms of work a packet."""
    text = PRELUDE.replace("1..100", "1..2000") + (
        f"machine serving {{ cpu {cores} core, queueing {queueing} }}\n"
        "topology { node web = serving }\n"
    )
    for k, (priority, rate, work) in enumerate(streams):
        text += f"component c{k} {{ cpu {work} ms/packet }}\n"
        text += (
            f"stream s{k} in all {{ {priority}\n traffic N * {rate} packet/s, 1 byte/packet\n"
            f"at web {{ c{k} }} }}\n"
        )
        for n, level in enumerate(_QUANTILES):
            text += f"measure q{k}_{n} = quantile(s{k}.latency, {level} %)\n"
    return text


def _waits(graph: LoadGraph, users: int = 1) -> list[float]:
    """Return the mean waits of all streams, in s."""
    at = graph.at(users)
    return [
        at.number(next(part.value for part in stream.latency if part.queue is not None))
        for stream in graph.streams.values()
    ]


def test_the_waits_are_those_that_are_published() -> None:
    # M/M/1 with loads 0.3 and 0.5 of 1 s: 2.143 and 6.714 s; with preemption 1.429 and 7.143 s
    streams = ("priority 1", 30, 10.0), ("", 50, 10.0)
    plain = [100 * wait + 1 for wait in _waits(lowered(_served("priority", *streams)))]
    assert plain == pytest.approx([15 / 7, 47 / 7])
    first = [100 * wait + 1 for wait in _waits(lowered(_served("priority preemptive", *streams)))]
    assert first == pytest.approx([10 / 7, 50 / 7])


_STREAM = st.tuples(
    st.sampled_from(["priority 1", "priority 2", ""]), st.integers(1, 20), st.floats(0.5, 9)
)


@law
@given(st.lists(_STREAM, min_size=1, max_size=5), st.sampled_from(["", "cv 0", "cv 2"]))
def test_what_one_gains_another_one_loses(streams: list[tuple[str, int, float]], cv: str) -> None:
    # The mean work that waits stays what it is first come, first served (Kleinrock 1965).
    loads = [rate * work / 1000 for _, rate, work in streams]
    if sum(loads) >= 0.99:
        return
    by_rank = _waits(lowered(_served(f"priority {cv}", *streams)))
    in_turn = _waits(lowered(_served(f"mg1 {cv or 'cv 1'}", *streams)))
    weighed = [
        sum(x * w for x, w in zip(loads, waits, strict=True)) for waits in (by_rank, in_turn)
    ]
    assert weighed[0] == pytest.approx(weighed[1], rel=1e-9)


@pytest.mark.parametrize("queueing", ["priority", "priority preemptive"])
def test_equal_ranks_are_served_as_they_come(queueing: str) -> None:
    for streams in (
        [("", 30, 10.0), ("", 50, 10.0)],
        [("priority 2", 30, 10.0), ("priority 2", 50, 10.0)],
    ):
        waits = _waits(lowered(_served(queueing, *streams)))
        assert waits == pytest.approx([0.04, 0.04])


def test_who_interrupts_sees_nobody_else() -> None:
    streams = ("priority 1", 150, 10.0), ("priority 2", 100, 10.0), ("", 100, 10.0)
    for cores in (1, 4):
        scaled = [(rank, rate * cores // 5, work) for rank, rate, work in streams]
        graph = lowered(_served("priority preemptive", *scaled, cores=cores))
        alone = lowered(_served("mmc", *scaled[:1], cores=cores))
        assert _waits(graph)[0] == pytest.approx(_waits(alone)[0])
        # Of equal exponential visits the mean of all is that of one queue, whoever goes first.
        rates = [rate for _, rate, _ in scaled]
        together = lowered(_served("mmc", *scaled, cores=cores))
        mean = sum(r * w for r, w in zip(rates, _waits(graph), strict=True)) / sum(rates)
        assert mean == pytest.approx(_waits(together)[0])
        assert graph.streams["s2"].latency_certainty.kind is CertaintyKind.EXACT


def test_beyond_load_1_who_goes_first_is_served() -> None:
    graph = lowered(_served("priority", ("priority 1", 40, 10.0), ("", 20, 20.0)))
    # 2 users: loads 0.8 and 0.8, of which 0.2 are served; 0.8 * 10 + 0.2 * 20 = 12 ms are left
    assert _waits(graph, 2) == [pytest.approx(0.012 / 0.2), float("inf")]
    lost = [graph.at(2).number(stream.loss) for stream in graph.streams.values()]
    assert lost == pytest.approx([0, 0.75])
    assert [graph.at(3).number(s.loss) for s in graph.streams.values()] == pytest.approx([1 / 6, 1])


@pytest.mark.parametrize("preemptive", [False, True])
@pytest.mark.parametrize("works", [(10.0, 10.0), (2.0, 15.0)])
def test_quantiles_are_within_the_error_that_is_reported(
    *, preemptive: bool, works: tuple[float, float]
) -> None:
    loads = 0.3, 0.45
    rates = [round(1000 * load / work) for load, work in zip(loads, works, strict=True)]
    word = "priority preemptive" if preemptive else "priority"
    graph = lowered(_served(word, ("priority 1", rates[0], works[0]), ("", rates[1], works[1])))
    times = _played([rate / 1000 for rate in rates], works, preemptive=preemptive)
    for k, found in enumerate(times):
        for n, level in enumerate(_QUANTILES[:2]):
            true = found[int(len(found) * float(level) / 100)]
            value = 1000 * graph.at(1).number(graph.measures[f"q{k}_{n}"].value)
            assert value == pytest.approx(true, rel=0.05)


@pytest.mark.parametrize("before", [0.02, 0.2, 0.5])
def test_fixed_services_that_nobody_interrupts_take_as_long_as_they_do(before: float) -> None:
    """So many find nobody, and nobody comes meanwhile: of one server that share is known."""
    first = ("priority 1", round(100 * before), 10.0)
    graph = lowered(_served("priority preemptive cv 0", first, ("", 2, 10.0)))
    stream = graph.streams["s1"]
    alone = (1 - before - 0.02) * exp(-before)
    error = stream.quantile_certainty(Fraction(1, 2)).error
    for part in (0.1, 0.5, 0.9, 0.999):
        level = Fraction(alone * part).limit_denominator(10_000)
        value = 1000 * graph.at(1).number(stream.latency_quantile(level))
        assert 10 <= value * (1 + 1e-9) <= 10 * (1 + error)


def _played(
    rates: list[float], works: tuple[float, float], *, preemptive: bool
) -> list[list[float]]:
    """Return times of visits of two ranks at one server, in order of length."""
    chance, now, turn = Random(7), 0.0, 0
    coming = [chance.expovariate(rate) for rate in rates]
    waiting: list[tuple[int, int, float, float]] = []
    serving: tuple[float, int, int, float] | None = None
    found: list[list[float]] = [[], []]
    while len(found[0]) + len(found[1]) < 600_000:
        k = coming.index(min(coming))
        if serving is not None and serving[0] <= coming[k]:
            now, rank, _, begun = serving
            found[rank].append(now - begun)
            serving = None
        else:
            now = coming[k]
            coming[k] = now + chance.expovariate(rates[k])
            turn += 1
            heappush(waiting, (k, turn, now, chance.expovariate(1 / works[k])))
            if preemptive and serving is not None and serving[1] > k:
                heappush(waiting, (serving[1], serving[2], serving[3], serving[0] - now))
                serving = None
        if serving is None and waiting:
            rank, came, begun, left = heappop(waiting)
            serving = now + left, rank, came, begun
    return [sorted(times) for times in found]


def test_priorities_without_a_discipline_are_reported() -> None:
    for queueing, streams, count in (
        ("mm1", [("priority 1", 30, 10.0)], 1),
        ("priority", [("", 30, 10.0), ("", 30, 10.0)], 1),
        ("priority", [("priority 1", 30, 10.0), ("", 30, 10.0)], 0),
    ):
        codes = [
            d.code.id
            for d in check_source(Source("spec.qps", _served(queueing, *streams))).diagnostics
        ]
        assert codes.count("QPS0524") == count
