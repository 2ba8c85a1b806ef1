"""Rates that hardly differ but for a factor, so that no fit can tell their costs apart."""

from __future__ import annotations

from itertools import combinations

from qps.compiler.measurement.fits import CostFit

_PROPORTIONAL = 0.05
"""By which share of the largest ratio of two rates the others may be below it."""


def proportional_rates(fit: CostFit) -> tuple[str, str, float] | None:
    """Return the first two costs whose rates hardly differ but for a factor, and how far they do.

    As bytes and requests where all responses are alike.
    """
    paired = zip(fit.terms, fit.runs.rates, strict=True)
    plain = [(term.cost.written, rate.whole) for term, rate in paired if term.curve is None]
    for (one, rates), (other, others) in combinations(plain, 2):
        both = ((rates[i], others[i]) for i in fit.runs.used)
        ratios = [b / a for a, b in both if a > 0 and b > 0]
        if len(ratios) < len(fit.runs.used):
            continue
        spread = (max(ratios) - min(ratios)) / max(ratios)
        if spread <= _PROPORTIONAL:
            return one, other, spread
    return None
