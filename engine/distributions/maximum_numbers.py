"""The mean of the largest of independent times, each always the same but for a gamma law.

A time is three numbers: what is `fixed` of it, the `mean` of the rest and its squared `variation`.
The mean of the largest is M + the integral of 1 - F_1(t) F_2(t) ... from M on, the largest of what
is fixed, as `maximum_excess` has it.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isnan, nan

OPERANDS = 3
"""Of a time."""


@lru_cache(maxsize=1 << 14)
def slowest(*operands: float) -> float:
    """Return the mean of the largest of independent times; infinite where one of them is."""
    times = [operands[at : at + OPERANDS] for at in range(0, len(operands), OPERANDS)]
    if not times or len(times[-1]) < OPERANDS or any(map(isnan, operands)):
        return nan
    if any(one < 0 for one in operands) or any(variation == inf for *_, variation in times):
        return nan
    if any(inf in (fixed, mean) for fixed, mean, _ in times):
        return inf
    always = [fixed + (0.0 if mean and variation else mean) for fixed, mean, variation in times]
    least = max(always)
    laws = [one for one in times if one[1] and one[2]]
    if len(laws) == 1 and laws[0][0] >= least:
        return laws[0][0] + laws[0][1]
    if not laws:
        return least
    from qps.engine.distributions.maximum_excess import excess  # noqa: PLC0415 - needs numpy

    return least + excess(least, laws)
