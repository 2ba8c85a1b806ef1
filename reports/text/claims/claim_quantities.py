"""What a claim states, what is predicted, and how far that is off, in their units."""

from __future__ import annotations

from functools import partial
from math import isfinite

from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.reports.text.claims.coverage_text import interval_text
from qps.reports.text.words.certainty_marks import marked, marked_value
from qps.reports.text.words.estimates import estimate
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import availability_percent, quantity
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict, ComparisonSide

_TENTH, _LEAST = 0.1, 0.0005


def relative_error(share: float) -> str:
    """Return how far a prediction is off, with its sign.

    >>> relative_error(0.0114), relative_error(-0.5), relative_error(-0.0003)
    ('+1.1 %', '-50 %', '0 %')
    >>> relative_error(float("inf"))
    '+∞'
    """
    if not isfinite(share):
        return f"{'-' * (share < 0) or '+'}{quantity(abs(share), DIMENSIONLESS)}"
    if abs(share) < _LEAST:
        return "0 %"
    return f"{share * 100:+.{0 if abs(share) >= _TENTH else 1}f} %"


def error(result: ClaimResult) -> str:
    """Return how far a prediction is off, empty where nothing says so."""
    off = result.relative_difference
    return "" if off is None else relative_error(off)


def claimed(result: ClaimResult) -> str:
    """Return what was claimed, in its unit; of what nobody claims, what it is."""
    if result.verdict is ClaimVerdict.UNCLAIMED:
        return result.title or ""
    if result.condition is not None:
        return result.condition
    if result.kind == "simulated":
        return _simulated(result)
    assert result.claimed is not None
    return _quantity(result.claimed, result)


def _simulated(result: ClaimResult) -> str:
    """Return what was simulated with its interval."""
    if result.simulated is None:
        return phrase("claims.not_simulated")
    mean, half = result.simulated.mean, result.simulated.half_width
    if not isfinite(mean):
        return phrase("claims.too_few_items")
    share = _is_written_in_percent(result)
    return f"simulated {estimate(mean, half, result.dimension, share=share)}"


def predicted(result: ClaimResult) -> str:
    """Return what the model says, in its unit; for a condition, the values of its sides."""
    if result.counted is not None:
        of_any = bool(result.compared[-1].value)
        return marked(result.counted, result.known) if of_any else result.counted
    if result.verdict is ClaimVerdict.UNCLAIMED:
        return ""
    if result.condition is not None:
        return "; ".join(_sides(result))
    assert result.predicted is not None
    return marked_value(_quantity(result.predicted, result), result.predicted, result.known)


def within(result: ClaimResult) -> str:
    """Return how far a prediction may be off, empty where nothing is judged by that."""
    if result.tolerance is None:
        return ""
    amount = float(result.tolerance.amount)
    if result.tolerance.relative:
        return f"{amount * 100:g} %"
    return _quantity(amount, result)


def interval(result: ClaimResult) -> str:
    """Return the prediction interval of a measured value, and how far that lies outside of it."""
    return interval_text(result, partial(_quantity, digits=3))


def _sides(result: ClaimResult) -> list[str]:
    """Return the values of a comparison, without those that are written in it."""
    written = (result.condition or "").replace("_", "")
    found = [_side(side) for side in result.compared]
    named = [_written(side, one) for side, one in zip(result.compared, found, strict=True)]
    shown = zip(found, named, strict=True)
    return [one for one, name in shown if name not in written] or found[:1]


def _written(side: ComparisonSide, text: str) -> str:
    """Return how a side would be written in a condition."""
    return text.replace(",", "") if side.date is None else side.date.iso


def _side(side: ComparisonSide) -> str:
    """Return one side of a comparison; counts are whole."""
    if side.date is not None:
        return marked(side.date.in_words, side.known)
    if side.is_availability:
        return marked(availability_percent(side.value), side.known)
    is_whole = side.dimension == DIMENSIONLESS and side.value.is_integer()
    text = f"{side.value:,.0f}" if is_whole else quantity(side.value, side.dimension)
    return marked_value(text, side.value, side.known)


def _quantity(value: float, result: ClaimResult, digits: int = 4) -> str:
    share = _is_written_in_percent(result)
    return quantity(value, result.dimension, digits, share=share, other=result.claimed)


def _is_written_in_percent(result: ClaimResult) -> bool:
    """True for `~ 70 % within …` and for a measured column `in % -> …`."""
    if result.kind == "observation":
        return result.text.partition("->")[0].rstrip().endswith("%")
    if result.kind == "simulated":
        return True  # of what has no unit loads and losses alone are simulated
    return "%" in result.text.partition("~")[2].partition("within")[0]
