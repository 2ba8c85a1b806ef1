"""Stages of a sum, by the queue or the fixed time that each is, and its quantile."""

from __future__ import annotations

from itertools import chain

from hypothesis import settings

from helpers.nightly import examples
from qps.engine.distributions.sum_numbers import stages_quantile
from qps.engine.queueing.queue_numbers import erlang_c

law = settings(max_examples=examples(40), deadline=None)
LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999)
Stage = tuple[float, ...]


def mg1(load: float, service: float, variation: float = 1.0, times: float = 1.0) -> Stage:
    return load, load, service, variation, 1.0, service, variation, times, 0.0


def mmc(servers: int, load: float, service: float) -> Stage:
    waits = erlang_c(servers, servers * load)
    return waits, load, service, 1.0, servers, service, 1.0, 1.0, 0.0


def call(times: float, *inside: Stage) -> tuple[Stage, ...]:
    return (0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, times, float(len(inside))), *inside


def quantile(level: float, *line: Stage) -> float:
    return stages_quantile(level, *chain(*line))


# -- alternatives, of which exactly one is passed ----------------------------------------

FIXED = (0.0, 0.0, 0.0, 1.0, 1.0)
"""The first operands of a stage at which nobody waits."""


def one_of(*ways: tuple[float, tuple[Stage, ...]], times: float = 1.0) -> tuple[Stage, ...]:
    """Return a stage of which one way is passed, each by its chance."""
    found = [call(chance, *line) for chance, line in ways]
    inside = [stage for way in found for stage in way]
    return (*FIXED, 0.0, 1.0, times, -float(len(inside))), *inside


def fixed_stage(time: float) -> Stage:
    return *FIXED, time, 0.0, 1.0, 0.0
