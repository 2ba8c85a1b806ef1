"""A fit as text, Markdown and plain values, with the component text to paste."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec.structs import replace

from qps.compiler.check.model.fits.check_fits import (
    DOWNWARD_HINT,
    MISSED_HINT,
    UPWARD_HINT,
    below_zero,
    bend_text,
    coefficient_name,
    missed_text,
    negative_cost_help,
    pull_text,
    shown_coefficient,
)
from qps.compiler.diagnostics.visible_text import one_line
from qps.compiler.measurement.bending import bend_of
from qps.compiler.measurement.fits import LOW_LOAD, SATURATED, CostFit
from qps.compiler.measurement.rate_misfits import misfit_causes
from qps.compiler.measurement.regression import LARGE_RESIDUAL, Coefficient, Regression, Residual
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME
from qps.compiler.quantities.units import built_in
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    joined_words,
    number,
    percent,
    quantity,
    unit_symbols,
)

_BYTE_BITS = 8
_NOISE = 1e-9
"""What is smaller, beside what it belongs to, comes of the arithmetic and not of a measurement."""
_MOST_SHOWN = 40
"""Rows of the text; of more, those are shown that pull and miss most."""
_MOST_NAMED = 10
"""Lines that a warning names one by one."""


def fit_text(found: Regression, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return the numbers with their intervals, the residuals, warnings and what to paste."""
    fit, component = found.fit, component_text(found)
    error = percent(found.largest_relative_error, 2)
    notes = []
    if component is None:
        reason = phrase("fit.impossible", name=below_zero(fit)[0], advice=negative_cost_help(found))
        notes.append(phrase("fit.nothing_to_paste", reason=reason))
    layout = TextLayout(
        title=phrase("fit.title", resource=fit.resource, cores=_cores(found)),
        place=fit.file,
        facts=(
            ("Rows", _row_counts(found)),
            (phrase("term.fit_error"), phrase("fit.largest_error", error=error)),
            ("Validation", _validation(found)),
            ("Scaled", _scaled(found)),
        ),
        tables=(_numbers(found), _rows(found)),
        warnings=tuple(warnings_of(found)),
        notes=tuple(notes),
        pasted=component or "",
    )
    return layout.printed(markdown=markdown, width=width)


def _row_counts(found: Regression) -> str:
    """Return how many rows there are and are used, and which of them are shown of many."""
    rows, used = len(found.fit.runs.lines), len(found.fit.runs.used)
    count_text = f"{rows:,}" if used == rows else f"{rows:,} ({used:,} used)"
    if rows <= _MOST_SHOWN:
        return count_text
    are_all = rows - found.copies <= _MOST_SHOWN
    hidden = phrase("fit.copies") if are_all else phrase("fit.least_influence")
    return phrase("fit.not_shown", text=count_text, hidden=hidden)


def _scaled(found: Regression) -> str:
    """Return to which machine demands were scaled, and by how much."""
    scale = found.fit.scale
    if scale is None:
        return ""
    return phrase("fit.scaled", file=scale.file, factor=f"{scale.factor:.3g}")


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
        heading = "idle" if coefficient.item is None else coefficient.heading
        rows.append((heading, number(coefficient.value * factor), interval, unit))
    return demands_table(rows)


def demands_table(rows: Sequence[tuple[str, ...]]) -> Table:
    """Return service demands as a table: what causes them, value, interval and unit."""
    headings = (phrase("fit.service_demand"), "Value", "95 % CI", "Unit")
    shown = tuple((*row[:-1], unit_symbols(row[-1])) for row in rows)
    return Table(headings, shown, frozenset([1, 2]), long=frozenset([0]))


def cost_scale(item: str | None, value: float) -> tuple[float, str]:
    """Return what to multiply a cost with, and its unit then; of no item it is a load."""
    if item is None:
        return 100.0, "% utilization"
    if item == INFORMATION_BASE:
        return _BYTE_BITS * 1e9, "ns/byte"
    is_long = abs(value) >= 1e-3  # noqa: PLR2004 - a millisecond
    per = f" per {item}" if " " in item else f"/{item}"  # of a product of columns
    return (1e3, f"ms{per}") if is_long else (1e6, f"µs{per}")


def _scale(coefficient: Coefficient) -> tuple[float, str]:
    if coefficient.item is not None and (coefficient.factors or coefficient.curve is not None):
        return shown_coefficient(coefficient)
    return cost_scale(coefficient.item, coefficient.value)


def _rows(found: Regression) -> Table:
    rows = tuple(
        (
            str(row.line),
            percent(row.measured),
            percent(row.fitted),
            _points(row.error),
            "-" if row.left_out is None else _points(row.left_out - row.measured),
            "" if row.is_used else phrase("term.not_used"),
        )
        for row in found.influential_rows(_MOST_SHOWN)
    )
    headings = ("Line", "Measured", "Fitted", "Error", phrase("fit.leave_one_out_heading"), "")
    return Table(headings, rows, frozenset(range(5)))


def _points(difference: float) -> str:
    shown = f"{difference * 100:+.2f} %"
    return shown.replace("-0.00", "+0.00")


def _validation(found: Regression) -> str:
    """Return how far off predictions are of rows that the fit has not seen."""
    error = found.left_out_error
    if error is None:
        return ""
    text = phrase("fit.leave_one_setting_out") if found.is_repeated else phrase("fit.leave_one_out")
    shares = [0.0 if share <= _NOISE else share for share in found.left_out_shares]
    if shares:
        middle, most = (percent(share, 2) for share in (median(shares), shares[-1]))
        text = phrase("fit.median_and_maximum", error=text, median=middle, most=most)
    error = 0.0 if error <= _NOISE else error
    points = percent(error, 2).removesuffix(" %")
    return phrase("fit.rms", text=text, points=points)


def warnings_of(found: Regression) -> list[str]:
    """Return what makes the fit doubtful."""
    fit = found.fit
    warnings = [*_of_rows(found)]
    if found.degrees_of_freedom == 0:
        warnings.append(phrase("fit.as_many_parameters"))
    warnings += [
        phrase("fit.below_zero", name=coefficient_name(c), advice=negative_cost_help(found))
        for c in found.coefficients
        if c.value < 0 and not c.is_of_curve
    ]
    warnings += [
        phrase("fit.not_significant", name=coefficient_name(c))
        for c in found.coefficients
        if c.may_be_zero
    ]
    bend = bend_of(fit)
    if bend is not None:
        hint = UPWARD_HINT if bend.is_upward else DOWNWARD_HINT
        warnings.append(f"{bend_text(fit, bend)}; {hint}")
    if found.better is not None:
        better = found.better
        warnings.append(
            phrase(
                "fit.better_column" if better.column else "fit.better_curve",
                column=better.column,
                flags=" ".join(f"--per '{cost.written}'" for cost in better.costs),
                after=percent(better.after, 2),
                before=percent(better.before, 2),
            )
        )
    if fit.shorter_latency is not None:
        shorter = fit.shorter_latency
        warnings.append(
            phrase(
                "fit.shorter_latency",
                line=shorter.line,
                latency=quantity(float(shorter.seconds), TIME, 3),
                cpu=quantity(float(fit.terms[0].value), TIME, 3),
            )
        )
    if not fit.has_cores:
        warnings.append(phrase("fit.unknown_cores"))
    if fit.missed_rates:
        warnings.append(f"{missed_text(fit)}: {MISSED_HINT.replace('`unit ', '`--unit ')}")
    others = [heading for heading in fit.left_out if heading not in fit.missed_rates]
    if others:
        warnings.append(phrase("fit.unused_columns", names=", ".join(others)))
    return warnings


def _of_rows(found: Regression) -> Iterable[str]:
    """Yield what is to be said of single rows."""
    if found.fit.not_measured:
        yield phrase("fit.not_measured", lines=_lines(found.fit.not_measured))
    if found.other_path:
        yield phrase("fit.without_bytes", lines=_lines(found.other_path))
    if found.busy_without_work:
        yield phrase("fit.idle_rows", lines=_lines(found.busy_without_work))
    if found.empty:
        yield phrase("fit.empty_rows", lines=_lines(found.empty))
    if found.saturated:
        yield phrase(
            "fit.saturated_rows", lines=_lines(found.saturated), share=percent(float(SATURATED))
        )
    if found.copies:
        yield phrase(
            "fit.repeated_rows",
            lines=_lines(found.copied),
            s="s" * (found.copies == 1),
            distinct=found.distinct,
        )
    for row in found.pulling[:_MOST_NAMED]:
        yield _pull(row)
    if len(found.pulling) > _MOST_NAMED:
        yield phrase("fit.equally_influential", count=len(found.pulling) - _MOST_NAMED)
    worst = found.worst
    if worst is not None:
        yield phrase(
            "fit.large_error",
            share=percent(LARGE_RESIDUAL),
            points=_points(worst.error),
            line=worst.line,
            share2=percent(worst.measured),
        )
    for cause in misfit_causes(found):
        yield phrase(
            f"fit.cause.{cause.cause}",
            line=cause.line,
            other=cause.other,
            error=signed_percent(cause.error),
        )
    low = found.at_low_load
    if low:
        were = "was" if len(low) == 1 else "were"
        yield phrase(
            "fit.low_utilization", lines=_lines(low), were=were, share=percent(float(LOW_LOAD))
        )


def _pull(row: Residual) -> str:
    """Return how a row pulls the numbers, and what that may come of."""
    text = pull_text(row)
    if row.left_out is not None and row.left_out > 1 > row.measured:
        return phrase("fit.less_completed", text=text, share=percent(row.left_out))
    return phrase("fit.typo", text=text)


def signed_percent(error: float) -> str:
    """Return by how many percent a prediction is off."""
    shown = f"{error:+,.0%}" if abs(error) >= 0.1 else f"{error:+.1%}"  # noqa: PLR2004 - two digits
    return shown.replace("%", " %")


def _lines(lines: Sequence[int]) -> str:
    """Return lines by their numbers, of many only the first ones."""
    first, last = lines[0], lines[-1]
    if len(lines) > 2 and last - first + 1 == len(lines):  # noqa: PLR2004 - a pair is named
        return phrase("fit.line_range", first=first, last=last)
    shown = [*map(str, lines[:_MOST_NAMED])]
    more = len(lines) - _MOST_NAMED
    text = joined_words([*shown, f"{more:,} more"] if more > 0 else shown)
    return f"line{'s' * (len(lines) != 1)} {text}"


def component_text(found: Regression) -> str | None:
    """Return the lines to paste into a spec: they name the table, so that intervals are kept.

    None where a number is below zero: a spec with it would be refused. Columns that multiply costs
    are arguments of the component.
    """
    fit = found.fit
    if below_zero(fit):
        return None
    clause = replace(fit, file=quoted(fit.file)[1:-1]).clause
    idle = clause if fit.has_fixed else "0 %"
    cost = f"{fit.resource} {clause}{'' if fit.has_fixed else ' with idle = 0 %'}"
    cores = _plain(float(fit.cores))
    unit = "core" if fit.cores == 1 else "cores"
    own = dict.fromkeys(term.item for term in fit.terms if term.item != INFORMATION_BASE)
    units = [f"unit {item}\n" for item in own if built_in(item) is None]
    names = dict.fromkeys(factor.name for term in fit.terms for factor in term.factors)
    names |= dict.fromkeys(curve.name for curve in fit.curves)
    formals = f"({', '.join(names)})" if names else ""
    return (
        f"{''.join(_before_pasting(fit))}{''.join(units)}"
        f"{machine_lines(f'{fit.resource} {cores} {unit}, idle {idle}')}\n"
        f"component step{formals} {{\n"
        f"{cost_lines(cost, 'tested')}\n"
        "}\n"
    )


def _before_pasting(fit: CostFit) -> Iterable[str]:
    """Yield what a table lacks that a spec cannot say of it, as remarks."""
    if fit.needs_served:
        yield f"# {phrase('fit.rename_served', column=fit.terms[0].column)}\n"
    if fit.not_measured:
        yield f"# {phrase('fit.remove_missing', lines=_lines(fit.not_measured))}\n"


def cost_lines(cost: str, measured_on: str) -> str:
    """Return the cost of a component and where it was measured, in two lines if it is long."""
    line = f"  {cost} measured on {measured_on}"
    return line if len(line) <= COLUMNS else f"  {cost}\n    measured on {measured_on}"


def machine_lines(attributes: str) -> str:
    """Return the machine that was tested, in one line, or in three or four if it is long."""
    line = f"machine tested {{ {attributes} }}"
    if len(line) <= COLUMNS:
        return line
    if len(attributes) > COLUMNS - _INDENT:
        attributes = attributes.replace(", ", ",\n    ", 1)
    return f"machine tested {{\n  {attributes}\n}}"


_INDENT = 2


def quoted(text: str) -> str:
    """Return a text as a spec writes it: in one line, without the mark that ends it."""
    escaped = "".join("'" if character in '"\\\\' else character for character in one_line(text))
    return f'"{escaped}"'


def _plain(value: float) -> str:
    """Return a number with six digits, as a spec may write it: without signs between digits."""
    return f"{value:.6g}"
