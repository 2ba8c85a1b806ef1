"""What a quantile may be at most, by what is known of the mean of the same times.

No more than a share m/t of times that are never negative exceeds t, where m is their mean
(Markov). So a share p of them does not exceed m/(1 - p): of the median that is twice the mean. A
quantile that is a bound or an approximation is never reported beyond that.
"""

from __future__ import annotations

from fractions import Fraction

from qps.compiler.quantities.certainty import Certainty, CertaintyKind, together
from qps.engine.expressions.formulas import Formula, minimum

_FROM_ABOVE = frozenset({CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND})


def guarded(
    quantile: Formula, level: Fraction, known: Certainty, mean: Formula, mean_known: Certainty
) -> Formula:
    """Return a quantile that keeps to Markov's bound, where the mean is known to make one."""
    return minimum(quantile, mean / (1 - level)) if _is_guarded(known, mean_known) else quantile


def guarded_share(
    share: Formula, seconds: Fraction, known: Certainty, mean: Formula, mean_known: Certainty
) -> Formula:
    """Return the share that takes longer than a time, no more than Markov's bound allows."""
    if seconds <= 0 or not _is_guarded(known, mean_known):
        return share
    return minimum(share, mean / seconds)


def guarded_known(known: Certainty, mean_known: Certainty) -> Certainty:
    """Return how such a quantile is known: where the mean is an approximation, by both.

    An error that was measured of quantiles with all that is said of the mean counts that already.
    """
    counts = known.error is not None and set(mean_known.because) <= set(known.because)
    return together(known, mean_known) if _is_guarded(known, mean_known) and not counts else known


def _is_guarded(known: Certainty, mean_known: Certainty) -> bool:
    """Return whether the mean bounds the quantile.

    What is exact needs no bound, a lower bound has none; a bound of an approximated mean is none
    for what is a bound itself.
    """
    if known.is_exact or known.kind is CertaintyKind.LOWER_BOUND:
        return False
    return (
        mean_known.kind in _FROM_ABOVE
        or known.kind is mean_known.kind is CertaintyKind.APPROXIMATION
    )
