"""Percentiles of users of whom some share a processor and others never come there."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from helpers.specs import lowered

_SPEC = """
users N in 1..2
machine shared {{ cpu 1 core, queueing ps }}
component long {{ cpu {long} s/request }}
component short {{ cpu 1 s/request }}
topology {{ node a = shared; node b = shared; link l = wire between all }}
network wire {{ propagation 0 s }}
stream job in all {{
  traffic {users} request, 1 bit/request, think 2 s
  at a {{ {share} %: long }}
  at b {{ short }}
}}
"""
_LEVELS = (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100))


def _percentiles(users: int, share: int, long: int) -> list[float]:
    graph = lowered(_SPEC.format(users=users, share=share, long=long))
    job, point = graph.streams["job"], graph.at(1)
    return [float(point.number(job.latency_quantile(level))) for level in _LEVELS]


@pytest.mark.parametrize(("share", "long"), [(20, 20), (50, 4), (5, 10)])
def test_one_user_takes_both_services_or_the_second_alone(share: int, long: int) -> None:
    """The sum of exponential times of means L and 1 s exceeds t by (L exp(-t/L) - exp(-t))/(L - 1).

    With the mean number of visits as a part of one visit, the median was an eighth of that.
    """
    both = share / 100
    for level, time in zip(_LEVELS, _percentiles(1, share, long), strict=True):
        longer = (long * exp(-time / long) - exp(-time)) / (long - 1)
        later = both * longer + (1 - both) * exp(-time)
        assert later == pytest.approx(float(1 - level), rel=0.05)


@pytest.mark.parametrize(
    ("users", "share", "long", "played"),
    [(3, 20, 20, (1.154, 66.0, 144.0)), (5, 50, 4, (3.364, 33.83, 57.02))],
)
def test_several_users_share(users: int, share: int, long: int, played: tuple[float, ...]) -> None:
    """Simulated without QPS, as a Markov chain of 400,000 cycles."""
    for found, time in zip(_percentiles(users, share, long), played, strict=True):
        assert found == pytest.approx(time, rel=0.06)
