"""Tails whose transforms are inverted together in arrays are those of one term after the other."""

from __future__ import annotations

from itertools import chain
from math import log

import pytest

from qps.engine.distributions.inversion_arrays import TailsInArrays
from qps.engine.distributions.sum_numbers import Tail, line_of, mixed
from stages.stage_lists import Stage, call, fixed_stage, mg1, mmc, one_of

_LINES: dict[str, tuple[Stage, ...]] = {
    "fixed times by chance": (mg1(0.7, 1.0, 0.0), *call(0.3, fixed_stage(5.0)), mmc(3, 0.5, 2.0)),
    "gamma laws": (mg1(0.6, 1.0, 0.1), *call(0.4, fixed_stage(2.0)), mg1(0, 3.0, 2.5)),
    "alternatives": one_of(
        (0.6, (mg1(0.5, 1.0, 0.0), fixed_stage(1.0))), (0.3, (mmc(2, 0.8, 1.0), fixed_stage(4.0)))
    ),
    "calls": call(2.6, mg1(0.4, 1.0, 0.0), *call(0.5, mg1(0.2, 2.0))),
}


@pytest.mark.parametrize("name", _LINES)
def test_arrays_invert_as_numbers_do(name: str) -> None:
    line = line_of(tuple(chain(*_LINES[name])))
    assert line is not None
    ways = mixed(line)
    assert ways is not None
    tails = [Tail.of(mixture, -log(0.01)) for mixture in ways if mixture.line]
    assert tails
    for time in (1e-3, 0.5, 7.0, 40.0):
        times = [time * (1 + place / 3) for place in range(len(tails))]
        longer, density = TailsInArrays(tails).later(times)
        each = [tail.at(one) for tail, one in zip(tails, times, strict=True)]
        chance = [float(tail.mixture.chance) for tail in tails]
        for place, (share, slope) in enumerate(each):
            assert longer[place] == pytest.approx(share, rel=1e-9, abs=1e-11 * chance[place])
            assert density[place] == pytest.approx(slope, rel=1e-6, abs=1e-7 * chance[place])
