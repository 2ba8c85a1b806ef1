"""Measured rows and their prediction intervals, in words: what is outside, and is that chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from qps.reports.text.quantities import percent
from qps.solver.claims.claim_results import ClaimResult, Coverage

_BAD_LUCK = 0.05
"""Odds from which what is odd is put down to chance."""


def interval_heading(results: Sequence[ClaimResult]) -> str | None:
    """Return what the column of intervals is called; None where no value has one."""
    found = (one.interval.probability for one in results if one.interval is not None)
    probability = next(found, None)
    return None if probability is None else f"{percent(probability)} interval"


def interval_text(result: ClaimResult, told: Callable[[float, ClaimResult], str]) -> str:
    """Return the interval of a measured value and on which side of it that is, or nothing."""
    found = result.interval
    if found is None:
        return ""
    ends = f"{told(found.least, result)} to {told(found.most, result)}"
    if found.side == 0:
        return f"{ends}: in"
    assert result.claimed is not None
    end = found.most if found.side > 0 else found.least
    off = abs(result.claimed - end)
    far = percent(off / abs(end), 2) if end else told(off, result)
    return f"{ends}: {far} {'above' if found.side > 0 else 'below'}"


def coverage_lines(coverages: Sequence[Coverage]) -> str:
    """Return a line for each observation, empty where no number is uncertain."""
    return "".join(f"{line}\n" for one in coverages for line in _lines(one))


def _lines(one: Coverage) -> Iterator[str]:
    values = f"{one.without:,} value{'s' * (one.without != 1)}"
    if not one.count:
        yield f"{one.observation}: no intervals, nothing uncertain moves its {values}"
        return
    inside = f"{one.observation}: {one.inside:,} of {one.count:,} inside"
    parts = [f"{inside}, {percent(one.probability)} were to be"]
    sides = [f"{n:,} {side}" for n, side in ((one.above, "above"), (one.below, "below")) if n]
    if sides:
        luck = "may be" if one.likely_by_chance >= _BAD_LUCK else "is more than"
        parts[0] += f"; {' and '.join(sides)}"
        parts.append(
            f"as many would be in {_share(one.as_many, one)} of cases, one as far off in "
            f"{_share(one.as_far, one)}: it {luck} bad luck"
        )
    if one.error is not None:
        error = percent(one.error, 2)
        parts.append(f"told by surfaces, up to {error} off where they were held against draws")
    if one.is_fitted:
        parts.append("its numbers were fitted to these very rows")
    if one.without:
        parts.append(f"nothing uncertain moves {values} more")
    yield "; ".join(parts)


def _share(probability: float, one: Coverage) -> str:
    least = 1 / max(1, one.draws)
    return f"less than {percent(least, 1)}" if probability < least else percent(probability, 2)
