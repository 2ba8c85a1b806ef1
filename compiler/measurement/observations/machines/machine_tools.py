"""The tools that measure machines, a row each."""

from __future__ import annotations

from qps.compiler.measurement.observations.source_layouts import (
    FileLayout,
    MeasurementTool,
    ReaderOutput,
)

_CAPTURES = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
)
"""How pcap (both orders of bytes, us and ns) and pcapng begin."""

MACHINE_TOOLS = (
    MeasurementTool(
        name="sar",
        files="printed output, or output of `sadf -j FILE -- -u -n DEV`",
        layouts=(FileLayout(reader="sar_samples.sar_table", output=ReaderOutput.TABLE),),
        takes=("interface",),
        signs=(
            r'"sysstat"\s*:',
            r"^\d\d:\d\d:\d\d(?: [AP]M)?\s+(?:CPU\s.*%idle|IFACE\s.*rxpck/s)",
        ),
        recognized_by="tables of `CPU` or `IFACE` below times",
    ),
    MeasurementTool(
        name="vmstat",
        files="printed output, with times if run with -t",
        layouts=(
            FileLayout(reader="machines.vmstat_samples.vmstat_table", output=ReaderOutput.TABLE),
        ),
        takes=(),
        signs=(r"^-*procs-* -+memory-+",),
        recognized_by="a line `procs ---memory---`",
    ),
    MeasurementTool(
        name="pidstat",
        files="printed output of `pidstat -u`",
        layouts=(
            FileLayout(reader="machines.pidstat_samples.pidstat_table", output=ReaderOutput.TABLE),
        ),
        takes=("process",),
        signs=(r"\b(?:PID|TGID)\s.*%CPU\s.*\bCommand\s*$",),
        recognized_by="the columns `PID`, `%CPU` and `Command`",
    ),
    MeasurementTool(
        name="docker-stats",
        files="output of `docker stats`, printed or with --format json",
        layouts=(
            FileLayout(reader="machines.docker_samples.docker_table", output=ReaderOutput.TABLE),
        ),
        takes=("process",),
        signs=(r"\b(?:NAME|CONTAINER)\s{2,}CPU %\s{2,}", r'"CPUPerc"\s*:\s*"'),
        recognized_by="`CPU %` and `NAME` or `CONTAINER`, or `CPUPerc`",
    ),
    MeasurementTool(
        name="prometheus-json",
        files="results of a range query, from query_range or `promtool query range -o json`",
        layouts=(
            FileLayout(reader="machines.prometheus_ranges.range_table", output=ReaderOutput.TABLE),
        ),
        takes=("column",),
        signs=(
            r'"resultType"\s*:\s*"',
            r'\A\s*\[\s*\{\s*"metric"\s*:\s*\{',
        ),
        recognized_by="`resultType` or `metric`",
    ),
    MeasurementTool(
        name="pcap",
        files="packet captures from tcpdump or Wireshark",
        layouts=(FileLayout(reader="packet_captures.capture_table", output=ReaderOutput.TABLE),),
        takes=("window",),
        window="1s",
        magic=_CAPTURES,
        recognized_by="its first bytes",
    ),
)
"""In the order of `qps observe --help`."""
