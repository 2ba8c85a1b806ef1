"""What sar prints: tables of samples below a line `Linux …`, which names machine and day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.sar_records import (
    SHARES,
    Device,
    Host,
    Processors,
    SarSample,
    Stamp,
)

_TABLES = {
    "CPU": frozenset(["%idle"]),
    "IFACE": frozenset(["rxpck/s", "txpck/s", "rxkB/s", "txkB/s"]),
}
"""By their first heading, which tables are read, and the columns that these have."""
_SLASHED = re.compile(r"^Linux.{1,200}?\s(\d\d)/(\d\d)/(?:20)?\d\d\s", re.MULTILINE)
_LONGEST_LINE = 1000
_HALF_DAY = 12
_MONTHS = 12
_HINT = "keep the output of `sar -u -n DEV` from its line `Linux …` on"


class SarSection(Struct, kw_only=True):
    """What is printed below a line `Linux …`: of a `host`, from a `date` on.

    `times` is how far each table is, `days` how often its times have begun anew, as at midnight.
    """

    host: str = ""
    date: str = ""
    cores: int | None = None
    times: dict[str, str] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=dict)

    def stamp(self, table: str, at: str) -> Stamp:
        """Return what a line of a table is of, by its time."""
        if at < self.times.get(table, ""):
            self.days[table] = self.days.get(table, 0) + 1
        self.times[table] = at
        return Stamp(_later(self.date, self.days.get(table, 0)), at)


def hosts_of_text(text: str, file: str) -> list[Host]:
    """Return the samples that sar prints, by machine; averages are left out.

    What its tables say of one moment of a machine is one sample. DataError where a line of a table
    is not understood, or says something else than one before it.
    """
    hosts: dict[str, Host] = {}
    samples: dict[tuple[str, str, str], SarSample] = {}
    section, headings = SarSection(), list[str]()
    month_first = is_month_first(text)
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        words = line[:_LONGEST_LINE].replace(",", ".").split()
        if line.startswith("Linux"):
            section = section_of(line, is_month_first=month_first)
        at = time_of(words)
        if at is None:
            headings = headings if words else []  # a blank line ends a table
            continue
        names = words[2:] if words[1] in ("AM", "PM") else words[1:]
        if names[0] in _TABLES:
            headings = names if _TABLES[names[0]] <= set(names) else []
        if names is headings or not headings:
            continue
        if len(names) != len(headings):
            if number == len(lines):
                break  # cut off
            raise _unclear(file, number, line)
        stamp = section.stamp(headings[0], at)
        key = section.host, stamp.date, at
        if key not in samples:
            samples[key] = SarSample(stamp)
            host = hosts.setdefault(section.host, Host([], section.host, section.cores))
            host.statistics.append(samples[key])
        try:
            agrees = _add(samples[key], dict(zip(headings, names, strict=True)))
        except ValueError as error:
            raise _unclear(file, number, line) from error
        if not agrees:
            raise DataError(
                f"`{shortened(file)}`, line {number}: `{shortened(names[0])}` at "
                f"{stamp.date} {at} differs from an earlier line",
                "when concatenating files, keep the line `Linux …` of each",
            )
    return [*hosts.values()]


def _unclear(file: str, number: int, line: str) -> DataError:
    text = shortened(line.strip())
    return DataError(f"`{shortened(file)}`, line {number}: `{text}` is not recognized", _HINT)


def section_of(line: str, *, is_month_first: bool | None) -> SarSection:
    """Return of what the tables below a line `Linux …` are."""
    host = re.search(r"\s\(([^()\s]{1,200})\)\s", line)
    cores = re.search(r"\((\d{1,6}) CPU\)", line)
    dates = (_date(word, is_month_first=is_month_first) for word in line.split())
    return SarSection(
        host=host[1] if host else "",
        date=next((date for date in dates if date), ""),
        cores=int(cores[1]) if cores else None,
    )


def is_month_first(text: str) -> bool | None:
    """Return whether dates such as 04/18/19 begin with the month; None where none shows it."""
    for first, second in _SLASHED.findall(text):
        if max(int(first), int(second)) > _MONTHS:
            return int(second) > _MONTHS
    return None


def _date(word: str, *, is_month_first: bool | None) -> str:
    """Return a date as year, month and day where that is certain, else as it is written."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return word
    found = re.fullmatch(r"(\d\d)([/.])(\d\d)\2(?:20)?(\d\d)", word)
    if found is None:
        return ""
    first, mark, second, year = found.groups()
    if is_month_first is None and mark == "/":
        return word
    month, day = (first, second) if is_month_first and mark == "/" else (second, first)
    return f"20{year}-{month}-{day}"


def _later(date: str, days: int) -> str:
    """Return a date some days later."""
    if not days:
        return date
    try:
        return (datetime.fromisoformat(date) + timedelta(days=days)).date().isoformat()
    except (ValueError, OverflowError):
        return f"{date} + {days} d".strip()


def time_of(words: Sequence[str]) -> str | None:
    """Return the time that a line begins with, of 24 hours; None where it begins with none."""
    if len(words) < 3 or not re.fullmatch(r"\d\d:\d\d:\d\d", words[0]):  # noqa: PLR2004
        return None
    hour = int(words[0][:2])
    if words[1] in ("AM", "PM"):
        hour = hour % _HALF_DAY + _HALF_DAY * (words[1] == "PM")
    return f"{hour:02}{words[0][2:]}"


def _add(sample: SarSample, cells: dict[str, str]) -> bool:
    """Add what a line says of all processors or of an interface; ValueError for what is no number.

    Returns False where another line has said otherwise.
    """
    if "IFACE" in cells:
        device = Device(
            iface=cells["IFACE"],
            rxpck=float(cells["rxpck/s"]),
            txpck=float(cells["txpck/s"]),
            received=float(cells["rxkB/s"]),
            sent=float(cells["txkB/s"]),
        )
        known = [one for one in sample.network.devices if one.iface == device.iface]
        sample.network.devices += [] if known else [device]
        return known in ([], [device])
    if cells["CPU"] != "all":
        return True
    shares = {name[1:]: float(cell) for name, cell in cells.items() if name[1:] in SHARES}
    load = Processors(cpu="all", **shares)
    sample.loads += [] if sample.loads else [load]
    return sample.loads == [load]
