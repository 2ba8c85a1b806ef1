"""A fit as text, Markdown and plain values, with the component text to paste."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from qps.compiler.check.model.check_fits import (
    MISSED_HINT,
    below_zero,
    coefficient_name,
    mending,
    missed_text,
    pull_text,
)
from qps.compiler.data.fits import LOW_LOAD, SATURATED
from qps.compiler.data.regression import LARGE_RESIDUAL, Coefficient, Regression, Residual
from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.compiler.quantities.units import built_in
from qps.reports.text.quantities import number, percent
from qps.reports.text.table import Table, joined

_BYTE_BITS = 8
_NOISE = 1e-9
"""What is smaller, beside what it belongs to, comes of the arithmetic and not of a measurement."""
_MOST_SHOWN = 40
"""Rows of the text; of more, those are shown that pull and miss most."""
_MOST_NAMED = 10
"""Lines that a warning names one by one."""


def fit_text(found: Regression, *, markdown: bool = False) -> str:
    """Return the numbers with their intervals, the residuals, warnings and what to paste."""
    fit = found.fit
    head = f"{printable(fit.file)}: the load of `{printable(fit.resource)}`, {_cores(found)}"
    tables = [_numbers(found), _rows(found)]
    parts = [f"### {head}" if markdown else head]
    parts += [t.as_markdown() if markdown else t.as_text() for t in tables]
    indent = "" if markdown else "  "
    parts.append(_not_shown(found, indent))
    parts.append(indent + _quality(found))
    parts += [f"{indent}warning: {printable(warning)}" for warning in warnings_of(found)]
    component = component_text(found)
    if component is None:
        reason = f"{below_zero(fit)[0]} is below zero, which cannot be; {mending(found)}"
        parts.append(f"{indent}Nothing to paste: {reason}.")
    else:
        parts.append(f"```qps\n{component}```" if markdown else component)
    return joined(parts)


def _not_shown(found: Regression, indent: str) -> str:
    """Return which rows the table leaves out, empty where it holds all of them."""
    rows = len(found.fit.runs.lines)
    if rows <= _MOST_SHOWN:
        return ""
    are_all = rows - found.copies <= _MOST_SHOWN
    shown = "the others repeat one of these" if are_all else "these pull and miss most"
    return f"{indent}Of {rows:,} rows; {shown}."


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
    return Table(("Cost", "Value", "95 % CI", "Unit"), tuple(rows), frozenset([1, 2]))


def cost_scale(item: str | None, value: float) -> tuple[float, str]:
    """Return what to multiply a cost with, and its unit then; of no item it is a load."""
    if item is None:
        return 100.0, "% of the machine"
    if item == INFORMATION_BASE:
        return _BYTE_BITS * 1e9, "ns/byte"
    is_long = abs(value) >= 1e-3  # noqa: PLR2004 - a millisecond
    return (1e3, f"ms/{item}") if is_long else (1e6, f"us/{item}")


def _scale(coefficient: Coefficient) -> tuple[float, str]:
    return cost_scale(coefficient.item, coefficient.value)


def _rows(found: Regression) -> Table:
    rows = tuple(
        (
            str(row.line),
            percent(row.measured),
            percent(row.fitted),
            _points(row.error),
            "-" if row.left_out is None else _points(row.left_out - row.measured),
            "" if row.is_used else "not used",
        )
        for row in found.telling(_MOST_SHOWN)
    )
    headings = ("Line", "Measured", "Fitted", "Error", "Left out", "")
    return Table(headings, rows, frozenset(range(5)))


def _points(difference: float) -> str:
    shown = f"{difference * 100:+.2f} %"
    return shown.replace("-0.00", "+0.00")


def _quality(found: Regression) -> str:
    """Return in words how well the numbers fit, and what they have not seen."""
    parts = [f"Off by at most {percent(found.largest_relative_error, 2)} of a measured load"]
    error = found.left_out_error
    if error is not None:
        error = 0.0 if error <= _NOISE else error
        what = "setting" if found.is_repeated else "row"
        parts.append(
            f"a {what} that the fit has not seen is off by {percent(error, 2)} of the machine "
            f"(root mean square){_of_loads(found)}"
        )
    return "; ".join(parts) + "."


def _of_loads(found: Regression) -> str:
    """Return how far loads are predicted off that the fit has not seen, as parts of them."""
    shares = [0.0 if share <= _NOISE else share for share in found.left_out_shares]
    if not shares:
        return ""
    middle, most = percent(median(shares), 2), percent(shares[-1], 2)
    return f", by {middle} of its load (median; at most {most})"


def warnings_of(found: Regression) -> list[str]:
    """Return what makes the fit doubtful."""
    fit = found.fit
    warnings = [*_of_rows(found)]
    if found.degrees_of_freedom == 0:
        warnings.append(
            "as many numbers as rows that differ: the fit is exact whatever was measured, and "
            "there are no intervals; measure more runs"
        )
    warnings += [
        f"{coefficient_name(c)} is below zero: {mending(found)}"
        for c in found.coefficients
        if c.value < 0
    ]
    warnings += [
        f"{coefficient_name(c)} is not significantly different from zero"
        for c in found.coefficients
        if c.may_be_zero
    ]
    if not fit.is_cores_given:
        warnings.append("the number of cores is not given, 1 is assumed; set it with `--cores 4`")
    if fit.missed_rates:
        warnings.append(f"{missed_text(fit)}: {MISSED_HINT.replace('`unit ', '`--unit ')}")
    others = [heading for heading in fit.left_out if heading not in fit.missed_rates]
    if others:
        warnings.append(f"columns that were not used: {', '.join(others)}")
    return warnings


def _of_rows(found: Regression) -> Iterable[str]:
    """Yield what is to be said of single rows."""
    if found.other_path:
        yield (
            f"{_lines(found.other_path)} without any bytes: servers have another code path for "
            "these, they were not used"
        )
    if found.busy_without_work:
        yield (
            f"{_lines(found.busy_without_work)} with a load and without any work: this is what a "
            "fixed load is; without one they were not used, and items seem to cost more than they "
            "do"
        )
    if found.saturated:
        yield (
            f"{_lines(found.saturated)} at {percent(float(SATURATED))} load or more: what a "
            "saturated machine is asked for beyond that is not served, so that items seem "
            "cheaper than they are; they were not used (`--served` uses them: the rates are what "
            "was served)"
        )
    if found.copies:
        yield (
            f"{_lines(found.copied)} repeat{'s' * (found.copies == 1)} an earlier row in every "
            "digit: as what they add is not known, intervals are those of the "
            f"{found.distinct:,} rows that differ"
        )
    for row in found.pulling[:_MOST_NAMED]:
        yield _pull(row)
    if len(found.pulling) > _MOST_NAMED:
        yield f"{len(found.pulling) - _MOST_NAMED:,} more rows pull the numbers as far"
    worst = found.worst
    if worst is not None:
        yield (
            f"the fit misses loads by more than {percent(LARGE_RESIDUAL)} of what was measured: in "
            f"line {worst.line} {percent(worst.measured)} by {_points(worst.error)}"
        )
    low = found.at_low_load
    if low:
        yield (
            f"{_lines(low)} below {percent(float(LOW_LOAD))} load: under load work is done in "
            "batches, and an item costs less; measure near the load that you plan for"
        )


def _pull(row: Residual) -> str:
    """Return how a row pulls the numbers, and what that may come of."""
    told = pull_text(row)
    if row.left_out is not None and row.left_out > 1 > row.measured:
        return (
            f"{told}, which give it a load of {percent(row.left_out)}: was more asked for than the "
            "machine served?"
        )
    return f"{told}: is there a slip in it?"


def _lines(lines: Sequence[int]) -> str:
    """Return lines by their numbers, of many only the first ones."""
    shown = ", ".join(map(str, lines[:_MOST_NAMED]))
    more = len(lines) - _MOST_NAMED
    told = f"{shown} and {more:,} more" if more > 0 else shown
    return f"line{'s' * (len(lines) != 1)} {told}"


def component_text(found: Regression) -> str | None:
    """Return the lines to paste into a spec: the machine's idle load, and the component.

    None where a number is below zero: a spec with it would be refused.
    """
    fit = found.fit
    if below_zero(fit):
        return None
    terms = [c for c in found.coefficients if c.item is not None]
    shown = [f"{_plain(c.value * _scale(c)[0])} {_scale(c)[1]}" for c in terms]
    cores = _plain(float(fit.cores))
    unit = "core" if fit.cores == 1 else "cores"
    idle = f", idle {_plain(float(fit.fixed) * 100)} %" if fit.has_fixed else ""
    own = (term.item for term in fit.terms if term.item != INFORMATION_BASE)
    units = [f"unit {item}\n" for item in own if built_in(item) is None]
    return (
        f"{''.join(units)}machine tested {{ {fit.resource} {cores} {unit}{idle} }}\n"
        f"component step {{\n"
        f"  {fit.resource} {' + '.join(shown)} measured on tested{_at_load(found)}\n"
        f"  source {quoted(f'fitted to {fit.file}')}\n"
        "}\n"
    )


def quoted(text: str) -> str:
    """Return a text as a spec writes it: in one line, without the mark that ends it."""
    told = "".join("'" if character in '"\\\\' else character for character in printable(text))
    return f'"{told}"'


def _at_load(found: Regression) -> str:
    """Return between which loads was measured; an idle machine tells of no work."""
    fit = found.fit
    low, high = fit.loads
    if not low:
        low = min((load for row in fit.runs.used if (load := fit.runs.load[row])), default=low)
    if not low:
        return ""
    low, high = (min(load, type(load)(1)) for load in (low, high))
    shown = [_plain(float(load) * 100) for load in (low, high)]
    return f" at {'..'.join(dict.fromkeys(shown))} % load"


def _plain(value: float) -> str:
    """Return a number with six digits, as a spec may write it: without signs between digits."""
    return f"{value:.6g}"
