"""Outputs of known tools that are not read: what each is, and what to write instead."""

from __future__ import annotations

import re

_ARTILLERY = "write it as JSON with version 2: `artillery run --output report.json`"
_AB = "save what ab prints, without `-e`, `-g` and `-w`: `ab … > ab.txt`"
_FIO = "write it as JSON: `fio --output-format=json JOB > fio.json`"
_LOCUST = "read NAME_stats.csv or NAME_stats_history.csv, which `locust --csv NAME` writes"
_SADF = "write it with `sadf -j FILE -- -u -n DEV > sar.json`"
_PIDSTAT = "record a process with `LC_ALL=C pidstat -u -h 1 -p PID > pidstat.txt`"
_VMSTAT = "record the CPU with `LC_ALL=C vmstat -t 1 > vmstat.txt`"
_TABLE = (
    "write its numbers as a CSV table with column names such as `users`, `request/s` and "
    "`latency mean, ms`"
)
_BINARY = {
    rb"[\s\S]{0,8}\x06Result\x01[\s\S]{0,20}Attack": (
        "the binary results of vegeta",
        "write them as text: `vegeta encode --to json FILE > requests.json`",
    ),
    rb"\x00\x00\x00\x00[\x05-\x20]\d{1,2}\.\d{1,3}\.": (
        "the binary log of a newer version of Gatling",
        "read `js/stats.json` of its report, or `js/stats.js` where there is none",
    ),
}
_TEXTS = {
    r"(?ms).{0,9999}?^\s*(?:(?:Summary|Complete) report|Report for the previous \S+) @ ": (
        "what artillery prints",
        _ARTILLERY,
    ),
    r"(?ms).{0,2000}?^Phase started: ": ("what artillery prints", _ARTILLERY),
    r'(?s)\A\s*\{.{0,3000}?"scenariosCreated"\s*:': ("a report of artillery 1", _ARTILLERY),
    r"\APercentage served,Time in ms": ("what `ab -e` writes", _AB),
    r"\Astarttime\tseconds\tctime\tdtime\tttime\twait": ("what `ab -g` writes", _AB),
    r"(?s).{0,2000}?<tr ?><th[^>]{0,50}>Server Software:": ("what `ab -w` prints", _AB),
    r"(?ms).{0,9999}?^\S.{0,200}: \(g=\d{1,6}\): rw=": ("what fio prints", _FIO),
    r"(?s).{0,2000}?\b\d;fio-\d": ("fio's terse output", _FIO),
    r"\A\"?Method\"?,\"?Name\"?,\"?Error\"?,\"?Occurrences\b": ("Locust's failures", _LOCUST),
    r"\A\"?Count\"?,\"?Message\"?,\"?Traceback\b": ("Locust's exceptions", _LOCUST),
    r'(?s)\A\s*\[.{0,3000}?"num_requests"\s*:.{0,3000}?"num_none_requests"\s*:': (
        "what `locust --json` prints",
        _LOCUST,
    ),
    r"(?ms).{0,9999}?^Type\s+Name\s+# reqs\s+# fails": ("what Locust prints", _LOCUST),
    r"(?m)\ABucket\s+#\s+%\s+Histogram\s*$": (
        "a histogram of vegeta",
        "write the report without `-type=hist`: `vegeta report -type=json`",
    ),
    r"\Arequest-start,DNS,DNS\+dialup,Response-delay,": (
        "single requests of oha",
        "write the report: `oha --no-tui --output-format json URL > oha.json`",
    ),
    r"\A\d{13},\d{1,9},[^\n]{0,2000},(?:true|false),": (
        "results of JMeter without a header",
        "write them with a header: `-Jjmeter.save.saveservice.print_field_names=true`",
    ),
    r"(?s).{0,2000}?\b[\w -]{1,40}: rps=[\d.]{1,20} \(overall: ": (
        "what `redis-benchmark -q` prints",
        "run it without `-q`, or with `--csv`",
    ),
    r"(?m)\A\d{10} \d{1,12} \d{1,18} \d{1,18} \d{1,12} \d{1,12}(?: \d{1,18})*$": (
        "an aggregated log of pgbench",
        "log with `pgbench --log`, without `--aggregate-interval`",
    ),
    r'(?s)\A\s*\{\s*"status"\s*:\s*"error"\s*,.{0,200}?"errorType"\s*:': (
        "an error message of Prometheus",
        "correct the query, and save its result",
    ),
    r"\A.{0,2000} =>\s*-?[\d.eE+-]{1,30} @\[\d{9,10}(?:\.\d{1,3})?\]": (
        "what promtool prints",
        "write it as JSON: `promtool query range -o json …`",
    ),
    r"(?ms).{0,9999}?^Fortio [\w.-]{1,40} running at ": (
        "what fortio prints",
        "write it as JSON: `fortio load -json fortio.json …`",
    ),
    r'(?s).{0,5000}?"transaction_rate"\s*:': ("a report of siege", _TABLE),
    r"(?ms).{0,9999}?^Transactions:\s+\d+ hits": ("what siege prints", _TABLE),
    r'(?s)\A\s*\{.{0,9999}?"p97_5"\s*:': ("a report of autocannon", _TABLE),
    r"(?s).{0,2000}?\bRunning \d{1,6}s test @ \S+\s+\d{1,6} connections\b": (
        "what autocannon prints",
        _TABLE,
    ),
    r"\A# hostname[;,]interval[;,]time": ("what `sadf -d` writes", _SADF),
    r"(?m)\A\S{1,200}\t-?\d{1,9}\t[^\t]{8,40}\t\S{1,30}\t%?[\w./%-]{1,30}\t-?[\d.]{1,30}$": (
        "what `sadf -p` writes",
        _SADF,
    ),
    r"\A[\d:]{8}(?: UTC)?; (?:CPU|INTR|CSWCH|DEV|IFACE)\b": ("what `sadf -r` writes", _SADF),
    r"(?s)\A\s*<.{0,500}?<sysstat\b": ("what `sadf -x` writes", _SADF),
    r"(?s)\A\s*<.{0,3000}?<svg\b": ("a picture", "use the data that it was drawn from"),
    r"(?m)\A(?:Linux .{0,200}\s+)?.{0,40}\bUID\s+PID\s+usr-ms\s": (
        "what `pidstat -T CHILD` prints",
        _PIDSTAT,
    ),
    r"\Atop - \d": ("what top prints", _PIDSTAT),
    r"(?ms)\A(?:Linux .{0,200}\s+)?.{0,2000}?^Device:?\s.*(?:\btps\b|\br/s\b)": (
        "what iostat prints",
        _VMSTAT,
    ),
    r"\Adisk-\s|\A\s*\d{1,18} K total memory|\A\s*\d{1,9} disks": (
        "output of vmstat without the CPU",
        _VMSTAT,
    ),
}


def unread_report(start: bytes, text: str) -> tuple[str, str] | None:
    """Return what a file is by its first bytes and their text, and what helps; None if unknown."""
    for magic, found in _BINARY.items():
        if re.match(magic, start):
            return found
    return next((found for sign, found in _TEXTS.items() if re.match(sign, text)), None)
