"""A station fitted to a closed load test as plain values, which JSON and Python show alike."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.measurement.scalability.scalability_fit import unseen_errors
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.measurement.scalability.throughput_peak import peak_of
from qps.reports.text.layout.notebook import NotebookView, ShowsItself
from qps.reports.text.layout.table import Table
from qps.reports.text.measurements.scalability_text import (
    FittedNumber,
    fitted_numbers,
    scalability_warnings,
    station_text,
)
from qps.reports.text.words.phrases import phrase


class ClientsRowView(Struct, frozen=True, kw_only=True):
    """A row of the table: clients, and throughputs in items per second.

    `response_time` is the measured mean in seconds, or null if the table has none or if it
    contradicts the throughput. `left_out` is the prediction from a fit without the rows of that
    number of clients, or null if too few numbers of clients are left.
    """

    line: int
    clients: int
    measured: float
    fitted: float
    left_out: float | None
    response_time: float | None


class ScalabilityView(ShowsItself, Struct, frozen=True, kw_only=True):
    """A station fitted to throughput by the number of clients; `component` is spec text.

    It is null if the name of the column cannot be written in a spec.

    `think` is the think time in seconds that throughput and response times show by Little's law.
    `service_variation` is the coefficient of variation of service times, or null if no percentile
    shows it. `numbers` has demand and delay in seconds, contention, coherency and bonus as
    fractions, parallel as a number of items, each with the bounds of its 95 % confidence interval.
    `noise` is the standard deviation of a new run, as a fraction of its throughput. `peak_clients`
    is the number of clients with the highest throughput within the measured range.
    """

    schema: str
    file: str
    by: str
    item: str
    numbers: tuple[FittedNumber, ...]
    degrees_of_freedom: int
    noise: float
    peak_clients: int
    peak_throughput: float
    think: float
    service_variation: float | None
    rows: tuple[ClientsRowView, ...]
    warnings: tuple[str, ...]
    component: str | None

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of it."""
        rows = tuple(
            (one.name, f"{one.value:.4g}", f"{one.low:.3g} to {one.high:.3g}")
            for one in self.numbers
        )
        return NotebookView(
            title=phrase("scalability.notebook_title", file=self.file, by=self.by),
            answer=phrase(
                "scalability.peak",
                throughput=f"{self.peak_throughput:,.4g}",
                item=self.item,
                clients=self.peak_clients,
                by=self.by,
            ),
            facts=tuple(("Warning", warning) for warning in self.warnings),
            tables=(Table(("Parameter", "Value", "95 % CI"), rows, frozenset([1, 2])),),
        )


def scalability_view(found: StationFit) -> ScalabilityView:
    """Return what `qps fit --by … --format json` prints."""
    table, unseen, peak = found.table, unseen_errors(found), peak_of(found)
    return ScalabilityView(
        schema="qps/scalability/1",
        file=table.file,
        by=table.by,
        item=table.item,
        numbers=tuple(fitted_numbers(found)),
        degrees_of_freedom=found.freedom,
        noise=found.noise,
        peak_clients=peak.clients,
        peak_throughput=peak.throughput,
        think=table.think,
        service_variation=found.variation,
        rows=tuple(
            ClientsRowView(
                line=line,
                clients=clients,
                measured=measured,
                fitted=measured * (1 + found.errors[i]),
                response_time=None if table.means is None else table.means[i],
                left_out=None if unseen is None else measured * (1 + unseen[i]),
            )
            for i, (line, clients, measured) in enumerate(
                zip(table.lines, table.clients, table.throughputs, strict=True)
            )
        ),
        warnings=tuple(scalability_warnings(found, unseen)),
        component=station_text(found),
    )
