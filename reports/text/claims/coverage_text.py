"""Measured rows and their prediction intervals: how many are outside, and is that chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent
from qps.solver.claims.claim_results import ClaimResult, Coverage

_BY_CHANCE = 0.05
"""The level of significance: what is less likely by chance is put down to the spec."""


def interval_heading(results: Sequence[ClaimResult]) -> str | None:
    """Return what the column of intervals is called; None where no value has one."""
    found = (one.interval.probability for one in results if one.interval is not None)
    probability = next(found, None)
    return None if probability is None else f"{percent(probability)} interval"


def interval_text(result: ClaimResult, shown: Callable[[float, ClaimResult], str]) -> str:
    """Return the interval of a measured value and on which side of it that is, or nothing."""
    found = result.interval
    if found is None:
        return ""
    least, most = shown(found.least, result), shown(found.most, result)
    unit = most.partition(" ")[2]
    ends = f"{least.removesuffix(unit).rstrip()}–{most}"
    if found.side == 0:
        return f"{ends}, inside"
    assert result.claimed is not None
    end = found.most if found.side > 0 else found.least
    off = abs(result.claimed - end)
    far = percent(off / abs(end), 2) if end else shown(off, result)
    return f"{ends}, {far} {'above' if found.side > 0 else 'below'}"


def coverage_lines(coverages: Sequence[Coverage]) -> str:
    """Return a line for each observation, empty where no number is uncertain."""
    return "".join(f"{line}\n" for line in coverage_sentences(coverages))


def coverage_sentences(coverages: Sequence[Coverage]) -> list[str]:
    """Return a sentence for each observation."""
    return [_sentence(one) for one in coverages]


def _sentence(one: Coverage) -> str:
    values = f"{one.without:,} value{'s' * (one.without != 1)}"
    verb = "depends" if one.without == 1 else "depend"
    if not one.count:
        them = "it" if one.without == 1 else "them"
        none = phrase("coverage.none", values=values, them=them)
        return f"{one.observation}: {none}"
    inside = phrase(
        "coverage.within",
        observation=one.observation,
        inside=f"{one.inside:,}",
        count=f"{one.count:,}",
        share=percent(one.probability),
    )
    sides = [f"{n:,} {side}" for n, side in ((one.above, "above"), (one.below, "below")) if n]
    parts = [", ".join([inside, *sides])]
    if sides:
        is_chance = one.likely_by_chance >= _BY_CHANCE
        parts.append(
            phrase(
                "coverage.chance",
                verb=phrase("coverage.consistent")
                if is_chance
                else phrase("coverage.not_consistent"),
                share=_share(one.as_many, one),
                share2=_share(one.as_far, one),
            )
        )
    if one.error is not None:
        error = percent(one.error, 2)
        parts.append(phrase("coverage.surrogate", error=error))
    if one.is_fitted:
        parts.append(phrase("coverage.calibrated"))
    if one.without:
        parts.append(phrase("coverage.more", values=values, verb=verb))
    return "; ".join(parts)


def _share(probability: float, one: Coverage) -> str:
    least = 1 / max(1, one.draws)
    return f"< {number(least, 1)}" if probability < least else f"= {number(probability, 2)}"
