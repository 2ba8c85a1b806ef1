"""Users who wait for their answer, in words: how many answers there are, and where that ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from math import isfinite

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities.dimension import TIME, Dimension
from qps.reports.text.solutions.limit_facts import MOST_NAMED
from qps.reports.text.words.certainty_marks import marked
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent, quantity, with_unit
from qps.solver.answer import Answer
from qps.solver.answers.solution import ClosedSolution, FullTogether, MixSolution


def closed_lines(answer: Answer) -> Iterator[str]:
    """Yield a sentence or two for each stream of users who wait for their answer, and each mix."""
    for one in answer.closed:
        yield f"{_now(answer, one)} {_ends(one)}{_bounds(one)}"
    for mix in answer.mixes:
        yield _mix(mix)


def closed_fact(answer: Answer) -> str:
    """Return throughput and response time of each closed stream, at most three, in one line.

    The label before it says that the first number is a throughput.
    """
    shown = [_in_short(one) for one in answer.closed[:MOST_NAMED]]
    more = len(answer.closed) - len(shown)
    return "; ".join([*shown, f"{more} more: --all"] if more else shown)


def _in_short(one: ClosedSolution) -> str:
    rate = marked(_rate(one, one.rate), one.rate_known)
    latency = marked(quantity(one.latency, TIME), one.latency_known)
    most = (
        phrase("closed.levels_off", rate=_rate(one, one.most))
        if isfinite(one.most) and not one.meets
        else ""
    )
    return phrase("closed.response_time", stream=one.stream, rate=rate, most=most, latency=latency)


def _mix(mix: MixSolution) -> str:
    """Return which stations are full by the share of one class."""
    others = listed(list(mix.others), "and")
    full = [_full(one) for one in mix.ranges]
    if len(full) == 1:
        return phrase("closed.every_mix", full=full[0], of=mix.of, others=others)
    starts = [marked(percent(one.at), mix.known) for one in mix.ranges[1:]]
    inside = (
        phrase("closed.from_to", low=low, high=high, what=what)
        for what, (low, high) in zip(full[1:-1], pairwise(starts), strict=True)
    )
    stretches = [f"below {starts[0]}, {full[0]}", *inside, f"above {starts[-1]}, {full[-1]}"]
    streams = listed([mix.of, *mix.others], "and")
    share = percent(mix.share)
    return phrase("closed.mix", of=mix.of, streams=streams, names="; ".join(stretches), share=share)


def _full(one: FullTogether) -> str:
    names = listed(list(one.full), "and")
    return (
        f"{names} saturates"
        if len(one.full) == 1
        else phrase("closed.saturate_together", names=names)
    )


def _rate(one: ClosedSolution, value: float) -> str:
    return partial(quantity, dimension=Dimension.of(one.item) / TIME)(value)


def _now(answer: Answer, one: ClosedSolution) -> str:
    rate = marked(_rate(one, one.rate), one.rate_known)
    latency = marked(quantity(one.latency, TIME), one.latency_known)
    think = quantity(one.think, TIME)
    return phrase(
        "closed.now",
        stream=one.stream,
        users=counted(answer.at, answer.population),
        rate=rate,
        latency=latency,
        think=think,
    )


def _ends(one: ClosedSolution) -> str:
    if not isfinite(one.most):
        return phrase("closed.unlimited")
    where = listed(list(one.levels_off_at), "and")
    levels = phrase("closed.levels")
    if one.meets:
        levels = phrase("closed.levels_without", names=listed(list(one.meets), "and"))
    return phrase(
        "closed.knee",
        levels=levels,
        rate=_rate(one, one.most),
        where=where,
        jobs=with_unit(number(one.knee), one.item),
        value=number(one.jobs),
    )


def _bounds(one: ClosedSolution) -> str:
    if one.meets:
        return ""
    text = phrase("closed.bounds", between=_between(one, one.asymptotic))
    if one.balanced is not None:
        text += phrase("closed.balanced_job", between=_between(one, one.balanced))
    return f"{text}."


def _between(one: ClosedSolution, bounds: tuple[float, float]) -> str:
    low, high = bounds
    return f"{number(low)} to {_rate(one, high)}"
