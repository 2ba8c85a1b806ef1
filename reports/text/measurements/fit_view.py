"""A fit as plain values, which JSON and Python show alike."""

from __future__ import annotations

from statistics import median

from msgspec import Struct

from qps.compiler.measurement.cost_products import CurveKind
from qps.compiler.measurement.regression import Coefficient, Regression
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.reports.text.layout.notebook import NotebookView, ShowsItself
from qps.reports.text.measurements.fit_text import component_text, demands_table, warnings_of
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent

_MOST_LISTED = 1_000
"""Rows, of more those that pull and miss most."""


class CoefficientView(Struct, frozen=True, kw_only=True):
    """A fitted value: CPU seconds per item or bit; if `per` is null, a utilization or an exponent.

    `half_width` is half the width of the 95 % confidence interval, or null without residuals.
    """

    name: str
    per: str | None
    value: float
    half_width: float | None


class RowView(Struct, frozen=True, kw_only=True):
    """A row of the table and the utilization of the machine; `pull` is Cook's distance.

    `left_out` is the prediction from a fit without this row, or null if the fit needs the row.
    """

    line: int
    measured: float
    fitted: float
    left_out: float | None
    pull: float | None
    used: bool


class FitView(ShowsItself, Struct, frozen=True, kw_only=True):
    """Service demands fitted to a table; `component` is spec text, null if a demand is negative."""

    schema: str
    file: str
    resource: str
    cores: float
    coefficients: tuple[CoefficientView, ...]
    row_count: int
    rows: tuple[RowView, ...]
    distinct_rows: int
    settings: int
    degrees_of_freedom: int
    left_out_error: float | None
    left_out_shares: dict[str, float] | None
    largest_relative_error: float
    columns_left_out: tuple[str, ...]
    scaled_to: str | None
    scale: float | None
    warnings: tuple[str, ...]
    component: str | None

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of it: the costs, and how far to trust them."""
        rows = tuple(
            (
                one.name,
                f"{one.value:.4g}",
                "" if one.half_width is None else f"± {one.half_width:.2g}",
                f"s/{one.per}" if one.per else "utilization" * (one.name == "fixed"),
            )
            for one in self.coefficients
        )
        costs = demands_table(rows)
        shares = self.left_out_shares
        unseen = (
            ""
            if shares is None
            else phrase("fit.leave_one_out_median", share=percent(shares["median"], 2))
        )
        return NotebookView(
            title=phrase("fit.notebook_title", file=self.file, resource=self.resource),
            answer=phrase("fit.notebook_summary", count=len(rows), rows=self.row_count),
            facts=(
                ("Validation", unseen),
                *(("Warning", warning) for warning in self.warnings),
            ),
            tables=(costs,),
        )


def _per(one: Coefficient) -> str | None:
    """Return what a number is per; None for the utilization without work and for an exponent."""
    if one.curve is not None and one.is_of_curve and one.curve.kind is CurveKind.POWER:
        return None
    return "bit" if one.item == INFORMATION_BASE else one.item


def fit_view(found: Regression) -> FitView:
    """Return what `qps fit --format json` prints."""
    fit, shares = found.fit, found.left_out_shares
    return FitView(
        schema="qps/fit/1",
        file=fit.file,
        resource=fit.resource,
        cores=float(fit.cores),
        coefficients=tuple(
            CoefficientView(
                name=one.heading,
                per=_per(one),
                value=one.value,
                half_width=one.half_width,
            )
            for one in found.coefficients
        ),
        row_count=len(fit.runs.lines),
        rows=tuple(
            RowView(
                line=row.line,
                measured=row.measured,
                fitted=row.fitted,
                left_out=row.left_out,
                pull=row.pull,
                used=row.is_used,
            )
            for row in found.influential_rows(_MOST_LISTED)
        ),
        distinct_rows=found.distinct,
        settings=found.settings,
        degrees_of_freedom=found.degrees_of_freedom,
        left_out_error=found.left_out_error,
        left_out_shares={"median": median(shares), "most": shares[-1]} if shares else None,
        largest_relative_error=found.largest_relative_error,
        columns_left_out=tuple(fit.left_out),
        scaled_to=None if fit.scale is None else fit.scale.file,
        scale=None if fit.scale is None else fit.scale.factor,
        warnings=tuple(warnings_of(found)),
        component=component_text(found),
    )
