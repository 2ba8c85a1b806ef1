"""Users of several kinds who take from pools, or meet what has speeds."""

from __future__ import annotations

import pytest

from helpers.specs import lowered

_KINDS = """
users N in 1..2
unit thread
kinds sort of users { x 60 %; y 40 % }
param pace by sort { x 0.5; y 2.0 }
param work by sort { x 0.6; y 1.6 }
"""
_HOLDING = """
machine box { cpu 1 core, queueing mm1; threads 40 thread }
component job { cpu 0.3 s/request * work }
topology { node a = box }
stream s for each user { traffic 1 request/s * pace; at a { take threads; job; give threads } }
"""


def test_open_users_of_several_kinds_hold_places() -> None:
    """0.3 a second of 0.18 s and 0.8 of 0.48 s: rho 0.438, W = 0.19404/0.562, T = 0.743449 s."""
    graph = lowered(_KINDS + _HOLDING)
    at = graph.at(1)
    assert at.number(graph.streams["s"].mean_latency) == pytest.approx(0.743449, rel=1e-5)
    held = at.number(graph.resources["a.threads"].load) * 40
    assert held == pytest.approx(1.1 * 0.743449, rel=0.02)


_SPEEDS = """
machine box { cpu 1 core, queueing ps speeds [1, 1.5, 1.8] }
component job { cpu 0.3 s/request }
topology { node a = box }
stream s for each user { traffic 5 request, think 1 s / pace; at a { job } }
stream t in all { traffic 3 request, think 1 s; at a { job } }
"""


def test_all_who_wait_load_what_has_speeds() -> None:
    graph = lowered(_KINDS + _SPEEDS)
    at = graph.at(1)
    served = sum(at.number(graph.streams[name].rate) for name in ("s", "t"))
    load = at.number(graph.resources["a.cpu"].load)
    assert load == pytest.approx(served * 0.3 / 1.8, rel=1e-9)
