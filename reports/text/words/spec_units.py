"""The units in which numbers are shown and set: those that the spec writes them in."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import log

from qps.compiler import ir
from qps.compiler.check.model.fits.fit_quantities import curve_number, fit_terms, fitted_idle
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.regression import regression
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.engine.exact_algebra.exact_values import as_float
from qps.reports.text.words.quantities import number, scale_of

_FINEST = 10**15
_FITTED = r'^fit ".*" \(([\d.e+-]+) (.*)\)$'
_FITTED_IN = {"%": Fraction(1, 100), "ns/byte": Fraction(1, 8 * 10**9)}
"""In which unit fitted numbers are reported; others are times for each of something."""
_TIMES = ("s", "ms", "us", "ns", "ps", "fs")
_AROUND = r"\s*(?:\+- |±)"
_SHARES = (
    r"between [\d._]+(?: %)? and [\d._]+ %"
    r"|(?:uniform|triangular|normal)\((?:[\d._]+ %(?:, )?)+\)"
    r"|one of \[(?:[\d._]+ %(?: weight [^,\]]+)?(?:, )?)+\]"
)
"""What lies between shares that are written in per cent."""
_WRITTEN = r"(\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*)"


def unit_of(text: str, value: Fraction, dimension: Dimension) -> tuple[Fraction, str]:
    """Return the unit that a spec writes a number in, else one that suits its size.

    >>> from qps.compiler.quantities.dimension import TIME
    >>> unit_of("230 ms", Fraction(230, 1000), TIME), unit_of("delay", Fraction(1, 50), TIME)
    ((Fraction(1, 1000), 'ms'), (Fraction(1, 1000), 'ms'))
    >>> from qps.compiler.quantities.dimension import DIMENSIONLESS
    >>> unit_of("5 % +- 1 %", Fraction(1, 20), DIMENSIONLESS)
    (Fraction(1, 100), '%')
    >>> unit_of("between 1 % and 4 %", Fraction(1, 50), DIMENSIONLESS)
    (Fraction(1, 100), '%')
    """
    fitted = re.search(_FITTED, text)
    if fitted is not None:  # it is printed in four digits, and is not that number exactly
        return _fitted_in(float(fitted[1]), fitted[2], as_float(value)), fitted[2]
    words = " ".join(text.split())
    if dimension == DIMENSIONLESS and re.fullmatch(_SHARES, words):
        return _FITTED_IN["%"], "%"
    written = re.fullmatch(_WRITTEN, re.split(_AROUND, words)[0])
    if written is None or value == 0 or not _is_unit(written[2]):
        factor, unit = scale_of(as_float(value), dimension)
        exact = Fraction(factor).limit_denominator(_FINEST)
        return (exact, unit) if float(exact) == factor else (Fraction(1), str(dimension))
    return value / Fraction(written[1].replace("_", "")), written[2]


def _fitted_in(shown: float, unit: str, value: float) -> Fraction:
    """Return how much a unit is in which a fitted number is shown: `ns per token * context`."""
    times = re.match(r"(s|ms|us|ns|ps|fs)\b", unit)
    if unit in _FITTED_IN or times is None or not shown:
        return _FITTED_IN.get(unit, Fraction(1))
    found = Fraction(1, 1000 ** _TIMES.index(times[1]))
    eights = round(log(abs(value / (shown * float(found)))) / log(8))  # bits of a byte
    return found * Fraction(8) ** eights


def _is_unit(text: str) -> bool:
    """Tell whether what stands behind a number is a unit, not a further sum or product."""
    return not re.search(r"[+*()]|\d\s*$|--|\bif\b|\bin\b", re.sub(r"\^\d", "", text))


def interval_text(model: ir.Model, assumption: Assumption) -> str:
    """Return the 95 % confidence interval of a fitted number, empty where it has none."""
    return _intervals(model.fits).get((assumption.span, assumption.text), "")


@lru_cache(maxsize=8)  # a page requests the same numbers in each of its configurations
def _intervals(fits: tuple[tuple[Span, CostFit], ...]) -> dict[tuple[Span, str], str]:
    """Return the intervals of fitted numbers, by where these stand and how they are reported."""
    if not fits:
        return {}
    found = {}
    for span, fit in fits:
        idle = [fitted_idle(fit, span)] * fit.has_fixed
        curves = [curve_number(curve, span) for curve in fit.curves]
        amounts = [*idle, *fit_terms(fit, span), *curves]
        for amount, coefficient in zip(amounts, regression(fit).coefficients, strict=True):
            written = re.search(_FITTED, amount.text)
            if written and coefficient.value and coefficient.half_width:
                share = coefficient.half_width / abs(coefficient.value)
                width = number(abs(float(written[1])) * share, 2)
                found[span, amount.text] = f"± {width} {written[2]} (95 %)"
    return found


def range_text(model: ir.Model, assumption: Assumption) -> str:
    """Return the range that a spec states for a parameter, in the unit of its value."""
    declared = next((p for p in model.parameters if p.name == assumption.name), None)
    factor, unit = unit_of(assumption.text, assumption.fraction, assumption.dimension)
    bounds = () if declared is None else (declared.low, declared.high)
    ends = [
        number(as_float(bound.value / factor)) if isinstance(bound, ir.Constant) else ""
        for bound in bounds
    ]
    if not any(ends):
        return ""
    return " ".join([f"{ends[0] or '…'} to {ends[1] or '…'}", unit]).rstrip()
