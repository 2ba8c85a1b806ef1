"""Bounds of what a visit finds of unequal periodic flows, against the exact law of small mixes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, lgamma, log, log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import lowered
from oracles.integration import area
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.queues.periodic_mixtures import PeriodicClass, others_quantile, others_wait
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.expressions.formulas import ONE, Formula, number, total
from qps.engine.expressions.point_values import in_floats

law = settings(max_examples=examples(80), deadline=None)

Mix = list[tuple[int, float]]
"""Flows of a service time, so many of each, with a period of 1."""


def _mean(mix: Mix) -> float:
    """Return the mean unfinished work of a mix, by the integral of `periodic_mixtures`."""

    def held(u: float) -> float:
        grown = exp(-u + sum(n * log1p(x * u) for n, x in mix))
        return grown * sum(n * x * x / (1 + x * u) for n, x in mix) / 2

    return area(held, [0, 1, 10, 100, 500])  # what is beyond is nothing


def _tail(mix: Mix, work: float) -> float:
    """Return P(V > work): the last time t before now since when so much has come, then none over.

    After Roberts and Virtamo (1991), over all numbers of visits of each size in that time.
    """
    whole = sum(n * size for n, size in mix)
    total = 0.0
    for numbers in product(*(range(n + 1) for n, _ in mix)):
        came = sum(k * size for k, (_, size) in zip(numbers, mix, strict=True))
        since = came - work
        if not 0 < since < 1:
            continue
        chance = 0.0
        for k, (n, _) in zip(numbers, mix, strict=True):
            chance += lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
            chance += k * log(since) + (n - k) * log1p(-since)
        total += exp(chance) * (1 - whole + work) / (1 - since)
    return total


def _classes(mix: Mix) -> list[PeriodicClass]:
    return [PeriodicClass(number(n), number(n), number(x)) for n, x in mix]


@st.composite
def mixes(draw: st.DrawFn) -> tuple[Mix, float, float]:
    """Return others, the service time of the one that waits, and the load of all together."""
    counts = draw(st.lists(st.integers(0, 8), min_size=2, max_size=3))
    sizes = [draw(st.floats(0.01, 1)) for _ in counts]
    own = draw(st.sampled_from(sizes))
    load = draw(st.floats(0.05, 0.98))
    whole = own + sum(n * size for n, size in zip(counts, sizes, strict=True))
    mix = [(n, size * load / whole) for n, size in zip(counts, sizes, strict=True)]
    return mix, own * load / whole, load


@law
@given(mixes())
def test_the_mean_is_no_less_than_the_exact_one(given: tuple[Mix, float, float]) -> None:
    mix, _, load = given
    value = in_floats(others_wait(_classes(mix), ONE, number(load)))
    exact = _mean(mix)
    assert value >= exact * (1 - 1e-9)
    assert value <= 2 * exact + 1e-12


@law
@given(mixes(), st.sampled_from(["0.5", "0.9", "0.99", "0.999"]))
def test_no_more_is_later_than_a_quantile_says(given: tuple[Mix, float, float], level: str) -> None:
    mix, own, load = given
    share, longest = Fraction(level), max(own, *(size for _, size in mix))
    value = in_floats(
        others_quantile(_classes(mix), ONE, number(load), number(longest), share, is_in_step=True)
    )
    assert _tail(mix, value + 1e-12) <= 1 - float(level) + 1e-9


def test_the_tail_of_equal_flows_has_the_mean_as_its_area() -> None:
    mix = [(3, 0.1), (2, 0.2)]
    mean = area(lambda work: _tail(mix, work), [0, 0.7], within=1e-7)
    assert mean == pytest.approx(_mean(mix), rel=1e-4)


# -- the case of issue 13 -------------------------------------------------------------------

VOICE_AND_PICTURE = """
users N in 1..10
machine box { }
network line { rate 800 kbit/s; queueing periodic }
topology {
  node camera = box; node phone = box; node far = box
  link trunk = line between camera, phone, far
}
stream picture { traffic 50 packet/s, 1500 byte/packet; at camera { }; over trunk; at far { } }
stream voice { traffic 50 packet/s, 200 byte/packet; at phone { }; over trunk; at far { } }
"""


def _at_one(graph: LoadGraph, value: Formula) -> float:
    return graph.at(1).number(value)


def test_a_voice_packet_waits_for_the_picture_alone() -> None:
    """It waits max(0, 15 ms - U(0, 20 ms)), and takes 2 ms; a picture waits 0.1 ms for it."""
    graph = lowered(VOICE_AND_PICTURE)
    voice, picture = graph.streams["voice"], graph.streams["picture"]
    means = [_at_one(graph, total(part.value for part in s.latency)) for s in (voice, picture)]
    assert means == pytest.approx([7.625e-3, 15.1e-3], rel=1e-9)
    true = {"0.5": 7e-3, "0.9": 15e-3, "0.95": 16e-3, "0.99": 16.8e-3}
    for level, least in true.items():
        share = Fraction(level)
        assert _at_one(graph, voice.latency_quantile(share)) == pytest.approx(least, rel=1e-9)
        assert voice.quantile_certainty(share).kind is CertaintyKind.UPPER_BOUND
    assert voice.latency_certainty.kind is CertaintyKind.UPPER_BOUND


def test_flows_of_other_periods_are_an_approximation() -> None:
    graph = lowered(VOICE_AND_PICTURE.replace("picture { traffic 50", "picture { traffic 25"))
    assert graph.streams["voice"].latency_certainty.kind is CertaintyKind.APPROXIMATION


def test_an_overloaded_line_is_waited_for_without_end() -> None:
    graph = lowered(VOICE_AND_PICTURE.replace("800 kbit/s", "600 kbit/s"))
    voice = graph.streams["voice"]
    latency = total(part.value for part in voice.latency)
    assert _at_one(graph, latency) == float("inf")
    assert _at_one(graph, voice.latency_quantile(Fraction(1, 2))) == float("inf")
