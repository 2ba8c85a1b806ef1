"""The law of a time as polynomials on panels: it is computed once, and then evaluated cheaply.

Panels grow by powers from each time at which a law begins or jumps. Values at Gauss's places make
the coefficients of Legendre's polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.polynomial import legendre

from qps.engine.distributions.order_laws import points_of
from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.stage_tails import Law
from qps.engine.distributions.stages import NARROW, OPERANDS
from qps.engine.distributions.sum_mixtures import TimePath
from qps.engine.distributions.sum_numbers import KINKED
from qps.engine.numerics.array_blocks import Array

LEAST_SHARE = 1e-13
"""What is so for less of all is not so for sure."""
IMMEDIATE = 1e-60
"""A time just behind 0, in s, of which transforms are no power that is too long."""
_NOTHING, _SMALL = 1e-14, 1e-9
_FEW, _MANY = 16, 48
"""Places on a panel: of narrow laws there are more."""
_KINKS = 3
"""What is left of work that is always the same ends there: so often a law has a kink."""

Longer = Callable[[Array], tuple[Array, Array]]


class TimeLaw(Struct, frozen=True, kw_only=True, dict=True):
    """The law of a time: `atoms` are what it is for sure with some chance, and that.

    `longer` says which share takes longer than each time, and the density of what varies. `points`
    are those between which panels lie, `least` is the least time.
    """

    atoms: tuple[tuple[float, float], ...]
    longer: Longer
    points: Array
    least: float
    is_narrow: bool = False

    @cached_property
    def varies(self) -> float:
        """The chance of what varies."""
        left = 1 - sum(share for _, share in self.atoms)
        return left if left > LEAST_SHARE else 0.0

    @cached_property
    def at_points(self) -> Array:
        """Which share takes longer than each of the points."""
        return self.longer(behind(self.points))[0]

    def varying(self, times: Array) -> tuple[Array, Array]:
        """Return which share varies and takes longer than each time, and its density."""
        return self.panels.longer(times)

    def _directly(self, times: Array) -> tuple[Array, Array]:
        shares, densities = (one.reshape(times.shape) for one in self.longer(times.ravel()))
        return shares - self.atoms_beyond(times), densities

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """Places on each panel, and their weights."""
        at, by, _ = RULES[self.is_narrow]
        begin, half = self.points[:-1, None], (self.points[1:, None] - self.points[:-1, None]) / 2
        return begin + half * (1 + at), half * by

    @cached_property
    def panels(self) -> Panels:
        """What varies, as polynomials."""
        basis = RULES[self.is_narrow][2]
        shares, densities = (basis @ one.T for one in self._directly(self.nodes[0]))
        return Panels(points=self.points, values=np.stack([shares, densities]), varies=self.varies)

    def atoms_beyond(self, times: Array) -> Array:
        """Return which share is longer than each time, of what is so for sure."""
        found = np.zeros(times.shape)
        for at, share in self.atoms:
            found = found + share * (times < at * (1 - SAME))
        return found

    @property
    def mean(self) -> float:
        """The mean of the time."""
        found = sum(share * at for at, share in self.atoms)
        if not self.varies:
            return found
        shares, _ = self._directly(self.nodes[0])
        return found + self.varies * float(self.points[0]) + float((self.nodes[1] * shares).sum())

    def around(self, late: float) -> tuple[float, float]:
        """Return two times between which a share `late` takes longer."""
        if not len(self.points):
            return self.least, self.atoms[-1][0]
        is_late = self.at_points > late
        last = int(np.flatnonzero(is_late)[-1]) if is_late.any() else -1
        low = self.least if last < 0 else float(self.points[last])
        return low, float(self.points[min(last + 1, len(self.points) - 1)])


class Panels(Struct, frozen=True, kw_only=True):
    """What varies of a time, with the chance `varies`: shares that take longer, and densities."""

    points: Array
    values: Array
    varies: float

    def longer(self, times: Array) -> tuple[Array, Array]:
        """Return which share varies and takes longer than each time, and its density."""
        last = len(self.points) - 2
        at = np.minimum(np.maximum(np.searchsorted(self.points, times, "right") - 1, 0), last)
        begin, end = self.points[at], self.points[at + 1]
        place = np.minimum(np.maximum((2 * times - begin - end) / (end - begin), -1.0), 1.0)
        coefficients = np.moveaxis(self.values[:, :, at], 1, 0)
        shares, densities = legendre.legval(place, coefficients, tensor=False)
        is_within = (times >= self.points[0]) & (times < self.points[-1])
        shares = np.where(times <= self.points[0], self.varies, np.where(is_within, shares, 0.0))
        return shares, np.where(is_within, densities, 0.0)


def _rule(order: int) -> tuple[Array, Array, Array]:
    """Return places, weights, and what makes coefficients of Legendre's polynomials of values."""
    at, by = legendre.leggauss(order)
    basis = legendre.legvander(at, order - 1).T * by * (np.arange(order)[:, None] + 0.5)
    return at, by, basis


RULES = (_rule(_FEW), _rule(_MANY))
"""Of laws that are smooth, and of narrow ones."""


def law_of_stages(stages: Sequence[float], goal: float, cut: float) -> TimeLaw | None:
    """Return the law of the time to pass stages, None where these have too many ways.

    What takes longer than a share `cut` of all is not read.
    """
    if not stages:
        return always(0.0)
    law = Law.of(stages, goal)
    if law is None:
        return None
    atoms = tuple((at, _atom(law, at, share)) for at, share in law.fixed)
    starts = [at for at, _ in law.fixed]
    if not any(path.stages for path in law.paths):
        points = np.zeros(0)
    else:
        points = np.unique(np.concatenate([points_of(starts, stages), *_kinks(starts, stages)]))
    found = TimeLaw(
        atoms=tuple(one for one in atoms if one[1] > 0),
        longer=lambda times: longer_of_paths(law.paths, times, goal, law.terms),
        points=points,
        least=starts[0],
        is_narrow=len(law.terms) == len(KINKED),
    )
    return moving(found, cut)


def longer_of_paths(
    paths: Sequence[TimePath], times: Array, goal: float, terms: Array
) -> tuple[Array, Array]:
    """Return which share takes longer than each time on some paths, and the density.

    Of narrow laws the line of a transform is moved no further than the share that is left requires.
    """
    shares = densities = np.zeros(times.shape)
    is_narrow = len(terms) == len(KINKED)
    with np.errstate(all="ignore"):  # far out nothing is left
        for path in paths:
            after, is_near = times - path.fixed, is_narrow and path.varies
            most = np.minimum(goal, path.least_goal(after)) if is_near else np.full(1, goal)
            each = path.later(after, most + np.zeros(times.shape), terms)
            shares, densities = shares + each[0], densities + each[1]
    return np.clip(shares, 0.0, 1.0), np.maximum(densities, 0.0)


def always(time: float) -> TimeLaw:
    """Return the law of what is always the same."""

    def longer(times: Array) -> tuple[Array, Array]:
        return np.where(times < time, 1.0, 0.0), np.zeros(times.shape)

    return TimeLaw(atoms=((time, 1.0),), longer=longer, points=np.zeros(0), least=time)


def moving(law: TimeLaw, cut: float) -> TimeLaw:
    """Return a law with those of its points between which it moves, but for a share `cut`."""
    if not len(law.points):
        return law
    shares, last = law.at_points, law.atoms[-1][0] if law.atoms else 0.0
    is_first, is_last = np.append(shares[1:], 0.0), np.insert(shares[:-1], 0, 1.0)
    is_retained = (is_first < 1 - _NOTHING) & ((is_last > cut) | (law.points <= last))
    return replace(law, points=law.points[is_retained])


def behind(times: Array) -> Array:
    """Return times just behind some others."""
    return np.maximum(times * (1 + _NOTHING), IMMEDIATE)


def _atom(law: Law, at: float, share: float) -> float:
    """Return which share takes just so long."""
    if at > 0:
        return share if share > LEAST_SHARE else 0.0
    after = float(law.longer(behind(np.array([at])))[0][0])
    return 1 - after if 1 - after > _SMALL else 0.0


def _kinks(starts: Sequence[float], stages: Sequence[float]) -> list[Array]:
    """Return the times at which laws of waits for what is nearly always the same have kinks."""
    groups = [stages[at : at + OPERANDS] for at in range(0, len(stages), OPERANDS)]
    each = np.arange(1, _KINKS + 1)
    return [
        (np.array(starts)[:, None] + each * work / (servers or 1.0)).ravel()
        for waits, _, work, spread, servers, *_ in groups
        if waits and work and spread < NARROW
    ]
