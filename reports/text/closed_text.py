"""Users who wait for their answer, in words: how many answers there are, and where that ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isfinite

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities.dimension import TIME, Dimension
from qps.reports.text.answers import SolveView
from qps.reports.text.how_known import marked
from qps.reports.text.quantities import number, percent, quantity
from qps.solver.answers.solution import ClosedSolution, FullTogether, MixSolution


def closed_lines(view: SolveView) -> Iterator[str]:
    """Yield a sentence or two for each stream of users who wait for their answer, and each mix."""
    for one in view.closed:
        yield f"{_now(view, one)} {_ends(one)}{_bounds(one)}"
    for mix in view.mixes:
        yield _mix(mix)


def _mix(mix: MixSolution) -> str:
    """Return which stations are full by the share of one class."""
    others = listed(list(mix.others), "and")
    first, *behind = map(_full, mix.ranges)
    if not behind:
        return f"Whatever the mix of `{mix.of}` and {others}: with many under way, {first}."
    starts = [marked(percent(one.at), mix.known) for one in mix.ranges[1:]]
    told = [first, *(f"from {at} on {what}" for at, what in zip(starts, behind, strict=True))]
    now = percent(mix.share)
    return (
        f"Mix of `{mix.of}` (now {now} of all under way) with {others}: with many under way, "
        f"{', '.join(told)}."
    )


def _full(one: FullTogether) -> str:
    names = listed(list(one.full), "and")
    return f"{names} saturates" if len(one.full) == 1 else f"{names} saturate together"


def _rate(one: ClosedSolution, value: float) -> str:
    return partial(quantity, dimension=Dimension.of(one.item) / TIME)(value)


def _now(view: SolveView, one: ClosedSolution) -> str:
    rate = marked(_rate(one, one.rate), one.rate_known)
    latency = marked(quantity(one.latency, TIME), one.latency_known)
    return (
        f"Users of {one.stream} wait for their answer: at {view.at:,} they have {rate} in all, "
        f"each after {latency}, and think {quantity(one.think, TIME)}."
    )


def _ends(one: ClosedSolution) -> str:
    if not isfinite(one.most):
        return "Nothing that they wait for makes it level off."
    where = listed(list(one.levels_off_at), "and")
    full = "saturates" if len(one.levels_off_at) == 1 else "saturate together"
    levels = "It levels off"
    if one.meets:
        levels = f"Without {listed(list(one.meets), 'and')} it would level off"
    return (
        f"{levels} at {_rate(one, one.most)}, where {where} {full}; the knee is at "
        f"{number(one.knee)} under way (now {number(one.jobs)})."
    )


def _bounds(one: ClosedSolution) -> str:
    if one.meets:
        return ""
    told = f" Bounds of the rate: asymptotic {_between(one, one.asymptotic)}"
    if one.balanced is not None:
        told += f", balanced {_between(one, one.balanced)}"
    return f"{told}."


def _between(one: ClosedSolution, bounds: tuple[float, float]) -> str:
    low, high = bounds
    return f"{number(low)} to {_rate(one, high)}"
