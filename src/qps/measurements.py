"""Measurements from Python: read results of load tests, and fit service demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.syntax.importer import read_data

if TYPE_CHECKING:
    from qps.reports.text.measurements.fit_view import FitView
    from qps.reports.text.measurements.scalability_view import ScalabilityView

Runs = str | Path | ObservedRuns
"""A table of runs: a CSV file, or a result of `observe`."""
AUTO = "auto"
"""The source of files that are recognized by their content."""
NO_NAME = "runs.csv"
"""How runs are called that are no file: as a component to paste names them."""


def observe(
    source: str,
    *paths: str | Path,
    item: str = "request",
    window: str | None = None,
    interface: str | None = None,
    columns: Sequence[str] = (),
    decimal: str | None = None,
) -> ObservedRuns:
    """Read runs from the output of a tool, such as `observe("wrk", "run1.txt", "run2.txt")`.

    The arguments are those of `qps observe SOURCE`, and `observe("auto", …)` recognizes the format
    of each file, as `qps observe FILE…` does. For Prometheus, use `observe_prometheus`. You
    can pass the result to `fit` and `Model.drift`, or convert it to CSV with `as_csv()`. Raises
    QpsError if a file has no results, and TypeError if there is no path.
    """
    from qps.compiler.measurement.observations.file_texts import FileReading  # noqa: PLC0415
    from qps.compiler.measurement.observations.measurement_sources import SOURCES  # noqa: PLC0415
    from qps.compiler.measurement.observations.observed_files import observed_files  # noqa: PLC0415
    from qps.compiler.measurement.observations.recognized_files import recognized_files  # noqa: PLC0415

    if source not in (AUTO, *SOURCES):
        known = f"choose one of {', '.join((AUTO, *SOURCES))}"
        raise wrong(DataError(f"unknown source `{source}`", known))
    if not paths:
        raise TypeError("observe() takes the paths of files: observe('wrk', 'run.txt')")
    how = FileReading(
        item=item, window=window, interface=interface, column=tuple(columns), decimal=decimal
    )
    try:
        if source == AUTO:
            return recognized_files([Path(path) for path in paths], how)
        return observed_files(source, [Path(path) for path in paths], how)
    except DataError as error:
        raise wrong(error) from error


def observe_prometheus(
    url: str,
    *,
    cpu: str,
    rates: Mapping[str, str],
    since: str = "7d",
    until: str | None = None,
    window: str = "5m",
    rows: int = 200,
    cores: float | None = None,
    add_up: bool = False,
    environment: Mapping[str, str] | None = None,
    proxy: str | None = None,
) -> ObservedRuns:
    """Query runs from a Prometheus server, with the arguments of `qps observe prometheus`.

    `rates` maps items to counters: `{"request": "http_requests_total"}`. Credentials are read only
    from `environment`, with the same variable names as the command: pass `environment=os.environ`.
    `proxy` is the address of an HTTP proxy. Raises QpsError if the server does not respond or has
    no data.
    """
    from qps.compiler.measurement.observations.prometheus_requests import authorization, queries_of  # noqa: PLC0415
    from qps.compiler.measurement.observations.prometheus_runs import prometheus_runs  # noqa: PLC0415
    from qps.compiler.measurement.observations.prometheus_server import Prometheus  # noqa: PLC0415

    try:
        server = Prometheus(url, authorization(environment or {}), proxy)
        queries = queries_of(
            cpu=cpu,
            rates=[f"{item}={query}" for item, query in rates.items()],
            since=since,
            until=until,
            window=window,
            rows=rows,
            cores=None if cores is None else f"{cores}",
            adds_up=add_up,
        )
        return prometheus_runs(server, queries, lambda: None)
    except DataError as error:
        raise wrong(error) from error


def fit(
    runs: Runs,
    *,
    cores: float | None = None,
    resource: str | None = None,
    fixed: bool = True,
    served: bool = False,
    units: Sequence[str] = (),
    per: Sequence[str] = (),
    to: Runs | None = None,
) -> FitView:
    """Fit service demands to a table of runs; return them with their uncertainty.

    The result has the attributes of `qps fit --format json`. For example, `fit("web.csv",
    cores=2).component` is a component that you can paste into a spec; it names the table, so save
    the result of `observe` next to the spec, as `runs.csv`. `cores` is the number of cores if the
    table has no `cores` column. `fixed=False` is equivalent to `--no-fixed`. `units` declares your
    own item units. `per` names the demands, as `--per` does: `["token", "token * context"]`. `to`
    is a table of runs on another machine, to which the demands are scaled. Raises QpsError if the
    table has too little data.
    """
    from qps.compiler.check.model.fits.fit_requests import fitted_to  # noqa: PLC0415
    from qps.reports.text.measurements.fit_view import fit_view  # noqa: PLC0415

    text, name = text_of(runs)
    try:
        found = fitted_to(
            text,
            name,
            cores=None if cores is None else f"{cores}",
            resource=resource,
            has_fixed=fixed,
            is_served=served,
            units=units,
            per=per,
            onto=None if to is None else text_of(to),
        )
    except DataError as error:
        raise wrong(error) from error
    return fit_view(found)


def fit_scalability(runs: Runs, *, by: str, units: Sequence[str] = ()) -> ScalabilityView:
    """Fit throughput by the number of clients in a column, such as `by="threads"`.

    The result has the attributes of `qps fit --by COLUMN --format json`: demand, delay,
    parallelism, contention and coherency with their intervals, the peak, and a `component` that you
    can paste into a spec. Raises QpsError if the table cannot be fitted.
    """
    from qps.compiler.check.model.fits.fit_requests import station_fitted_to  # noqa: PLC0415

    text, name = text_of(runs)
    try:
        found = station_fitted_to(text, name, by=by, units=units)
    except DataError as error:
        raise wrong(error) from error
    from qps.reports.text.measurements.scalability_view import scalability_view  # noqa: PLC0415

    return scalability_view(found)


def text_of(runs: Runs) -> tuple[str, str]:
    """Return a table of runs as the text of a CSV, and its name; QpsError where it is none."""
    if isinstance(runs, ObservedRuns):
        return runs.as_csv(), NO_NAME
    read = read_data(Path(runs))
    if read.value is None:
        raise QpsError(read.diagnostics)
    return read.value, str(runs)


def wrong(error: DataError) -> QpsError:
    """Return the message on a table without information."""
    return QpsError.single(codes.COMMAND_LINE, None, error.message, hint=error.hint or None)
