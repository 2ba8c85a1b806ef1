"""Upper bounds where chances of alternatives are known up to bounds, which may sum to more than 1.

Of alternatives exactly one is passed, with chances p that sum to 1 at most. Where only upper ends
h of them are known, which sum to H > 1, no outcome is more than H times as likely as with chances
h/H: what takes longer than a time is so at most H times as often. Each further passage of a choice
on the way is one more such factor, and of alternatives the largest counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, inf, log

from msgspec import Struct

from qps.engine.distributions import sum_numbers, sum_tails
from qps.engine.distributions.stages import OPERANDS, read_line

_SERVERS, _TIMES, _INSIDE = 4, 7, 8
_MOST = 500.0
"""Beyond e to the power of this, a factor says nothing."""


def stages_quantile(level: float, *stages: float) -> float:
    """Return a time that no less than a share `level` keeps, whatever chances up to those it has.

    It is the quantile of fewer that are late, by the factor: at 1 - (1 - level)/factor.
    """
    line, factor = normalized(stages)
    if not factor:
        return sum_numbers.stages_quantile(level, *line)
    higher = 1 - (1 - level) / exp(factor) if factor < _MOST else 1.0
    return sum_numbers.stages_quantile(higher, *line) if higher < 1 else inf


def stages_tail(time: float, *stages: float) -> float:
    """Return a share of which no more takes longer than `time`, whatever chances up to those."""
    line, factor = normalized(stages)
    share = sum_tails.stages_tail(time, *line)
    return min(1.0, share * exp(factor)) if factor < _MOST else 1.0


def normalized(stages: Sequence[float]) -> tuple[Sequence[float], float]:
    """Return stages whose alternatives have chances that sum to 1 at most, and a factor.

    Of that it is the logarithm. With any chances up to those of `stages` nothing is more than so
    many times as likely as with those returned.
    """
    places = range(0, len(stages) - OPERANDS + 1, OPERANDS)
    if not any(stages[place + _INSIDE] < 0 for place in places):
        return stages, 0.0
    scaled = list(stages)
    groups = [(float(place), *stages[place : place + OPERANDS]) for place in places]
    line = read_line(groups, _read, float)
    return scaled, sum(_factor(each, scaled) for each in line)


class _Passed(Struct, frozen=True, kw_only=True):
    """A stage, or a part of its work: its place among operands, how often it is passed at most."""

    place: int
    times: float
    is_stage: bool
    is_choice: bool
    inside: tuple[_Passed, ...]


def _read(group: Sequence[float], inside: tuple[_Passed, ...]) -> _Passed:
    place, *operands = group
    return _Passed(
        place=int(place),
        times=operands[_TIMES],
        is_stage=operands[_SERVERS] > 0,
        is_choice=operands[_INSIDE] < 0,
        inside=tuple(each for each in inside if each.is_stage),
    )


def _factor(stage: _Passed, scaled: list[float]) -> float:
    """Return the logarithm of the factor of all passages of a stage; scale chances within it."""
    return ceil(stage.times) * _factor_of_one(stage, scaled) if stage.times < inf else inf


def _factor_of_one(stage: _Passed, scaled: list[float]) -> float:
    if not stage.is_choice:
        return sum(_factor(each, scaled) for each in stage.inside)
    within = max((_factor_of_one(each, scaled) for each in stage.inside), default=0.0)
    chances = sum(each.times for each in stage.inside)
    if not 1 < chances < inf:
        return within
    for each in stage.inside:
        scaled[each.place + _TIMES] = each.times / chances
    return within + log(chances)
