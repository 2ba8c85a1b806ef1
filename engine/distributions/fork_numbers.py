"""The mean, quantiles and tail of the time to pass stages of which some are forks.

`fork_lines` says what a fork is, `fork_laws` what its law is. Ways are mixed by their chances.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isnan, log, nan
from typing import TYPE_CHECKING

from qps.engine.distributions.fork_lines import ForkPath, paths_of
from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.sum_numbers import NEXT_TO, TOLERANCES
from qps.engine.numerics.falling_roots import falling_root

if TYPE_CHECKING:
    from qps.engine.distributions.time_laws import TimeLaw

_BEYOND, _CUT = 20.0, 1e-9
"""Of laws so many digits more are known than those of the share that is sought."""
_LATE = 1e-9
"""A share that is not known before is sought as if it were so small."""
_LEAST = 1e-300

_Mixed = list[tuple[float, "TimeLaw", "TimeLaw"]]


@lru_cache(maxsize=1 << 14)
def fork_mean(*stages: float) -> float:
    """Return the mean time to pass stages; infinite where one that is passed is full."""
    ways = paths_of(stages)
    if isinstance(ways, float):
        return ways
    laws = _laws(ways, _LATE)
    return nan if laws is None else sum(chance * (a.mean + b.mean) for chance, a, b in laws)


@lru_cache(maxsize=1 << 14)
def fork_tail(time: float, *stages: float) -> float:
    """Return the share that takes longer than a time to pass stages."""
    ways = nan if isnan(time) else paths_of(stages)
    if isinstance(ways, float):
        return 1.0 if ways == inf else nan
    if time < 0 or time == inf:
        return 1.0 if time < 0 else 0.0
    laws = _laws(ways, _LATE)
    return nan if laws is None else min(1.0, max(0.0, _longer(laws, time)[0]))


@lru_cache(maxsize=1 << 14)
def fork_quantile(level: float, *stages: float) -> float:
    """Return the time that a share `level` does not exceed to pass stages."""
    ways = paths_of(stages) if 0 <= level < 1 else nan
    if isinstance(ways, float):
        return ways
    late = 1 - level
    laws = _laws(ways, late)
    if laws is None:
        return nan
    atoms = _atoms(laws)
    if not any(line.varies or fork.varies for _, line, fork in laws):
        return _of_atoms(atoms, late)
    around = [_around(a, b, late) for _, a, b in laws]
    low, high = min(one for one, _ in around), max(one for _, one in around)

    def excess(time: float) -> tuple[float, float]:
        """Return log(P(T > t)/(1 - level)), and its slope."""
        share, density = _longer(laws, time)
        return log(max(share, _LEAST) / late) - SAME, -density / max(share, _LEAST)

    is_least = low >= high or excess(low)[0] <= 0
    found = low if is_least else falling_root(excess, low, high, low, TOLERANCES)
    near = [at for at, _ in atoms if abs(at - found) <= NEXT_TO * found]
    return min(near, key=lambda at: abs(at - found)) if near else found


def _atoms(laws: _Mixed) -> list[tuple[float, float]]:
    """Return what the time is for sure with some chance, the shortest first."""
    found = [
        (first + then, chance * one * other)
        for chance, line, fork in laws
        for first, one in line.atoms
        for then, other in fork.atoms
    ]
    return sorted(found)


def _of_atoms(atoms: list[tuple[float, float]], late: float) -> float:
    """Return the time of some that no more than a share `late` is behind."""
    found, behind = atoms[-1][0], 0.0
    for time, share in reversed(atoms):
        if behind > late * (1 + SAME):
            break
        found, behind = time, behind + share
    return found


def _laws(paths: tuple[ForkPath, ...], late: float) -> _Mixed | None:
    """Return the chance of each way, and the laws of its line and of its fork."""
    from qps.engine.distributions.fork_laws import law_of_fork  # noqa: PLC0415 - needs numpy
    from qps.engine.distributions.time_laws import law_of_stages  # noqa: PLC0415 - needs numpy

    goal, cut = _BEYOND - log(late), _CUT * late
    found: _Mixed = []
    for way in paths:
        line = law_of_stages(way.line, goal, cut)
        branches = [law_of_stages(one, goal, cut) for one in way.branches]
        there = [one for one in branches if one is not None]
        if line is None or len(there) < len(branches):
            return None
        fork = law_of_fork(there, cut) if there else law_of_stages((), goal, cut)
        assert fork is not None
        found.append((way.chance, line, fork))
    return found


def _longer(laws: _Mixed, time: float) -> tuple[float, float]:
    """Return which share of all ways takes longer than a time, and the density there."""
    from qps.engine.distributions.fork_laws import longer_together  # noqa: PLC0415 - needs numpy

    found = density = 0.0
    for chance, line, fork in laws:
        share, slope = longer_together(line, fork, time)
        found, density = found + chance * share, density + chance * slope
    return found, density


def _around(line: TimeLaw, fork: TimeLaw, late: float) -> tuple[float, float]:
    """Return two times between which a share `late` takes longer, of one way."""
    low = max(line.around(late)[0] + fork.least, fork.around(late)[0] + line.least)
    return low, line.around(late / 2)[1] + fork.around(late / 2)[1]
