"""The tools whose files `qps observe` reads, a row each; readers are imported when used."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.measurement.observations.machines.machine_tools import MACHINE_TOOLS
from qps.compiler.measurement.observations.source_layouts import (
    FileLayout,
    MeasurementTool,
    ReaderOutput,
)


class Flag(Struct, frozen=True):
    """A flag of a source: what stands behind it, what it does, and its default."""

    metavar: str
    help: str
    default: str
    repeats: bool = False


FLAGS = {
    "window": Flag("TIME", "write one row per window of this length", "one row in total"),
    "item": Flag("NAME", "name the rate column NAME/s", "request"),
    "interface": Flag("NAME", "count only packets on this interface", "all except lo"),
    "process": Flag(
        "NAME",
        "count only processes or containers of this name",
        "all, if they have one name",
    ),
    "offset": Flag(
        "TIME",
        "how far the clock of the machine is ahead of the load generator's: 2s, -1h",
        "0s",
    ),
    "column": Flag(
        "COLUMN=MEANING",
        "state what a column of a table is, such as 'Throughput=request/s'; repeatable",
        "by its heading",
        repeats=True,
    ),
    "decimal": Flag("SIGN", "the decimal sign of a table, . or ,", "by its numbers"),
}
"""By the fields of `FileReading` that they set."""

TABLE = "table"
"""What any table is read as that no tool has written."""
_TIMED = ("window", "item")
SOURCES = {
    one.name: one
    for one in (
        MeasurementTool(
            name="k6",
            files="summary as JSON or text, or data points from --out csv or json",
            layouts=(
                FileLayout(
                    reader="k6_points.k6_point_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="k6_points.are_points",
                ),
                FileLayout(reader="k6_summaries.k6_runs", output=ReaderOutput.SUMMARY),
            ),
            takes=_TIMED,
            hint="write data points with `k6 run --out csv=run.csv`",
            signs=(
                r"\Ametric_name,timestamp,metric_value",
                r'\A\{"type":"(?:Metric|Point)"',
                r'"(?:http_reqs|iterations|iteration_duration)"\s*:',
                r"^\s*(?:[✓✗] )?(?:http_reqs|iterations|iteration_duration)\.{3,}:",
            ),
            recognized_by="`http_reqs` or `iterations`",
        ),
        MeasurementTool(
            name="wrk",
            files="printed output (with percentiles if run with --latency)",
            layouts=(FileLayout(reader="printed_results.wrk_runs", output=ReaderOutput.SUMMARY),),
            signs=(
                r"^Running .* test @ .*\n(?!\S)",
                r"^Requests/sec:",
            ),
            recognized_by="a line `Running … test @`",
        ),
        MeasurementTool(
            name="h2load",
            files="printed output, or its --log-file",
            layouts=(
                FileLayout(
                    reader="generator_logs.h2load_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generator_logs.is_h2load_log",
                ),
                FileLayout(reader="printed_results.h2load_runs", output=ReaderOutput.SUMMARY),
            ),
            takes=_TIMED,
            hint="write a log with `h2load --log-file=run.log`",
            signs=(
                r"^starting benchmark\.\.\.",
                r"^finished in .* req/s",
                r"\A\d{15,17}\t-?\d{1,3}\t\d{1,15}\s",
            ),
            recognized_by="a line `finished in …, req/s`, or times, statuses and durations",
        ),
        MeasurementTool(
            name="jmeter",
            files="results as CSV or XML (-l run.jtl)",
            layouts=(
                FileLayout(
                    reader="request_logs.jmeter_xml_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generators.jmeter_xml.is_xml",
                ),
                FileLayout(reader="request_logs.jmeter_runs", output=ReaderOutput.SAMPLES),
            ),
            takes=_TIMED,
            signs=(
                r'\A(?:.*[,;|\t])?"?timeStamp"?[,;|\t](?:.*[,;|\t])?"?elapsed\b',
                r"\A\s*(?:<\?xml[^>]{0,200}>\s*)?<testResults\b",
            ),
            recognized_by="the columns `timeStamp` and `elapsed`, or the element `testResults`",
        ),
        MeasurementTool(
            name="pgbench",
            files="printed output, or transaction logs (--log)",
            layouts=(
                FileLayout(
                    reader="generator_logs.pgbench_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generator_logs.is_pgbench_log",
                ),
                FileLayout(reader="printed_results.pgbench_runs", output=ReaderOutput.SUMMARY),
            ),
            takes=_TIMED,
            hint="log with `pgbench --log`, without --aggregate-interval and --sampling-rate",
            run_of="generator_logs.run_of",
            signs=(
                r"^transaction type: ",
                r"\A\d{1,9} \d{1,18} (?:\d{1,15}|skipped|failed) \d{1,9} \d{9,11} \d{1,6}\b",
            ),
            recognized_by="a line `transaction type`, or a transaction log",
        ),
        MeasurementTool(
            name="sysbench",
            files="printed output",
            layouts=(
                FileLayout(reader="printed_results.sysbench_runs", output=ReaderOutput.SUMMARY),
            ),
            signs=(
                r"^sysbench \d",
                r"^General statistics:\s*$",
                r"^Test execution summary:\s*$",
            ),
            recognized_by="a line `sysbench …` or `General statistics`",
        ),
        MeasurementTool(
            name="ab",
            files="printed output",
            layouts=(
                FileLayout(
                    reader="generators.printed_generators.ab_runs", output=ReaderOutput.SUMMARY
                ),
            ),
            signs=(r"^This is ApacheBench", r"^Concurrency Level:"),
            recognized_by="a line `This is ApacheBench` or `Concurrency Level`",
        ),
        MeasurementTool(
            name="hey",
            files="printed output, or requests as CSV (-o csv)",
            takes=_TIMED,
            hint="write requests with `hey -o csv`",
            layouts=(
                FileLayout(
                    reader="generators.sent_requests.hey_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generators.sent_requests.is_hey_log",
                ),
                FileLayout(
                    reader="generators.printed_generators.hey_runs", output=ReaderOutput.SUMMARY
                ),
            ),
            signs=(r"^Summary:\s*\n\s+Total:\s+[\d.]+ secs", r"\Aresponse-time,DNS\+dialup,DNS,"),
            recognized_by="lines `Summary:` and `Total: … secs`, or the columns of its requests",
        ),
        MeasurementTool(
            name="vegeta",
            files="output of `vegeta report`, or requests from `vegeta encode` as JSON or CSV",
            takes=_TIMED,
            hint="write requests with `vegeta encode --to json`",
            layouts=(
                FileLayout(
                    reader="generators.sent_requests.vegeta_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generators.sent_requests.is_vegeta_log",
                ),
                FileLayout(
                    reader="generators.json_reports.vegeta_json_runs",
                    output=ReaderOutput.SUMMARY,
                    begins="generators.json_reports.is_json",
                ),
                FileLayout(
                    reader="generators.printed_generators.vegeta_runs",
                    output=ReaderOutput.SUMMARY,
                ),
            ),
            signs=(
                r"^Requests\s+\[total, rate",
                r'\A\s*\{\s*"latencies":\s*\{\s*"total"',
                r'\A\{"attack":"[^"]*","seq":',
                r"\A\d{19},\d{1,3},\d{1,15},\d{1,18},\d{1,18},",
            ),
            recognized_by="a line `Requests [total, rate]`, or the fields of its JSON and CSV",
        ),
        MeasurementTool(
            name="locust",
            files="tables that `--csv NAME` writes: statistics, or their history",
            layouts=(
                FileLayout(
                    reader="generators.locust_tables.locust_history_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generators.locust_tables.is_history",
                ),
                FileLayout(
                    reader="generators.locust_tables.locust_runs", output=ReaderOutput.SUMMARY
                ),
            ),
            takes=_TIMED,
            hint="read NAME_stats_history.csv, written with `--csv-full-history`",
            signs=(
                r'\A"?Type"?,"?Name"?,"?Request Count\b',
                r'\A"?Timestamp"?,"?User Count"?,"?Type\b',
            ),
            recognized_by="its column names",
        ),
        MeasurementTool(
            name="redis-benchmark",
            files="printed output",
            layouts=(
                FileLayout(
                    reader="generators.printed_generators.redis_runs", output=ReaderOutput.SUMMARY
                ),
            ),
            signs=(r"====== .{1,100} ======\s*$",),
            recognized_by="a line `====== TEST ======`",
        ),
        MeasurementTool(
            name="fio",
            files="output as JSON (--output-format=json)",
            layouts=(
                FileLayout(reader="generators.json_reports.fio_runs", output=ReaderOutput.SUMMARY),
            ),
            signs=(r'"fio version"\s*:',),
            recognized_by="`fio version`",
        ),
        MeasurementTool(
            name="oha",
            files="printed output, or report as JSON (--output-format json)",
            layouts=(
                FileLayout(
                    reader="generators.printed_generators.oha_printed_runs",
                    output=ReaderOutput.SUMMARY,
                    begins="generators.printed_generators.is_printed_oha",
                ),
                FileLayout(reader="generators.http_reports.oha_runs", output=ReaderOutput.SUMMARY),
            ),
            signs=(r'"latencyPercentiles"\s*:', r"^\s+Success rate:\s+[\d.]+%?\s*$"),
            recognized_by="`latencyPercentiles`, or a line `Success rate`",
        ),
        MeasurementTool(
            name="fortio",
            files="report as JSON (fortio load -json)",
            layouts=(
                FileLayout(
                    reader="generators.http_reports.fortio_runs", output=ReaderOutput.SUMMARY
                ),
            ),
            signs=(r'"ActualQPS"\s*:',),
            recognized_by="`ActualQPS`",
        ),
        MeasurementTool(
            name="artillery",
            files="report of version 2 as JSON (--output)",
            layouts=(
                FileLayout(
                    reader="generators.http_reports.artillery_runs", output=ReaderOutput.SUMMARY
                ),
            ),
            signs=(r'"vusers\.created"\s*:',),
            recognized_by="`vusers.created`",
        ),
        MeasurementTool(
            name="gatling",
            files="simulation.log of version 3 as text, or js/stats.json or stats.js of a report",
            layouts=(
                FileLayout(
                    reader="generators.gatling_logs.gatling_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generators.gatling_logs.is_gatling_log",
                ),
                FileLayout(
                    reader="generators.http_reports.gatling_stats_runs",
                    output=ReaderOutput.SUMMARY,
                ),
            ),
            takes=_TIMED,
            hint="read `simulation.log`",
            signs=(
                r"\A(?:ASSERTION\t.{0,2000}\n){0,99}RUN\t[^\t\n]{1,500}\t",
                r'"meanNumberOfRequestsPerSecond"\s*:',
            ),
            recognized_by="a line `RUN`, or `meanNumberOfRequestsPerSecond`",
        ),
        MeasurementTool(
            name="hdr-histogram",
            files="percentiles printed by HdrHistogram, or by `vegeta report -type=hdrplot`",
            layouts=(
                FileLayout(
                    reader="generators.latency_histograms.histogram_table",
                    output=ReaderOutput.TABLE,
                ),
            ),
            takes=("column",),
            signs=(r"\A\s*Value(?:\(\w+\))?\s+Percentile\s+TotalCount\b",),
            recognized_by="the columns `Value`, `Percentile` and `TotalCount`",
        ),
        MeasurementTool(
            name="access-log",
            files="access logs of nginx and Apache (combined or common, or with $request_time)",
            layouts=(
                FileLayout(
                    reader="generators.access_logs.access_log_runs", output=ReaderOutput.SAMPLES
                ),
            ),
            takes=_TIMED,
            signs=(
                r'^\S{1,200} \S{1,200} [^\[\n]{0,200}\[\d\d/\w{3}/\d{4}:[\d:]{8} [+-]\d{4}\] "',
            ),
            recognized_by="times such as `[01/Mar/2026:10:00:00 +0000]`",
        ),
        *MACHINE_TOOLS,
        MeasurementTool(
            name=TABLE,
            files="any table with column names, such as a spreadsheet as CSV",
            layouts=(FileLayout(reader="spreadsheets.sheet_table", output=ReaderOutput.TABLE),),
            takes=("column", "decimal"),
            recognized_by="a line of column names, and no other format",
        ),
    )
}
"""All of them by name, in the order of `qps observe --help`."""
