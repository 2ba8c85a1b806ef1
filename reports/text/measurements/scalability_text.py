"""A station fitted to a closed load test as text and Markdown, with what to paste."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from statistics import median

from msgspec import Struct

from qps.compiler.check.model.fits.scalability_texts import (
    MISSED_TIME_HINT,
    contradiction_text,
    cpu_text,
    missed_text,
)
from qps.compiler.measurement.scalability.misfit_causes import misfit_causes
from qps.compiler.measurement.scalability.scalability_fit import unseen_errors
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.measurement.scalability.throughput_peak import LOSS_SHOWN, peak_of
from qps.compiler.measurement.student_t import student_quantile
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.measurements.fit_text import (
    cost_lines,
    cost_scale,
    machine_lines,
    quoted,
    signed_percent,
)
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent

_LEVEL = 0.975
_MOST_SHOWN = 40


def scalability_text(found: StationFit, *, markdown: bool = False, width: int = COLUMNS) -> str:
    """Return the numbers with their intervals, the rows, warnings and what to paste."""
    table, unseen = found.table, unseen_errors(found)
    worst = max(map(abs, found.errors))
    layout = TextLayout(
        title=phrase("scalability.title", by=table.by),
        place=table.file,
        facts=(
            ("Rows", f"{len(table.lines):,}"),
            ("Peak", _peak(found)),
            (
                phrase("term.fit_error"),
                phrase("scalability.error", error=percent(worst, 2)),
            ),
            ("Validation", _validation(unseen)),
            (phrase("scalability.response_times"), _response_times(found)),
            (phrase("scalability.service_times"), _service_times(found)),
        ),
        tables=(_numbers(found), _rows(found, unseen)),
        warnings=tuple(scalability_warnings(found, unseen)),
        pasted=station_text(found) or "",
    )
    return layout.printed(markdown=markdown, width=width)


def _peak(found: StationFit) -> str:
    peak, table = peak_of(found), found.table
    shown = phrase(
        "scalability.peak",
        throughput=number(peak.throughput),
        item=table.item,
        clients=peak.clients,
        by=table.by,
    )
    if peak.clients == table.most:
        return phrase("scalability.at_most", shown=shown)
    if peak.loss < 0.005:  # noqa: PLR2004 - less than a digit shows
        return phrase("scalability.same_with_more", shown=shown, most=table.most)
    loss = percent(peak.loss, 2)
    return phrase("scalability.less_with_more", shown=shown, loss=loss, most=table.most)


def _validation(unseen: tuple[float, ...] | None) -> str:
    if unseen is None:
        return ""
    sizes = [abs(error) for error in unseen]
    middle, most = percent(median(sizes), 2), percent(max(sizes), 2)
    return phrase("scalability.unseen", middle=middle, most=most)


def _response_times(found: StationFit) -> str:
    """Return what the measured response times say beside the throughput."""
    table = found.table
    if table.means is None:
        return ""
    if not table.think:
        return phrase("scalability.no_think_time")
    scale, unit = cost_scale(table.item, table.think)
    think = f"{number(table.think * scale)} {unit.partition('/')[0]}"
    return phrase("scalability.think_time", think=think)


def _service_times(found: StationFit) -> str:
    if found.variation is None:
        return ""
    return phrase("scalability.variation", variation=number(found.variation))


class FittedNumber(Struct, frozen=True, kw_only=True):
    """A fitted number in its base unit, with the bounds of its 95 % confidence interval."""

    name: str
    value: float
    low: float
    high: float


def fitted_numbers(found: StationFit) -> Iterator[FittedNumber]:
    """Yield the numbers that were fitted."""
    quantile = student_quantile(_LEVEL, found.freedom)
    for name in found.numbers:
        value, half = found.value_of(name), quantile * hypot(*found.weights_of(name))
        yield FittedNumber(name=name, value=value, low=max(0.0, value - half), high=value + half)


def _numbers(found: StationFit) -> Table:
    rows = []
    for one in fitted_numbers(found):
        scale, unit = _scale(found, one)
        interval = f"{number(one.low * scale)} to {number(one.high * scale)}"
        rows.append((_word(one.name), number(one.value * scale), interval, unit))
    headings = ("Parameter", "Value", "95 % CI", "Unit")
    return Table(headings, tuple(rows), frozenset([1, 2]), long=frozenset([0]))


def _word(name: str) -> str:
    """Return what a number is called."""
    if name == "demand":
        return phrase("scalability.service_demand")
    if name == "bonus":
        return phrase("scalability.bonus")
    return "parallelism" if name == "parallel" else name


def _scale(found: StationFit, one: FittedNumber) -> tuple[float, str]:
    """Return what to multiply a number with, and its unit then."""
    item = found.table.item
    match one.name:
        case "demand":
            return cost_scale(item, one.value)
        case "delay":
            scale, unit = cost_scale(item, one.value)
            return scale, unit.partition("/")[0]
        case "parallel":
            return 1.0, phrase("scalability.at_once", item=item)
        case "bonus":
            return 100.0, phrase("scalability.of_a_core")
    return 100.0, "%"


def _rows(found: StationFit, unseen: tuple[float, ...] | None) -> Table:
    table = found.table
    rows = []
    for i, (line, clients, measured) in enumerate(
        zip(table.lines, table.clients, table.throughputs, strict=True)
    ):
        fitted = measured * (1 + found.errors[i])
        left_out = "-" if unseen is None else _signed(unseen[i])
        shown = (f"{clients:,}", number(measured), number(fitted), _signed(found.errors[i]))
        rows.append((str(line), *shown, left_out))
    headings = (
        "Line",
        table.by.capitalize(),
        phrase("scalability.measured", item=table.item),
        "Fitted",
        "Error",
        phrase("fit.leave_one_out_heading"),
    )
    return Table(headings, tuple(rows[:_MOST_SHOWN]), frozenset(range(6)))


def _signed(error: float) -> str:
    return f"{error * 100:+.1f} %".replace("-0.0 ", "+0.0 ")


def scalability_warnings(found: StationFit, unseen: tuple[float, ...] | None) -> Iterator[str]:
    """Yield what makes the fit doubtful."""
    table = found.table
    if not found.has_limit:
        yield phrase("scalability.no_limit", by=table.by, most=table.most)
    for cause in misfit_causes(found, unseen):
        yield phrase(
            f"scalability.cause.{cause.cause}",
            line=cause.line,
            clients=cause.clients,
            until=cause.until,
            by=table.by,
            error=signed_percent(cause.error),
        )
    peak = peak_of(found)
    if peak.loss >= LOSS_SHOWN:
        yield phrase(
            "scalability.collapse",
            loss=percent(peak.loss, 2),
            clients=peak.clients,
            most=table.most,
            by=table.by,
        )
    if table.contradiction is not None:
        yield contradiction_text(table)
    if table.missed:
        yield f"{missed_text(table)}: {MISSED_TIME_HINT}"
    if found.is_cpu_contradicted:
        yield cpu_text(table)
    if len(table.lines) > _MOST_SHOWN:
        yield phrase("scalability.rows_shown", count=_MOST_SHOWN, of=len(table.lines))
    if not table.by.isidentifier():
        yield phrase("scalability.rename", by=table.by)


def station_text(found: StationFit) -> str | None:
    """Return the lines to paste into a spec: they name the table, so that intervals are kept.

    None where the column of clients has a name that no spec can write.
    """
    table = found.table
    if not table.by.isidentifier():
        return None
    fit = f"fit {quoted(table.file)} by {table.by}"
    delay = f"  delay {fit}\n" if "delay" in found.numbers else ""
    return (
        f"{machine_lines(f'cpu 1 core, queueing ps speeds {fit}')}\n"
        "component step {\n"
        f"{cost_lines(f'cpu {fit}', 'tested')}\n"
        f"{delay}"
        "}\n"
    )
