"""What people head columns by, and what that is: `rps`, `CPU (%)`, `p95 (ms)`, `User Count`.

One table for `qps fit`, `observe` blocks and `qps observe`. A heading that may be several things
(`Throughput`: of a second or a minute, of requests or bytes; `%CPU`: of a core or of a machine) is
none of them: whoever has the table says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler.measurement.measured_tables import MeasuredTable, NumberColumn, numbers
from qps.compiler.measurement.number_forms import MISSING

RATE, CPU_SHARE, CPU_CORES = "request/s", "cpu in %", "cpu in core"
USERS, TIME, FAILED = "users", "time", "share failed"
_THOUSANDTH = Fraction(1, 1000)
_PARTS = (
    r"(?P<name>.*?)\s*(?:\(\s*(?P<round>[^()]*)\)|\[\s*(?P<square>[^\[\]]*)\]"
    r"|\bin\s+(?P<in>.+)|,\s*(?P<comma>[^\s,]+))"
)
_ABBREVIATIONS = {
    "tps": "transaction",
    "qps": "query",
    "rps": "request",
    "ops": "operation",
    "iops": "operation",
}
"""Rates without a unit, and what each counts where the spec has that."""
_SECOND = r"s|sec|secs|second|seconds"
_ITEMS = (
    r"(?:http\s*)?(?:req|reqs|request|requests|query|queries|transactions?|hits?|calls?"
    r"|ops|operations?)"
)
_MEAN = r"(?:avg|average|mean)"
_RATES = (
    rf"(?:{_MEAN} )?(?:[rqt]ps|i?ops|{_ITEMS}\s*(?:/|per|a)\s*(?:{_SECOND}))(?: {_MEAN})?",
    rf"(?:{_MEAN} )?(?:[rqt]pm|{_ITEMS}\s*(?:/|per|a)\s*(?:m|min|minute))(?: {_MEAN})?",
)
"""Of a second, of a minute."""
_RATE_NAMES = (
    r"(?:total |average |avg |mean )?"
    r"(?:throughput|rate|load|arrival rate|request rate|requests|reqs|http reqs|)"
)
_PER = (
    rf"(?:1|{_ITEMS})?\s*/\s*(?:{_SECOND})|per second|[rqt]ps",
    r"(?:1|" + _ITEMS + r")?\s*/\s*min(?:ute)?|per minute|[rqt]pm",
)
_CPU = (
    r"(?:(?:average|avg|mean|total) )?(?:cpu|processor)"
    r"(?: ?(?:usage|used|utili[sz]ation|util|load|busy|time))?(?: (?:average|avg|mean|total))?"
)
_PERCENT = r"%|percent|pct|percentage|in %"
_USERS = (
    r"(?:(?:number of|num|concurrent|virtual|active|max|all) ?)*"
    r"(?:users?|vus?|vusers?|threads?|clients?|connections?)(?: ?count)?|concurrency"
)
_TIMES = {"s": Fraction(1000), "ms": Fraction(1), "us": _THOUSANDTH, "ns": _THOUSANDTH**2}
_TIME_UNITS = {
    **dict.fromkeys(["s", "sec", "secs", "second", "seconds"], "s"),
    **dict.fromkeys(["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"], "ms"),
    **dict.fromkeys(["us", "µs", "μs", "usec", "micros", "microsecond", "microseconds"], "us"),
    **dict.fromkeys(["ns", "nsec", "nanos", "nanosecond", "nanoseconds"], "ns"),
}
_LATENCY = (
    r"(?:(?:latency|latencies|lat|response ?times?|resp time|rt|request duration|duration)\b)"
)
_KINDS = {
    r"mean|average|avg": "mean",
    r"p50|median|med|50 ?%|50th": "p50",
    r"min|minimum|least|shortest": "least",
    r"max|maximum|longest": "longest",
    r"std ?dev|stdev|sd|std|deviation": "deviation",
}
_PERCENTILE = (
    r"(?:p|perc|percentile )\(?(\d\d(?:\.\d+)?)\)?(?:th)?"
    r"|(\d\d(?:\.\d+)?) ?(?:%|%ile|th|th ?pct|th ?percentile|% line|percentile)"
)


_LIKE_A_RATE = (
    r"(?i)(?:/|\bper\s+|\ba\s+)\s*(?:s|sec|second|min|minute|h|hour)\W*$"
    r"|(?:^|[\W_])(?:[kmgt]?(?:pps|qps|rps|tps|iops|fps|bps)|(?:[kmgt]i?)?b/s)\W*$"
)
"""What a heading has in it that was probably meant as a rate."""


_RESULTS = (
    r"latenc|\b(?:in )?(?:ns|us|ms|s|sec|seconds)$|^p\d|\b(?:time|times|elapsed|duration|rt|errors?"
    r"|failed|failures?|loss|lost|memory|mem|rss|power|watts?|temperature|cycles|instructions"
    r"|total|completed|throughput|speedup|efficiency|cpu|utili[sz]ation|mean|average|avg|median"
    r"|min|max|std|stdev)\b"
)
"""What a heading has in it that is of how a run went."""


class ColumnMeaning(Struct, frozen=True):
    """What a column is: how QPS heads it, and by what its numbers are multiplied for that."""

    heading: str
    factor: Fraction = Fraction(1)


def usual_meaning(heading: str) -> ColumnMeaning | None:
    """Return what a heading means; None where it is not certain.

    >>> [usual_meaning(one).heading for one in ("TPS", "CPU (%)", "95% [ms]", "User Count")]
    ['request/s', 'cpu in %', 'latency p95, ms', 'users']
    >>> [usual_meaning(one).heading for one in ("Avg. latency [ms]", "lat_p99_ms")]
    ['latency mean, ms', 'latency p99, ms']
    >>> usual_meaning("cpu (millicores)")
    ColumnMeaning(heading='cpu in core', factor=Fraction(1, 1000))
    >>> usual_meaning("Throughput") or usual_meaning("%CPU") or usual_meaning("p95")
    """
    word = re.sub(r"[\s_]+", " ", heading.strip()).lower()
    word = re.sub(r"^(avg|max|min|med)\.", r"\1", word)
    parts = re.fullmatch(_PARTS, word)
    name, unit = word, ""
    if parts is not None:
        name = parts["name"]
        unit = next(one for one in parts.groups()[1:] if one is not None).strip()
    return _rate(word, name, unit) or _cpu(name, unit) or _latency(name, unit) or _other(name, unit)


def _rate(word: str, name: str, unit: str) -> ColumnMeaning | None:
    for whole, per, factor in zip(_RATES, _PER, (Fraction(1), Fraction(1, 60)), strict=True):
        named = re.fullmatch(whole, word) or (not unit and re.fullmatch(whole, name))
        measured = (
            unit
            and re.fullmatch(per, unit)
            and (re.fullmatch(_RATE_NAMES, name) or re.fullmatch(whole, name))
        )
        if named or measured:
            return ColumnMeaning(RATE, factor)
    return None


def _cpu(name: str, unit: str) -> ColumnMeaning | None:
    shares = re.fullmatch(rf"(?P<name>{_CPU})\s?(?P<percent>{_PERCENT})", name)
    if not unit and shares:
        return ColumnMeaning(CPU_SHARE)
    if not re.fullmatch(_CPU, name):
        return None
    if re.fullmatch(rf"(?:{_PERCENT})(?: of (?:the|a|all)(?: machine| cores))?", unit):
        return ColumnMeaning(CPU_SHARE)
    if re.fullmatch(rf"(?:{_PERCENT}) of (?:a|one|1) core", unit):
        return ColumnMeaning(CPU_CORES, Fraction(1, 100))
    if re.fullmatch(r"v?cores?|v?cpus?", unit):
        return ColumnMeaning(CPU_CORES)
    if re.fullmatch(r"m|milli ?(?:cores?|cpus?)|mcores?|mcpu", unit):
        return ColumnMeaning(CPU_CORES, _THOUSANDTH)
    return None


def _latency(name: str, unit: str) -> ColumnMeaning | None:
    if not unit:  # `latency ms`, `p95_ms`
        name, _, unit = name.rpartition(" ")
    known = _TIME_UNITS.get(unit)
    if known is None:
        return None
    bare = re.sub(rf"\b{_LATENCY}", "", name).strip()
    kind = latency_kind(bare) if bare else "mean" if name else None
    return None if kind is None else ColumnMeaning(f"latency {kind}, ms", _TIMES[known])


def latency_kind(name: str) -> str | None:
    """Return which latency a name is of, in small letters: `95th percentile`, `avg`.

    >>> latency_kind("95% line"), latency_kind("p(99.9)"), latency_kind("median")
    ('p95', 'p99.9', 'p50')
    """
    for words, kind in _KINDS.items():
        if re.fullmatch(words, name):
            return kind
    found = re.fullmatch(_PERCENTILE, name)
    return None if found is None else f"p{float(found[1] or found[2]):g}"


def _other(name: str, unit: str) -> ColumnMeaning | None:
    if not unit and re.fullmatch(_USERS, name):
        return ColumnMeaning(USERS)
    if not unit and re.fullmatch(r"@?time(?:stamp)?|date ?time|date", name):
        return ColumnMeaning(TIME)
    failed = re.fullmatch(
        r"(?:error|errors|failed|failure|failures|fail)(?: rate| ratio)?\s*(%?)", name
    )
    if failed and (failed[1] or unit in ("%", "percent")):
        return ColumnMeaning(FAILED, Fraction(1, 100))
    return None


def is_result(heading: str) -> bool:
    """Return whether a heading is of what a run showed, such as a time, errors or memory.

    >>> [is_result(one) for one in ("p99 in ms", "avg_ms", "latency", "elapsed", "batch", "size")]
    [True, True, True, True, False, False]
    """
    word = re.sub(r"[\s_]+", " ", heading.strip()).lower()
    return (
        usual_meaning(heading) is not None
        or looks_like_rate(heading)
        or re.search(_RESULTS, word) is not None
    )


def looks_like_rate(heading: str) -> bool:
    """Return whether a heading was probably meant as a rate.

    >>> [looks_like_rate(h) for h in ("kpacket/s", "rps", "calls per second", "users", "caps")]
    [True, True, True, False, False]
    """
    return re.search(_LIKE_A_RATE, heading.strip()) is not None


def rate_hint(table: MeasuredTable) -> str:
    """Return how a rate is to be headed, by name where a column looks like one."""
    likely = [heading for heading in table.headings if looks_like_rate(heading)]
    if likely:
        return f"rename `{likely[0]}` to its unit, such as `request/s`"
    return "name a column by its unit: `packet/s`, `request/s`, `byte/s` or `Mbit/s`"


def served_hint(table: MeasuredTable, rates: Sequence[str]) -> str:
    """Return how the throughput of a full machine is to be headed, if a column may be that.

    `rates` are the columns that are known to be one, of items.
    """
    likely = rates or [heading for heading in table.headings if looks_like_rate(heading)]
    if not likely:
        return ""
    unit = rates[0] if rates else RATE
    return f"; if `{likely[0]}` is the throughput of a full machine, name it `served in {unit}`"


def with_usual_headings(
    table: MeasuredTable,
    unchanged: Sequence[str] = (),
    is_unit: Callable[[str], bool] = lambda _: False,
) -> MeasuredTable:
    """Return a table headed as QPS heads its columns, where that is certain; `unchanged` ones stay.

    `tps` counts transactions where those are a unit, else requests, as all rates of items do.

    Of two columns with one meaning neither is renamed.
    """
    meanings = {
        heading: usual_meaning(heading) for heading in table.headings if heading not in unchanged
    }
    wanted = [meaning.heading for meaning in meanings.values() if meaning is not None]
    columns: dict[str, tuple[str, ...]] = {}
    for heading, cells in table.columns.items():
        meaning = meanings.get(heading)
        if meaning is None or meaning.heading == heading or wanted.count(meaning.heading) > 1:
            columns[heading] = cells
            continue
        item = _ABBREVIATIONS.get(heading.strip().lower(), "")
        named = f"{item}/s" if item and is_unit(f"{item}/s") else meaning.heading
        columns[named] = scaled(cells, meaning.factor)
    return MeasuredTable(table.name, tuple(columns), table.lines, columns)


def with_usual_names(table: MeasuredTable) -> MeasuredTable:
    """Return a table whose columns have their own headings and the usual ones: `rps`, `request/s`.

    >>> table = MeasuredTable("a.csv", ("rps",), (2,), {"rps": ("120",)})
    >>> with_usual_names(table).headings
    ('rps', 'request/s')
    """
    columns = {**table.columns, **with_usual_headings(table).columns, **table.columns}
    return MeasuredTable(table.name, tuple(columns), table.lines, columns)


def measured_rows(table: MeasuredTable, headings: Sequence[str | None]) -> MeasuredTable:
    """Return a table without the rows in which one of these columns was not measured.

    It stays as it is where too few are left for a number of each column.
    """
    columns = [table.columns[heading] for heading in headings if heading is not None]
    if all(MISSING.isdisjoint(map(str.lower, cells)) for cells in columns):
        return table
    missing = {
        row for cells in columns for row, cell in enumerate(cells) if cell.lower() in MISSING
    }
    if not missing or len(table.lines) - len(missing) < len(columns):
        return table
    rows = [row for row in range(len(table.lines)) if row not in missing]
    return MeasuredTable(
        table.name,
        table.headings,
        tuple(table.lines[row] for row in rows),
        {heading: tuple(cells[row] for row in rows) for heading, cells in table.columns.items()},
    )


def scaled(cells: Sequence[str], factor: Fraction) -> tuple[str, ...]:
    """Return numbers of cells times a factor, as texts; what is no number stays.

    >>> scaled(["250", "-", "1e3"], Fraction(1, 1000))
    ('0.25', '-', '1')
    """
    return tuple(cells) if factor == 1 else tuple(_scaled(cell, factor) for cell in cells)


def _scaled(cell: str, factor: Fraction) -> str:
    found = None if cell.lower() in MISSING else numbers([cell])
    if not isinstance(found, NumberColumn):
        return cell
    value = found[0] * factor
    return f"{float(value):.9g}"
