"""How far a value may be off and where that comes from, in words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isinf

from qps.compiler.quantities.dimension import Dimension
from qps.reports.text.solutions.uncertainty_text import are_apart, left_out_lines, samples_text
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import first_words, percent, quantity
from qps.solver.uncertainty.interval_result import Ends, Share, ValueUncertainty

_FEWEST_DIGITS, _MOST_DIGITS = 4, 13
_MOST_NAMED = 3
_MOST_STATED = 60
"""Characters of what is said of a number, beyond which it is not repeated."""
_LITTLE = 0.01
"""Share of a variance below which a number is not named."""
_TOGETHER = 0.1
"""Share of a variance that is of no number alone, from which on that is reported."""


def spread_lines(
    spread: ValueUncertainty, name: str, dimension: Dimension, *, is_share: bool
) -> Iterator[str]:
    """Yield between which values something lies, and of which numbers that is."""
    between = partial(_between, dimension=dimension, is_share=is_share)
    sampled = f"{spread.samples:,} samples"
    if spread.shares:
        sampled = samples_text(spread.samples, [one.number for one in spread.shares])
    yield f"{percent(spread.probability)} interval: {between(spread.interval)} ({sampled})."
    is_itself = [one.number for one in spread.shares] == [name]
    if spread.shares and not is_itself:
        yield _where_from(spread)
    slopes = spread.linear_interval
    if (
        slopes is not None
        and not is_itself
        and are_apart(_numbers(spread.interval), _numbers(slopes))
    ):
        yield phrase("explain.linear", between=between(slopes))
    if 0 < spread.endless < 1:
        yield phrase("explain.infinite", share=percent(spread.endless, 2))
    if spread.undefined > 0:
        yield phrase("explain.undefined", share=percent(spread.undefined, 2))
    yield from left_out_lines(spread.left_out)
    if spread.surrogate_model is not None:
        yield phrase(
            "explain.surrogate",
            points=spread.surrogate_model.points,
            share=percent(spread.surrogate_model.error, 2),
        )


def _between(ends: Ends, dimension: Dimension, *, is_share: bool) -> str:
    if isinf(ends.least):
        return "infinite"
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        formatted = partial(quantity, dimension=dimension, digits=digits, share=is_share)
        least, most = formatted(ends.least), formatted(ends.most)
        if least != most:
            break
    return phrase("explain.to_infinity", least=least) if isinf(ends.most) else f"{least} to {most}"


def _where_from(spread: ValueUncertainty) -> str:
    """Return of which numbers a variance is, the most first."""
    shares = sorted(spread.shares, key=lambda one: -one.first_order)
    if len(shares) == 1:
        return phrase("explain.all_variance", named=_named(shares[0]))
    parts = [f"{percent(one.first_order, 2)} from {_named(one)}" for one in shares]
    most = min(_MOST_NAMED, max(1, sum(one.first_order >= _LITTLE for one in shares)))
    together = 1 - sum(one.first_order for one in shares)
    rest = (
        phrase("explain.from_interactions", share=percent(together, 2))
        if together > _TOGETHER
        else ""
    )
    if spread.of_ranks:
        rest += phrase("explain.extremes")
    whose = phrase("explain.rank_variance") if spread.of_ranks else "Variance"
    return f"{whose}: {first_words(parts, most)}{rest}."


def _named(share: Share) -> str:
    if len(share.stated) > _MOST_STATED:
        return share.number
    return f"{share.number} ({share.stated})"


def _numbers(ends: Ends) -> tuple[float, float]:
    return ends.least, ends.most
