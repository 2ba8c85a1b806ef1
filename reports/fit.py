"""A fit as text, Markdown and plain values, with the component text to paste."""

from __future__ import annotations

from dataclasses import dataclass

from qps.compiler.dimension import INFORMATION_BASE
from qps.compiler.fits import LOW_LOAD, SATURATED, FitRow
from qps.compiler.render import printable
from qps.reports.quantities import number, percent
from qps.reports.table import Table, joined
from qps.solver.regression import Coefficient, Regression

_BYTE_BITS = 8
_NOISE = 1e-9
"""What is smaller, beside what it belongs to, comes of the arithmetic and not of a measurement."""


@dataclass(frozen=True)
class CoefficientView:
    """A fitted number in base units: a load, or seconds of one processor for each `per`."""

    name: str
    per: str | None
    value: float
    half_width: float | None


@dataclass(frozen=True)
class RowView:
    """A row of the table; loads as shares of the machine."""

    line: int
    measured: float
    fitted: float
    left_out: float | None
    used: bool


@dataclass(frozen=True)
class FitView:
    """What `qps fit --format json` prints."""

    schema: str
    file: str
    resource: str
    cores: float
    coefficients: tuple[CoefficientView, ...]
    rows: tuple[RowView, ...]
    degrees_of_freedom: int
    explained: float | None
    left_out_error: float | None
    largest_relative_error: float
    columns_left_out: tuple[str, ...]
    warnings: tuple[str, ...]
    component: str


def fit_view(found: Regression) -> FitView:
    """Return a fit as plain values."""
    return FitView(
        "qps/fit/1",
        found.fit.file,
        found.fit.resource,
        float(found.fit.cores),
        tuple(
            CoefficientView(
                c.heading,
                "bit" if c.item == INFORMATION_BASE else c.item,
                c.value,
                c.half_width,
            )
            for c in found.coefficients
        ),
        tuple(
            RowView(r.line, r.measured, r.fitted, r.left_out, r.is_used) for r in found.residuals
        ),
        found.degrees_of_freedom,
        found.explained,
        found.left_out_error,
        found.largest_relative_error,
        found.fit.left_out,
        tuple(_warnings(found)),
        component_text(found),
    )


def fit_text(found: Regression, *, markdown: bool = False) -> str:
    """Return the numbers with their intervals, the residuals, warnings and what to paste."""
    fit = found.fit
    head = f"{printable(fit.file)}: the load of `{printable(fit.resource)}`, {_cores(found)}"
    tables = [_numbers(found), _rows(found)]
    parts = [f"### {head}" if markdown else head]
    parts += [t.as_markdown() if markdown else t.as_text() for t in tables]
    indent = "" if markdown else "  "
    parts.append(indent + _quality(found))
    parts += [f"{indent}warning: {printable(warning)}" for warning in _warnings(found)]
    component = component_text(found)
    parts.append(f"```qps\n{component}```" if markdown else component)
    return joined(parts)


def _cores(found: Regression) -> str:
    cores = float(found.fit.cores)
    return "1 core" if cores == 1 else f"{number(cores)} cores"


def _numbers(found: Regression) -> Table:
    """Return the fitted numbers in units that suit them."""
    rows = []
    for coefficient in found.coefficients:
        factor, unit = _scale(coefficient)
        width = coefficient.half_width
        interval = "" if width is None else f"± {number(width * factor)}"
        if width is not None and width <= _NOISE * abs(coefficient.value):
            interval = "exact"
        rows.append((coefficient.heading, number(coefficient.value * factor), interval, unit))
    return Table(("cost", "value", "95 %", "unit"), tuple(rows), frozenset([1, 2]))


def _scale(coefficient: Coefficient) -> tuple[float, str]:
    """Return what to multiply a coefficient with, and its unit then."""
    if coefficient.item is None:
        return 100.0, "% of the machine"
    if coefficient.item == INFORMATION_BASE:
        return _BYTE_BITS * 1e9, "ns/byte"
    is_long = abs(coefficient.value) >= 1e-3  # noqa: PLR2004 - a millisecond
    return (1e3, f"ms/{coefficient.item}") if is_long else (1e6, f"us/{coefficient.item}")


def _rows(found: Regression) -> Table:
    rows = tuple(
        (
            str(row.line),
            percent(row.measured),
            percent(row.fitted),
            _points(row.fitted - row.measured),
            "-" if row.left_out is None else _points(row.left_out - row.measured),
            "" if row.is_used else "not used",
        )
        for row in found.residuals
    )
    headings = ("line", "measured", "fitted", "error", "left out", "")
    return Table(headings, rows, frozenset(range(5)))


def _points(difference: float) -> str:
    return f"{difference * 100:+.2f} %"


def _quality(found: Regression) -> str:
    """Return in words how well the numbers fit, and what they have not seen."""
    parts = [f"Off by at most {percent(found.largest_relative_error, 2)} of a measured load"]
    error = found.left_out_error
    if error is not None:
        error = 0.0 if error <= _NOISE else error
        parts.append(
            f"a row that the fit has not seen is off by {percent(error, 2)} of the machine "
            "(root mean square)"
        )
    return "; ".join(parts) + "."


def _warnings(found: Regression) -> list[str]:
    """Return what makes the fit doubtful."""
    warnings = []
    if found.other_path:
        warnings.append(
            f"{_lines(found.other_path)} without any bytes: servers have another code path for "
            "these, they were not used"
        )
    if found.saturated:
        warnings.append(
            f"{_lines(found.saturated)} at {percent(float(SATURATED))} load or more: what a "
            "saturated machine is asked for beyond that is not served, so that items seem "
            "cheaper than they are; they were not used"
        )
    low = found.at_low_load
    if low:
        warnings.append(
            f"{_lines(low)} below {percent(float(LOW_LOAD))} load: under load work is done in "
            "batches, and an item costs less; measure near the load that you plan for"
        )
    if found.degrees_of_freedom == 0:
        warnings.append(
            "as many numbers as rows: the fit is exact whatever was measured, and there are no "
            "intervals; measure more runs"
        )
    warnings += [
        f"{_name(c)} is below zero: leave its column out, or measure again"
        for c in found.coefficients
        if c.value < 0
    ]
    warnings += [
        f"{_name(c)} cannot be told from zero"
        for c in found.coefficients
        if c.half_width is not None and c.value >= 0 and c.half_width > c.value
    ]
    if found.fit.left_out:
        warnings.append(f"columns that were not used: {', '.join(found.fit.left_out)}")
    return warnings


def _name(coefficient: Coefficient) -> str:
    if coefficient.item is None:
        return "the fixed load"
    word = "byte" if coefficient.item == INFORMATION_BASE else coefficient.item
    return f"the cost for each {word}"


def _lines(rows: tuple[FitRow, ...]) -> str:
    numbers = ", ".join(str(row.line) for row in rows)
    return f"line{'s' * (len(rows) != 1)} {numbers}"


def component_text(found: Regression) -> str:
    """Return the lines to paste into a spec: the machine's idle load, and the component."""
    fit = found.fit
    fixed, *terms = found.coefficients
    shown = [f"{_plain(c.value * _scale(c)[0])} {_scale(c)[1]}" for c in terms]
    low, high = (f"{_plain(float(load) * 100)}" for load in fit.loads)
    cores = _plain(float(fit.cores))
    unit = "core" if fit.cores == 1 else "cores"
    return (
        f"machine tested {{ {fit.resource} {cores} {unit}, "
        f"idle {_plain(fixed.value * 100)} % }}\n"
        f"component step {{\n"
        f"  {fit.resource} {' + '.join(shown)} measured on tested at {low}..{high} % load\n"
        f'  source "fitted to {fit.file}"\n'
        "}\n"
    )


def _plain(value: float) -> str:
    """Return a number with six digits, as a spec may write it: without signs between digits."""
    return f"{value:.6g}"
