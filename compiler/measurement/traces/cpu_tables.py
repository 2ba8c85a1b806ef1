"""A table of CPU and requests by service and time: which column is what, and in which unit.

A heading may lie: `CpuUsage(m)` of a data set is per cent of a core, not millicores. A column
beside it, in per cent of the limit, shows that: limits of 20 or 30 millicores are too small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import MOST_RUNS, DataError, MeasuredTable, read_table
from qps.compiler.measurement.observations.file_texts import text_of
from qps.compiler.measurement.usual_headings import CPU_CORES, CPU_SHARE, RATE, usual_meaning

UNITS = {"cores": 1.0, "millicores": 1e-3, "percent": 1e-2}
"""Of the CPU column, in cores; `percent` is per cent of one core."""
_LEAST_LIMIT = 0.05
"""In cores: what is below was never a limit of a container that serves requests."""
_LEAST_BUSY = 0.02
"""In cores: where no service uses more, a column in millicores may be in per cent."""
_SERVICE = (
    r"(?:pod |container |micro ?)?"
    r"(?:service|workload|deployment|app|component|job|pod|container)(?: ?name)?"
)
_TIME = r"time ?stamp|time|minute|window|date ?time|date|ts|timestamp"
_WORK = r"(?:pod |service )?(?:workload|requests?|throughput|rate|request rate|load|calls?)"
_UNIT = re.compile(r"(.*?)\s*[(\[]\s*([^()\[\]]*?)\s*[)\]]\s*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_POD = re.compile(r"(.+?)(?:-[a-z0-9]{8,10})?-[a-z0-9]{5}")


class CpuRow(Struct, frozen=True, kw_only=True):
    """One window of one service: the cores that it used, and its requests per s."""

    cores: float
    rate: float


class CpuTable(Struct, frozen=True, kw_only=True):
    """The windows of each service, what was doubtful, and the heading of the CPU column."""

    file: str
    rows: Mapping[str, tuple[CpuRow, ...]]
    notes: tuple[str, ...]


class _Columns(Struct, frozen=True, kw_only=True):
    service: str
    cpu: str
    unit: str | None
    share: str | None
    work: str
    per: float
    time: str | None


def cpu_table(path: Path, unit: str | None = None) -> CpuTable:
    """Return a table of CPU, whose unit may be stated; DataError where it is none."""
    name = shortened(str(path))
    table = read_table(text_of(path), name, MOST_RUNS)
    columns = _columns(table, name)
    cores, notes = _unit(table, columns, unit, name)
    windows: dict[str, dict[str, list[float]]] = {}
    silent = 0
    for number, row in _numbers(table, columns):
        service, moment, cpu, rate = row
        if cpu == 0 and rate > 0:
            silent += 1
            continue
        key = moment if columns.time is not None else str(number)
        sums = windows.setdefault(service, {}).setdefault(key, [0.0, 0.0])
        sums[0] += cpu * cores
        sums[1] += rate * columns.per
    if silent:
        notes.append(
            f"{silent:,} row{'s' * (silent != 1)} of `{shortened(path.name)}` with requests but no "
            "CPU left out: the CPU was not measured then"
        )
    return CpuTable(
        file=shortened(path.name),
        rows={
            service: tuple(CpuRow(cores=cpu, rate=rate) for cpu, rate in found.values())
            for service, found in windows.items()
        },
        notes=tuple(notes),
    )


def _columns(table: MeasuredTable, name: str) -> _Columns:
    """Return which column is what."""
    words = {heading: _words(heading) for heading in table.headings}
    service = next((one for one, (text, _) in words.items() if re.fullmatch(_SERVICE, text)), None)
    time = next((one for one, (text, _) in words.items() if re.fullmatch(_TIME, text)), None)
    cpus = [one for one, (text, _) in words.items() if re.search(r"\bcpu\b|\bprocessor\b", text)]
    shares = [one for one in cpus if words[one][1] in ("%", "percent", "pct")]
    plain = [one for one in cpus if one not in shares]
    work = next((one for one, parts in words.items() if _per(*parts) is not None), None)
    lacking = [
        what
        for what, found in (("service", service), ("CPU", cpus), ("requests per second", work))
        if not found
    ]
    if lacking or service is None or work is None:
        raise DataError(
            f"`{name}` has no column of {lacking[0]}",
            "head the columns `service`, `time`, `cpu (cores)` and `requests/s`",
        )
    cpu = (plain or shares)[0]
    per = _per(*words[work])
    return _Columns(
        service=service,
        cpu=cpu,
        unit=_unit_of(*words[cpu]),
        share=next((one for one in shares if one != cpu), None),
        work=work,
        per=1.0 if per is None else per,
        time=time,
    )


def _words(heading: str) -> tuple[str, str]:
    """Return the words of a heading and the unit in brackets.

    >>> _words("CpuUsage(m)"), _words("requests/s")
    (('cpu usage', 'm'), ('requests/s', ''))
    """
    text = re.sub(r"[\s_]+", " ", _CAMEL.sub(" ", heading.strip())).lower()
    found = _UNIT.fullmatch(text)
    return (found[1], found[2].replace(" ", "")) if found else (text, "")


def _per(text: str, unit: str) -> float | None:
    """Return by what a column of requests is multiplied for requests per s; None if it is none."""
    headings = [f"{text} ({unit})" if unit else text]
    if unit and re.fullmatch(_WORK, text):  # `Workload(Ops)`, as services call it
        headings += [f"requests ({unit})", unit]
    for meaning in map(usual_meaning, headings):
        if meaning is not None and meaning.heading == RATE:
            return float(meaning.factor)
    return None


def _unit_of(text: str, unit: str) -> str | None:
    """Return the unit that a heading of CPU names; None where it may be several."""
    meaning = usual_meaning(f"cpu ({unit})" if unit else text)
    if meaning is None or meaning.heading not in (CPU_CORES, CPU_SHARE):
        return None
    if meaning.heading == CPU_SHARE:
        return None
    return next(name for name, cores in UNITS.items() if abs(cores - meaning.factor) < cores / 2)


def _unit(
    table: MeasuredTable, columns: _Columns, stated: str | None, name: str
) -> tuple[float, list[str]]:
    """Return what one of the CPU column is in cores, and what is doubtful about that."""
    if stated is not None:
        return UNITS[stated], []
    heading = columns.cpu
    if columns.unit is None:
        raise DataError(
            f"the column `{heading}` of `{name}` may be in per cent of a core, of a limit or of a "
            "machine, or in cores",
            "state its unit: `--cpu-unit percent` (of one core), `millicores` or `cores`",
        )
    if columns.unit != "millicores":
        return UNITS[columns.unit], []
    limits = _limits(table, columns)
    as_headed = [UNITS["millicores"] * one for one in limits]
    as_percent = [UNITS["percent"] * one for one in limits]
    if limits and max(as_headed) < _LEAST_LIMIT <= min(as_percent):
        doubt = (
            f"warning: `{heading}` is headed as millicores, but read as per cent of a core: by "
            f"`{columns.share}`, limits would be {_millicores(as_headed)} millicores otherwise, "
            f"and are {_millicores(as_percent)}; to read it as headed, use `--cpu-unit millicores`"
        )
        return UNITS["percent"], [doubt]
    busiest = max((row[2] for _, row in _numbers(table, columns)), default=0.0)
    if busiest * UNITS["millicores"] < _LEAST_BUSY:
        doubt = (
            f"warning: by `{heading}`, no service ever uses more than {busiest:.1f} millicores; if "
            "the column is in per cent of a core, use `--cpu-unit percent`"
        )
        return UNITS["millicores"], [doubt]
    return UNITS["millicores"], []


def _millicores(cores: Sequence[float]) -> str:
    """Return a range of millicores."""
    ends = (f"{1000 * one:.0f}" for one in (min(cores), max(cores)))
    return " to ".join(dict.fromkeys(ends))


def _limits(table: MeasuredTable, columns: _Columns) -> list[float]:
    """Return the limit of each service in the unit of the CPU column, by its share of the limit."""
    if columns.share is None:
        return []
    sums: dict[str, list[float]] = {}
    rows = zip(
        table.columns[columns.service],
        table.columns[columns.cpu],
        table.columns[columns.share],
        strict=True,
    )
    for service, cpu, share in rows:
        used, of = _number(cpu), _number(share)
        if used is not None and of:
            found = sums.setdefault(service_of(service), [0.0, 0.0])
            found[0] += used
            found[1] += of / 100
    return [used / of for used, of in sums.values() if of > 0]


def _numbers(
    table: MeasuredTable, columns: _Columns
) -> Iterator[tuple[int, tuple[str, str, float, float]]]:
    """Yield the rows that have both numbers: service, time, CPU and requests."""
    times: Sequence[str] = table.columns[columns.time] if columns.time else [""] * len(table.lines)
    rows = zip(
        table.lines,
        table.columns[columns.service],
        times,
        table.columns[columns.cpu],
        table.columns[columns.work],
        strict=True,
    )
    for line, service, moment, cpu, work in rows:
        used, rate = _number(cpu), _number(work)
        if used is not None and rate is not None:
            yield line, (service_of(service), moment, used, rate)


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None  # noqa: PLR2004 - nothing that was measured


def service_of(pod: str) -> str:
    """Return the service of a pod: its name without what Kubernetes adds.

    >>> service_of("cart-7d9c5b6f4d-x2x9p"), service_of("cart"), service_of("cart-service")
    ('cart', 'cart', 'cart-service')
    """
    found = _POD.fullmatch(pod)
    return found[1] if found and any(map(str.isdigit, pod[len(found[1]) :])) else pod
