"""Laws of quantiles, on random specs: their mean, whole numbers of calls, and stated errors."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, isnan

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import MOST_STATED, CertaintyKind
from simulated.generated import spec_of
from simulated.judge import graph_of

law = settings(max_examples=examples(40), deadline=None)
LEVELS = [Fraction(text) for text in ("1/10", "1/2", "4/5", "9/10", "99/100", "999/1000")]
CHANCE = 1e-6
CALLS = {
    "one": "call db * {times} {{ get }}",
    "two in a row": "call db * {times} {{ get }}; call far * {times} {{ get }}",
    "together": "together {{ call db * {times} {{ get }}; call far {{ get }} }}",
}
SPEC = """users N in 1..100
machine a {{ cpu 1 core, queueing mm1 }}
machine b {{ cpu {cores} core, queueing {queueing} }}
network lan {{ propagation 0 s }}
component look {{ cpu 1 ms/request }}
component get {{ cpu 2 ms/request }}
topology {{ node web = a; node db, far = b; link l = lan between all }}
stream s for each user {{ {traffic}; at web {{ look; {calls} }} }}
require {{ s.latency <= 10 s }}
"""


@law
@given(st.integers(1_000, 90_000))
@example(11_129)
def test_no_quantile_contradicts_its_mean(seed: int) -> None:
    """Of exact times the mean is no less than what their quantiles make; of all, by Markov."""
    graph = _graph(spec_of(seed))
    point = graph.at(graph.low)
    for name, stream in graph.streams.items():
        mean, mean_known = point.number(stream.mean_latency), stream.latency_certainty
        values, known = [], []
        for level in LEVELS:
            try:
                values.append(point.number(stream.latency_quantile(level)))
            except QpsError:
                return  # of some streams there are no quantiles
            known.append(stream.quantile_certainty(level).kind)
        assert not any(map(isnan, values)), (name, values)
        assert all(more >= less * (1 - 1e-4) for less, more in pairwise(values)), (name, values)
        if mean == inf or mean_known.kind is CertaintyKind.LOWER_BOUND:
            continue
        is_approximate = mean_known.kind is CertaintyKind.APPROXIMATION
        for level, value, kind in zip(LEVELS, values, known, strict=True):
            # An approximated mean cannot lower a bound that is certain.
            if not (is_approximate and kind is CertaintyKind.UPPER_BOUND):
                assert value <= mean / float(1 - level) * (1 + 1e-6), (name, level)
        if {*known, mean_known.kind} == {CertaintyKind.EXACT}:
            shares = [float(more - less) for less, more in pairwise([*LEVELS, Fraction(1)])]
            least = sum(value * share for value, share in zip(values, shares, strict=True))
            assert least <= mean * (1 + 1e-6), name


@law
@given(st.integers(1_000, 90_000))
def test_what_an_approximation_states_is_a_number(seed: int) -> None:
    """What is exact or a bound states none; an error above a factor of two is none."""
    graph = _graph(spec_of(seed))
    for stream in graph.streams.values():
        for level in LEVELS:
            try:
                known = stream.quantile_certainty(level)
            except QpsError:
                return
            if known.error is not None:
                assert known.kind is CertaintyKind.APPROXIMATION
                assert 0 < known.error <= MOST_STATED
            assert known.because or known.is_exact


@law
@given(
    whole=st.integers(1, 3),
    calls=st.sampled_from(sorted(CALLS)),
    queueing=st.sampled_from(["mm1", "mmc", "md1", "mg1 cv 2", "ps"]),
    is_closed=st.booleans(),
)
def test_no_quantile_jumps_where_a_number_of_calls_is_whole(
    whole: int, calls: str, queueing: str, *, is_closed: bool
) -> None:
    """One call more of a million items moves no quantile by more than a thousandth.

    Of users who share a processor it moves them by up to a tenth: where some of them never come
    there, percentiles are of the alternatives (`test_shared_by_chance.py`), and of visits that all
    make those of a cycle, which differ by that.
    """
    traffic = "traffic 1 request, think 2 s" if is_closed else "traffic 0.5 request/s"

    def quantiles(times: str) -> list[float]:
        text = SPEC.format(
            traffic=traffic,
            calls=CALLS[calls].format(times=times),
            queueing=queueing,
            cores=2 if queueing == "mmc" else 1,
        )
        graph = _graph(text)
        point, stream = graph.at(40), graph.streams["s"]
        return [point.number(stream.latency_quantile(level)) for level in LEVELS[:-1]]

    at = quantiles(f"{whole}")
    within = 0.1 if is_closed and queueing == "ps" else 1e-3
    for beside in (whole - CHANCE, whole + CHANCE):
        assert quantiles(f"{beside:.6f}") == pytest.approx(at, rel=within), beside


def _graph(text: str) -> LoadGraph:
    """Return the graph of a spec that is not refused."""
    try:
        return graph_of(text)
    except QpsError:
        assume(False)
        raise
