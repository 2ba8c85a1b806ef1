"""Which share of some ways through stages takes longer than a time: all terms in arrays.

As `sum_numbers` has it one term after the other. The transforms of all ways are inverted together,
so that each stage is transformed once, whatever ways it stands on: terms of the series stand in
rows, ways in columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from qps.engine.distributions.stage_paths import PathMixture
from qps.engine.distributions.stage_transforms import (
    SMALL,
    SMALL_TERMS,
    Passage,
    in_terms,
    passages_of,
)
from qps.engine.distributions.sum_transforms import Complex, less_of_fixed
from qps.engine.numerics.array_blocks import Array


class InvertedTail(Protocol):
    """A mixture of ways, and by what the terms of the series count that inverts its transform."""

    @property
    def mixture(self) -> PathMixture:
        """The ways, of which each varies."""

    @property
    def terms(self) -> tuple[float, ...]:
        """By what the terms count."""

    def gap(self, time: float) -> float:
        """Return how far right of zero the line of integration is, as a part of 1/t."""


class TailsInArrays:
    """The tails of mixtures of ways."""

    def __init__(self, tails: Sequence[InvertedTail]) -> None:
        self._tails = tails
        size = max(len(tail.terms) for tail in tails)
        self._terms = np.zeros((size, len(tails)))
        for column, tail in enumerate(tails):
            self._terms[: len(tail.terms), column] = tail.terms
        self._chances = np.array([float(tail.mixture.chance) for tail in tails])
        self._turns = np.arange(size)[:, None] * np.pi
        places: dict[int, int] = {}
        self._stages: list[tuple[Passage, ...]] = []
        self._paths: list[tuple[int, float, list[tuple[int, int]]]] = []
        for column, tail in enumerate(tails):
            for chance, passed in tail.mixture.paths:
                for stage, _ in passed:
                    if id(stage) not in places:
                        places[id(stage)] = len(self._stages)
                        self._stages.append(passages_of((stage,)))
                passed_by = [(places[id(stage)], often) for stage, often in passed]
                self._paths.append((column, float(chance), passed_by))

    def later(self, times: Sequence[float]) -> tuple[Array, Array]:
        """Return which share takes longer than so much beyond each fixed time, and the density.

        Both are of all that comes; times are above zero.
        """
        after = np.array(times)
        gap = np.array([tail.gap(time) for tail, time in zip(self._tails, times, strict=True)])
        at = np.empty(self._terms.shape, dtype=complex)
        at.real, at.imag = gap / after, self._turns / after
        found = self._transform(at)
        scale = np.exp(gap) / after
        density = (self._terms * found.real).sum(axis=0) * scale
        longer = (self._terms * ((self._chances - found) / at).real).sum(axis=0) * scale
        return longer, density

    def _transform(self, at: Complex) -> Complex:
        each = [_transform(stage, at) for stage in self._stages]
        found = np.zeros_like(at)
        for column, chance, passed_by in self._paths:
            own: Complex | float = chance
            for place, often in passed_by:
                once = each[place][:, column]
                own = own * (once if often == 1 else once**often)
            found[:, column] += own
        return found


def _transform(line: Sequence[Passage], at: Complex) -> Complex:
    """Return the transform of stages as `stage_transforms` has it, in arrays."""
    found: Complex | None = None
    for whole, share, inside, alternatives, left, service, variation, waiting in line:
        once = _transform(inside, at) if inside else None
        if alternatives:
            once = np.full(at.shape, complex(left))
            for chance, one in alternatives:
                once += chance * _transform(one, at)
        if service:
            once = _times(once, 1 + _less(at * service, variation))
        if waiting:
            servers, at_once, spare, (waits, load, work, spread), others = waiting
            rest = _rest(at * (work / servers), spread)
            first, more = waits * (1 - rest), spare + load * rest
            for waits, load, work, spread in others:
                rest = _rest(at * (work / servers), spread)
                first += waits * (1 - rest)
                more += load * rest
            first *= spare
            first /= more
            first += at_once
            once = _times(once, first)
        if once is None:
            continue
        if whole:
            found = _times(found, once if whole == 1 else once**whole)
        if share:
            found = _times(found, 1 - share + share * once)
    return np.ones(at.shape, dtype=complex) if found is None else found


def _times(one: Complex | None, other: Complex) -> Complex:
    return other if one is None else one * other


def _rest(size: Complex, v: float) -> Complex:
    """Return 1 - E exp(-z R) for what is left of a time of mean 1, to all digits."""
    if v == 1:
        return size / (1 + size)
    found = _less(size, v)
    found /= size
    found += 1
    # The first term is the nearest to zero.
    if (np.abs(size[0]) * (1 + SMALL_TERMS * v)).min() < SMALL:
        is_small = np.abs(size) * (1 + SMALL_TERMS * v) < SMALL
        found[is_small] = in_terms(size[is_small], v)
    return found


def _less(size: Complex, v: float) -> Complex:
    """Return E exp(-z S) - 1 for a time S of mean 1, to all digits where z is small."""
    if v == 1:
        return -size / (1 + size)
    if v == 0:
        return less_of_fixed(size)
    x, y = v * size.real, v * size.imag
    grown = np.log1p(x * (2 + x) + y * y)
    grown /= -2 * v
    turned = np.arctan2(y, 1 + x)
    turned /= -v
    half = np.sin(turned / 2)
    found = np.empty(size.shape, dtype=complex)
    found.real = np.expm1(grown) * np.cos(turned) - 2 * half * half
    found.imag = np.exp(grown) * np.sin(turned)
    return found
