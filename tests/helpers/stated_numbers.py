"""Percentiles and the mean of a response time by formulas, each with how it is known."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from helpers.specs import lowered
from qps.compiler.quantities.certainty import Certainty


def stated_numbers(text: str, stream: str, levels: Iterable[str]) -> list[tuple[float, Certainty]]:
    """Return the quantiles of a stream's response time in a spec of one user, then its mean (s)."""
    graph = lowered(text)
    of, at = graph.streams[stream], graph.at(1)
    found = [
        (float(at.number(of.latency_quantile(level))), of.quantile_certainty(level))
        for level in map(Fraction, levels)
    ]
    return [*found, (float(at.number(of.mean_latency)), of.latency_certainty)]
