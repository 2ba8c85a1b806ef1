"""Bounds of times over alternatives, whose chances are bounds that sum to more than 1."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from helpers.specs import checked
from qps.engine.distributions.chance_bounds import normalized
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.engine.operations import OPERATIONS
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model

NOTHING = (0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
"""A stage that takes no time, but for how often it is passed and what is inside."""


def _alternatives(
    chances: tuple[float, ...], means: tuple[float, ...], times: float = 1.0
) -> tuple[float, ...]:
    """Return stages of which one is passed, each exponential with a mean."""
    each = [(*NOTHING[:5], mean, 1.0, p, 0.0) for p, mean in zip(chances, means, strict=True)]
    line = (*NOTHING, times, -float(len(each)))
    return line + tuple(number for stage in each for number in stage)


def _nested(outer: tuple[float, float], inner: tuple[float, float]) -> tuple[float, ...]:
    """Return two alternatives, of which the second is a choice itself, passed twice in a row."""
    quick = (*NOTHING[:5], 0.5, 1.0, outer[0], 0.0)
    slow = (*NOTHING, outer[1], -2.0)
    within = _alternatives(inner, (1.0, 4.0))[9:]
    return (*NOTHING, 2.0, -4.0, *quick, *slow, *within)


def _bounds(
    word: str, first: float, low: tuple[float, ...], high: tuple[float, ...]
) -> SlopedInterval:
    ends = (SlopedInterval(*sorted(pair)) for pair in zip(low, high, strict=True))
    return OPERATIONS[word].interval(SlopedInterval(first, first), *ends)


@pytest.mark.parametrize("off", [4e-9, 0.01, 0.3])
@pytest.mark.parametrize(("word", "at"), [("stages_quantile", 0.95), ("stages_tail", 9.0)])
def test_bounds_hold_for_any_chances_between_theirs(word: str, at: float, off: float) -> None:
    random = np.random.default_rng(7)
    chosen = [0.5, 0.3, 0.2]

    def moved(size: int) -> tuple[float, ...]:
        shares = np.array(chosen[:size]) if size == 3 else np.array([0.6, 0.4])
        move = random.uniform(-off / 2, off / 2, size) * shares
        moved_to = shares + move - shares * move.sum()
        return tuple(float(one) for one in moved_to)

    def ends(size: int, side: float) -> tuple[float, ...]:
        shares = chosen if size == 3 else [0.6, 0.4]
        return tuple(one * (1 + side * off) for one in shares)

    means = (1.0, 2.0, 6.0)
    for times in (1.0, 2.6):
        found = _bounds(
            word,
            at,
            _alternatives(ends(3, -1), means, times),
            _alternatives(ends(3, 1), means, times),
        )
        assert found.high < inf
        for _ in range(20):
            value = OPERATIONS[word].number(at, *_alternatives(moved(3), means, times))
            assert found.low <= value <= found.high
    found = _bounds(word, at, _nested(ends(2, -1), ends(2, -1)), _nested(ends(2, 1), ends(2, 1)))
    for _ in range(20):
        value = OPERATIONS[word].number(at, *_nested(moved(2), moved(2)))
        assert found.low <= value <= found.high < inf


def test_bounds_are_as_narrow_as_those_of_chances() -> None:
    """They were infinite where chances of networks are known to nine digits only."""
    off = 4e-9
    found = _bounds(
        "stages_quantile",
        0.95,
        _alternatives((0.5 * (1 - off), 0.5 * (1 - off)), (1.0, 6.0)),
        _alternatives((0.5 * (1 + off), 0.5 * (1 + off)), (1.0, 6.0)),
    )
    assert found.high / found.low == pytest.approx(1, abs=1e-8)


def test_a_factor_is_that_of_every_passage_of_a_choice() -> None:
    line, factor = normalized(_nested((0.66, 0.44), (0.72, 0.48)))
    assert factor == pytest.approx(2 * (np.log(1.1) + np.log(1.2)))
    assert list(line[9 + 7 :: 9]) == pytest.approx([0.6, 0.4, 0.6, 0.4])
    assert normalized(_nested((0.6, 0.4), (0.6, 0.4)))[1] == 0


def test_bounds_of_many_passages_say_nothing_but_are_no_error() -> None:
    high = _alternatives((0.9, 0.9), (1.0, 2.0), 1e5)
    low = _alternatives((0.1, 0.1), (1.0, 2.0), 1e5)
    assert _bounds("stages_quantile", 0.95, low, high).high == inf
    assert _bounds("stages_tail", 1.0, low, high).high >= 1


KINDS = """
users N in 1..200
kinds sort of users { x 50 %; y 50 % }
param wait by sort { x 2 s; y 10 s }
machine a { cpu 4 core, queueing ps }
component work { cpu 8 ms/request }
topology { node n0 = a }
stream s for each user { traffic 1 request, think wait; at n0 { work } }
require { quantile(s.latency, 95 %) <= 120 ms }
"""


def test_percentiles_of_kinds_are_decided_by_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each population was decided by balls, of 30 ms each."""
    row = OPERATIONS["stages_quantile"]
    ball, balls = row.ball, list[tuple[object, ...]]()

    def counted(*operands: object) -> object:
        balls.append(operands)
        return ball(*operands)

    monkeypatch.setitem(vars(row), "ball", counted)
    spec = checked(KINDS)
    answer = solve_model(spec.model, spec.configuration(None, ()))
    assert isinstance(answer, Solution)
    assert answer.capacity == 200
    assert len(balls) <= 8
