"""The generating functions of times on a grid, at points of a circle within that of 1.

Points stand in rows, elements in columns. All waits and services that vary are worked out at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import accumulate

import numpy as np
from msgspec import Struct

from qps.engine.distributions.order_laws import shares_of_orders
from qps.engine.distributions.stage_transforms import SMALL, SMALL_TERMS, in_terms
from qps.engine.distributions.sum_transforms import Complex
from qps.engine.forks.grid_plans import GridPlan, NodePlan, OfKind, Waits
from qps.engine.numerics.array_blocks import Array

_LOST = 1e-5
"""What is beyond a grid counts within it by so much: the circle has the root of that as radius."""


class Circle(Struct, frozen=True, kw_only=True):
    """The half of the points z of a circle that tells all, for a grid of so many steps."""

    size: int
    points: Complex
    falls: Array
    """The powers of its radius."""
    turns: Complex
    """The roots of 1."""
    derivative: Complex
    """The second backward difference: what stands for s h."""

    @staticmethod
    @lru_cache(maxsize=8)
    def of(size: int) -> Circle:
        """Return that of a grid of so many steps."""
        radius = _LOST ** (1 / size)
        turns = np.exp(-2j * np.pi * np.arange(size) / size)
        points = (radius * turns[: size // 2 + 1])[:, None]
        return Circle(
            size=size,
            points=points,
            falls=(radius ** np.arange(size))[:, None],
            turns=turns,
            derivative=(1 - points) * (3 - points) / 2,
        )

    def power(self, steps: Array) -> Complex:
        """Return z to the power of whole numbers of steps; nothing of what is beyond the grid."""
        at = np.minimum(steps, self.size).astype(int)
        turned = self.turns[np.outer(np.arange(len(self.points)), at) % self.size]
        return np.asarray(turned * np.where(at < self.size, _LOST ** (at / self.size), 0.0))

    def later(self, fixed: Array) -> Complex:
        """Return the function of what is always so many steps: some of the two next to it."""
        whole = np.floor(fixed)
        rest = fixed - whole
        return self.power(whole) * (1 - rest + rest * self.points)

    def later_shares(self, function: Complex) -> Array:
        """Return the shares behind the first weights, and behind each further one."""
        wide = (-1,) + (1,) * (function.ndim - 1)
        points, falls = self.points.reshape(wide), self.falls.reshape(wide)
        found = np.fft.irfft((1 - function) / (1 - points), self.size, axis=0) / falls
        return np.minimum(np.maximum(found, 0.0), 1.0)

    def function(self, shares: Array) -> Complex:
        """Return the functions that have those shares behind their weights."""
        points, falls = self.points[:, :, None], self.falls[:, :, None]
        return np.asarray(1 - np.fft.rfft(shares * falls, axis=0) * (1 - points))


def shares_on_grid(plan: GridPlan, step: Array, size: int) -> Array:
    """Return which shares take longer than so many steps, and half a one."""
    circle = Circle.of(size)
    run = _Run(plan, step, circle)
    with np.errstate(divide="ignore"):  # nothing is done of what is late for sure
        for forks in plan.forks:
            run.forks(forks)
    return circle.later_shares(run.line(plan.line))


class _Run:
    """The functions of all nodes of a plan, with some steps."""

    def __init__(self, plan: GridPlan, step: Array, circle: Circle) -> None:
        self._step, self._circle = step, circle
        self._own = _own_functions(plan, circle.derivative / step)
        self._known: dict[int, Complex] = {}
        self._forks: dict[int, Complex] = {}

    def line(self, nodes: Sequence[NodePlan]) -> Complex:
        """Return the function of nodes one after the other."""
        if not nodes:
            return np.ones((len(self._circle.points), self._step.size), dtype=complex)
        return reduce(np.multiply, map(self.node, nodes))

    def node(self, node: NodePlan) -> Complex:
        """Return the function of a node, as often as it is passed."""
        found = self._known.get(id(node))
        if found is None:
            visit = self.visit(node)
            found = visit if node.whole == 1 else visit**node.whole
            if node.share is not None:
                found = found * (1 - node.share + node.share * visit)
            self._known[id(node)] = found
        return found

    def visit(self, node: NodePlan) -> Complex:
        """Return the function of one passage."""
        factors = []
        if node.own is not None:
            factors.append(self._own[:, node.own])
        if node.fixed is not None:
            factors.append(self._circle.later(node.fixed / self._step))
        if node.is_fork and node.inside:
            factors.append(self._forks[id(node)])
        elif node.left is not None:
            each = (
                np.asarray(one.chance * self.visit(one), dtype=complex)
                for one in node.inside
                if one.chance.any()
            )
            found = np.zeros((len(self._circle.points), self._step.size), dtype=complex)
            found += node.left
            factors.append(sum(each, found))
        elif node.inside or not factors:
            factors.append(self.line(node.inside))
        return reduce(np.multiply, factors)

    def forks(self, forks: Sequence[NodePlan]) -> None:
        """Find the functions of the longest of the branches of some forks, all at once."""
        each = [self.node(one) for fork in forks for one in fork.inside]
        shares = self._circle.later_shares(np.stack(each, axis=1))
        often = np.stack(
            [count + np.zeros(self._step.shape) for fork in forks for count in fork.often]
        )
        starts = list(accumulate((len(fork.inside) for fork in forks[:-1]), initial=0))
        logarithms = np.add.reduceat(often * np.log1p(-shares), starts, axis=1)
        later = -np.expm1(logarithms)
        for k, fork in enumerate(forks):
            if fork.spare is not None:
                later[:, k] = shares_of_orders(shares[:, starts[k]], fork.often[0], fork.spare)
        functions = self._circle.function(later)
        for k, fork in enumerate(forks):
            self._forks[id(fork)] = functions[:, k]


# -- waits and services -------------------------------------------------------------------


def _own_functions(plan: GridPlan, at: Complex) -> Complex:
    """Return E exp(-s T) of all that varies by itself: its places stand in the middle."""
    found = np.ones((len(at), plan.count, at.shape[1]), dtype=complex)
    for some in plan.services:
        found[:, some.at] = _service(at[:, None] * some.mean, some)
    if plan.waits is not None:
        found[:, plan.waits.at] *= _waits(plan.waits, at)
    return found


def _waits(waits: Waits, at: Complex) -> Complex:
    """Return the same of waits."""
    rests = np.empty((len(at), len(waits.loads), at.shape[1]), dtype=complex)
    for some in waits.works:
        rests[:, some.at] = _rest(at[:, None] * some.mean, some)
    more = waits.loads * rests
    first = waits.shares - waits.shares * rests
    shares, loads = waits.shares, waits.loads
    if len(waits.starts) < len(loads):
        first, more = (np.add.reduceat(one, waits.starts, axis=1) for one in (first, more))
        shares, loads = (np.add.reduceat(one, waits.starts, axis=0) for one in (shares, loads))
    shares, spare = np.minimum(shares, 1.0), 1 - loads
    first *= spare
    more += spare
    first /= more
    first += 1 - shares
    return np.asarray(first, dtype=complex)


def _rest(size: Complex, some: OfKind) -> Complex:
    """Return 1 - E exp(-z R) for what is left of times of mean 1."""
    if some.is_exponential:
        return np.asarray(size / (1 + size))
    found = _service(size, some)
    found -= 1
    found /= size
    found += 1
    is_small = np.abs(size) * (1 + SMALL_TERMS * some.variation) < SMALL
    if is_small.any():
        variation = np.broadcast_to(some.variation, size.shape)[is_small]
        found[is_small] = in_terms(size[is_small], variation)
    return found


def _service(size: Complex, some: OfKind) -> Complex:
    """Return E exp(-z S) for times S of mean 1."""
    if some.is_exponential:
        return np.asarray(1 / (1 + size))
    if some.is_fixed:
        return np.exp(-size)
    v = some.variation
    x, y = 1 + v * size.real, v * size.imag
    grown, turned = np.exp(np.log(x * x + y * y) / (-2 * v)), np.arctan2(y, x) / -v
    found = np.empty(size.shape, dtype=complex)
    found.real, found.imag = grown * np.cos(turned), grown * np.sin(turned)
    return found
